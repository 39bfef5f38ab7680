/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The system's clocks, for everything but packets. */

#include <stdint.h>
#include <time.h>

#include "base/clock.h"

/* 0: there is no such clock, as that of a thread which has ended. */
static inline uint64_t wh_clock_ns(clockid_t which)
{
	struct timespec now = {0};

	clock_gettime(which, &now);
	return (uint64_t)now.tv_sec * WH_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Since the start of the machine: a clock that is never set. */
static inline uint64_t wh_steady_ns(void)
{
	return wh_clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t wh_steady_ms(void)
{
	return wh_steady_ns() / 1000000;
}

static inline int64_t wh_steady_s(void)
{
	return (int64_t)(wh_steady_ns() / WH_NS_PER_S);
}

/* Since 1970. */
static inline int64_t wh_wall_us(void)
{
	return (int64_t)(wh_clock_ns(CLOCK_REALTIME) / 1000);
}
