/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A probe in the simulator: the prober and answerer of lib/probe themselves, one at each node, in
 * virtual time of 1 GHz. Links count IP packet lengths, and so do the rates and bytes of the
 * findings.
 */

#include <stdint.h>

#include "lab/sim/simulation.h"
#include "probe/findings.h"

struct wh_sim_probe_config {
	uint32_t mtu_bytes;  /* a full packet, in IP bytes */
	uint64_t line_bps;   /* sending rate of trains */
	uint32_t train_pkts; /* of the longest train */
};

/* Whether the prober supports packets of that size. */
bool wh_sim_probe_takes_mtu(uint32_t mtu_bytes);

struct wh_sim_probe;

/* Destroy it after the run. */
struct wh_sim_probe *wh_sim_probe_create(struct wh_sim *sim,
	const struct wh_sim_probe_config *config, uint32_t from_node, uint32_t to_node,
	uint32_t flow, uint64_t seed);
void wh_sim_probe_destroy(struct wh_sim_probe *probe);

void wh_sim_probe_start(struct wh_sim_probe *probe, uint64_t now_ps);
void wh_sim_probe_stop(struct wh_sim_probe *probe);

/* The findings so far; complete when the flow has finished. */
const struct wh_findings *wh_sim_probe_findings(const struct wh_sim_probe *probe);
