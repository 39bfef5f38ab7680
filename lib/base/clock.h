/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Time is an argument, because nothing in lib/ reads a clock. A moment or a span in `_tsc` is
 * cycles of a clock whose rate (`hz`) was passed at the start: the TSC on a machine with a NIC, 1
 * GHz in virtual time.
 */

#include <stdint.h>

#include "base/assert.h"

#define WH_TSC_NEVER UINT64_MAX
#define WH_NS_PER_S  UINT64_C(1000000000)
#define WH_US_PER_S  UINT64_C(1000000)

/* value * multiplier / divisor without intermediate overflow; saturates at UINT64_MAX. */
static inline uint64_t wh_muldiv_u64(uint64_t value, uint64_t multiplier, uint64_t divisor)
{
	WH_DEBUG_ASSERT(divisor > 0);

	unsigned __int128 result = (unsigned __int128)value * multiplier / divisor;

	return result > UINT64_MAX ? UINT64_MAX : (uint64_t)result;
}

static inline uint64_t wh_ns_to_tsc(uint64_t hz, uint64_t span_ns)
{
	return wh_muldiv_u64(span_ns, hz, WH_NS_PER_S);
}

static inline uint64_t wh_tsc_to_ns(uint64_t hz, uint64_t span_tsc)
{
	return wh_muldiv_u64(span_tsc, WH_NS_PER_S, hz);
}

static inline uint64_t wh_us_to_tsc(uint64_t hz, uint64_t span_us)
{
	return wh_muldiv_u64(span_us, hz, WH_US_PER_S);
}

static inline uint64_t wh_tsc_to_us(uint64_t hz, uint64_t span_tsc)
{
	return wh_muldiv_u64(span_tsc, WH_US_PER_S, hz);
}

/* Saturates at UINT64_MAX, which is WH_TSC_NEVER. */
static inline uint64_t wh_add_u64(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline uint64_t wh_min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t wh_max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}
