/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_FLIGHT_H
#define WH_SIM_FLIGHT_H

/*
 * Packets that fly, by their moment_ps. Each lane is in order, and a packet takes the first lane at
 * whose end it belongs: one lane as long as nobody overtakes, one more for those that are held back
 * or behind which the delay fell. So adding stays cheap with a million of them in flight.
 */

#include "sim/packet.h"

#define WH_SIM_LANES 4

struct wh_sim_flight {
	struct wh_sim_fifo lane[WH_SIM_LANES];
};

void wh_sim_flight_add(struct wh_sim_flight *flight, struct wh_sim_packet *packet);

/* Where delays are of many sizes and few packets fly: all in one lane. */
void wh_sim_flight_insert(struct wh_sim_flight *flight, struct wh_sim_packet *packet);

/* The one that arrives first, of the same moment that of the lower lane; NULL: none flies. */
struct wh_sim_packet *wh_sim_flight_first(const struct wh_sim_flight *flight);
struct wh_sim_packet *wh_sim_flight_take(struct wh_sim_flight *flight);

/* Adds how many there are. */
void wh_sim_flight_count(const struct wh_sim_flight *flight, uint64_t *pkts, uint64_t *bytes);

#endif
