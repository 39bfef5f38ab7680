/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bottleneck.h"

#include <math.h>

#include "base/assert.h"

#define BITS 8.0 /* per byte */

static void check(const struct wh_bottleneck *bottleneck)
{
	WH_ASSERT(bottleneck->slow_bps > 0.0 && bottleneck->fast_bps > bottleneck->slow_bps);
	WH_ASSERT(bottleneck->memory_bytes >= 0.0);
}

/* (f - s) / f: the share of a burst that is queued. */
static double waiting_share(double fast_bps, double slow_bps)
{
	WH_ASSERT(slow_bps > 0.0 && fast_bps > slow_bps);
	return (fast_bps - slow_bps) / fast_bps;
}

double wh_bottleneck_memory_bytes(
	double fast_bps, double slow_bps, double burst_pkts, double packet_bytes)
{
	return burst_pkts * packet_bytes * waiting_share(fast_bps, slow_bps);
}

double wh_bottleneck_rate_bps(const struct wh_bottleneck *bottleneck)
{
	check(bottleneck);
	WH_ASSERT(bottleneck->rtt_s > 0.0);
	return BITS * bottleneck->memory_bytes / bottleneck->rtt_s /
	       waiting_share(bottleneck->fast_bps, bottleneck->slow_bps);
}

double wh_bottleneck_wanted_bytes(double fast_bps, double slow_bps, double rtt_s)
{
	return waiting_share(fast_bps, slow_bps) * slow_bps * rtt_s / BITS;
}

double wh_bottleneck_close_rtt_s(const struct wh_bottleneck *bottleneck)
{
	WH_ASSERT(bottleneck->fast_bps > 0.0 && bottleneck->memory_bytes >= 0.0);
	return 4.0 * BITS * bottleneck->memory_bytes / bottleneck->fast_bps;
}

bool wh_bottleneck_forbidden(
	const struct wh_bottleneck *bottleneck, double *low_bps, double *high_bps)
{
	double close_rtt_s = wh_bottleneck_close_rtt_s(bottleneck);

	if (bottleneck->rtt_s <= close_rtt_s)
		return false;

	double root = sqrt(1.0 - close_rtt_s / bottleneck->rtt_s);

	/* The smaller root as a quotient, since a difference would lose precision. */
	*high_bps = bottleneck->fast_bps / 2.0 * (1.0 + root);
	*low_bps = bottleneck->fast_bps / 2.0 * (close_rtt_s / bottleneck->rtt_s) / (1.0 + root);
	WH_ASSERT(*low_bps < *high_bps && *high_bps <= bottleneck->fast_bps);
	return true;
}
