/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A hierarchical bitmap: a set of positions below a power of two, up to 2^24, as a tree of 64-bit
 * words. A bit of a higher level says that the word below it is not empty. Setting, clearing and
 * finding the next or previous member touch one word per level, at most four, however many members
 * there are.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_BITSET_LEVELS_MAX 4
#define WH_BITSET_NONE       UINT32_MAX

struct wh_bitset {
	uint32_t size; /* a power of two, >= 64 */
	uint32_t levels;
	uint64_t *level[WH_BITSET_LEVELS_MAX]; /* [0]: members */
};

/* Memory that init allocates. */
uint64_t wh_bitset_bytes(uint32_t size);

/* 0 or -ENOMEM; empty. */
int wh_bitset_init(struct wh_bitset *set, uint32_t size);
void wh_bitset_free(struct wh_bitset *set); /* harmless after a failed init */

void wh_bitset_set(struct wh_bitset *set, uint32_t position);
void wh_bitset_clear(struct wh_bitset *set, uint32_t position);
bool wh_bitset_test(const struct wh_bitset *set, uint32_t position);

/* Smallest member >= position, largest member <= position; or WH_BITSET_NONE. No wrapping. */
uint32_t wh_bitset_next(const struct wh_bitset *set, uint32_t position);
uint32_t wh_bitset_previous(const struct wh_bitset *set, uint32_t position);

/* Asserts that the levels agree. */
void wh_bitset_check(const struct wh_bitset *set);
