/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include <jansson.h>

/* The columns of a list of jobs; those of unlimited width come last. */
#define WH_JOB_ROW_COLUMNS "job state verb percent moved_bytes now_bps eta_s began from to error"

/*
 * A job as people read it, from job.list or job.show. The copy has `from` and `to`, lists of
 * HOST:PATH or of paths of this host; a brief one has the first and how many more there are.
 * Members that tell nothing are left out, such as the error of a job without one.
 */
json_t *wh_job_row(const json_t *job, bool brief);

/* What is told of a single job, in this order; ended by NULL. */
struct wh_job_fact {
	const char *key;
	const char *name;
};

extern const struct wh_job_fact wh_job_facts[];
