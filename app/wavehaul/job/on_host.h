/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_JOB_ON_HOST_H
#define WH_JOB_ON_HOST_H

/* What every verb with a port of its own has around its work: a host on a runtime, jobs on that. */

#include "host/host.h"
#include "job/jobs.h"

struct wh_on_host {
	struct wh_host *host;
	struct wh_runtime *runtime;
	const struct wh_host_settings *settings;
	uint32_t places; /* of jobs, at most */
	struct wh_jobs *jobs;
	const struct wh_service *service; /* NULL: whoever wants something of us is refused */
	bool repair;
	bool may_be_probed;
};

/* Opens them, runs, closes them again; complains. The exit status: of `run`, if it came so far. */
int wh_on_host(const struct wh_on_host *wanted, int (*run)(void *context), void *context);

#endif
