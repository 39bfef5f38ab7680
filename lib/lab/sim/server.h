/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A processor that does one job at a time, each for the duration of its duty. Duties take turns:
 * after one has had its job the next is asked first.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lab/sim/event.h"

struct wh_sim_duty {
	/* True: there was a job, and it has begun. */
	bool (*begin)(void *context, uint64_t now_ps);
	/* The job is done; may call wh_sim_server_ask for this server. */
	void (*end)(void *context, uint64_t now_ps);
	uint64_t job_ps;
};

#define WH_SIM_DUTIES_MAX 4

struct wh_sim_server {
	struct wh_sim_events *events;
	void *context;
	struct wh_sim_duty duty[WH_SIM_DUTIES_MAX];
	uint32_t duties;
	uint32_t turn;
	struct wh_sim_event done;
	bool busy;
	uint64_t busy_ps;
	uint64_t jobs;
};

void wh_sim_server_init(struct wh_sim_server *server, struct wh_sim_events *events, void *context);
void wh_sim_server_add(struct wh_sim_server *server, const struct wh_sim_duty *duty);

/* To be called when there may be a job. */
void wh_sim_server_ask(struct wh_sim_server *server, uint64_t now_ps);

/* Abandons the current job. */
void wh_sim_server_stop(struct wh_sim_server *server);
