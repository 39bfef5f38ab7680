/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Saves days to their file: on another thread while a server runs, at most once a minute, and at
 * its end. A failure to read or write is reported once, and does not stop the server.
 */

#include <stdatomic.h>

#include "trust/days.h"

struct wh_keeper;

/* Reads the file, before the process is guarded; NULL: out of memory. The caller closes it. */
struct wh_keeper *wh_keeper_open(const char *path, struct wh_days *days);

/* Call on the main thread regularly; true: call wh_keeper_take with the changed days. */
bool wh_keeper_is_due(struct wh_keeper *keeper);
void wh_keeper_take(struct wh_keeper *keeper, const struct wh_days *days);

/* Saves what has changed since. NULL is allowed. */
void wh_keeper_close(struct wh_keeper *keeper, const struct wh_days *days);
