/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The rights of a peer that gave an order to this host (queue/accepted.h), when the order begins
 * and while it runs.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct wh_order;
struct wh_run;
struct wh_run_host_ctx;

/* The store of trusted peers; NULL: nothing is sealed here. */
struct wh_store *wh_giver_store(const struct wh_run_host_ctx *ctx);

/* The giver's name, for people. */
const char *wh_giver_name(const struct wh_order *order);

/* The options of an order that remove files. They are spelled in full: wh_order_words_wrong. */
uint32_t wh_giver_removals(const json_t *words);

/*
 * When the order's turn has come: sets the run's root to what its peer may read. -1, or an exit
 * status after a complaint.
 */
int wh_giver_claim(struct wh_run *run, const struct wh_run_host_ctx *ctx);

/* While the order runs. False: its peer has lost the right, see run->unwanted. */
bool wh_giver_look(struct wh_run *run, const struct wh_run_host_ctx *ctx, int64_t now_s);

/* Charges its peer for the bytes moved since. */
void wh_giver_end(struct wh_run *run, const struct wh_run_host_ctx *ctx);
