/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_WORDS_H
#define WH_QUEUE_WORDS_H

/*
 * What an order was told beside its paths: options as words, "--parallel=4". The table of settings
 * says which there are: those that `wavehaul job` has of send and get.
 */

#include <stdbool.h>

#include <jansson.h>

#include "cli/settings.h"
#include "cli/settings_table.h"

/* Whether an order can have it: what is the queue's affair, or its client's, is none of it. */
bool wh_order_knows(const struct wh_setting *setting);

/*
 * Those of settings, of `wavehaul job` or of send and get, that are not as preset; files that they
 * name are below the root from here on. NULL after a complaint: one is not.
 */
json_t *wh_order_words(const struct wh_settings *settings, const char *root);

/*
 * The settings of words, which must be there as long as they. -1, or an exit status after a
 * complaint.
 */
int wh_order_settings(const json_t *words, struct wh_settings *settings);

/*
 * Whether words of another host's, or for one, may be read at all: each is an option of an order,
 * spelt in full, and none names a file of this host, or says what may come. NULL, or why not.
 */
const char *wh_order_words_wrong(const json_t *words);

/* Texts of a list, checked: 0 of them, if it is none. Pointers into the list. */
uint32_t wh_texts_of(const json_t *list, const char **texts, uint32_t room);

/* Whether all are paths below the root: neither absolute nor leading out of it. */
bool wh_paths_are_below(const json_t *paths);

#endif
