/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A network reduced to its transient delay, T = N (S + W): N hops, drawn for each packet from a
 * geometric distribution that begins at 1, the service time S of a hop, and the waiting time W,
 * drawn from an exponential distribution (periodic-exchange.txt, "Simulation Model", which leaves
 * W's distribution open). Packets overtake each other.
 */

#include <stdint.h>

#include "base/prng.h"

struct wh_sim_hops {
	double mean; /* at least 1; 0: off */
	uint64_t service_ps;
	uint64_t wait_ps; /* mean */
};

uint64_t wh_sim_hops_draw_ps(const struct wh_sim_hops *hops, struct wh_prng *prng);
