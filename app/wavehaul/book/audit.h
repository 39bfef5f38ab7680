/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BOOK_AUDIT_H
#define WH_BOOK_AUDIT_H

/*
 * What a server did, for whom: a line of JSON for each job that is over, and for peers that were
 * refused before they had one. A peer's words are in strings alone, and no character there moves a
 * terminal. To a file, to syslog, or to the journal, which gets a sentence, and the rest as fields.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "book/entry.h"
#include "guard/caller.h"
#include "guard/refusals.h"

enum wh_audit_form {
	WH_AUDIT_LINES = 0,
	WH_AUDIT_SYSLOG,
	WH_AUDIT_JOURNAL,
};

struct wh_audit {
	int fd; /* -1: nobody wants it */
	enum wh_audit_form form;
	struct wh_caller caller; /* of a socket: who listens there may begin anew */
	const char *where;
	bool away;               /* lines do not arrive, as was said */
	_Atomic uint64_t lost; /* lines that could not be written */
};

/*
 * `where`: "", a file, "syslog" or "journal", with ":SOCKET" at another one; it lives as long.
 * Before there are threads. 0, or an exit status after one sentence.
 */
int wh_audit_open(struct wh_audit *audit, const char *where);

/* The process has entered its guard. */
void wh_audit_guard(struct wh_audit *audit);
void wh_audit_close(struct wh_audit *audit);

/* A job is over, or somebody was refused; the sentence says the same to people. */
void wh_audit_entry(
	struct wh_audit *audit, const struct wh_book_entry *entry, const char *sentence);
void wh_audit_refused(
	struct wh_audit *audit, const struct wh_refusal *refusal, const char *sentence);

#endif
