/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The clock of a simulated host, in nanoseconds, starting at one second since sessions use 0 as
 * "not yet" for some timestamps. The simulator's time is true time; a clock may be ahead of it, and
 * run fast or slow.
 */

#include <stdint.h>

#include "base/clock.h"
#include "lab/sim/event.h"

#define WH_HOST_CLOCK_HZ    WH_NS_PER_S
#define WH_HOST_CLOCK_START WH_HOST_CLOCK_HZ

#define WH_HOST_CLOCK_SKEW_MAX 1e-3

struct wh_host_clock_config {
	double skew;        /* 100e-6: gains 100 microseconds per second */
	uint64_t offset_ps; /* lead over true time at time 0 */
};

struct wh_host_clock {
	uint64_t zero_tsc; /* clock value at time 0 */
	int64_t skew_ppb;
};

void wh_host_clock_init(struct wh_host_clock *clock, const struct wh_host_clock_config *config);

/* What a skewed clock gained after that true time; negative when it is slow. */
int64_t wh_host_clock_gain(const struct wh_host_clock *clock, uint64_t true_ns);

/* The clock at that time, from whole nanoseconds of true time. */
static inline uint64_t wh_host_clock_tsc(const struct wh_host_clock *clock, uint64_t now_ps)
{
	uint64_t now_ns = now_ps / WH_PS_PER_NS;

	if (clock->skew_ppb != 0)
		now_ns += (uint64_t)wh_host_clock_gain(clock, now_ns);
	return clock->zero_tsc + now_ns;
}

/* The first whole nanosecond at which the clock shows `tsc`; WH_SIM_NEVER_PS: never. */
uint64_t wh_host_clock_when_ps(const struct wh_host_clock *clock, uint64_t tsc);
