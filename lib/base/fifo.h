/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The FIFO between two tasks: a single-producer single-consumer rte_ring on plain memory.
 *
 *   wh_fifo       elements of 8 bytes: pointers or packet numbers
 *   wh_slot_fifo  byte strings of up to slot_bytes, written and read in place
 *
 * Both hold `count` elements. The ring has the next power of two above that as slots, so counts of
 * 2^n - 1 waste none. Producer and consumer may be on different cores.
 */

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>

#include "base/assert.h"

/*
 * Elements in a ring. Either side may call this at any time. Unlike rte_ring_count it loads
 * atomically, since another core may store.
 */
static inline uint32_t wh_ring_count(const struct rte_ring *ring)
{
	uint32_t produced = __atomic_load_n(&ring->prod.tail, __ATOMIC_ACQUIRE);
	uint32_t consumed = __atomic_load_n(&ring->cons.tail, __ATOMIC_ACQUIRE);
	uint32_t count = (produced - consumed) & ring->mask;

	/* The two loads are no snapshot: pops and pushes in between may exceed the capacity. */
	return count > ring->capacity ? ring->capacity : count;
}

struct wh_fifo {
	struct rte_ring *ring;
};

/* 0 or -ENOMEM. */
int wh_fifo_init(struct wh_fifo *fifo, uint32_t count);
void wh_fifo_free(struct wh_fifo *fifo);

/* Bytes that init allocates. */
uint64_t wh_fifo_bytes(uint32_t count);

static inline bool wh_fifo_push_u64(struct wh_fifo *fifo, uint64_t value)
{
	return rte_ring_sp_enqueue_elem(fifo->ring, &value, sizeof(value)) == 0;
}

static inline bool wh_fifo_pop_u64(struct wh_fifo *fifo, uint64_t *value)
{
	return rte_ring_sc_dequeue_elem(fifo->ring, value, sizeof(*value)) == 0;
}

static inline bool wh_fifo_push(struct wh_fifo *fifo, void *pointer)
{
	WH_DEBUG_ASSERT(pointer != NULL); /* pop returns NULL for an empty FIFO */
	return wh_fifo_push_u64(fifo, (uint64_t)(uintptr_t)pointer);
}

/* NULL when empty. */
static inline void *wh_fifo_pop(struct wh_fifo *fifo)
{
	uint64_t value;

	return wh_fifo_pop_u64(fifo, &value) ? (void *)(uintptr_t)value : NULL;
}

/* Consumer: the pointer pushed last, which stays in the FIFO; NULL when empty. */
static inline void *wh_fifo_last(const struct wh_fifo *fifo)
{
	const struct rte_ring *ring = fifo->ring;
	const uint64_t *element = (const uint64_t *)&ring[1];
	uint32_t produced = __atomic_load_n(&ring->prod.tail, __ATOMIC_ACQUIRE);

	if (produced == ring->cons.tail)
		return NULL;
	return (void *)(uintptr_t)element[(produced - 1) & ring->mask];
}

static inline uint32_t wh_fifo_count(const struct wh_fifo *fifo)
{
	return wh_ring_count(fifo->ring);
}

static inline uint32_t wh_fifo_room(const struct wh_fifo *fifo)
{
	return fifo->ring->capacity - wh_ring_count(fifo->ring);
}

/* One byte string in a slot, with its timestamp. */
struct wh_slot {
	uint64_t when_tsc;
	uint32_t bytes;
	uint32_t unused; /* keeps data aligned */
	uint8_t data[];
};

static_assert(offsetof(struct wh_slot, data) % 8 == 0, "data begins aligned");
static_assert(sizeof(struct wh_slot) == offsetof(struct wh_slot, data), "data follows at once");
static_assert(sizeof(void *) <= sizeof(uint64_t), "a pointer is an element");

struct wh_slot_fifo {
	struct rte_ring *ring;
	uint32_t slot_bytes; /* capacity of data[] */
};

int wh_slot_fifo_init(struct wh_slot_fifo *fifo, uint32_t count, uint32_t slot_bytes);
void wh_slot_fifo_free(struct wh_slot_fifo *fifo);
uint64_t wh_slot_fifo_bytes(uint32_t count, uint32_t slot_bytes);

/* A slot to write into, or NULL when full; made visible by commit, and without it free again. */
static inline struct wh_slot *wh_slot_fifo_reserve(struct wh_slot_fifo *fifo)
{
	struct rte_ring_zc_data zc;

	/* Each start of an enqueue advances prod.head, which only the producer uses: reset it. */
	fifo->ring->prod.head = fifo->ring->prod.tail;

	if (rte_ring_enqueue_zc_bulk_elem_start(fifo->ring,
		    (unsigned int)sizeof(struct wh_slot) + fifo->slot_bytes, 1, &zc, NULL) == 0)
		return NULL;
	return (struct wh_slot *)zc.ptr1;
}

static inline void wh_slot_fifo_commit(struct wh_slot_fifo *fifo)
{
	rte_ring_enqueue_zc_elem_finish(fifo->ring, 1);
}

/* The oldest slot, or NULL when empty; repeated calls return the same one until release. */
static inline struct wh_slot *wh_slot_fifo_peek(struct wh_slot_fifo *fifo)
{
	struct rte_ring_zc_data zc;

	/* Each start of a dequeue advances cons.head, which only the consumer uses: reset it. */
	fifo->ring->cons.head = fifo->ring->cons.tail;

	if (rte_ring_dequeue_zc_bulk_elem_start(fifo->ring,
		    (unsigned int)sizeof(struct wh_slot) + fifo->slot_bytes, 1, &zc, NULL) == 0)
		return NULL;
	return (struct wh_slot *)zc.ptr1;
}

static inline void wh_slot_fifo_release(struct wh_slot_fifo *fifo)
{
	rte_ring_dequeue_zc_elem_finish(fifo->ring, 1);
}

static inline uint32_t wh_slot_fifo_count(const struct wh_slot_fifo *fifo)
{
	return wh_ring_count(fifo->ring);
}
