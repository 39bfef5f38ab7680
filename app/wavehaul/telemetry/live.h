/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Finds and changes running sessions, for the control socket only, on one thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/host.h"
#include "job/jobs.h"

/* A session and the job it belongs to; valid until wh_tel_leave_sessions. */
struct wh_tel_found {
	uint64_t id;
	struct wh_session *session;
	struct wh_job *job;
	bool transmits;
};

/*
 * Calls back for each session of a job until a call returns true; returns that. Call between
 * wh_tel_enter_sessions and leave.
 */
bool wh_tel_each_session(const struct wh_host *host,
	bool (*see)(const struct wh_host *host, const struct wh_tel_found *found, void *context),
	void *context);

/*
 * Sets the rate of the session's job and of all lanes of its transfer. 0; -ENOENT: no such session;
 * -EPERM: it does not send, or was begun without a rate.
 */
int wh_tel_set_rate(uint64_t session, uint64_t rate_bps);

/*
 * Sets an option of the profile of the session's job and of all lanes of its transfer. 0, or a
 * negative errno and in `why` a sentence; -ENOENT: no such session.
 */
int wh_tel_set_option(
	uint64_t session, const char *name, const char *value, char *why, size_t why_bytes);

/*
 * What identifies a session's packets; and the job that it belongs to, as a pointer for comparison
 * only.
 */
struct wh_tel_locator {
	uint32_t queue;
	uint32_t cid;
	uint32_t peer_cid; /* 0: not known yet */
	struct wh_address peer;
	const void *job;
};

/* False: no session has that number. */
bool wh_tel_session_locator(uint64_t session, struct wh_tel_locator *locator);

/* The number of the session that carries the job's data; false: there is none, or none yet. */
bool wh_tel_job_session(const void *job, uint64_t *session);
