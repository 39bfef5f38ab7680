/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The frame around the work of each verb with its own port: a runtime, a host on it, and jobs on
 * that.
 */

#include "host/host.h"
#include "job/jobs.h"

struct wh_on_host {
	struct wh_host *host;
	struct wh_runtime *runtime;
	const struct wh_host_settings *settings;
	uint32_t places; /* the most jobs */
	struct wh_jobs *jobs;
	const struct wh_service *service; /* NULL: peers' requests are refused */
	bool repair;
	bool may_be_probed;
};

/*
 * Opens them, calls `run` and closes them again; complains. Returns the exit status of `run`, or of
 * an earlier failure.
 */
int wh_on_host(const struct wh_on_host *wanted, int (*run)(void *context), void *context);
