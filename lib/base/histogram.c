/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/histogram.h"

#include "base/assert.h"

static uint64_t largest_in(uint32_t bucket)
{
	WH_ASSERT(bucket < WH_HISTOGRAM_BUCKETS);
	if (bucket < 2 * WH_HISTOGRAM_FINE)
		return bucket;

	uint32_t shift = bucket / WH_HISTOGRAM_FINE - 1;
	uint64_t lead = bucket - shift * WH_HISTOGRAM_FINE;

	/* Of the last bucket the sum wraps to 0, and this to the largest value of all. */
	return ((lead + 1) << shift) - 1;
}

uint64_t wh_histogram_total(const struct wh_histogram *histogram)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < WH_HISTOGRAM_BUCKETS; i++)
		total += histogram->count[i];
	return total;
}

uint64_t wh_histogram_quantile(const struct wh_histogram *histogram, double share)
{
	uint64_t total = wh_histogram_total(histogram);
	uint64_t counted = 0;
	uint32_t i;

	WH_ASSERT(share >= 0.0 && share <= 1.0);
	for (i = 0; i < WH_HISTOGRAM_BUCKETS - 1; i++) {
		counted += histogram->count[i];
		if ((double)counted >= share * (double)total)
			break;
	}
	WH_ASSERT(counted <= total);
	return largest_in(i);
}
