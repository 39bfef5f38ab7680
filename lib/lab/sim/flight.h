/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Packets in flight, ordered by their moment_ps and, at equal moments, as they were added. No
 * packet is added with a moment before that of one already taken. A packet is appended to the first
 * lane that stays in order: one lane without reordering, another for delayed packets or after the
 * delay fell. Where no lane stays in order, as with a delay drawn anew for each packet, it goes
 * into a heap. So adding stays cheap with a million packets in flight.
 */

#include "lab/sim/sim_packet.h"

#define WH_SIM_LANES 3

/* A pairing heap (Fredman, Sedgewick, Sleator, Tarjan 1986), linked through the packets. */
struct wh_sim_heap {
	struct wh_sim_packet *first;
	uint64_t next_order;
	uint32_t count_pkts;
	uint64_t count_bytes;
};

struct wh_sim_flight {
	struct wh_sim_fifo lane[WH_SIM_LANES];
	struct wh_sim_heap heap;
};

void wh_sim_flight_add(struct wh_sim_flight *flight, struct wh_sim_packet *packet);

/* The packet that arrives first; NULL: none. */
struct wh_sim_packet *wh_sim_flight_first(const struct wh_sim_flight *flight);
struct wh_sim_packet *wh_sim_flight_take(struct wh_sim_flight *flight);

/* Adds the numbers of packets and bytes in flight. */
void wh_sim_flight_count(const struct wh_sim_flight *flight, uint64_t *pkts, uint64_t *bytes);
