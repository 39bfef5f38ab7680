/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_SERVER_H
#define WH_SIM_SERVER_H

/*
 * A processor that does one job at a time, and each for as long as its duty takes. Duties take
 * turns: after one has had its job the next is asked first.
 */

#include <stdbool.h>
#include <stdint.h>

#include "sim/event.h"

struct wh_sim_duty {
	/* True: there was something to do, and it has begun. */
	bool (*begin)(void *context, uint64_t now_ps);
	/* The job is done; jobs of this server may be asked for from within. */
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

/* There may be something to do. */
void wh_sim_server_ask(struct wh_sim_server *server, uint64_t now_ps);

/* Lets go of the job in hand. */
void wh_sim_server_stop(struct wh_sim_server *server);

#endif
