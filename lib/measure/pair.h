/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* End-to-end capacity by packet pairs: NB = 1 / median of the last N2 intervals, udt.txt III C. */

#include <stdint.h>

#include "measure/constants.h"

struct wh_pair {
	uint64_t hz;
	uint32_t count;
	uint32_t cursor;
	uint64_t interval_tsc[WH_PAIR_INTERVALS];
};

void wh_pair_init(struct wh_pair *pair, uint64_t hz);

/* The two packets of a pair arrived one right after the other, this far apart. */
void wh_pair_add(struct wh_pair *pair, uint64_t interval_tsc);

/*
 * Packets per second, from the intervals so far; 0 (unknown) before the first, and if their median
 * is 0 because pairs share a timestamp.
 */
uint32_t wh_pair_get(const struct wh_pair *pair);
