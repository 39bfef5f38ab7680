/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/flight.h"

#include <stdbool.h>

#include "base/assert.h"

static bool comes_before(const struct wh_sim_packet *a, const struct wh_sim_packet *b)
{
	return a->moment_ps != b->moment_ps ? a->moment_ps < b->moment_ps : a->order < b->order;
}

/* Makes one heap of two, of which either may be NULL: the later root becomes a child. */
static struct wh_sim_packet *join(struct wh_sim_packet *a, struct wh_sim_packet *b)
{
	if (a == NULL || b == NULL)
		return a != NULL ? a : b;
	if (comes_before(b, a))
		return join(b, a);
	b->next = a->child;
	a->child = b;
	return a;
}

/* Makes one heap of siblings: joins them in pairs, then the pairs from the last to the first. */
static struct wh_sim_packet *join_all(struct wh_sim_packet *siblings)
{
	struct wh_sim_packet *pairs = NULL, *all = NULL;

	while (siblings != NULL) {
		struct wh_sim_packet *one = siblings, *other = one->next;
		struct wh_sim_packet *pair;

		siblings = other != NULL ? other->next : NULL;
		pair = join(one, other);
		pair->next = pairs;
		pairs = pair;
	}
	while (pairs != NULL) {
		struct wh_sim_packet *pair = pairs;

		pairs = pair->next;
		all = join(all, pair);
	}
	if (all != NULL)
		all->next = NULL;
	return all;
}

static void heap_push(struct wh_sim_heap *heap, struct wh_sim_packet *packet)
{
	WH_DEBUG_ASSERT(packet->next == NULL);

	packet->child = NULL;
	packet->order = heap->next_order++;
	heap->first = join(heap->first, packet);
	heap->count_pkts++;
	heap->count_bytes += packet->bytes;
}

static struct wh_sim_packet *heap_pop(struct wh_sim_heap *heap)
{
	struct wh_sim_packet *packet = heap->first;

	if (packet == NULL)
		return NULL;
	WH_DEBUG_ASSERT(packet->next == NULL);
	WH_DEBUG_ASSERT((packet->child == NULL) == (heap->count_pkts == 1));
	heap->first = join_all(packet->child);
	heap->count_pkts--;
	heap->count_bytes -= packet->bytes;
	return packet;
}

void wh_sim_flight_add(struct wh_sim_flight *flight, struct wh_sim_packet *packet)
{
	for (uint32_t i = 0; i < WH_SIM_LANES; i++) {
		struct wh_sim_fifo *lane = &flight->lane[i];

		if (lane->first == NULL || lane->last->moment_ps <= packet->moment_ps) {
			wh_sim_fifo_push(lane, packet);
			return;
		}
	}
	heap_push(&flight->heap, packet);
}

/*
 * The lane of the first packet; WH_SIM_LANES: the heap. Of equal moments the lower lane has the
 * older packet, since the others were added while something later was in the lower lane.
 */
static uint32_t next_lane(const struct wh_sim_flight *flight)
{
	const struct wh_sim_packet *best = flight->heap.first;
	uint32_t next = WH_SIM_LANES;

	for (uint32_t i = WH_SIM_LANES; i-- > 0;) {
		const struct wh_sim_packet *there = flight->lane[i].first;

		if (there != NULL && (best == NULL || there->moment_ps <= best->moment_ps)) {
			best = there;
			next = i;
		}
	}
	return next;
}

struct wh_sim_packet *wh_sim_flight_first(const struct wh_sim_flight *flight)
{
	uint32_t lane = next_lane(flight);

	return lane < WH_SIM_LANES ? flight->lane[lane].first : flight->heap.first;
}

struct wh_sim_packet *wh_sim_flight_take(struct wh_sim_flight *flight)
{
	uint32_t lane = next_lane(flight);

	return lane < WH_SIM_LANES ? wh_sim_fifo_pop(&flight->lane[lane]) : heap_pop(&flight->heap);
}

void wh_sim_flight_count(const struct wh_sim_flight *flight, uint64_t *pkts, uint64_t *bytes)
{
	for (uint32_t i = 0; i < WH_SIM_LANES; i++) {
		WH_ASSERT((flight->lane[i].first == NULL) == (flight->lane[i].count_pkts == 0));
		*pkts += flight->lane[i].count_pkts;
		*bytes += flight->lane[i].count_bytes;
	}
	WH_ASSERT((flight->heap.first == NULL) == (flight->heap.count_pkts == 0));
	*pkts += flight->heap.count_pkts;
	*bytes += flight->heap.count_bytes;
}
