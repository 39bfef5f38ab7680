/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_MEMORY_H
#define WH_SIM_MEMORY_H

/* The memory of a simulation is the process's: without it, the process ends with a sentence. */

#include <stddef.h>

/* Zeroed. */
void *wh_sim_allocate(size_t bytes);

/* The same, aligned: a power of two that divides `bytes`. Not zeroed. */
void *wh_sim_allocate_aligned(size_t align, size_t bytes);

/* As realloc. */
void *wh_sim_resize(void *memory, size_t bytes);

/* What somebody else allocated and is NULL when there was no memory for it; returns it. */
void *wh_sim_insist(void *memory, size_t bytes);

#endif
