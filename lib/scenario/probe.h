/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SCENARIO_PROBE_H
#define WH_SCENARIO_PROBE_H

/*
 * A probe in the simulator: the very prober and answerer of lib/probe, one at each node, in virtual
 * time of 1 GHz. Links count what IP counts, and so do rates and bytes of what is found.
 */

#include <stdint.h>

#include "probe/findings.h"
#include "sim/sim.h"

struct wh_sim_probe_config {
	uint32_t mtu_bytes;  /* of a full packet */
	uint64_t line_bps;   /* at which trains leave */
	uint32_t train_pkts; /* the longest one */
};

/* Whether packets of that size can be probed with. */
bool wh_sim_probe_takes_mtu(uint32_t mtu_bytes);

struct wh_sim_probe;

/* It is freed after the run. */
struct wh_sim_probe *wh_sim_probe_create(struct wh_sim *sim,
	const struct wh_sim_probe_config *config, uint32_t from_node, uint32_t to_node,
	uint32_t flow, uint64_t seed);
void wh_sim_probe_destroy(struct wh_sim_probe *probe);

void wh_sim_probe_start(struct wh_sim_probe *probe, uint64_t now_ps);
void wh_sim_probe_stop(struct wh_sim_probe *probe);

/* As far as it has come; complete when the flow has finished. */
const struct wh_findings *wh_sim_probe_findings(const struct wh_sim_probe *probe);

#endif
