/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One bit per packet number of a circular window of mask + 1 packet numbers, a power of two and at
 * least 64. A packet number's bit is pn % 64 of its word, wherever the window starts, so that whole
 * words can be processed. Both ends of the window may be in the same word.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"

#define WH_WORD_BITS 64

#define WH_TRACK_WINDOW_MIN UINT32_C(64)
#define WH_TRACK_WINDOW_MAX (UINT32_C(1) << 24)

static_assert(WH_TRACK_WINDOW_MIN >= WH_WORD_BITS, "a window is of whole words");

static inline uint64_t *wh_window_word(uint64_t *bits, uint32_t mask, uint64_t pn)
{
	return &bits[(pn & mask) / WH_WORD_BITS];
}

static inline bool wh_window_test(const uint64_t *bits, uint32_t mask, uint64_t pn)
{
	return bits[(pn & mask) / WH_WORD_BITS] >> (pn % WH_WORD_BITS) & 1;
}

/* Ones from bit `low` on, `count` of them; count >= 1 and low + count <= 64. */
static inline uint64_t wh_word_ones(uint32_t low, uint32_t count)
{
	WH_DEBUG_ASSERT(count >= 1 && low + count <= WH_WORD_BITS);
	return UINT64_MAX >> (WH_WORD_BITS - count) << low;
}

/* Clears the run of set bits that starts at `pn`, word by word; returns its length. */
static inline uint64_t wh_window_take_run(uint64_t *bits, uint32_t mask, uint64_t pn)
{
	uint64_t taken = 0;

	for (;;) {
		uint64_t *word = wh_window_word(bits, mask, pn + taken);
		uint32_t low = (pn + taken) % WH_WORD_BITS;
		uint64_t missing = ~*word >> low;
		uint32_t run =
			missing == 0 ? WH_WORD_BITS - low : (uint32_t)__builtin_ctzll(missing);

		if (run == 0)
			return taken;
		*word &= ~wh_word_ones(low, run);
		taken += run;
		WH_DEBUG_ASSERT(taken <= mask + UINT64_C(1));
		if (missing != 0)
			return taken;
	}
}
