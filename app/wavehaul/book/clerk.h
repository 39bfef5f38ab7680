/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BOOK_CLERK_H
#define WH_BOOK_CLERK_H

/*
 * What a server notes of what it does: crews hand entries over, and the control's thread writes
 * them to the log, the audit and the book, none of which a core that polls waits for.
 *
 *   wh_clerk_init    nothing is kept; before any job
 *   wh_clerk_open    the book is there; after the guard, before the control's thread
 *   wh_clerk_close   when nothing runs any more: what is left is written
 */

#include <stdatomic.h>

#include "base/calendar.h"
#include "base/spin.h"
#include "book/audit.h"
#include "book/store.h"
#include "control/control.h"

/* That wait to be written; what is more is counted. */
#define WH_CLERK_WAITING_MAX 256

/* Names of them are in clerk.c. */
#define WH_CLERK_VERBS 5

struct wh_clerk {
	struct wh_audit audit;
	struct wh_book *book; /* NULL: none */
	const char *folder;   /* that it is in, or is to be; NULL: nowhere */
	bool shares_file;     /* with a queue, which writes it again when somebody has removed it */
	int64_t next_open_us;
	int64_t keep_us;
	int64_t next_forget_us;
	struct wh_calendar calendar;
	int64_t written_us;
	int64_t next_refused_us;
	uint64_t refused_untold;
	bool failing; /* the database takes nothing, as was said */
	struct wh_jobs *jobs;
	struct wh_control_socket *control;

	/* Of the thread that writes: what is over so far, by verb. */
	struct wh_clerk_count {
		uint64_t ok;
		uint64_t failed;
		uint64_t bytes;
	} ended[WH_CLERK_VERBS];

	struct wh_spin lock;
	struct wh_book_entry *waiting; /* under the lock, as is: */
	uint32_t count;
	struct wh_book_entry *taken; /* of the thread that writes, as is: */
	uint32_t kept;               /* of those taken, as the book has not taken them */
	uint32_t told;               /* of those that wait; the book has none of them yet */
	_Atomic uint64_t lost;
};

/* 0 or -ENOMEM. */
int wh_clerk_init(struct wh_clerk *clerk, struct wh_jobs *jobs);

/* keep_ns 0: no book, which otherwise is in that folder ("": nowhere), whose name stays there. */
void wh_clerk_open(struct wh_clerk *clerk, const char *folder, uint64_t keep_ns,
	struct wh_control_socket *control);
void wh_clerk_close(struct wh_clerk *clerk);

/* A service's on_over. */
void wh_clerk_job(void *clerk, const struct wh_job *job);

/* The control's thread: an order's try is over. */
void wh_clerk_order(struct wh_clerk *clerk, const struct wh_book_entry *entry);

/* Adds what is asked of it on the control socket. */
void wh_clerk_add(struct wh_control_tables *tables, struct wh_clerk *clerk);

#endif
