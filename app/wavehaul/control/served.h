/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CONTROL_SERVED_H
#define WH_CONTROL_SERVED_H

/* What the control socket tells of a process that serves: its host, its jobs, its peers. */

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
	char state[PATH_MAX];     /* "": nothing is kept */
	int64_t began_s;          /* of the clock on the wall */
	_Atomic uint32_t drained; /* how often the end was asked for */
};

/* Adds the commands; `served` stays the caller's. */
void wh_served_add(struct wh_control_tables *tables, struct wh_served *served);

/* In a command: "option" has "value" from now on, in that session and all lanes of its transfer. */
void wh_served_set_option(struct wh_control_call *call, uint64_t session);

#endif
