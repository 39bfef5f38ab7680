/* SPDX-License-Identifier: BSD-3-Clause */
#include "track/replay.h"

#include <string.h>

/* Clears bit by bit up to the next word, then whole words. Most steps are one bit. */
void wh_replay_advance(struct wh_replay *replay, uint64_t number)
{
	uint32_t mask = replay->size - 1;

	WH_ASSERT(number >= replay->end && number != UINT64_MAX);
	if (number - replay->end >= replay->size) {
		memset(replay->bits, 0, replay->size / 8);
		replay->end = number + 1;
		return;
	}
	while (replay->end <= number) {
		uint64_t *word = &replay->bits[(replay->end & mask) / 64];

		if (replay->end % 64 == 0 && number - replay->end >= 63) {
			*word = 0;
			replay->end += 64;
		} else {
			*word &= ~(UINT64_C(1) << replay->end % 64);
			replay->end++;
		}
	}
}
