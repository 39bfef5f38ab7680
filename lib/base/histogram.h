/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BASE_HISTOGRAM_H
#define WH_BASE_HISTOGRAM_H

/*
 * How often each value came, to an eighth of it: values below 16 have a bucket each, and of those
 * above, each power of two has eight. Adding takes a few cycles, so that it may stand on the way
 * of a packet.
 */

#include <stdint.h>

#include "base/assert.h"

#define WH_HISTOGRAM_FINE_BITS 3
#define WH_HISTOGRAM_FINE      (1 << WH_HISTOGRAM_FINE_BITS)

/* All 64-bit values have a bucket: shifts of 0 to 60, and what is below the first eight. */
#define WH_HISTOGRAM_SHIFTS  (64 - WH_HISTOGRAM_FINE_BITS)
#define WH_HISTOGRAM_BUCKETS ((WH_HISTOGRAM_SHIFTS + 1) * WH_HISTOGRAM_FINE)

struct wh_histogram {
	uint64_t count[WH_HISTOGRAM_BUCKETS];
};

/* A value's leading four bits are its place within `shift`: 8 to 15, or itself below that. */
static inline uint32_t wh_histogram_bucket(uint64_t value)
{
	uint32_t shift =
		WH_HISTOGRAM_SHIFTS - 1 - (uint32_t)__builtin_clzll(value | WH_HISTOGRAM_FINE);

	WH_DEBUG_ASSERT(shift < WH_HISTOGRAM_SHIFTS && value >> shift < 2 * WH_HISTOGRAM_FINE);
	return shift * WH_HISTOGRAM_FINE + (uint32_t)(value >> shift);
}

static inline void wh_histogram_add(struct wh_histogram *histogram, uint64_t value)
{
	histogram->count[wh_histogram_bucket(value)]++;
}

uint64_t wh_histogram_total(const struct wh_histogram *histogram);

/*
 * A value that at least `share` (0 to 1) of those added do not exceed: the largest that belongs
 * into the bucket concerned; 0 without any.
 */
uint64_t wh_histogram_quantile(const struct wh_histogram *histogram, double share);

#endif
