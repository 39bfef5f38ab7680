/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/arrival.h"

#include "base/assert.h"
#include "base/clock.h"
#include "measure/median.h"

void wh_arrival_init(struct wh_arrival *arrival, uint64_t hz)
{
	WH_ASSERT(hz > 0);
	*arrival = (struct wh_arrival){.hz = hz};
}

/* The window fills from its start, then is overwritten in rotation. */
static bool is_sound(const struct wh_arrival *arrival)
{
	return arrival->cursor < WH_ARRIVAL_INTERVALS &&
	       (arrival->count == arrival->cursor || arrival->count == WH_ARRIVAL_INTERVALS);
}

void wh_arrival_add(struct wh_arrival *arrival, uint64_t arrived_tsc)
{
	WH_DEBUG_ASSERT(!arrival->has_last || arrived_tsc >= arrival->last_tsc);
	WH_DEBUG_ASSERT(is_sound(arrival));
	if (arrival->has_last) {
		arrival->interval_tsc[arrival->cursor] = arrived_tsc - arrival->last_tsc;
		arrival->cursor = (arrival->cursor + 1) % WH_ARRIVAL_INTERVALS;
		if (arrival->count < WH_ARRIVAL_INTERVALS)
			arrival->count++;
	}
	arrival->last_tsc = arrived_tsc;
	arrival->has_last = true;
}

uint32_t wh_arrival_get(const struct wh_arrival *arrival)
{
	WH_ASSERT(is_sound(arrival));
	if (arrival->count < WH_ARRIVAL_INTERVALS)
		return 0;

	uint64_t median_tsc = wh_median_u64(arrival->interval_tsc, WH_ARRIVAL_INTERVALS);

	if (median_tsc == 0)
		return 0;

	uint64_t sum_tsc = 0;
	uint32_t left = 0;

	for (uint32_t i = 0; i < WH_ARRIVAL_INTERVALS; i++) {
		uint64_t interval_tsc = arrival->interval_tsc[i];

		if (interval_tsc > median_tsc * WH_ARRIVAL_OUTLIER_FACTOR ||
			interval_tsc * WH_ARRIVAL_OUTLIER_FACTOR < median_tsc)
			continue;
		sum_tsc += interval_tsc;
		left++;
	}
	if (left <= WH_ARRIVAL_INTERVALS / 2)
		return 0;
	WH_ASSERT(sum_tsc >= median_tsc);
	return (uint32_t)wh_min_u64(wh_muldiv_u64(arrival->hz, left, sum_tsc), UINT32_MAX);
}
