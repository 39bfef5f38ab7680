/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A log-linear histogram, as HdrHistogram: values below 16 have a bucket each, and each power of
 * two above has eight. So the resolution is one eighth. Adding takes a few cycles, cheap enough for
 * the packet path.
 */

#include <stdint.h>

#include "base/assert.h"

/* Buckets of any resolution: each power of two above the first has 2^fine_bits of them. */
#define WH_BUCKETS(fine_bits) ((65 - (fine_bits)) << (fine_bits))

static inline uint32_t wh_bucket_of(uint64_t value, uint32_t fine_bits)
{
	uint32_t shift =
		63 - fine_bits - (uint32_t)__builtin_clzll(value | UINT64_C(1) << fine_bits);

	WH_DEBUG_ASSERT(value >> shift < UINT64_C(2) << fine_bits);
	return (shift << fine_bits) + (uint32_t)(value >> shift);
}

/*
 * The quantile at `share` (0 to 1), rounded up to the largest value of its bucket; 0 without any.
 */
uint64_t wh_buckets_quantile(const uint64_t *count, uint32_t fine_bits, double share);

#define WH_HISTOGRAM_FINE_BITS 3
#define WH_HISTOGRAM_BUCKETS   WH_BUCKETS(WH_HISTOGRAM_FINE_BITS)

struct wh_histogram {
	uint64_t count[WH_HISTOGRAM_BUCKETS];
};

static inline void wh_histogram_add(struct wh_histogram *histogram, uint64_t value)
{
	histogram->count[wh_bucket_of(value, WH_HISTOGRAM_FINE_BITS)]++;
}

uint64_t wh_histogram_quantile(const struct wh_histogram *histogram, double share);
