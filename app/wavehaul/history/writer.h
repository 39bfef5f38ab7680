/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A server's record of its transfers: workers hand over records, and the control's thread writes
 * them to the log, the audit and the history, so that no polling core waits for these.
 *
 *   wh_history_writer_init without a history; before any job
 *   wh_history_writer_open opens the history; after the guard, before the control's thread
 *   wh_history_writer_close when nothing runs any more: writes what is left
 */

#include <stdatomic.h>

#include "base/calendar.h"
#include "base/spin.h"
#include "control/control.h"
#include "history/audit.h"
#include "history/history_ends.h"
#include "history/history_store.h"
#include "history/removals.h"

/* Records that may wait to be written; further ones are counted as lost. */
#define WH_HISTORY_WRITER_WAITING_MAX 256

/* Their names are in writer.c. */
#define WH_HISTORY_WRITER_VERBS 5

struct wh_history_writer {
	struct wh_audit audit;
	struct wh_history *history; /* NULL: none */
	const char *folder;         /* folder of the database, existing or not; NULL: no history */
	bool shares_file;           /* with a queue, which writes the file anew if it was removed */
	int64_t next_open_us;
	int64_t keep_us;
	int64_t next_forget_us;
	struct wh_calendar calendar;
	int64_t written_us;
	int64_t next_refused_us;
	uint64_t refused_untold;
	bool failing; /* the database accepts no writes, as was reported */
	struct wh_jobs *jobs;
	struct wh_control_socket *control;
	struct wh_hook *hook; /* told when peers' transfers end; NULL: none */
	struct wh_ends ends;
	struct wh_removals removals;

	/* Owned by the writing thread: transfers that ended so far, by verb. */
	struct wh_history_writer_count {
		uint64_t ok;
		uint64_t failed;
		uint64_t bytes;
	} ended[WH_HISTORY_WRITER_VERBS];

	struct wh_spin lock;
	/* Under the lock. */
	struct wh_history_record *waiting;
	uint32_t count;
	/*
	 * Owned by the writing thread: records taken for the history, of which `kept` are not in it
	 * yet; and how many of the waiting records were logged.
	 */
	struct wh_history_record *taken;
	uint32_t kept;
	uint32_t told;
	_Atomic uint64_t lost;
};

/* 0 or -ENOMEM. */
int wh_history_writer_init(struct wh_history_writer *writer, struct wh_jobs *jobs);

/*
 * keep_ns 0: no history. Otherwise the history is in `folder` ("": none), a string that must stay
 * valid.
 */
void wh_history_writer_open(struct wh_history_writer *writer, const char *folder, uint64_t keep_ns,
	struct wh_control_socket *control);
void wh_history_writer_close(struct wh_history_writer *writer);

/* Used as a service's on_over, on_removed and may_remove. */
void wh_history_writer_job(void *writer, const struct wh_job *job);
void wh_history_writer_removed(void *writer, const struct wh_job *job, const char *file);
bool wh_history_writer_may_remove(void *writer);

/* On the control's thread: one attempt of an order has ended. */
void wh_history_writer_order(
	struct wh_history_writer *writer, const struct wh_history_record *record);

/* Adds its commands to the control socket. */
void wh_history_writer_add(struct wh_control_tables *tables, struct wh_history_writer *writer);
