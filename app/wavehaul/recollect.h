/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_RECOLLECT_H
#define WH_APP_RECOLLECT_H

/*
 * What this host knows of files that came in part: the journal in the folder of --state. Where it
 * cannot be had, that is said, and jobs go on without.
 */

#include "cli/settings.h"
#include "guard/guard.h"
#include "journal/journal.h"

/* Of its path there: that of all rooms. */
#define WH_RECOLLECT_FILE "service.db"

struct wh_recollect {
	struct wh_journal *journal; /* NULL: none */
	int folder_fd;              /* -1: nowhere */
};

/* Before the guard, which lets it be written: makes the folder, unless nothing is to be kept. */
void wh_recollect_init(
	struct wh_recollect *recollect, const struct wh_settings *settings, struct wh_guard *guard);

/* After it. */
void wh_recollect_open(struct wh_recollect *recollect, const struct wh_settings *settings);

/* When no job is left; waits a moment for errands. */
void wh_recollect_close(struct wh_recollect *recollect);

#endif
