/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/sim_packet.h"

#include <stdlib.h>

#include "base/assert.h"
#include "lab/sim/sim_memory.h"

#define SLAB_ALIGN    64
#define SLAB_PACKETS  512
#define SLAB_CONTROLS 32

static_assert(sizeof(struct wh_sim_slab) <= SLAB_ALIGN, "what links the slab is before its things");
static_assert(WH_CONTROL_BYTES_MAX % sizeof(struct wh_sim_slab) == 0, "rooms are aligned");

void wh_sim_fifo_push(struct wh_sim_fifo *fifo, struct wh_sim_packet *packet)
{
	WH_DEBUG_ASSERT(packet->next == NULL);

	if (fifo->first == NULL)
		fifo->first = packet;
	else
		fifo->last->next = packet;
	fifo->last = packet;
	fifo->count_pkts++;
	fifo->count_bytes += packet->bytes;
}

struct wh_sim_packet *wh_sim_fifo_pop(struct wh_sim_fifo *fifo)
{
	struct wh_sim_packet *packet = fifo->first;

	if (packet == NULL)
		return NULL;
	WH_DEBUG_ASSERT(fifo->count_pkts > 0 && fifo->count_bytes >= packet->bytes);
	WH_DEBUG_ASSERT((packet->next == NULL) == (fifo->count_pkts == 1));
	fifo->first = packet->next;
	fifo->count_pkts--;
	fifo->count_bytes -= packet->bytes;
	packet->next = NULL;
	return packet;
}

void wh_sim_pool_init(struct wh_sim_pool *pool)
{
	*pool = (struct wh_sim_pool){0};
}

void wh_sim_pool_free(struct wh_sim_pool *pool)
{
	while (pool->slabs != NULL) {
		struct wh_sim_slab *slab = pool->slabs;

		pool->slabs = slab->next;
		free(slab);
	}
	*pool = (struct wh_sim_pool){0};
}

/* Allocates a slab with room for `bytes` after its header. */
static uint8_t *add_slab(struct wh_sim_pool *pool, size_t bytes)
{
	size_t whole = (SLAB_ALIGN + bytes + SLAB_ALIGN - 1) / SLAB_ALIGN * SLAB_ALIGN;
	struct wh_sim_slab *slab = wh_sim_allocate_aligned(SLAB_ALIGN, whole);

	slab->next = pool->slabs;
	pool->slabs = slab;
	return (uint8_t *)slab + SLAB_ALIGN;
}

static void add_packets(struct wh_sim_pool *pool)
{
	struct wh_sim_packet *packets =
		(struct wh_sim_packet *)add_slab(pool, SLAB_PACKETS * sizeof(packets[0]));

	for (unsigned int i = 0; i < SLAB_PACKETS; i++) {
		packets[i].next = pool->spare;
		pool->spare = &packets[i];
	}
}

static void add_controls(struct wh_sim_pool *pool)
{
	uint8_t *rooms = add_slab(pool, (size_t)SLAB_CONTROLS * WH_CONTROL_BYTES_MAX);

	for (unsigned int i = 0; i < SLAB_CONTROLS; i++) {
		struct wh_sim_slab *room =
			(struct wh_sim_slab *)(rooms + (size_t)i * WH_CONTROL_BYTES_MAX);

		room->next = pool->spare_control;
		pool->spare_control = room;
	}
}

struct wh_sim_packet *wh_sim_packet_get(struct wh_sim_pool *pool)
{
	if (pool->spare == NULL)
		add_packets(pool);

	struct wh_sim_packet *packet = pool->spare;

	pool->spare = packet->next;
	packet->next = NULL;
	packet->control = NULL;
	if (++pool->in_use_pkts > pool->in_use_pkts_max)
		pool->in_use_pkts_max = pool->in_use_pkts;
	return packet;
}

void wh_sim_packet_put(struct wh_sim_pool *pool, struct wh_sim_packet *packet)
{
	WH_ASSERT(pool->in_use_pkts > 0);
	WH_DEBUG_ASSERT(packet->next == NULL);

	if (packet->control != NULL) {
		struct wh_sim_slab *room = (struct wh_sim_slab *)packet->control;

		room->next = pool->spare_control;
		pool->spare_control = room;
	}
	packet->next = pool->spare;
	pool->spare = packet;
	pool->in_use_pkts--;
}

uint8_t *wh_sim_packet_add_control(struct wh_sim_pool *pool, struct wh_sim_packet *packet)
{
	WH_ASSERT(packet->control == NULL);

	if (pool->spare_control == NULL)
		add_controls(pool);
	packet->control = (uint8_t *)pool->spare_control;
	pool->spare_control = pool->spare_control->next;
	return packet->control;
}
