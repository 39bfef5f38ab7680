/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/fifo.h"

#include <string.h>

static int ring_create(struct rte_ring **ring, uint32_t element_bytes, uint32_t count)
{
	WH_ASSERT(count > 0 && (count & (count - 1)) == 0);
	WH_ASSERT(element_bytes % 4 == 0);

	/* EXACT_SZ holds `count` elements, not count - 1; it takes twice the slots inside. */
	ssize_t bytes = rte_ring_get_memsize_elem(element_bytes, count * 2);

	if (bytes < 0)
		return -ENOMEM;
	*ring = aligned_alloc(
		RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL((size_t)bytes, RTE_CACHE_LINE_SIZE));
	if (*ring == NULL)
		return -ENOMEM;
	memset(*ring, 0, (size_t)bytes);

	int rc = rte_ring_init(
		*ring, "wh_fifo", count, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);

	WH_ASSERT(rc == 0);
	return 0;
}

int wh_fifo_init(struct wh_fifo *fifo, uint32_t count)
{
	return ring_create(&fifo->ring, sizeof(uint64_t), count);
}

void wh_fifo_free(struct wh_fifo *fifo)
{
	free(fifo->ring);
	fifo->ring = NULL;
}

int wh_slot_fifo_init(struct wh_slot_fifo *fifo, uint32_t count, uint32_t slot_bytes)
{
	/* Slots stay aligned for their 64-bit members. */
	fifo->slot_bytes = RTE_ALIGN_CEIL(slot_bytes, 8);
	return ring_create(&fifo->ring, (uint32_t)sizeof(struct wh_slot) + fifo->slot_bytes, count);
}

void wh_slot_fifo_free(struct wh_slot_fifo *fifo)
{
	free(fifo->ring);
	fifo->ring = NULL;
}
