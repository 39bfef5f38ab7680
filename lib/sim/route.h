/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_ROUTE_H
#define WH_SIM_ROUTE_H

/* Ways to one node from all others, by least delay. */

#include "sim/link.h"

#define WH_SIM_NO_LINK UINT32_MAX

/*
 * For each of n_nodes nodes, the number of the link that leads on to node `to`, or WH_SIM_NO_LINK;
 * to be freed. Ties as sim.h says; of two links between the same nodes with the same delay, the
 * lower number.
 */
uint32_t *wh_sim_route(
	struct wh_sim_link *const *links, uint32_t n_links, uint32_t n_nodes, uint32_t to);

#endif
