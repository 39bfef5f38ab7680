/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Paths to one node from all others, by least delay. */

#include "lab/sim/link.h"

/*
 * For each of n_nodes nodes, the number of the first link towards node `to`, or WH_SIM_NO_LINK;
 * free with free(). Ties as in simulation.h; between parallel links of equal delay, the lower
 * number.
 */
uint32_t *wh_sim_route(
	struct wh_sim_link *const *links, uint32_t n_links, uint32_t n_nodes, uint32_t to);
