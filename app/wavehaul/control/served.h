/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Commands of the control socket about a process that serves: its host, jobs and peers. */

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

#include "cli/settings.h"
#include "control/control.h"
#include "host/host.h"
#include "job/jobs.h"

struct wh_served {
	const struct wh_settings *settings;
	struct wh_host *host;
	char root[PATH_MAX]; /* resolved */
	struct wh_jobs *jobs;
	char state[PATH_MAX];     /* "": no state is kept */
	int64_t began_s;          /* time of day */
	_Atomic uint32_t drained; /* number of requests to end */
};

/* Adds the commands; `served` stays the caller's. */
void wh_served_add(struct wh_control_tables *tables, struct wh_served *served);

/* In a command: sets "option" to "value" in that session and all lanes of its transfer. */
void wh_served_set_option(struct wh_control_call *call, uint64_t session);
