/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/rtt.h"

#include "base/assert.h"
#include "base/clock.h"
#include "measure/constants.h"

/* Rounds to nearest. Truncation would hold the average up to 7 cycles below a constant input. */
static uint64_t average(uint64_t old, uint64_t sample, uint64_t keep, uint64_t parts)
{
	return (old * keep + sample * (parts - keep) + parts / 2) / parts;
}

void wh_rtt_init(struct wh_rtt *rtt, uint64_t initial_tsc)
{
	*rtt = (struct wh_rtt){
		.smoothed_tsc = initial_tsc,
		.var_tsc = initial_tsc / 2,
		.min_tsc = WH_TSC_NEVER,
	};
}

void wh_rtt_add(struct wh_rtt *rtt, uint64_t sample_tsc)
{
	/* Elsewhere 0 means unknown, so a path without delay takes one cycle. */
	uint64_t sample = wh_max_u64(sample_tsc, 1);

	WH_ASSERT(sample < UINT64_MAX / (2 * WH_EWMA_PARTS));
	rtt->min_tsc = wh_min_u64(rtt->min_tsc, sample);
	if (rtt->samples++ == 0) { /* RFC 6298 (2.2) */
		rtt->smoothed_tsc = sample;
		rtt->var_tsc = sample / 2;
		return;
	}

	/* RFC 6298 (2.3): the deviation is from the average as it was before this sample. */
	uint64_t smoothed = rtt->smoothed_tsc;
	uint64_t deviation = sample > smoothed ? sample - smoothed : smoothed - sample;

	rtt->var_tsc = average(rtt->var_tsc, deviation, WH_RTT_VAR_KEEP, WH_RTT_VAR_PARTS);
	rtt->smoothed_tsc = average(smoothed, sample, WH_EWMA_KEEP, WH_EWMA_PARTS);
	WH_ASSERT(rtt->min_tsc > 0 && rtt->smoothed_tsc >= rtt->min_tsc);
}

uint64_t wh_rtt_get(const struct wh_rtt *rtt)
{
	return rtt->smoothed_tsc;
}
