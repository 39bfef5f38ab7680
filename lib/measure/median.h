/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Median of a small window of intervals. For an even count it is the greater of the two in the
 * middle, as in UDT: a value that did occur, where a mean might lie between two modes. The longer
 * interval is the lower speed, which is the cautious choice.
 */

#include <assert.h>
#include <stdint.h>

#include "base/assert.h"
#include "measure/constants.h"

#define WH_MEDIAN_VALUES_MAX 16

static_assert(WH_ARRIVAL_INTERVALS <= WH_MEDIAN_VALUES_MAX, "the window fits");
static_assert(WH_PAIR_INTERVALS <= WH_MEDIAN_VALUES_MAX, "the window fits");

static inline uint64_t wh_median_u64(const uint64_t *values, uint32_t count)
{
	uint64_t sorted[WH_MEDIAN_VALUES_MAX];

	WH_ASSERT(count > 0 && count <= WH_MEDIAN_VALUES_MAX);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t place = i;

		while (place > 0 && sorted[place - 1] > values[i]) {
			sorted[place] = sorted[place - 1];
			place--;
		}
		sorted[place] = values[i];
	}
	return sorted[count / 2];
}
