/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SCENARIO_SCENARIO_H
#define WH_SCENARIO_SCENARIO_H

/*
 * A network and the flows in it as data, and one run of it. Flows come in groups of the same
 * kind; they are numbered through, group after group.
 */

#include <stdbool.h>
#include <stdint.h>

#include "scenario/engine.h"
#include "scenario/probe.h"
#include "sim/monitor.h"
#include "sim/traffic.h"
#include "tcp/tcp.h"

enum wh_scenario_agent {
	WH_SCENARIO_ENGINE,
	WH_SCENARIO_TCP,
	WH_SCENARIO_PSOCK,
	WH_SCENARIO_SOURCE,
	WH_SCENARIO_PROBE,
};

/* From then on a source has this rate. */
struct wh_scenario_step {
	uint64_t at_ps;
	uint64_t rate_bps;
};

/* One flow of a group, where they are not all alike. */
struct wh_scenario_member {
	uint64_t start_ps; /* WH_SIM_NEVER_PS: as the group says */
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
	uint64_t stop_ps;    /* WH_SIM_NEVER_PS: it does not */
	uint64_t stagger_ps; /* each starts so much later than the one before */
	uint64_t spread_ps;  /* and later by a random time up to this */
	uint64_t more_ps;    /* of a TCP: without end from then on; 0: no more */
	uint64_t size_bytes; /* of each; WH_OBJECT_BYTES_UNKNOWN: without end */
	const struct wh_scenario_member *members; /* as many as there are flows; NULL: all alike */
	/*
	 * Each starts when the one before it is done, stagger_ps later, and not before its time.
	 * All have an end; neither sources nor probes.
	 */
	bool chained;
	uint32_t packet_bytes;                /* a full one, as links count it */
	uint32_t payload_bytes;               /* of it, as goodput counts it */
	uint32_t connections;                 /* of a psock */
	const struct wh_scenario_step *steps; /* ascending, of a source */
	uint32_t n_steps;
	union {
		struct wh_sim_engine_config engine; /* size_bytes and mtu_bytes are the group's */
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
	const uint64_t *marks_ps; /* ascending; what may be asked about begins and ends at them */
	uint32_t n_marks;
	const uint64_t *series_ps; /* periods of goodput, see sim/monitor.h */
	uint32_t n_series;
};

/* The first group whose flows have no way to the other end, or back; n_groups: all have. */
uint32_t wh_scenario_first_cut_off(const struct wh_scenario *scenario);

/*
 * Makes a group, whose packet_bytes are known, one of TCPs with ns-2's defaults: a packet holds
 * what its head leaves.
 */
void wh_scenario_group_tcp(struct wh_scenario_group *group, enum wh_scenario_agent agent,
	enum wh_sim_tcp_variety variety, uint32_t head_bytes);

/*
 * A window for a profile between two nodes that is no limit: twice what is on the way and back
 * when its slowest link is full, and its queues (those with a limit in packets) are, and in the
 * time that the feedback may wait for its period. A power of two, and from 64 on.
 */
uint32_t wh_scenario_window_pkts(const struct wh_scenario *scenario, uint32_t from, uint32_t to,
	uint32_t packet_bytes, uint32_t period_us);

uint32_t wh_scenario_flows(const struct wh_scenario *scenario);

struct wh_scenario_run;

/* The scenario stays the caller's, and is needed until the run is destroyed. */
struct wh_scenario_run *wh_scenario_run_create(const struct wh_scenario *scenario, uint64_t seed);
void wh_scenario_run_destroy(struct wh_scenario_run *run);

/* On to then; at scenario->duration_ps it is complete. */
void wh_scenario_run_until(struct wh_scenario_run *run, uint64_t until_ps);

const struct wh_sim *wh_scenario_run_sim(const struct wh_scenario_run *run);
const struct wh_monitor *wh_scenario_run_monitor(const struct wh_scenario_run *run);

/*
 * When a flow starts, by the group's times and chance, of a chain WH_SIM_NEVER_PS as long as it is
 * not known; and its end, WH_SIM_NEVER_PS: none yet.
 */
uint64_t wh_scenario_run_start_ps(const struct wh_scenario_run *run, uint32_t flow);
uint64_t wh_scenario_run_finished_ps(const struct wh_scenario_run *run, uint32_t flow);

/* When a profile's flow was accepted by its peer; WH_SIM_NEVER_PS: not yet, or no profile's. */
uint64_t wh_scenario_run_opened_ps(const struct wh_scenario_run *run, uint32_t flow);

/* What a flow that is a probe has found. */
const struct wh_findings *wh_scenario_run_findings(
	const struct wh_scenario_run *run, uint32_t flow);

/* What a flow that is an agent of STTP has seen; NULL of all others. */
const struct wh_sim_sttp_seen *wh_scenario_run_sttp(
	const struct wh_scenario_run *run, uint32_t flow);

#endif
