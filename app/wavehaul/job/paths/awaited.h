/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Jobs that await streams of their peers: a client's the server's answer, and those with several
 * paths a stream on each. A stream says by its name which job it is for. The list is under a lock:
 * workers change it, cores that receive look jobs up.
 */

#include "job/jobs.h"

/* The job's worker, or its maker. */
void wh_job_await(struct wh_job *job);
void wh_job_await_no_more(struct wh_job *job); /* if it does */

/* The chunk size of a stream of that name which a job here awaits; 0: none does. */
uint32_t wh_awaited_chunk_bytes(struct wh_jobs *jobs, const char *name,
	const struct wh_address *peer, const struct wh_sa *sa);

/*
 * That job, with the seat of its path *index set to TAKING; NULL: there is none, or its seat is not
 * free.
 */
struct wh_job *wh_awaited_take(struct wh_jobs *jobs, const char *name,
	const struct wh_address *peer, const struct wh_sa *sa, uint32_t *index);
