/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TELEMETRY_LIVE_H
#define WH_APP_TELEMETRY_LIVE_H

/* Sessions that run: looked up, and changed, for the control socket alone. One thread does. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/host.h"
#include "job/jobs.h"

/* Of a session, and the job it belongs to: as long as sessions are looked at. */
struct wh_tel_found {
	uint64_t id;
	struct wh_session *session;
	struct wh_job *job;
	bool transmits;
};

/*
 * Calls back for each session of a job, until that says true, which it then returns. Between
 * wh_tel_enter_sessions and leave.
 */
bool wh_tel_each_session(const struct wh_host *host,
	bool (*see)(const struct wh_host *host, const struct wh_tel_found *found, void *context),
	void *context);

/*
 * The job whose session has that number, and all lanes of its transfer, go by another rate from now
 * on. 0; -ENOENT: there is none; -EPERM: it does not send, or was begun without a rate.
 */
int wh_tel_set_rate(uint64_t session, uint64_t rate_bps);

/*
 * Likewise by another value of an option of their profile. 0, or a negative errno, and in `why` a
 * sentence; -ENOENT: there is no such session.
 */
int wh_tel_set_option(
	uint64_t session, const char *name, const char *value, char *why, size_t why_bytes);

/* How a session's packets are known, and the job that it belongs to, by its address alone. */
struct wh_tel_way {
	uint32_t queue;
	uint32_t lci;
	uint32_t peer_lci; /* 0: not known yet */
	struct wh_address peer;
	const void *job;
};

/* False: there is no session of that number. */
bool wh_tel_session_way(uint64_t session, struct wh_tel_way *way);

/* The number of the session by which the job's data go; false: it has none, or none yet. */
bool wh_tel_job_session(const void *job, uint64_t *session);

#endif
