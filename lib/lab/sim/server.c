/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/server.h"

#include "base/assert.h"

static void end_job(void *context, uint64_t now_ps)
{
	struct wh_sim_server *server = context;
	const struct wh_sim_duty *duty = &server->duty[server->turn];

	WH_ASSERT(server->busy);
	server->busy = false;
	server->turn = (server->turn + 1) % server->duties;
	duty->end(server->context, now_ps);
	wh_sim_server_ask(server, now_ps);
}

void wh_sim_server_init(struct wh_sim_server *server, struct wh_sim_events *events, void *context)
{
	*server = (struct wh_sim_server){.events = events, .context = context};
	wh_sim_event_init(&server->done, end_job, server);
}

void wh_sim_server_add(struct wh_sim_server *server, const struct wh_sim_duty *duty)
{
	WH_ASSERT(server->duties < WH_SIM_DUTIES_MAX && !server->busy);
	server->duty[server->duties++] = *duty;
}

void wh_sim_server_ask(struct wh_sim_server *server, uint64_t now_ps)
{
	for (uint32_t i = 0; i < server->duties && !server->busy; i++) {
		const struct wh_sim_duty *duty = &server->duty[server->turn];

		if (!duty->begin(server->context, now_ps)) {
			server->turn = (server->turn + 1) % server->duties;
			continue;
		}
		server->busy = true;
		server->jobs++;
		server->busy_ps += duty->job_ps;
		wh_sim_event_at(server->events, &server->done, now_ps + duty->job_ps);
	}
}

void wh_sim_server_stop(struct wh_sim_server *server)
{
	wh_sim_event_cancel(server->events, &server->done);
	server->busy = false;
}
