/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/arena.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/chunk.h"

#define TAKEN     (UINT32_C(1) << 31)
#define UNITS_MAX (TAKEN - 1)
#define NO_RUN    UINT32_MAX

_Static_assert(WH_ARENA_UNIT_BYTES % WH_CHUNK_ALIGN == 0, "runs are aligned as chunks are");

static uint64_t units_of(uint64_t bytes)
{
	return bytes / WH_ARENA_UNIT_BYTES + (bytes % WH_ARENA_UNIT_BYTES != 0);
}

int wh_arena_init(struct wh_arena *arena, void *memory, uint64_t bytes)
{
	uint64_t units = units_of(bytes);

	WH_ASSERT(units > 0 && bytes % WH_ARENA_UNIT_BYTES == 0);
	WH_ASSERT((uintptr_t)memory % WH_CHUNK_ALIGN == 0);
	*arena = (struct wh_arena){.memory = memory};
	if (units > UNITS_MAX)
		return -ENOMEM;
	rte_spinlock_init(&arena->lock);
	arena->units = (uint32_t)units;
	arena->free_units = arena->units;
	arena->run = calloc(units, sizeof(arena->run[0]));
	if (arena->run == NULL)
		return -ENOMEM;
	arena->run[0] = arena->units;
	return 0;
}

static void check_runs(const struct wh_arena *arena)
{
	uint32_t free_units = 0;
	uint32_t first = 0;

	while (first < arena->units) {
		uint32_t length = arena->run[first] & ~TAKEN;

		WH_ASSERT(length > 0 && length <= arena->units - first);
		if ((arena->run[first] & TAKEN) == 0)
			free_units += length;
		first += length;
	}
	WH_ASSERT(free_units == arena->free_units);
}

void wh_arena_check(struct wh_arena *arena)
{
	rte_spinlock_lock(&arena->lock);
	check_runs(arena);
	rte_spinlock_unlock(&arena->lock);
}

void wh_arena_free(struct wh_arena *arena)
{
	if (arena->run != NULL)
		check_runs(arena);
	free(arena->run);
	*arena = (struct wh_arena){0};
}

/* Merges the free runs that follow a free one into it. */
static void merge(struct wh_arena *arena, uint32_t first)
{
	uint32_t *run = arena->run;
	uint32_t next;

	while ((next = first + run[first]) < arena->units && (run[next] & TAKEN) == 0)
		run[first] += run[next];
}

/* First fit. There are about as many runs as sessions, so the search is short. */
static uint32_t find(struct wh_arena *arena, uint32_t wanted)
{
	uint32_t length;

	for (uint32_t first = 0; first < arena->units; first += length) {
		bool taken = (arena->run[first] & TAKEN) != 0;

		if (!taken)
			merge(arena, first);
		length = arena->run[first] & ~TAKEN;
		WH_ASSERT(length > 0);
		if (!taken && length >= wanted)
			return first;
	}
	return NO_RUN;
}

static void cut(struct wh_arena *arena, uint32_t first, uint32_t wanted)
{
	uint32_t left = arena->run[first] - wanted;

	WH_ASSERT((arena->run[first] & TAKEN) == 0 && arena->run[first] >= wanted);
	WH_ASSERT(arena->free_units >= wanted);
	if (left > 0)
		arena->run[first + wanted] = left;
	arena->run[first] = wanted | TAKEN;
	arena->free_units -= wanted;
}

void *wh_arena_take(struct wh_arena *arena, uint64_t bytes)
{
	uint64_t wanted = units_of(bytes);
	void *memory = NULL;

	WH_ASSERT(wanted > 0);
	rte_spinlock_lock(&arena->lock);

	uint32_t first = wanted <= arena->free_units ? find(arena, (uint32_t)wanted) : NO_RUN;

	if (first != NO_RUN) {
		cut(arena, first, (uint32_t)wanted);
		memory = arena->memory + (size_t)first * WH_ARENA_UNIT_BYTES;
	}
	rte_spinlock_unlock(&arena->lock);
	return memory;
}

void wh_arena_give(struct wh_arena *arena, void *memory)
{
	if (memory == NULL)
		return;

	size_t offset = (size_t)((uint8_t *)memory - arena->memory);
	size_t first = offset / WH_ARENA_UNIT_BYTES;

	WH_ASSERT(offset % WH_ARENA_UNIT_BYTES == 0 && first < arena->units);
	rte_spinlock_lock(&arena->lock);
	WH_ASSERT((arena->run[first] & TAKEN) != 0);
	arena->run[first] &= ~TAKEN;
	arena->free_units += arena->run[first];
	WH_ASSERT(arena->free_units <= arena->units);
	rte_spinlock_unlock(&arena->lock);
}

uint64_t wh_arena_free_bytes(struct wh_arena *arena)
{
	rte_spinlock_lock(&arena->lock);

	uint64_t bytes = (uint64_t)arena->free_units * WH_ARENA_UNIT_BYTES;

	rte_spinlock_unlock(&arena->lock);
	return bytes;
}
