/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/flight.h"

#include "base/assert.h"

void wh_sim_flight_add(struct wh_sim_flight *flight, struct wh_sim_packet *packet)
{
	uint32_t i = 0;

	while (i < WH_SIM_LANES - 1 && flight->lane[i].first != NULL &&
		flight->lane[i].last->moment_ps > packet->moment_ps)
		i++;
	wh_sim_fifo_insert(&flight->lane[i], packet);
}

void wh_sim_flight_insert(struct wh_sim_flight *flight, struct wh_sim_packet *packet)
{
	wh_sim_fifo_insert(&flight->lane[0], packet);
}

/* The lane of the first packet; lane 0 when all are empty. */
static uint32_t next_lane(const struct wh_sim_flight *flight)
{
	uint32_t next = 0;

	for (uint32_t i = 1; i < WH_SIM_LANES; i++) {
		const struct wh_sim_packet *there = flight->lane[i].first;
		const struct wh_sim_packet *best = flight->lane[next].first;

		if (there != NULL && (best == NULL || there->moment_ps < best->moment_ps))
			next = i;
	}
	return next;
}

struct wh_sim_packet *wh_sim_flight_first(const struct wh_sim_flight *flight)
{
	return flight->lane[next_lane(flight)].first;
}

struct wh_sim_packet *wh_sim_flight_take(struct wh_sim_flight *flight)
{
	return wh_sim_fifo_pop(&flight->lane[next_lane(flight)]);
}

void wh_sim_flight_count(const struct wh_sim_flight *flight, uint64_t *pkts, uint64_t *bytes)
{
	for (uint32_t i = 0; i < WH_SIM_LANES; i++) {
		WH_ASSERT((flight->lane[i].first == NULL) == (flight->lane[i].count_pkts == 0));
		*pkts += flight->lane[i].count_pkts;
		*bytes += flight->lane[i].count_bytes;
	}
}
