/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BOOK_CLERK_H
#define WH_BOOK_CLERK_H

/*
 * A server's record of its transfers: workers hand over entries, and the control's thread writes
 * them to the log, the audit and the book, so that no polling core waits for these.
 *
 *   wh_clerk_init    without a book; before any job
 *   wh_clerk_open    opens the book; after the guard, before the control's thread
 *   wh_clerk_close   when nothing runs any more: writes what is left
 */

#include <stdatomic.h>

#include "base/calendar.h"
#include "base/spin.h"
#include "book/audit.h"
#include "book/ends.h"
#include "book/removals.h"
#include "book/store.h"
#include "control/control.h"

/* Entries that may wait to be written; further ones are counted as lost. */
#define WH_CLERK_WAITING_MAX 256

/* Their names are in clerk.c. */
#define WH_CLERK_VERBS 5

struct wh_clerk {
	struct wh_audit audit;
	struct wh_book *book; /* NULL: none */
	const char *folder;   /* folder of the database, existing or not; NULL: no book */
	bool shares_file;     /* with a queue, which writes the file anew if it was removed */
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
	struct wh_clerk_count {
		uint64_t ok;
		uint64_t failed;
		uint64_t bytes;
	} ended[WH_CLERK_VERBS];

	struct wh_spin lock;
	struct wh_book_entry *waiting; /* under the lock, like the next: */
	uint32_t count;
	struct wh_book_entry *taken; /* owned by the writing thread, like the next: */
	uint32_t kept;               /* number of taken entries not yet in the book */
	uint32_t told;               /* number of waiting entries that were logged; none of them
				      * is in the book */
	_Atomic uint64_t lost;
};

/* 0 or -ENOMEM. */
int wh_clerk_init(struct wh_clerk *clerk, struct wh_jobs *jobs);

/*
 * keep_ns 0: no book. Otherwise the book is in `folder` ("": none), a string that must stay valid.
 */
void wh_clerk_open(struct wh_clerk *clerk, const char *folder, uint64_t keep_ns,
	struct wh_control_socket *control);
void wh_clerk_close(struct wh_clerk *clerk);

/* Used as a service's on_over, on_removed and may_remove. */
void wh_clerk_job(void *clerk, const struct wh_job *job);
void wh_clerk_removed(void *clerk, const struct wh_job *job, const char *file);
bool wh_clerk_may_remove(void *clerk);

/* On the control's thread: one attempt of an order has ended. */
void wh_clerk_order(struct wh_clerk *clerk, const struct wh_book_entry *entry);

/* Adds its commands to the control socket. */
void wh_clerk_add(struct wh_control_tables *tables, struct wh_clerk *clerk);

#endif
