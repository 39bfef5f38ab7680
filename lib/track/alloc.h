/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRACK_ALLOC_H
#define WH_TRACK_ALLOC_H

/* Memory of the tables of this room: taken at init, given back by free(), never in between. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define WH_TRACK_ALIGN 64 /* a cache line: no entry of a power of two up to this straddles two */

/* Zeroed, and touched: no page fault is left for the packet path. NULL when there is none. */
static inline void *wh_track_alloc(size_t count, size_t entry_bytes)
{
	size_t bytes = (count * entry_bytes + WH_TRACK_ALIGN - 1) & ~(size_t)(WH_TRACK_ALIGN - 1);
	void *memory = aligned_alloc(WH_TRACK_ALIGN, bytes);

	if (memory != NULL)
		memset(memory, 0, bytes);
	return memory;
}

#endif
