/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The memory of all sessions' chunks: one region allocated at start, given out in runs when a
 * session opens and taken back when it has gone. May be called on any core; a lock is held during
 * the search, which is on no packet's path. (rte_free clears freed memory under its heap's lock:
 * tens of milliseconds for a large session, in which no other session could open.)
 */

#include <stdint.h>

#include <rte_spinlock.h>

/* Runs are multiples of this: four of the smallest chunks. */
#define WH_ARENA_UNIT_BYTES (UINT32_C(64) << 10)

struct wh_arena {
	rte_spinlock_t lock;
	uint8_t *memory;
	uint32_t units;
	uint32_t free_units;
	uint32_t *run; /* for the first unit of a run: the run's length, and whether it is in use */
};

/*
 * `memory` is the caller's, aligned to WH_CHUNK_ALIGN; `bytes` is at least one unit. 0 or -ENOMEM.
 */
int wh_arena_init(struct wh_arena *arena, void *memory, uint64_t bytes);
void wh_arena_free(struct wh_arena *arena);

/* Aligned to WH_CHUNK_ALIGN; NULL: no free run is long enough. bytes > 0. */
void *wh_arena_take(struct wh_arena *arena, uint64_t bytes);
void wh_arena_give(struct wh_arena *arena, void *memory); /* NULL is allowed */

uint64_t wh_arena_free_bytes(struct wh_arena *arena);

/* Asserts that the runs are contiguous and add up. */
void wh_arena_check(struct wh_arena *arena);
