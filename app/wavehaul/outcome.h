/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_OUTCOME_H
#define WH_APP_OUTCOME_H

#include "jobs.h"

/* The exit status for a job that is over, after one sentence on stderr where it failed. */
int wh_job_conclude(const struct wh_job *job, const char *host);

#endif
