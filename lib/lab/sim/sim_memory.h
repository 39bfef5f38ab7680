/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Allocation that cannot fail: without memory, the process ends with a message. */

#include <stddef.h>

/* Zeroed. */
void *wh_sim_allocate(size_t bytes);

/* Aligned to a power of two that divides `bytes`. Not zeroed. */
void *wh_sim_allocate_aligned(size_t align, size_t bytes);

/* As realloc. */
void *wh_sim_resize(void *memory, size_t bytes);

/* Returns memory allocated elsewhere; ends the process when it is NULL. */
void *wh_sim_insist(void *memory, size_t bytes);
