/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/scenario/host_clock.h"

#include <math.h>

#include "base/assert.h"

#define LAST_NS (WH_SIM_NEVER_PS / WH_PS_PER_NS)

void wh_host_clock_init(struct wh_host_clock *clock, const struct wh_host_clock_config *config)
{
	WH_ASSERT(fabs(config->skew) <= WH_HOST_CLOCK_SKEW_MAX);
	*clock = (struct wh_host_clock){
		.zero_tsc = WH_HOST_CLOCK_START + config->offset_ps / WH_PS_PER_NS,
		.skew_ppb = llround(config->skew * 1e9),
	};
}

int64_t wh_host_clock_gain(const struct wh_host_clock *clock, uint64_t true_ns)
{
	__int128 gain = (__int128)true_ns * clock->skew_ppb;

	return (int64_t)(gain / (int64_t)WH_NS_PER_S);
}

/* Starts from the quotient, which rounding leaves short by a nanosecond or two at most. */
static uint64_t when_skewed_ns(const struct wh_host_clock *clock, uint64_t tsc, uint64_t shown_ns)
{
	uint64_t rate_ppb = (uint64_t)((int64_t)WH_NS_PER_S + clock->skew_ppb);
	uint64_t true_ns = (uint64_t)((unsigned __int128)shown_ns * WH_NS_PER_S / rate_ppb);

	true_ns -= true_ns > 0;
	while (wh_host_clock_tsc(clock, true_ns * WH_PS_PER_NS) < tsc)
		true_ns++;
	return true_ns;
}

uint64_t wh_host_clock_when_ps(const struct wh_host_clock *clock, uint64_t tsc)
{
	uint64_t shown_ns = tsc > clock->zero_tsc ? tsc - clock->zero_tsc : 0;

	/* A slow clock shows up to a thousandth less. */
	if (shown_ns > LAST_NS - LAST_NS / 500)
		return WH_SIM_NEVER_PS;
	if (clock->skew_ppb != 0)
		shown_ns = when_skewed_ns(clock, tsc, shown_ns);
	return shown_ns * WH_PS_PER_NS;
}
