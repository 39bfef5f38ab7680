/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Finds running sessions; and changes them, for the control socket only, on one thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/host.h"
#include "job/jobs.h"

/*
 * A session that was found, and at first, zeroed, a walk over all sessions. Valid between
 * wh_tel_enter_sessions and leave.
 */
struct wh_tel_found {
	uint64_t id;
	struct wh_session *session;
	struct wh_job *job; /* NULL: it has none */
	bool transmits;
	uint32_t shard; /* where the walk goes on */
	uint32_t next_place;
};

/* The next session; false after the last. */
bool wh_tel_next_session(const struct wh_host *host, struct wh_tel_found *found);

/* False: no session has that number. */
bool wh_tel_find_session(const struct wh_host *host, uint64_t id, struct wh_tel_found *found);

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
