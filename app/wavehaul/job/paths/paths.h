/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The paths of a job whose client has several ports: a session each way on each, and one stream
 * each way by all of them (lib/stripe). The job begins on one. Once the server is ready, and has
 * named its own ports, the client opens the others under the same SA: its i-th further port with
 * the server's i-th further address. A path that ends is left, its chunks go by the others, and the
 * client opens it again. The job ends when the last path has.
 *
 *   client               server
 *   OPEN "path 1 of 0123456789abcdef"  ------>  the job with that number; a session back
 *               <------  OPEN "path 1 of 0123456789abcdef"
 */

#include "job/job.h"

#define WH_PATH_NAME "path %" PRIu32 " of %016" PRIx64

/* Of a stream's name: the path and the number of its job. False: it is no such name. */
bool wh_path_name_parse(const char *name, uint32_t *index, uint64_t *reply);

static inline bool wh_job_is_striped(const struct wh_job *job)
{
	return job->request.ports > 1;
}

/* When our stream on the first path is open, before the job's ends. 0 or -ENOMEM. */
int wh_paths_begin(struct wh_job *job);

/* The FIFOs of the job's source or sink: those of its stripe, or of its only sessions. */
struct wh_fifo *wh_paths_free(const struct wh_job *job);
struct wh_fifo *wh_paths_ready(const struct wh_job *job);
struct wh_fifo *wh_paths_deliver(const struct wh_job *job);
struct wh_fifo *wh_paths_recycled(const struct wh_job *job);

/* One step while the job runs: opens, uses and leaves paths. The work done. */
int32_t wh_paths_poll(struct wh_job *job, uint64_t now_tsc);

/* Before a session is left that may be gone before the job's sums are taken. */
void wh_path_note(struct wh_job *job, struct wh_job_path *path, bool ours);

/* A new rate for all of ours. */
void wh_paths_set_rate(const struct wh_job *job, uint64_t rate_bps);

/* Call when all sessions are gone. */
void wh_paths_end(struct wh_job *job);

/*
 * What all sessions of our stream, or of the peer's, have counted so far and moved. Moments are the
 * main path's.
 */
void wh_paths_sum(const struct wh_job *job, bool ours, struct wh_path_sum *sum);
