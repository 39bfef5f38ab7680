/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Sources without feedback: UDP packets of one size from a node to another. Constant bit rate,
 * on/off with both periods exponential or Pareto (ns-2's Exponential and Pareto traffic), and
 * a burst of burst_pkts packets back to back.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lab/sim/simulation.h"

enum wh_sim_traffic_kind {
	WH_SIM_CBR,
	WH_SIM_EXPONENTIAL,
	WH_SIM_PARETO,
	WH_SIM_BURST,
	WH_SIM_TRAFFIC_KINDS,
};

struct wh_sim_traffic_config {
	enum wh_sim_traffic_kind kind;
	uint32_t packet_bytes; /* as counted by links */
	uint64_t rate_bps;     /* while on, 0: silent; of a burst, within it, 0: all at once */
	uint64_t on_ps;        /* mean; 0: one packet at a time */
	uint64_t off_ps;       /* mean */
	double shape;          /* Pareto's, above 1; 0: 1.5 */
	uint32_t burst_pkts;
};

struct wh_sim_traffic;

struct wh_sim_traffic *wh_sim_traffic_create(struct wh_sim *sim,
	const struct wh_sim_traffic_config *config, uint32_t from_node, uint32_t to_node,
	uint32_t flow);

/* To be called after the run and before wh_sim_destroy. */
void wh_sim_traffic_destroy(struct wh_sim_traffic *source);

/* Constant bit rate and bursts begin with a packet, on/off begins with silence. */
void wh_sim_traffic_start(struct wh_sim_traffic *source, uint64_t now_ps);
void wh_sim_traffic_stop(struct wh_sim_traffic *source);

/* Changes the rate from now on, 0: silent. Not for bursts. */
void wh_sim_traffic_set_rate(struct wh_sim_traffic *source, uint64_t now_ps, uint64_t rate_bps);
