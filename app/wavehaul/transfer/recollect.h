/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * This host's records of partly received files: the journal in the folder of --state. If it is not
 * available, that is reported, and jobs run without it.
 */

#include "cli/settings.h"
#include "guard/guard.h"
#include "journal/journal.h"

/* The database's name in that folder, shared by all rooms. */
#define WH_RECOLLECT_FILE "service.db"

struct wh_recollect {
	struct wh_journal *journal; /* NULL: none */
	int folder_fd;              /* -1: no folder */
};

/*
 * To be called before the guard is entered. Creates the folder, unless nothing is to be kept, and
 * adds it to the guard.
 */
void wh_recollect_init(
	struct wh_recollect *recollect, const struct wh_settings *settings, struct wh_guard *guard);

/* Call after the guard. */
void wh_recollect_open(struct wh_recollect *recollect, const struct wh_settings *settings);

/* When no job is left; waits a moment for background work. */
void wh_recollect_close(struct wh_recollect *recollect);
