/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The history: records as rows of a database in the folder of --state. Lanes of a transfer are
 * merged into one row. It is limited in age and number of rows. Every call may wait for a disk.
 */

#include <stdbool.h>
#include <stdint.h>

#include "history/history_record.h"

#define WH_HISTORY_ROWS_MAX 1000000

/* How long to wait for locks of the database in a process that serves other requests meanwhile. */
#define WH_HISTORY_PATIENCE_MS 500

struct wh_history;

/*
 * Opens the database in that folder. 0 or a negative errno after one sentence. Without `writes` it
 * is only read, and -ENOENT is returned without a sentence.
 */
int wh_history_open(struct wh_history **history, const char *folder, bool writes);
void wh_history_close(struct wh_history *history); /* NULL is allowed */

/*
 * Opens it for writing, for a caller that tries repeatedly: does not wait long for other processes,
 * and prints nothing on failure.
 */
int wh_history_try(struct wh_history **history, const char *folder);

/*
 * If the file was removed or replaced, opens the file that now has the name; if there is none,
 * writes it anew with `saves`. 0: the history is usable.
 */
int wh_history_follow(struct wh_history **history, const char *folder, bool saves);

/* Adds all of them or none. 0 or a negative errno. */
int wh_history_add(
	struct wh_history *history, const struct wh_history_record *records, uint32_t count);

/* Deletes records that ended before, and the oldest beyond rows_max. */
int wh_history_forget(struct wh_history *history, int64_t before_us, uint64_t rows_max);

/*
 * Records that ended in [since, until), newest first, with an id smaller than `below`. 1: there is
 * one, 0: no more, or a negative errno.
 */
int wh_history_next(struct wh_history *history, int64_t since_us, int64_t until_us, int64_t below,
	struct wh_history_record *record);
