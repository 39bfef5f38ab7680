/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_TRAFFIC_H
#define WH_SIM_TRAFFIC_H

/*
 * Sources without feedback: UDP packets of one size from a node to another. Constant bit rate,
 * on/off with exponential or Pareto lengths of both (ns-2's Exponential and Pareto traffic), and a
 * burst of so many packets back to back, once or again and again.
 */

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

enum wh_sim_traffic_kind {
	WH_SIM_CBR,
	WH_SIM_EXPONENTIAL,
	WH_SIM_PARETO,
	WH_SIM_BURST,
	WH_SIM_TRAFFIC_KINDS,
};

struct wh_sim_traffic_config {
	enum wh_sim_traffic_kind kind;
	uint32_t packet_bytes; /* that the links count */
	uint64_t rate_bps;     /* while on, 0: silent; of a burst, its packets' own, 0: at once */
	uint64_t on_ps;        /* mean; 0: one packet at a time */
	uint64_t off_ps;       /* mean; of bursts: from one's start to the next's, 0: once */
	double shape;          /* Pareto's, above 1; 0: 1.5 */
	uint32_t burst_pkts;
};

struct wh_sim_traffic;

struct wh_sim_traffic *wh_sim_traffic_create(struct wh_sim *sim,
	const struct wh_sim_traffic_config *config, uint32_t from_node, uint32_t to_node,
	uint32_t flow);

/* After the run and before the simulation. */
void wh_sim_traffic_destroy(struct wh_sim_traffic *source);

/* Constant bit rate and bursts begin with a packet, on/off begins with silence. */
void wh_sim_traffic_start(struct wh_sim_traffic *source, uint64_t now_ps);
void wh_sim_traffic_stop(struct wh_sim_traffic *source);

/* From now on with this rate, 0: silent. Not of bursts. */
void wh_sim_traffic_set_rate(struct wh_sim_traffic *source, uint64_t now_ps, uint64_t rate_bps);

#endif
