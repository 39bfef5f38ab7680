/* SPDX-License-Identifier: BSD-3-Clause */
#include "track/bitset.h"

#include <assert.h>
#include <errno.h>

#include "base/assert.h"
#include "track/alloc.h"

#define WORD_SHIFT 6 /* log2 of the members, or words, that one word covers */
#define WORD_MASK  63
#define SIZE_MIN   (UINT32_C(1) << WORD_SHIFT)

static_assert(WORD_SHIFT * WH_BITSET_LEVELS_MAX == 24, "four levels of words hold 2^24 members");

/* Words of a level, and bits of the level above. */
static uint32_t words_of(const struct wh_bitset *set, uint32_t level)
{
	uint32_t words = set->size >> (WORD_SHIFT * (level + 1));

	return words > 0 ? words : 1;
}

int wh_bitset_init(struct wh_bitset *set, uint32_t size)
{
	WH_ASSERT(size >= SIZE_MIN && (size & (size - 1)) == 0);
	WH_ASSERT(size <= UINT32_C(1) << (WORD_SHIFT * WH_BITSET_LEVELS_MAX));

	*set = (struct wh_bitset){.size = size};

	uint32_t words = 0;

	do {
		words += words_of(set, set->levels);
		set->levels++;
	} while (words_of(set, set->levels - 1) > 1);

	/* One piece of memory: level[0] owns it. */
	uint64_t *memory = wh_track_alloc(words, sizeof(*memory));

	if (memory == NULL)
		return -ENOMEM;
	for (uint32_t level = 0; level < set->levels; level++) {
		set->level[level] = memory;
		memory += words_of(set, level);
	}
	return 0;
}

uint64_t wh_bitset_bytes(uint32_t size)
{
	struct wh_bitset set = {.size = size};
	uint64_t words = 0;
	uint32_t level = 0;

	do
		words += words_of(&set, level);
	while (words_of(&set, level++) > 1);
	return wh_track_bytes(words, sizeof(uint64_t));
}

void wh_bitset_free(struct wh_bitset *set)
{
	wh_track_free(set->level[0]);
	*set = (struct wh_bitset){0};
}

void wh_bitset_set(struct wh_bitset *set, uint32_t position)
{
	WH_ASSERT(position < set->size);

	for (uint32_t level = 0; level < set->levels; level++) {
		uint64_t *word = &set->level[level][position >> WORD_SHIFT];
		bool was_empty = *word == 0;

		*word |= UINT64_C(1) << (position & WORD_MASK);
		if (!was_empty)
			return;
		position >>= WORD_SHIFT;
	}
}

void wh_bitset_clear(struct wh_bitset *set, uint32_t position)
{
	WH_ASSERT(position < set->size);

	for (uint32_t level = 0; level < set->levels; level++) {
		uint64_t *word = &set->level[level][position >> WORD_SHIFT];

		*word &= ~(UINT64_C(1) << (position & WORD_MASK));
		if (*word != 0)
			return;
		position >>= WORD_SHIFT;
	}
}

bool wh_bitset_test(const struct wh_bitset *set, uint32_t position)
{
	WH_ASSERT(position < set->size);
	return set->level[0][position >> WORD_SHIFT] >> (position & WORD_MASK) & 1;
}

/* The smallest member covered by bit `position` of `level`. */
static uint32_t descend_low(const struct wh_bitset *set, uint32_t level, uint32_t position)
{
	while (level > 0) {
		uint64_t word = set->level[--level][position];

		WH_DEBUG_ASSERT(word != 0);
		position = position << WORD_SHIFT | (uint32_t)__builtin_ctzll(word);
	}
	return position;
}

/* The largest such member. */
static uint32_t descend_high(const struct wh_bitset *set, uint32_t level, uint32_t position)
{
	while (level > 0) {
		uint64_t word = set->level[--level][position];

		WH_DEBUG_ASSERT(word != 0);
		position = position << WORD_SHIFT | (uint32_t)(WORD_MASK - __builtin_clzll(word));
	}
	return position;
}

uint32_t wh_bitset_next(const struct wh_bitset *set, uint32_t position)
{
	WH_ASSERT(position < set->size);

	for (uint32_t level = 0; level < set->levels; level++) {
		uint32_t index = position >> WORD_SHIFT;

		if (index == words_of(set, level))
			return WH_BITSET_NONE;

		uint64_t word = set->level[level][index] & UINT64_MAX << (position & WORD_MASK);

		if (word != 0)
			return descend_low(
				set, level, index << WORD_SHIFT | (uint32_t)__builtin_ctzll(word));
		position = index + 1;
	}
	return WH_BITSET_NONE;
}

uint32_t wh_bitset_previous(const struct wh_bitset *set, uint32_t position)
{
	WH_ASSERT(position < set->size);

	for (uint32_t level = 0; level < set->levels; level++) {
		uint32_t index = position >> WORD_SHIFT;
		uint64_t below = UINT64_MAX >> (WORD_MASK - (position & WORD_MASK));
		uint64_t word = set->level[level][index] & below;

		if (word != 0)
			return descend_high(set, level,
				index << WORD_SHIFT |
					(uint32_t)(WORD_MASK - __builtin_clzll(word)));
		if (index == 0)
			return WH_BITSET_NONE;
		position = index - 1;
	}
	return WH_BITSET_NONE;
}

void wh_bitset_check(const struct wh_bitset *set)
{
	WH_ASSERT(words_of(set, set->levels - 1) == 1);

	/* The level above has no bits beyond the words below, so both must agree bit by bit. */
	for (uint32_t level = 0; level + 1 < set->levels; level++) {
		uint32_t words = words_of(set, level);

		for (uint32_t above = 0; above < words_of(set, level + 1); above++) {
			uint64_t expected = 0;

			for (uint32_t bit = 0; bit < 64 && above * 64 + bit < words; bit++)
				if (set->level[level][above * 64 + bit] != 0)
					expected |= UINT64_C(1) << bit;
			WH_ASSERT(set->level[level + 1][above] == expected);
		}
	}
}
