/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/psock.h"

#include <stdlib.h>

#include "base/assert.h"
#include "lab/sim/sim_memory.h"

struct wh_sim_psock {
	struct wh_sim_flow_stats *stats;
	uint64_t segments; /* of the file */
	uint64_t taken;
	uint32_t connections;
	struct wh_sim_tcp *tcp[];
};

static bool take_next(void *context)
{
	struct wh_sim_psock *psock = context;

	WH_ASSERT(psock->taken <= psock->segments);
	if (psock->taken == psock->segments)
		return false;
	psock->taken++;
	return true;
}

/* A connection has nothing outstanding: checks whether the whole file is acknowledged. */
static void connection_idle(void *context, uint64_t now_ps)
{
	struct wh_sim_psock *psock = context;

	if (psock->stats->finished_ps != WH_SIM_NEVER_PS ||
		wh_sim_psock_acked_pkts(psock) != psock->segments)
		return;
	WH_ASSERT(psock->taken == psock->segments);
	psock->stats->finished_ps = now_ps;
}

struct wh_sim_psock *wh_sim_psock_create(struct wh_sim *sim, const struct wh_sim_tcp_config *config,
	uint32_t connections, uint32_t from_node, uint32_t to_node, uint32_t flow)
{
	WH_ASSERT(connections > 0);

	struct wh_sim_psock *psock =
		wh_sim_allocate(sizeof(*psock) + connections * sizeof(psock->tcp[0]));

	psock->stats = wh_sim_flow_stats(sim, flow);
	psock->connections = connections;
	for (uint32_t i = 0; i < connections; i++) {
		psock->tcp[i] = wh_sim_tcp_create(sim, config, from_node, to_node, flow);
		wh_sim_tcp_feed(psock->tcp[i], take_next, psock);
		wh_sim_tcp_on_done(psock->tcp[i], connection_idle, psock);
	}
	return psock;
}

void wh_sim_psock_destroy(struct wh_sim_psock *psock)
{
	if (psock == NULL)
		return;
	for (uint32_t i = 0; i < psock->connections; i++)
		wh_sim_tcp_destroy(psock->tcp[i]);
	free(psock);
}

void wh_sim_psock_start(struct wh_sim_psock *psock, uint64_t now_ps, uint64_t segments)
{
	WH_ASSERT(psock->segments == 0 && segments > 0);
	psock->segments = segments;
	for (uint32_t i = 0; i < psock->connections; i++)
		wh_sim_tcp_offer(psock->tcp[i], now_ps, 0);
}

void wh_sim_psock_stop(struct wh_sim_psock *psock)
{
	psock->segments = psock->taken;
}

double wh_sim_psock_cwnd_pkts(const struct wh_sim_psock *psock)
{
	double sum = 0;

	for (uint32_t i = 0; i < psock->connections; i++)
		sum += wh_sim_tcp_cwnd_pkts(psock->tcp[i]);
	return sum;
}

uint64_t wh_sim_psock_acked_pkts(const struct wh_sim_psock *psock)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < psock->connections; i++)
		sum += wh_sim_tcp_acked_pkts(psock->tcp[i]);
	return sum;
}
