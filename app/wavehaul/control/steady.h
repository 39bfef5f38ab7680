/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A clock for everything but packets. It begins at the start of the machine, and is never set. */

#include <stdint.h>
#include <time.h>

#include "base/clock.h"

static inline uint64_t wh_steady_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * WH_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline uint64_t wh_steady_ms(void)
{
	return wh_steady_ns() / 1000000;
}

static inline int64_t wh_steady_s(void)
{
	return (int64_t)(wh_steady_ns() / WH_NS_PER_S);
}
