/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A network and its flows as data, and one run of it. Flows come in groups of the same kind; they
 * are numbered consecutively, group after group.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lab/scenario/engine.h"
#include "lab/scenario/scenario_probe.h"
#include "lab/sim/monitor.h"
#include "lab/sim/traffic.h"
#include "lab/tcp/tcp.h"

enum wh_scenario_agent {
	WH_SCENARIO_ENGINE,
	WH_SCENARIO_TCP,
	WH_SCENARIO_PSOCK,
	WH_SCENARIO_SOURCE,
	WH_SCENARIO_PROBE,
};

/* A source's rate from at_ps on. */
struct wh_scenario_step {
	uint64_t at_ps;
	uint64_t rate_bps;
};

/* One flow of a group, where they differ. */
struct wh_scenario_member {
	uint64_t start_ps; /* WH_SIM_NEVER_PS: the group's */
	uint64_t stop_ps;
	uint64_t size_bytes;
};

struct wh_scenario_group {
	const char *name;
	enum wh_scenario_agent agent;
	uint32_t from; /* nodes */
	uint32_t to;
	uint32_t count;
	uint64_t start_ps;
	uint64_t stop_ps;    /* WH_SIM_NEVER_PS: never */
	uint64_t stagger_ps; /* delay of each start after that of the previous flow */
	uint64_t spread_ps;  /* plus a random delay up to this */
	uint64_t more_ps;    /* of a TCP: endless from then on; 0: not */
	uint64_t size_bytes; /* of each; WH_OBJECT_BYTES_UNKNOWN: endless */
	const struct wh_scenario_member *members; /* one per flow; NULL: all alike */
	uint32_t packet_bytes;                    /* of a full packet, as links count it */
	uint32_t payload_bytes;                   /* of that packet, as goodput counts it */
	uint32_t connections;                     /* of a psock */
	const struct wh_scenario_step *steps;     /* of a source, ascending */
	uint32_t n_steps;
	union {
		struct wh_sim_engine_config engine; /* the group's size_bytes and mtu_bytes apply */
		struct wh_sim_tcp_config tcp;
		struct wh_sim_traffic_config source;
		struct wh_sim_probe_config probe;
	};
};

struct wh_scenario {
	uint32_t n_nodes;
	const struct wh_sim_link_config *links;
	uint32_t n_links;
	const struct wh_scenario_group *groups;
	uint32_t n_groups;
	uint64_t duration_ps;
	uint64_t interval_ps;     /* of samples; 0: none */
	const uint64_t *marks_ps; /* ascending; bounds of the spans that can be queried */
	uint32_t n_marks;
	const uint64_t *series_ps; /* periods of goodput, see sim/monitor.h */
	uint32_t n_series;
};

/* The first group whose nodes have no path in either direction; n_groups: none. */
uint32_t wh_scenario_first_cut_off(const struct wh_scenario *scenario);

/*
 * Makes a group, whose packet_bytes are set, one of TCPs with ns-2's defaults: the payload is
 * packet_bytes less the head.
 */
void wh_scenario_group_tcp(struct wh_scenario_group *group, enum wh_scenario_agent agent,
	enum wh_sim_tcp_variety variety, uint32_t head_bytes);

/*
 * A window for a profile between two nodes that does not limit it: twice the packets on the path in
 * both directions when its slowest link and its queues (those with a limit in packets) are full,
 * plus those of a feedback period. A power of two, at least 64.
 */
uint32_t wh_scenario_window_pkts(const struct wh_scenario *scenario, uint32_t from, uint32_t to,
	uint32_t packet_bytes, uint32_t period_us);

uint32_t wh_scenario_flows(const struct wh_scenario *scenario);

struct wh_scenario_run;

/* The scenario stays the caller's and must outlive the run. */
struct wh_scenario_run *wh_scenario_run_create(const struct wh_scenario *scenario, uint64_t seed);
void wh_scenario_run_destroy(struct wh_scenario_run *run);

/* Runs up to that time; at scenario->duration_ps the run is complete. */
void wh_scenario_run_until(struct wh_scenario_run *run, uint64_t until_ps);

const struct wh_sim *wh_scenario_run_sim(const struct wh_scenario_run *run);
const struct wh_monitor *wh_scenario_run_monitor(const struct wh_scenario_run *run);

/* When a flow starts, from the group's times and random delays. */
uint64_t wh_scenario_run_start_ps(const struct wh_scenario_run *run, uint32_t flow);

/* So far. */
const struct wh_sim_flow_stats *wh_scenario_run_stats(
	const struct wh_scenario_run *run, uint32_t flow);

/* The findings of a flow that is a probe. */
const struct wh_findings *wh_scenario_run_findings(
	const struct wh_scenario_run *run, uint32_t flow);

/* Observations of a flow that is an STTP agent; NULL for others. */
const struct wh_sim_sttp_seen *wh_scenario_run_sttp(
	const struct wh_scenario_run *run, uint32_t flow);
