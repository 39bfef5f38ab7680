/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_LAB_SIM_FLIGHT_H
#define WH_LAB_SIM_FLIGHT_H

/*
 * Packets in flight, by their moment_ps. Each lane is in order, and a packet is appended to the
 * first lane that stays in order: one lane without reordering, another for delayed packets or after
 * the delay fell. So adding stays cheap with a million packets in flight.
 */

#include "lab/sim/sim_packet.h"

#define WH_SIM_LANES 4

struct wh_sim_flight {
	struct wh_sim_fifo lane[WH_SIM_LANES];
};

void wh_sim_flight_add(struct wh_sim_flight *flight, struct wh_sim_packet *packet);

/* For delays of many sizes and few packets: all in one lane, in order. */
void wh_sim_flight_insert(struct wh_sim_flight *flight, struct wh_sim_packet *packet);

/* The packet that arrives first, at equal moments that of the lower lane; NULL: none. */
struct wh_sim_packet *wh_sim_flight_first(const struct wh_sim_flight *flight);
struct wh_sim_packet *wh_sim_flight_take(struct wh_sim_flight *flight);

/* Adds the numbers of packets and bytes in flight. */
void wh_sim_flight_count(const struct wh_sim_flight *flight, uint64_t *pkts, uint64_t *bytes);

#endif
