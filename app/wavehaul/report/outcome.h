/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_OUTCOME_H
#define WH_APP_OUTCOME_H

#include "job/jobs.h"

/*
 * The exit status for jobs that have ended, after one sentence on stderr where one failed. The
 * failure of one ends the others as interrupted: they speak only when there is no other reason.
 */
int wh_jobs_conclude(struct wh_job *const *jobs, uint32_t count, const char *host);

/* One sentence on stderr if the sessions that sent waited for buffers, here or at the peer. */
void wh_jobs_tell_memory(struct wh_job *const *jobs, uint32_t count);

#endif
