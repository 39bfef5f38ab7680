/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Round-trip time: EWMA with alpha = 7/8 (udt.txt III B), mean deviation as in RFC 6298. */

#include <stdint.h>

struct wh_rtt {
	uint64_t smoothed_tsc;
	uint64_t var_tsc;
	uint64_t min_tsc; /* WH_TSC_NEVER before the first sample */
	uint64_t samples;
};

/* Until the first sample, get returns `initial_tsc`, with a deviation of half of it. */
void wh_rtt_init(struct wh_rtt *rtt, uint64_t initial_tsc);
void wh_rtt_add(struct wh_rtt *rtt, uint64_t sample_tsc);
uint64_t wh_rtt_get(const struct wh_rtt *rtt);
