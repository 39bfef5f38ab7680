/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/histogram.h"

#include "base/assert.h"

static uint64_t largest_in(uint32_t bucket, uint32_t fine_bits)
{
	uint32_t shift = bucket >> fine_bits;

	WH_ASSERT(bucket < WH_BUCKETS(fine_bits));
	if (shift <= 1)
		return bucket;
	shift--;

	uint64_t lead = bucket - (shift << fine_bits);

	/* For the last bucket the shift wraps to 0, which gives the largest value. */
	return ((lead + 1) << shift) - 1;
}

static uint64_t sum_of(const uint64_t *count, uint32_t buckets)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < buckets; i++)
		total += count[i];
	return total;
}

uint64_t wh_buckets_quantile(const uint64_t *count, uint32_t fine_bits, double share)
{
	uint32_t buckets = WH_BUCKETS(fine_bits);
	uint64_t total = sum_of(count, buckets);
	uint64_t counted = 0;
	uint32_t i;

	WH_ASSERT(share >= 0.0 && share <= 1.0);
	for (i = 0; i < buckets - 1; i++) {
		counted += count[i];
		if ((double)counted >= share * (double)total)
			break;
	}
	WH_ASSERT(counted <= total);
	return largest_in(i, fine_bits);
}

uint64_t wh_histogram_quantile(const struct wh_histogram *histogram, double share)
{
	return wh_buckets_quantile(histogram->count, WH_HISTOGRAM_FINE_BITS, share);
}
