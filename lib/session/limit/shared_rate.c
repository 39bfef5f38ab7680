/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/limit/shared_rate.h"

#include "base/assert.h"
#include "base/clock.h"

/* At 1 Tb/s a packet takes some 30 cycles; rounded to whole cycles it would be off by percents. */
#define FRACTION_BITS 4

uint64_t wh_shared_rate_reserve(
	struct wh_shared_rate *rate, uint64_t hz, uint64_t now_tsc, uint64_t bytes)
{
	uint64_t bps = wh_shared_rate_bps(rate);
	uint64_t saved_tsc = hz / 1000 * WH_SHARED_RATE_SAVED_MS;
	uint64_t least = (now_tsc > saved_tsc ? now_tsc - saved_tsc : 0) << FRACTION_BITS;
	uint64_t next = atomic_load_explicit(&rate->next, memory_order_relaxed);
	uint64_t from;

	WH_ASSERT(bytes <= WH_RESERVED_BYTES_MAX && hz <= UINT64_C(1) << 36);
	if (bps == 0)
		return now_tsc;
	do
		from = wh_max_u64(next, least);
	while (!atomic_compare_exchange_weak_explicit(&rate->next, &next,
		from + (bytes * 8 * hz << FRACTION_BITS) / bps, memory_order_relaxed,
		memory_order_relaxed));
	return from >> FRACTION_BITS;
}
