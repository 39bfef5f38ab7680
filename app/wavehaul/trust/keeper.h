/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TRUST_KEEPER_H
#define WH_APP_TRUST_KEEPER_H

/*
 * Brings days to their file: aside while a server runs, once a minute at most, and at its end. What
 * cannot be read or written is told once, and no reason to stop.
 */

#include <limits.h>
#include <stdatomic.h>

#include "trust/days.h"

struct wh_keeper;

/*
 * Reads what there is, before a process is guarded; NULL: no memory. The caller has it until it
 * closes it.
 */
struct wh_keeper *wh_keeper_open(const char *path, struct wh_days *days);

/* The main thread, now and then; true: the keeper wants to be given the days that have changed. */
bool wh_keeper_is_due(struct wh_keeper *keeper);
void wh_keeper_take(struct wh_keeper *keeper, const struct wh_days *days);

/* The last word: what has changed since is kept. NULL is allowed. */
void wh_keeper_close(struct wh_keeper *keeper, const struct wh_days *days);

#endif
