/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Anti-replay window, as in IPsec (RFC 4303 3.4.3): which numbers of authenticated packets were
 * received, so that each counts once. It keeps the highest number and a window below it; older
 * numbers count as received. The bits are a ring that is never shifted (RFC 6479). Any number but
 * UINT64_MAX is allowed.
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

/* `bits` is the caller's, zeroed. */
static inline void wh_replay_init(struct wh_replay *replay, uint64_t *bits, uint32_t size)
{
	WH_ASSERT(size >= WH_REPLAY_SMALL && (size & (size - 1)) == 0);
	*replay = (struct wh_replay){.size = size, .bits = bits};
}

/* Moves the window up to `number`; bits that leave it are cleared. (replay.c) */
void wh_replay_advance(struct wh_replay *replay, uint64_t number);

/* True: this number is received for the first time. */
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
