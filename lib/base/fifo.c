/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/fifo.h"

#include <string.h>

#define COUNT_MAX (UINT32_C(1) << 30)

static uint64_t ring_bytes(uint32_t element_bytes, uint32_t count)
{
	WH_ASSERT(count > 0 && count < COUNT_MAX && element_bytes % 4 == 0);

	/* EXACT_SZ holds `count` elements in the next power of two of slots. */
	ssize_t bytes = rte_ring_get_memsize_elem(element_bytes, rte_align32pow2(count + 1));

	WH_ASSERT(bytes > 0);
	return RTE_ALIGN_CEIL((uint64_t)bytes, (uint64_t)RTE_CACHE_LINE_SIZE);
}

static int ring_create(struct rte_ring **ring, uint32_t element_bytes, uint32_t count)
{
	uint64_t bytes = ring_bytes(element_bytes, count);

	*ring = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);
	if (*ring == NULL)
		return -ENOMEM;
	memset(*ring, 0, bytes);

	int rc = rte_ring_init(
		*ring, "wh_fifo", count, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);

	WH_ASSERT(rc == 0);
	return 0;
}

int wh_fifo_init(struct wh_fifo *fifo, uint32_t count)
{
	return ring_create(&fifo->ring, sizeof(uint64_t), count);
}

uint64_t wh_fifo_bytes(uint32_t count)
{
	return ring_bytes(sizeof(uint64_t), count);
}

void wh_fifo_free(struct wh_fifo *fifo)
{
	free(fifo->ring);
	fifo->ring = NULL;
}

/* Size of a slot with its header, rounded up so that 64-bit members stay aligned. */
static uint32_t whole_slot_bytes(uint32_t slot_bytes)
{
	return (uint32_t)sizeof(struct wh_slot) + RTE_ALIGN_CEIL(slot_bytes, 8);
}

int wh_slot_fifo_init(struct wh_slot_fifo *fifo, uint32_t count, uint32_t slot_bytes)
{
	fifo->slot_bytes = RTE_ALIGN_CEIL(slot_bytes, 8);
	return ring_create(&fifo->ring, whole_slot_bytes(slot_bytes), count);
}

uint64_t wh_slot_fifo_bytes(uint32_t count, uint32_t slot_bytes)
{
	return ring_bytes(whole_slot_bytes(slot_bytes), count);
}

void wh_slot_fifo_free(struct wh_slot_fifo *fifo)
{
	free(fifo->ring);
	fifo->ring = NULL;
}
