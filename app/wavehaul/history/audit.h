/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The audit: what a server did, and for whom. It has a line of JSON for each ended job, and for
 * peers that were refused before they had one. Text from a peer appears only in strings, without
 * control characters for terminals. The lines go to a file, to syslog, or to the journal. The
 * journal gets a sentence as its message, and the rest as fields.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "guard/caller.h"
#include "guard/refusals.h"
#include "history/history_record.h"
#include "history/removals.h"

enum wh_audit_form {
	WH_AUDIT_LINES = 0,
	WH_AUDIT_SYSLOG,
	WH_AUDIT_JOURNAL,
};

struct wh_audit {
	int fd; /* -1: no audit */
	enum wh_audit_form form;
	struct wh_caller caller; /* for a socket, whose listener may restart */
	const char *where;
	bool torn;             /* the last line has no end */
	bool away;             /* lines cannot be delivered, as was reported */
	_Atomic uint64_t lost; /* lines that could not be written */
};

/*
 * `where`: "", a file, "syslog" or "journal", the latter two optionally with ":SOCKET"; must
 * outlive the audit. Call before there are threads. 0, or an exit status after one sentence.
 */
int wh_audit_open(struct wh_audit *audit, const char *where);

/* Call when the process has entered its guard. */
void wh_audit_guard(struct wh_audit *audit);
void wh_audit_close(struct wh_audit *audit);

/* Records an ended job, or a refusal; `sentence` says the same to people. */
void wh_audit_record(
	struct wh_audit *audit, const struct wh_history_record *record, const char *sentence);
void wh_audit_refused(
	struct wh_audit *audit, const struct wh_refusal *refusal, const char *sentence);

/* Records a file or folder that a peer's job has removed. */
void wh_audit_removed(struct wh_audit *audit, const struct wh_removal *removal);
