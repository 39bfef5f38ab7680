/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SIM_JOBS_H
#define WH_APP_SIM_JOBS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Jobs in processes of their own, so many at once. `work` makes a text in the job's process, to be
 * freed; NULL after a complaint. `take` gets the texts here, in the order of the jobs, whatever
 * finishes first. An operator who interrupts it ends them all.
 */
struct wh_jobs_plan {
	uint32_t n_jobs;
	uint32_t at_once;
	bool progress; /* on stderr */
	char *(*work)(void *context, uint32_t job);
	bool (*take)(void *context, uint32_t job, const char *text);
	void *context;
};

/* WH_EXIT_OK, or the exit status after a complaint. */
int wh_jobs_run(const struct wh_jobs_plan *plan);

#endif
