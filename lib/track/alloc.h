/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRACK_ALLOC_H
#define WH_TRACK_ALLOC_H

/* Memory of this room's tables: allocated by init, freed by free, never in between. */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define WH_TRACK_ALIGN 64 /* a cache line: no entry of a power of two up to this straddles two */

static_assert((WH_TRACK_ALIGN & (WH_TRACK_ALIGN - 1)) == 0, "an alignment");
static_assert(WH_TRACK_ALIGN >= sizeof(void *), "there is room for malloc's pointer before it");

/* Bytes that wh_track_alloc requests from malloc. */
static inline uint64_t wh_track_bytes(uint64_t count, uint64_t entry_bytes)
{
	return count * entry_bytes + 2 * WH_TRACK_ALIGN;
}

/*
 * Zeroed and aligned; NULL: no memory. By calloc, which gets untouched pages from the kernel: a
 * session opens on a core that receives packets, and writing tens of megabytes of zeros there would
 * overflow the port's ring. Pages are allocated one by one as they are used.
 */
static inline void *wh_track_alloc(size_t count, size_t entry_bytes)
{
	uint8_t *raw = calloc(1, wh_track_bytes(count, entry_bytes));

	if (raw == NULL)
		return NULL;

	uintptr_t behind_pointer = (uintptr_t)raw + sizeof(void *);
	uintptr_t aligned =
		(behind_pointer + WH_TRACK_ALIGN - 1) & ~(uintptr_t)(WH_TRACK_ALIGN - 1);

	((void **)aligned)[-1] = raw;
	return (void *)aligned;
}

static inline void wh_track_free(void *memory)
{
	if (memory != NULL)
		free(((void **)memory)[-1]);
}

#endif
