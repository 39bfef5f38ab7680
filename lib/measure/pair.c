/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/pair.h"

#include "base/assert.h"
#include "base/clock.h"
#include "measure/median.h"

void wh_pair_init(struct wh_pair *pair, uint64_t hz)
{
	WH_ASSERT(hz > 0);
	*pair = (struct wh_pair){.hz = hz};
}

void wh_pair_add(struct wh_pair *pair, uint64_t interval_tsc)
{
	WH_ASSERT(pair->cursor < WH_PAIR_INTERVALS);
	pair->interval_tsc[pair->cursor] = interval_tsc;
	pair->cursor = (pair->cursor + 1) % WH_PAIR_INTERVALS;
	if (pair->count < WH_PAIR_INTERVALS)
		pair->count++;
	WH_ASSERT(pair->count == pair->cursor || pair->count == WH_PAIR_INTERVALS);
}

uint32_t wh_pair_get(const struct wh_pair *pair)
{
	if (pair->count == 0)
		return 0;

	uint64_t median_tsc = wh_median_u64(pair->interval_tsc, pair->count);

	if (median_tsc == 0)
		return 0;
	return (uint32_t)wh_min_u64(pair->hz / median_tsc, UINT32_MAX);
}
