/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/plan_row.h"

#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "lab/scenario/scenario.h"
#include "profile/profile.h"
#include "scenario/take.h"

/* The longest simulated time, so that a person need not wait long. */
#define SIMULATED_PS_MAX (60 * WH_PS_PER_S)
#define SIMULATED_PKTS   20e6
#define ROUND_TRIPS_MIN  20

/* With this many losses a simulation yields a good average. */
#define LOSSES_MIN 50.0

#define TCP_HEAD_BYTES    40
#define PSOCK_CONNECTIONS 8
#define SEED              1

/* RFC 6298 (2.4) rounds up to a second; current systems, and ns-2, use 200 ms. */
#define RTO_MIN_S 0.2

/* RFC 9438, 5: C and beta_cubic. */
#define CUBIC_C    0.4
#define CUBIC_BETA 0.7

/* RFC 3649, 5: up to Low_Window, 38 packets, it behaves like Reno. */
#define HIGHSPEED_LOW_P 1e-3

/* RFC 3649, 3: the line through (38, 1e-3) and (83000, 1e-7) is 0.12 / p^0.835. */
#define HIGHSPEED_FACTOR   0.12
#define HIGHSPEED_EXPONENT 0.835

enum plan_kind {
	PLAN_PROFILE,
	PLAN_TCP,
	PLAN_PSOCK,
};

struct plan_agent {
	enum plan_kind kind;
	const struct wh_profile *profile;
	enum wh_sim_tcp_variety variety;
};

/*
 * A window that grows by a packet a round trip and falls by a share b of itself (RFC 5348's
 * "AIMD(a, b)"): sqrt((2 - b) / (2 b p)), which is Mathis's sqrt(3 / 2p) for half.
 */
static double additive(double fall, double loss)
{
	return sqrt((2.0 - fall) / (2.0 * fall * loss));
}

/* Padhye, Firoiu, Towsley, Kurose: "Modeling TCP throughput", 1998, (30), with b = 1. */
static double padhye(double loss, double rtt_s)
{
	double rto_s = fmax(RTO_MIN_S, 2.0 * rtt_s);
	double timeouts =
		rto_s * fmin(1.0, 3.0 * sqrt(3.0 * loss / 8.0)) * loss * (1.0 + 32.0 * loss * loss);

	return rtt_s / (rtt_s * sqrt(2.0 * loss / 3.0) + timeouts);
}

/* RFC 9438, 5.1, and 4.3 where Reno would be faster. */
static double cubic(double loss, double rtt_s)
{
	double alone = pow(CUBIC_C * (3.0 + CUBIC_BETA) / (4.0 * (1.0 - CUBIC_BETA)), 0.25) *
		       pow(rtt_s / loss, 0.75);

	return fmax(alone, additive(0.5, loss));
}

static double highspeed(double loss)
{
	return loss < HIGHSPEED_LOW_P ? HIGHSPEED_FACTOR / pow(loss, HIGHSPEED_EXPONENT)
				      : additive(0.5, loss);
}

struct wh_formula wh_formula_tcp(enum wh_sim_tcp_variety variety, double loss, double rtt_s)
{
	WH_ASSERT(loss > 0.0 && loss <= 1.0);
	WH_ASSERT(rtt_s > 0.0);
	switch (variety) {
	case WH_SIM_TCP_RENO:
	case WH_SIM_TCP_NEWRENO:
		return (struct wh_formula){"Padhye et al. 1998", padhye(loss, rtt_s)};
	case WH_SIM_TCP_SACK:
		return (struct wh_formula){"Mathis et al. 1997", additive(0.5, loss)};
	case WH_SIM_TCP_VEGAS:
		return (struct wh_formula){"AIMD by 1/4", additive(0.25, loss)};
	case WH_SIM_TCP_HIGHSPEED:
		return (struct wh_formula){"RFC 3649", highspeed(loss)};
	case WH_SIM_TCP_CUBIC:
		return (struct wh_formula){"RFC 9438", cubic(loss, rtt_s)};
	default: /* BBR is not limited by random losses */
		WH_ASSERT(variety < WH_SIM_TCP_TCPS);
		return (struct wh_formula){"none", INFINITY};
	}
}

static uint32_t count_profiles(void)
{
	uint32_t count = 0;

	while (wh_profile_at(count) != NULL)
		count++;
	return count;
}

/* Profiles, TCPs, and parallel ones. */
uint32_t wh_plan_rows(void)
{
	return count_profiles() + WH_SIM_TCP_TCPS + 1;
}

static struct plan_agent agent_of(uint32_t row)
{
	uint32_t profiles = count_profiles();

	WH_ASSERT(row < wh_plan_rows());
	if (row < profiles)
		return (struct plan_agent){.kind = PLAN_PROFILE, .profile = wh_profile_at(row)};
	if (row < profiles + WH_SIM_TCP_TCPS)
		return (struct plan_agent){
			.kind = PLAN_TCP, .variety = (enum wh_sim_tcp_variety)(row - profiles)};
	return (struct plan_agent){.kind = PLAN_PSOCK, .variety = WH_SIM_TCP_NEWRENO};
}

static void name_row(const struct plan_agent *agent, struct wh_plan_row *told)
{
	*told = (struct wh_plan_row){0};
	if (agent->kind == PLAN_PSOCK)
		snprintf(told->name, sizeof(told->name), "%d %s", PSOCK_CONNECTIONS,
			wh_sim_tcp_variety_name(agent->variety));
	else
		snprintf(told->name, sizeof(told->name), "%s",
			agent->kind == PLAN_PROFILE ? agent->profile->name
						    : wh_sim_tcp_variety_name(agent->variety));
}

static double link_pps(const struct wh_plan_link *link)
{
	WH_ASSERT(link->rate_bps > 0 && link->packet_bytes > TCP_HEAD_BYTES);
	return (double)link->rate_bps / (8.0 * link->packet_bytes);
}

static uint32_t payload_bytes(const struct wh_plan_link *link, const struct plan_agent *agent)
{
	return agent->kind == PLAN_PROFILE ? wh_sim_engine_payload_bytes(link->packet_bytes)
					   : link->packet_bytes - TCP_HEAD_BYTES;
}

/* A file transferred at full speed from the beginning; its end is known a round trip later. */
static void tell_rate(const struct wh_plan_link *link, const struct plan_agent *agent, double pps,
	struct wh_plan_row *told)
{
	WH_ASSERT(pps > 0.0);
	told->goodput_bps = 8.0 * payload_bytes(link, agent) * pps;
	told->finish_s =
		8.0 * (double)link->file_bytes / told->goodput_bps + wh_ps_to_seconds(link->rtt_ps);
}

static uint64_t span_to_simulate(const struct wh_plan_link *link)
{
	double span_s = fmin(wh_ps_to_seconds(SIMULATED_PS_MAX), SIMULATED_PKTS / link_pps(link));
	uint64_t span_ps = (uint64_t)(span_s * (double)WH_PS_PER_S);
	uint64_t least_ps = ROUND_TRIPS_MIN * link->rtt_ps;

	return span_ps > least_ps ? span_ps : least_ps;
}

/* If the link is the limit, or random losses are frequent enough, simulation is more exact. */
static bool tell_tcp(
	const struct wh_plan_link *link, const struct plan_agent *agent, struct wh_plan_row *told)
{
	double connections = agent->kind == PLAN_PSOCK ? PSOCK_CONNECTIONS : 1.0;
	struct wh_formula formula;
	double pps;

	if (link->loss == 0.0)
		return false;
	formula = wh_formula_tcp(agent->variety, link->loss, wh_ps_to_seconds(link->rtt_ps));
	pps = connections * formula.window_pkts / wh_ps_to_seconds(link->rtt_ps);
	if (pps >= link_pps(link) ||
		pps * link->loss * wh_ps_to_seconds(span_to_simulate(link)) >= LOSSES_MIN)
		return false;
	told->formula = formula.source;
	tell_rate(link, agent, pps * (1.0 - link->loss), told);
	return true;
}

bool wh_plan_row_by_formula(const struct wh_plan_link *link, uint32_t row, struct wh_plan_row *told)
{
	struct plan_agent agent = agent_of(row);

	name_row(&agent, told);
	if (agent.kind != PLAN_PROFILE)
		return tell_tcp(link, &agent, told);
	if (!agent.profile->rate_is_told)
		return false;
	told->formula = "rate minus loss";
	tell_rate(link, &agent, link_pps(link) * (1.0 - link->loss), told);
	return true;
}

static void fill_group(const struct wh_plan_link *link, const struct plan_agent *agent,
	const struct wh_scenario *scenario, struct wh_scenario_group *group)
{
	*group = (struct wh_scenario_group){
		.name = "file",
		.to = 1,
		.count = 1,
		.stop_ps = WH_SIM_NEVER_PS,
		.size_bytes = link->file_bytes,
		.packet_bytes = link->packet_bytes,
		.payload_bytes = payload_bytes(link, agent),
		.connections = PSOCK_CONNECTIONS,
	};
	if (agent->kind != PLAN_PROFILE) {
		wh_scenario_group_tcp(group,
			agent->kind == PLAN_TCP ? WH_SCENARIO_TCP : WH_SCENARIO_PSOCK,
			agent->variety, TCP_HEAD_BYTES);
		group->tcp.window_pkts = 0;
		return;
	}

	group->agent = WH_SCENARIO_ENGINE;
	wh_sim_engine_config_init(&group->engine, agent->profile);
	if (link->choices != NULL)
		group->engine.options = *wh_profile_choice(link->choices, agent->profile);
	group->engine.window_pkts = wh_scenario_window_pkts(scenario, 0, 1, link->packet_bytes,
		wh_profile_feedback(agent->profile, &group->engine.options).period_us);
}

/* The second half of the run shows the steady state; the first one the beginning. */
static void tell_run(const struct wh_plan_link *link, const struct wh_scenario *scenario,
	const struct wh_scenario_run *run, struct wh_plan_row *told)
{
	const struct wh_monitor *monitor = wh_scenario_run_monitor(run);
	const uint64_t *marks_ps = scenario->marks_ps;
	uint64_t finished_ps = wh_scenario_run_stats(run, 0)->finished_ps;
	double all_bytes = (double)wh_monitor_flow_span(monitor, 0, 0, marks_ps[2]).goodput_bytes;
	double late_bytes =
		(double)wh_monitor_flow_span(monitor, 0, marks_ps[1], marks_ps[2]).goodput_bytes;

	WH_ASSERT(scenario->n_marks == 3 && marks_ps[1] < marks_ps[2]);

	double late_bps = 8.0 * late_bytes / wh_ps_to_seconds(marks_ps[2] - marks_ps[1]);

	if (finished_ps != WH_SIM_NEVER_PS) {
		told->simulated_ps = finished_ps;
		told->finish_s = wh_ps_to_seconds(finished_ps);
		told->goodput_bps = 8.0 * (double)link->file_bytes / told->finish_s;
		return;
	}
	told->simulated_ps = marks_ps[2];
	told->goodput_bps = late_bps;
	told->finish_s = wh_ps_to_seconds(marks_ps[2]) +
			 8.0 * fmax((double)link->file_bytes - all_bytes, 0.0) / late_bps;
}

void wh_plan_row_simulate(const struct wh_plan_link *link, uint32_t row, struct wh_plan_row *told)
{
	struct plan_agent agent = agent_of(row);
	uint64_t span_ps = span_to_simulate(link);
	const uint64_t marks_ps[] = {0, span_ps / 2, span_ps};
	struct wh_sim_link_config ways[2] = {{
		.from = 0,
		.to = 1,
		.rate_bps = link->rate_bps,
		.delay_ps = link->rtt_ps / 2,
		.queue.limit_pkts = link->queue_pkts,
		.loss.loss = link->loss,
	}};
	struct wh_scenario_group group;
	const struct wh_scenario scenario = {
		.n_nodes = 2,
		.links = ways,
		.n_links = 2,
		.groups = &group,
		.n_groups = 1,
		.duration_ps = span_ps,
		.marks_ps = marks_ps,
		.n_marks = 3,
	};

	ways[1] = ways[0];
	ways[1].from = 1;
	ways[1].to = 0;
	fill_group(link, &agent, &scenario, &group);

	struct wh_scenario_run *run = wh_scenario_run_create(&scenario, SEED);

	name_row(&agent, told);
	wh_scenario_run_until(run, span_ps);
	tell_run(link, &scenario, run, told);
	wh_scenario_run_destroy(run);
}
