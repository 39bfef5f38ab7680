/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/yield.h"

#include <math.h>

#include "base/assert.h"

#define ALPHA       1.5 /* of what we leave in a queue ourselves: more is others' */
#define PEAK        3.0
#define LOST_SIGMAS 3.0  /* beyond the noise */
#define LEFT        0.25 /* of the rate, ... */
#define CRUMB       0.01 /* ... but no less than this of the capacity, ... */
#define HOLD_S      0.1  /* ... for so long */
#define HOLD_RTT    8.0

bool wh_lambda_yield_begins(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	uint64_t now_tsc, double own_s, double noise)
{
	const struct wh_lambda_sample *sample = &path->sample;
	double mean = noise * (double)sample->seen_pkts;

	WH_ASSERT(own_s > 0.0);
	if (sample->queue_s <= ALPHA * own_s && sample->peak_s <= PEAK * own_s &&
		(double)sample->lost_pkts <= mean + LOST_SIGMAS * sqrt(mean))
		return false;
	yield->gave_way_tsc = now_tsc;
	return true;
}

bool wh_lambda_yield_holds(
	const struct wh_lambda_yield *yield, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double hold_s = fmax(HOLD_S, HOLD_RTT * wh_lambda_path_rtt_s(path));

	return yield->gave_way_tsc > 0 &&
	       (double)(now_tsc - yield->gave_way_tsc) / path->hz < hold_s;
}

double wh_lambda_yield_pps(double rate_pps, double capacity_pps)
{
	return fmax(LEFT * rate_pps, CRUMB * capacity_pps);
}
