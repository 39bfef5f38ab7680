/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/histogram.h"

static inline uint64_t wh_rig_histogram_total(const struct wh_histogram *histogram)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < WH_HISTOGRAM_BUCKETS; i++)
		total += histogram->count[i];
	return total;
}
