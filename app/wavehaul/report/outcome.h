/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "job/jobs.h"

/*
 * The exit status for ended jobs, after one sentence on stderr if one failed. A failed job ends the
 * others as interrupted: those are reported only if there is no other reason.
 */
int wh_jobs_conclude(struct wh_job *const *jobs, uint32_t count, const char *host);

/* One sentence on stderr if the sending sessions waited for buffers, here or at the peer. */
void wh_jobs_tell_memory(struct wh_job *const *jobs, uint32_t count);
