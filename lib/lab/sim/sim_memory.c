/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/sim_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"

void *wh_sim_insist(void *memory, size_t bytes)
{
	if (memory == NULL) {
		fprintf(stderr, "wavehaul: no memory for %zu more bytes of simulation\n", bytes);
		exit(EXIT_FAILURE);
	}
	return memory;
}

void *wh_sim_allocate(size_t bytes)
{
	return wh_sim_insist(calloc(1, bytes), bytes);
}

void *wh_sim_allocate_aligned(size_t align, size_t bytes)
{
	WH_ASSERT(bytes % align == 0);
	return wh_sim_insist(aligned_alloc(align, bytes), bytes);
}

void *wh_sim_resize(void *memory, size_t bytes)
{
	return wh_sim_insist(realloc(memory, bytes), bytes);
}
