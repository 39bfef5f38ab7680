/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/scenario/scenario.h"

#include <assert.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"
#include "lab/sim/sim_memory.h"
#include "lab/tcp/psock.h"

/*
 * Starts and packet numbers have a generator of their own, so that the network's draws do not
 * change them.
 */
#define FLOWS_SEED UINT64_C(0x666c6f7773)

#define WINDOW_PKTS_LEAST 64
#define PS_PER_US         (1000.0 * WH_PS_PER_NS)

static_assert((WINDOW_PKTS_LEAST & (WINDOW_PKTS_LEAST - 1)) == 0, "a window is a power of two");
static_assert((WH_WINDOW_PACKETS_MAX & (WH_WINDOW_PACKETS_MAX - 1)) == 0, "and so is the largest");

struct flow {
	struct wh_scenario_run *run;
	struct wh_sim *sim;
	const struct wh_scenario_group *group;
	uint32_t number;
	uint32_t member;
	uint64_t start_ps;
	uint64_t stop_ps;
	uint64_t size_bytes;
	struct wh_sim_event start;
	struct wh_sim_event stop;
	struct wh_sim_event step;
	struct wh_sim_event more;
	uint32_t next_step;
	union {
		struct wh_sim_engine *engine;
		struct wh_sim_tcp *tcp;
		struct wh_sim_psock *psock;
		struct wh_sim_traffic *source;
		struct wh_sim_probe *probe;
	};
};

struct wh_scenario_run {
	const struct wh_scenario *scenario;
	struct wh_sim *sim;
	struct wh_monitor *monitor;
	struct flow *flows;
	uint32_t n_flows;
};

uint32_t wh_scenario_flows(const struct wh_scenario *scenario)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < scenario->n_groups; i++)
		count += scenario->groups[i].count;
	return count;
}

static struct wh_sim *build_network(const struct wh_scenario *scenario, uint64_t seed)
{
	struct wh_sim *sim = wh_sim_create(seed);

	for (uint32_t i = 0; i < scenario->n_nodes; i++)
		wh_sim_add_node(sim);
	for (uint32_t i = 0; i < scenario->n_links; i++)
		wh_sim_add_link(sim, &scenario->links[i]);
	return sim;
}

uint32_t wh_scenario_first_cut_off(const struct wh_scenario *scenario)
{
	struct wh_sim *sim = build_network(scenario, 0);
	uint32_t i = 0;

	for (; i < scenario->n_groups; i++) {
		const struct wh_scenario_group *group = &scenario->groups[i];

		if (wh_sim_next_link(sim, group->from, group->to) == WH_SIM_NO_LINK ||
			wh_sim_next_link(sim, group->to, group->from) == WH_SIM_NO_LINK)
			break;
	}
	wh_sim_destroy(sim);
	return i;
}

static uint64_t most_of(uint64_t value, const struct wh_sim_steps *steps)
{
	for (uint32_t i = 0; i < steps->count; i++)
		value = wh_max_u64(value, steps->step[i].value);
	return value;
}

/* A path one way, or there and back, with the largest rate and delay that each link ever has. */
struct way {
	double delay_ps;
	double queued_pkts;
	uint64_t rate_bps; /* of the slowest link */
};

/* False without a path. */
static bool walk(const struct wh_scenario *scenario, struct wh_sim *sim, uint32_t from, uint32_t to,
	struct way *way)
{
	while (from != to) {
		uint32_t number = wh_sim_next_link(sim, from, to);
		const struct wh_sim_link_config *link = &scenario->links[number];

		if (number == WH_SIM_NO_LINK)
			return false;
		way->delay_ps += (double)most_of(link->delay_ps, &link->delay_steps);
		way->queued_pkts += link->queue.limit_pkts;
		way->rate_bps =
			wh_min_u64(way->rate_bps, most_of(link->rate_bps, &link->rate_steps));
		from = link->to;
	}
	return true;
}

/* 0 without a path. The way back adds its delay only. */
static double way_pkts(const struct wh_scenario *scenario, uint32_t from, uint32_t to,
	uint32_t packet_bytes, uint32_t period_us)
{
	struct wh_sim *sim = build_network(scenario, 0);
	struct way there = {.rate_bps = UINT64_MAX};
	struct way back = {.rate_bps = UINT64_MAX};
	bool joined = walk(scenario, sim, from, to, &there) && walk(scenario, sim, to, from, &back);

	WH_ASSERT(packet_bytes > 0);
	wh_sim_destroy(sim);
	if (!joined)
		return 0.0;

	double span_ps = there.delay_ps + back.delay_ps + (double)period_us * PS_PER_US;

	return (double)there.rate_bps * (span_ps / (double)WH_PS_PER_S) / (8.0 * packet_bytes) +
	       there.queued_pkts;
}

void wh_scenario_group_tcp(struct wh_scenario_group *group, enum wh_scenario_agent agent,
	enum wh_sim_tcp_variety variety, uint32_t head_bytes)
{
	WH_ASSERT(agent == WH_SCENARIO_TCP || agent == WH_SCENARIO_PSOCK);
	WH_ASSERT(head_bytes > 0 && head_bytes < group->packet_bytes);
	group->agent = agent;
	group->payload_bytes = group->packet_bytes - head_bytes;
	wh_sim_tcp_config_init(&group->tcp, variety);
	group->tcp.segment_bytes = group->payload_bytes;
	group->tcp.head_bytes = head_bytes;
}

uint32_t wh_scenario_window_pkts(const struct wh_scenario *scenario, uint32_t from, uint32_t to,
	uint32_t packet_bytes, uint32_t period_us)
{
	double pkts = 2.0 * way_pkts(scenario, from, to, packet_bytes, period_us);
	uint32_t window = WINDOW_PKTS_LEAST;

	while (window < WH_WINDOW_PACKETS_MAX && window < pkts)
		window *= 2;
	return window;
}

static void start_flow(void *context, uint64_t now_ps)
{
	struct flow *flow = context;
	const struct wh_scenario_group *group = flow->group;
	uint64_t segments = UINT64_MAX;

	WH_ASSERT(now_ps == flow->start_ps);
	WH_ASSERT(flow->size_bytes == WH_OBJECT_BYTES_UNKNOWN || group->payload_bytes > 0);
	if (flow->size_bytes != WH_OBJECT_BYTES_UNKNOWN)
		segments = (flow->size_bytes + group->payload_bytes - 1) / group->payload_bytes;
	switch (group->agent) {
	case WH_SCENARIO_ENGINE:
		wh_sim_engine_start(flow->engine, now_ps);
		break;
	case WH_SCENARIO_TCP:
		wh_sim_tcp_offer(flow->tcp, now_ps, segments);
		break;
	case WH_SCENARIO_PSOCK:
		wh_sim_psock_start(flow->psock, now_ps, segments);
		break;
	case WH_SCENARIO_SOURCE:
		wh_sim_traffic_start(flow->source, now_ps);
		break;
	case WH_SCENARIO_PROBE:
		wh_sim_probe_start(flow->probe, now_ps);
		break;
	}
}

static void stop_flow(void *context, uint64_t now_ps)
{
	struct flow *flow = context;

	(void)now_ps;
	switch (flow->group->agent) {
	case WH_SCENARIO_ENGINE:
		wh_sim_engine_stop(flow->engine);
		break;
	case WH_SCENARIO_TCP:
		wh_sim_event_cancel(wh_sim_events(flow->sim), &flow->more);
		wh_sim_tcp_stop(flow->tcp);
		break;
	case WH_SCENARIO_PSOCK:
		wh_sim_psock_stop(flow->psock);
		break;
	case WH_SCENARIO_SOURCE:
		wh_sim_event_cancel(wh_sim_events(flow->sim), &flow->step);
		wh_sim_traffic_stop(flow->source);
		break;
	case WH_SCENARIO_PROBE:
		wh_sim_probe_stop(flow->probe);
		break;
	}
}

static void step_flow(void *context, uint64_t now_ps)
{
	struct flow *flow = context;
	const struct wh_scenario_group *group = flow->group;

	WH_ASSERT(group->agent == WH_SCENARIO_SOURCE && flow->next_step < group->n_steps);
	wh_sim_traffic_set_rate(flow->source, now_ps, group->steps[flow->next_step++].rate_bps);
	if (flow->next_step < group->n_steps)
		wh_sim_event_at(
			wh_sim_events(flow->sim), &flow->step, group->steps[flow->next_step].at_ps);
}

static void offer_more(void *context, uint64_t now_ps)
{
	struct flow *flow = context;

	WH_ASSERT(flow->group->agent == WH_SCENARIO_TCP);
	wh_sim_tcp_offer(flow->tcp, now_ps, UINT64_MAX);
}

static void create_agent(struct flow *flow, uint64_t seed)
{
	const struct wh_scenario_group *group = flow->group;
	struct wh_sim_engine_config engine;

	switch (group->agent) {
	case WH_SCENARIO_ENGINE:
		engine = group->engine;
		engine.mtu_bytes = group->packet_bytes;
		engine.size_bytes = flow->size_bytes;
		flow->engine = wh_sim_engine_create(
			flow->sim, &engine, group->from, group->to, flow->number, seed);
		break;
	case WH_SCENARIO_TCP:
		flow->tcp = wh_sim_tcp_create(
			flow->sim, &group->tcp, group->from, group->to, flow->number);
		break;
	case WH_SCENARIO_PSOCK:
		flow->psock = wh_sim_psock_create(flow->sim, &group->tcp, group->connections,
			group->from, group->to, flow->number);
		break;
	case WH_SCENARIO_SOURCE:
		flow->source = wh_sim_traffic_create(
			flow->sim, &group->source, group->from, group->to, flow->number);
		break;
	case WH_SCENARIO_PROBE:
		flow->probe = wh_sim_probe_create(
			flow->sim, &group->probe, group->from, group->to, flow->number, seed);
		break;
	}
}

static void set_events(struct flow *flow, uint64_t duration_ps)
{
	const struct wh_scenario_group *group = flow->group;
	struct wh_sim_events *events = wh_sim_events(flow->sim);

	wh_sim_event_init(&flow->start, start_flow, flow);
	wh_sim_event_init(&flow->stop, stop_flow, flow);
	wh_sim_event_init(&flow->step, step_flow, flow);
	wh_sim_event_init(&flow->more, offer_more, flow);
	if (flow->start_ps > duration_ps || flow->start_ps >= flow->stop_ps)
		return;
	wh_sim_event_at(events, &flow->start, flow->start_ps);
	if (flow->stop_ps <= duration_ps)
		wh_sim_event_at(events, &flow->stop, flow->stop_ps);
	if (group->n_steps > 0)
		wh_sim_event_at(events, &flow->step, group->steps[0].at_ps);
	if (group->more_ps > flow->start_ps && group->more_ps <= duration_ps)
		wh_sim_event_at(events, &flow->more, group->more_ps);
}

/* Times from the flow's own values or its group's; `later` is its fraction of the spread. */
static void set_times(struct flow *flow, double later)
{
	const struct wh_scenario_group *group = flow->group;
	const struct wh_scenario_member *own =
		group->members == NULL ? NULL : &group->members[flow->member];

	flow->stop_ps = own == NULL ? group->stop_ps : own->stop_ps;
	flow->size_bytes = own == NULL ? group->size_bytes : own->size_bytes;
	flow->start_ps = group->start_ps + flow->member * group->stagger_ps +
			 (uint64_t)(later * (double)group->spread_ps);
	if (own != NULL && own->start_ps != WH_SIM_NEVER_PS)
		flow->start_ps = own->start_ps;
}

static void add_flow(struct wh_scenario_run *run, const struct wh_scenario_group *group,
	uint32_t member, struct wh_prng *prng)
{
	struct flow *flow = &run->flows[run->n_flows];
	double later = wh_prng_unit(prng);
	uint64_t seed = wh_prng_u64(prng);

	flow->run = run;
	flow->sim = run->sim;
	flow->group = group;
	flow->member = member;
	flow->number = wh_sim_add_flow(run->sim);
	set_times(flow, later);
	WH_ASSERT(flow->number == run->n_flows);
	run->n_flows++;
	create_agent(flow, seed);
	set_events(flow, run->scenario->duration_ps);
}

static void look(void *context, uint32_t number, struct wh_monitor_look *seen)
{
	const struct wh_scenario_run *run = context;
	const struct flow *flow = &run->flows[number];

	switch (flow->group->agent) {
	case WH_SCENARIO_ENGINE:
		seen->window_pkts = wh_sim_engine_window_pkts(flow->engine);
		seen->rate_bps = wh_sim_engine_rate_bps(flow->engine);
		if (seen->rate_bps > 0)
			seen->mode = wh_session_pace(wh_sim_engine_sender(flow->engine)).mode;
		break;
	case WH_SCENARIO_TCP:
		seen->window_pkts = wh_sim_tcp_cwnd_pkts(flow->tcp);
		seen->sequence_pkts = wh_sim_tcp_next_pn(flow->tcp);
		return;
	case WH_SCENARIO_PSOCK:
		seen->window_pkts = wh_sim_psock_cwnd_pkts(flow->psock);
		break;
	case WH_SCENARIO_SOURCE:
	case WH_SCENARIO_PROBE:
		break;
	}

	const struct wh_sim_flow_stats *stats = wh_sim_flow_stats(run->sim, number);

	seen->sequence_pkts = stats->sent_pkts - stats->retransmitted_pkts;
}

struct wh_scenario_run *wh_scenario_run_create(const struct wh_scenario *scenario, uint64_t seed)
{
	struct wh_scenario_run *run = wh_sim_allocate(sizeof(*run));
	uint32_t n_flows = wh_scenario_flows(scenario);
	struct wh_prng prng;

	wh_prng_init(&prng, seed ^ FLOWS_SEED);
	run->scenario = scenario;
	run->sim = build_network(scenario, seed);
	run->flows = wh_sim_allocate((n_flows + 1) * sizeof(*run->flows));
	for (uint32_t i = 0; i < scenario->n_groups; i++)
		for (uint32_t k = 0; k < scenario->groups[i].count; k++)
			add_flow(run, &scenario->groups[i], k, &prng);
	WH_ASSERT(run->n_flows == n_flows);
	run->monitor = wh_monitor_create(run->sim, &(struct wh_monitor_config){
							   .marks_ps = scenario->marks_ps,
							   .n_marks = scenario->n_marks,
							   .series_ps = scenario->series_ps,
							   .n_series = scenario->n_series,
							   .interval_ps = scenario->interval_ps,
							   .until_ps = scenario->duration_ps,
							   .n_flows = n_flows,
							   .look = look,
							   .context = run,
						   });
	return run;
}

static void destroy_agent(struct flow *flow)
{
	struct wh_sim_events *events = wh_sim_events(flow->sim);

	wh_sim_event_cancel(events, &flow->start);
	wh_sim_event_cancel(events, &flow->stop);
	wh_sim_event_cancel(events, &flow->step);
	wh_sim_event_cancel(events, &flow->more);
	switch (flow->group->agent) {
	case WH_SCENARIO_ENGINE:
		wh_sim_engine_destroy(flow->engine);
		break;
	case WH_SCENARIO_TCP:
		wh_sim_tcp_destroy(flow->tcp);
		break;
	case WH_SCENARIO_PSOCK:
		wh_sim_psock_destroy(flow->psock);
		break;
	case WH_SCENARIO_SOURCE:
		wh_sim_traffic_destroy(flow->source);
		break;
	case WH_SCENARIO_PROBE:
		wh_sim_probe_destroy(flow->probe);
		break;
	}
}

void wh_scenario_run_destroy(struct wh_scenario_run *run)
{
	if (run == NULL)
		return;
	wh_monitor_destroy(run->monitor);
	for (uint32_t i = 0; i < run->n_flows; i++)
		destroy_agent(&run->flows[i]);
	wh_sim_destroy(run->sim);
	free(run->flows);
	free(run);
}

void wh_scenario_run_until(struct wh_scenario_run *run, uint64_t until_ps)
{
	WH_ASSERT(until_ps <= run->scenario->duration_ps);
	wh_sim_run(run->sim, until_ps);
}

const struct wh_sim *wh_scenario_run_sim(const struct wh_scenario_run *run)
{
	return run->sim;
}

const struct wh_monitor *wh_scenario_run_monitor(const struct wh_scenario_run *run)
{
	return run->monitor;
}

uint64_t wh_scenario_run_start_ps(const struct wh_scenario_run *run, uint32_t flow)
{
	WH_ASSERT(flow < run->n_flows);
	return run->flows[flow].start_ps;
}

const struct wh_sim_flow_stats *wh_scenario_run_stats(
	const struct wh_scenario_run *run, uint32_t flow)
{
	return wh_sim_flow_stats(run->sim, flow);
}

const struct wh_findings *wh_scenario_run_findings(const struct wh_scenario_run *run, uint32_t flow)
{
	WH_ASSERT(flow < run->n_flows && run->flows[flow].group->agent == WH_SCENARIO_PROBE);
	return wh_sim_probe_findings(run->flows[flow].probe);
}

const struct wh_sim_sttp_seen *wh_scenario_run_sttp(
	const struct wh_scenario_run *run, uint32_t flow)
{
	WH_ASSERT(flow < run->n_flows);
	return run->flows[flow].group->agent == WH_SCENARIO_TCP
		       ? wh_sim_tcp_sttp_seen(run->flows[flow].tcp)
		       : NULL;
}
