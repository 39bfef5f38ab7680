/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Memory of this room's tables: allocated by init, freed by free, never in between. */

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* A cache line, so that no entry whose size is a power of two up to this straddles two lines. */
#define WH_TRACK_ALIGN 64

static_assert((WH_TRACK_ALIGN & (WH_TRACK_ALIGN - 1)) == 0, "an alignment");
static_assert(WH_TRACK_ALIGN >= sizeof(void *), "there is room for malloc's pointer before it");

/* Bytes that wh_track_alloc requests from malloc. */
static inline uint64_t wh_track_bytes(uint64_t count, uint64_t entry_bytes)
{
	return count * entry_bytes + 2 * WH_TRACK_ALIGN;
}

/*
 * Zeroed and aligned memory; NULL: none. calloc gets untouched pages from the kernel, which zeroes
 * them one by one when they are used. A session opens on a core that receives packets; writing tens
 * of megabytes of zeros there would overflow the port's ring.
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
