/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_AUDIT_H
#define WH_APP_AUDIT_H

/*
 * What a server did, for whom: a line of JSON for each job that is over, and for peers that were
 * refused before they had one. A peer's words are in strings alone, and no character there moves a
 * terminal. To a file, to syslog, or to the journal.
 */

#include <stdint.h>

#include "job/jobs.h"

struct wh_audit {
	int fd;             /* -1: nobody wants it */
	const char *before; /* of each message, for those that listen at a socket; NULL: a file */
	_Atomic uint64_t lost; /* lines that could not be written */
};

/*
 * `where`: "", a file, "syslog" or "journal", with ":SOCKET" at another one. 0, or an exit status
 * after one sentence.
 */
int wh_audit_open(struct wh_audit *audit, const char *where);
void wh_audit_close(struct wh_audit *audit);

/* A server's job, on its crew, when it is over: a service's on_over. */
void wh_audit_job(void *audit, const struct wh_job *job);

/* Those that were noted since; at most a few lines. */
void wh_audit_refused(struct wh_audit *audit, struct wh_refusals *refusals);

#endif
