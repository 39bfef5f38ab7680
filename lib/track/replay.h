/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRACK_REPLAY_H
#define WH_TRACK_REPLAY_H

/*
 * Which numbers have come: of proved packets, each of which counts once. The highest and a window
 * behind it are known; what is older than that has come, for all that is known. Numbers may be any
 * but UINT64_MAX.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"

#define WH_REPLAY_SMALL 64

struct wh_replay {
	uint64_t end;   /* one past the highest */
	uint32_t size;  /* a power of two, 64 or more */
	uint64_t *bits; /* size / 64; by number modulo the size */
};

/* Bits are the caller's, zeroed. */
static inline void wh_replay_init(struct wh_replay *replay, uint64_t *bits, uint32_t size)
{
	WH_ASSERT(size >= WH_REPLAY_SMALL && (size & (size - 1)) == 0);
	*replay = (struct wh_replay){.size = size, .bits = bits};
}

/* The window moves up to `number` and what it leaves is forgotten. (replay.c) */
void wh_replay_advance(struct wh_replay *replay, uint64_t number);

/* True the first time. */
static inline bool wh_replay_take(struct wh_replay *replay, uint64_t number)
{
	uint64_t *word = &replay->bits[(number & (replay->size - 1)) / 64];
	uint64_t bit = UINT64_C(1) << number % 64;

	if (number >= replay->end)
		wh_replay_advance(replay, number);
	else if (replay->end - number > replay->size || (*word & bit) != 0)
		return false;
	*word |= bit;
	return true;
}

#endif
