/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_ARENA_H
#define WH_APP_ARENA_H

/*
 * The memory of all sessions' chunks: one region taken at start, given out in runs when a session
 * opens and given back when it has gone. Any core may ask; a lock is held for the search, which
 * no packet's way includes. (rte_free clears what it gets back under its heap's lock: tens of
 * milliseconds for a large session, in which no other session could open.)
 */

#include <stdint.h>

#include <rte_spinlock.h>

/* Runs are multiples of this: the smallest chunks there are, four of them. */
#define WH_ARENA_UNIT_BYTES (UINT32_C(64) << 10)

struct wh_arena {
	rte_spinlock_t lock;
	uint8_t *memory;
	uint32_t units;
	uint32_t free_units;
	uint32_t *run; /* of the unit that begins a run: its length, and whether it is given out */
};

/* `memory` is the caller's, aligned to WH_CHUNK_ALIGN; bytes: some units. 0 or -ENOMEM. */
int wh_arena_init(struct wh_arena *arena, void *memory, uint64_t bytes);
void wh_arena_free(struct wh_arena *arena);

/* Aligned to WH_CHUNK_ALIGN; NULL: no run of that length is free. bytes > 0. */
void *wh_arena_take(struct wh_arena *arena, uint64_t bytes);
void wh_arena_give(struct wh_arena *arena, void *memory); /* NULL is allowed */

uint64_t wh_arena_free_bytes(struct wh_arena *arena);

/* Asserts that its runs follow each other and add up. */
void wh_arena_check(struct wh_arena *arena);

#endif
