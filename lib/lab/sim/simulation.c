/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/simulation.h"

#include <stdlib.h>

#include "base/assert.h"
#include "lab/sim/link.h"
#include "lab/sim/route.h"
#include "lab/sim/sim_memory.h"

struct agent {
	uint32_t node;
	void (*receive)(void *context, uint64_t now_ps, struct wh_sim_packet *packet);
	void *context;
};

struct wh_sim {
	struct wh_sim_events events;
	struct wh_sim_pool pool;
	struct wh_prng prng;
	uint64_t seed;
	uint32_t n_nodes;
	uint32_t n_links;
	uint32_t n_agents;
	uint32_t n_flows;
	struct wh_sim_link **links;
	struct agent *agents;
	struct wh_sim_flow_stats **flows;
	uint32_t **routes; /* per destination node: each node's first link; NULL until needed */
};

struct wh_sim *wh_sim_create(uint64_t seed)
{
	struct wh_sim *sim = wh_sim_allocate(sizeof(*sim));

	sim->seed = seed;
	wh_sim_events_init(&sim->events);
	wh_sim_pool_init(&sim->pool);
	wh_prng_init(&sim->prng, seed);
	return sim;
}

void wh_sim_destroy(struct wh_sim *sim)
{
	if (sim == NULL)
		return;
	for (uint32_t i = 0; sim->routes != NULL && i < sim->n_nodes; i++)
		free(sim->routes[i]);
	free(sim->routes);
	for (uint32_t i = 0; i < sim->n_links; i++)
		wh_sim_link_destroy(sim->links[i]);
	free(sim->links);
	for (uint32_t i = 0; i < sim->n_flows; i++)
		free(sim->flows[i]);
	free(sim->flows);
	free(sim->agents);
	wh_sim_pool_free(&sim->pool);
	wh_sim_events_free(&sim->events);
	free(sim);
}

/* Room for one more element; the capacity is the power of two at or above the count. */
static void *make_room(void *array, uint32_t count, size_t bytes)
{
	bool full = (count & (count - 1)) == 0;

	return full ? wh_sim_resize(array, bytes * (count == 0 ? 1 : 2 * (size_t)count)) : array;
}

uint32_t wh_sim_add_node(struct wh_sim *sim)
{
	WH_ASSERT(sim->routes == NULL);

	return sim->n_nodes++;
}

uint32_t wh_sim_add_link(struct wh_sim *sim, const struct wh_sim_link_config *config)
{
	WH_ASSERT(sim->routes == NULL);
	WH_ASSERT(config->from < sim->n_nodes && config->to < sim->n_nodes);
	WH_ASSERT(config->from != config->to);

	/*
	 * Any odd number will do: seeds of links differ from each other and from the simulation's.
	 */
	uint64_t seed = sim->seed + UINT64_C(0xd1342543de82ef95) * (sim->n_links + UINT64_C(1));

	sim->links = make_room(sim->links, sim->n_links, sizeof(sim->links[0]));
	sim->links[sim->n_links] = wh_sim_link_create(sim, config, seed);
	return sim->n_links++;
}

uint32_t wh_sim_add_flow(struct wh_sim *sim)
{
	struct wh_sim_flow_stats *flow = wh_sim_allocate(sizeof(*flow));

	flow->opened_ps = WH_SIM_NEVER_PS;
	flow->first_sent_ps = WH_SIM_NEVER_PS;
	flow->finished_ps = WH_SIM_NEVER_PS;
	sim->flows = make_room(sim->flows, sim->n_flows, sizeof(sim->flows[0]));
	sim->flows[sim->n_flows] = flow;
	return sim->n_flows++;
}

uint32_t wh_sim_add_agent(struct wh_sim *sim, uint32_t node,
	void (*receive)(void *context, uint64_t now_ps, struct wh_sim_packet *packet),
	void *context)
{
	WH_ASSERT(node < sim->n_nodes);

	sim->agents = make_room(sim->agents, sim->n_agents, sizeof(sim->agents[0]));
	sim->agents[sim->n_agents] = (struct agent){node, receive, context};
	return sim->n_agents++;
}

/* Computed per destination on demand: in a large topology few nodes are destinations. */
uint32_t wh_sim_next_link(struct wh_sim *sim, uint32_t node, uint32_t to)
{
	WH_DEBUG_ASSERT(node < sim->n_nodes && to < sim->n_nodes);
	if (__builtin_expect(sim->routes == NULL, 0))
		sim->routes = wh_sim_allocate(sim->n_nodes * sizeof(sim->routes[0]));
	if (__builtin_expect(sim->routes[to] == NULL, 0))
		sim->routes[to] = wh_sim_route(sim->links, sim->n_links, sim->n_nodes, to);
	return sim->routes[to][node];
}

void wh_sim_run(struct wh_sim *sim, uint64_t until_ps)
{
	wh_sim_events_run(&sim->events, until_ps);
	wh_sim_check(sim);
}

uint64_t wh_sim_now_ps(const struct wh_sim *sim)
{
	return sim->events.now_ps;
}

struct wh_sim_events *wh_sim_events(struct wh_sim *sim)
{
	return &sim->events;
}

struct wh_sim_pool *wh_sim_pool(struct wh_sim *sim)
{
	return &sim->pool;
}

struct wh_prng *wh_sim_prng(struct wh_sim *sim)
{
	return &sim->prng;
}

static void go_on(struct wh_sim *sim, uint32_t node, uint32_t to, struct wh_sim_packet *packet)
{
	uint32_t link = wh_sim_next_link(sim, node, to);

	WH_ASSERT(link != WH_SIM_NO_LINK && sim->links[link]->config.from == node);
	wh_sim_link_enter(sim->links[link], sim->events.now_ps, packet);
}

void wh_sim_send(struct wh_sim *sim, uint32_t from_node, struct wh_sim_packet *packet)
{
	WH_ASSERT(from_node < sim->n_nodes);
	WH_ASSERT(packet->to < sim->n_agents && packet->flow < sim->n_flows);

	go_on(sim, from_node, sim->agents[packet->to].node, packet);
}

void wh_sim_arrive(struct wh_sim *sim, uint64_t now_ps, uint32_t node, struct wh_sim_packet *packet)
{
	const struct agent *agent = &sim->agents[packet->to];

	WH_DEBUG_ASSERT(packet->to < sim->n_agents && now_ps == sim->events.now_ps);
	if (agent->node == node)
		agent->receive(agent->context, now_ps, packet);
	else
		go_on(sim, node, agent->node, packet);
}

void wh_sim_lose(struct wh_sim *sim, struct wh_sim_packet *packet)
{
	sim->flows[packet->flow]->dropped_pkts++;
	sim->flows[packet->flow]->dropped_bytes += packet->bytes;
	wh_sim_packet_put(&sim->pool, packet);
}

uint64_t wh_sim_hops(const struct wh_sim *sim)
{
	uint64_t hops = 0;

	for (uint32_t i = 0; i < sim->n_links; i++)
		hops += sim->links[i]->stats.entered_pkts;
	return hops;
}

uint32_t wh_sim_links(const struct wh_sim *sim)
{
	return sim->n_links;
}

static struct wh_sim_link *find_link(const struct wh_sim *sim, uint32_t link)
{
	WH_ASSERT(link < sim->n_links);

	return sim->links[link];
}

const struct wh_sim_link_stats *wh_sim_link_stats(const struct wh_sim *sim, uint32_t link)
{
	struct wh_sim_link *found = find_link(sim, link);

	wh_sim_link_count(found, sim->events.now_ps);
	found->stats.queue_pkts = found->queue.fifo.count_pkts;
	return &found->stats;
}

const struct wh_sim_link_config *wh_sim_link_config(const struct wh_sim *sim, uint32_t link)
{
	return &find_link(sim, link)->config;
}

const uint64_t *wh_sim_link_delays(const struct wh_sim *sim, uint32_t link)
{
	return find_link(sim, link)->delays;
}

struct wh_sim_flow_stats *wh_sim_flow_stats(struct wh_sim *sim, uint32_t flow)
{
	WH_ASSERT(flow < sim->n_flows);

	return sim->flows[flow];
}

void wh_sim_check(const struct wh_sim *sim)
{
	uint64_t held_pkts = 0;

	for (uint32_t i = 0; i < sim->n_links; i++)
		held_pkts += wh_sim_link_check(sim->links[i]);
	WH_ASSERT(held_pkts <= sim->pool.in_use_pkts);
}
