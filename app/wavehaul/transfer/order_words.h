/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Options of an order beside its paths, as words such as "--parallel=4". The table of settings
 * determines which are possible: those that `wavehaul job` shares with send and get.
 */

#include <stdbool.h>

#include <jansson.h>

#include "cli/settings.h"
#include "cli/settings_table.h"

/* Whether an order can have it: not if it concerns the queue or the client. */
bool wh_order_knows(const struct wh_setting *setting);

/*
 * The options of `wavehaul job`, or of send and get, that differ from the defaults; paths of files
 * are made relative to the root. NULL after a complaint: one is outside of it.
 */
json_t *wh_order_words(const struct wh_settings *settings, const char *root);

/*
 * Parses the words, which must exist as long as the settings. -1, or an exit status after a
 * complaint.
 */
int wh_order_settings(const json_t *words, struct wh_settings *settings);

/* Whether all of them are options of the verb, too: -1, or an exit status after a complaint. */
int wh_order_settings_of(const struct wh_settings *settings, enum wh_verb verb);

/*
 * Whether words from or for another host may be parsed at all: each must be an option of an order,
 * spelled in full, and none may name a file of this host or affect arriving files. NULL, or why
 * not.
 */
const char *wh_order_words_wrong(const json_t *words);

/*
 * A path relative to the server's root, keeping a final '/'. The caller frees it; NULL: not below
 * the root, or no such folder.
 */
char *wh_path_below(const char *root, const char *path);

/* The texts of a list, checked; returns their number, 0 if invalid. They point into the list. */
uint32_t wh_texts_of(const json_t *list, const char **texts, uint32_t room);

/* Whether all are paths below the root: neither absolute nor leading outside. */
bool wh_paths_are_below(const json_t *paths);
