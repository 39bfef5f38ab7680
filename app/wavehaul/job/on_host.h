/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The frame around the work of each verb with its own port: a runtime, a host on it, and jobs on
 * that.
 */

#include "host/host.h"
#include "job/jobs.h"

struct wh_on_host {
	/* Set by the caller: */
	struct wh_host_settings settings;
	uint32_t places;                  /* the most jobs */
	const struct wh_service *service; /* NULL: peers' requests are refused */
	bool repair;
	bool may_be_probed;

	struct wh_runtime runtime;
	struct wh_host host;
	struct wh_jobs jobs;
};

/*
 * Opens them, calls `run` and closes them again; complains. Returns the exit status of `run`, or of
 * an earlier failure.
 */
int wh_on_host(struct wh_on_host *on, int (*run)(void *context), void *context);
