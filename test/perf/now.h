/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PERF_NOW_H
#define WH_PERF_NOW_H

#include <stdint.h>
#include <time.h>

#include "base/clock.h"

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * WH_NS_PER_S + (uint64_t)ts.tv_nsec;
}

#endif
