/* SPDX-License-Identifier: BSD-3-Clause */

/* The rate, and how many packets of ours stand in the queue by it. */

#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "profile/lambda/lambda_internal.h"

#define ALPHA_LEAST       2.0 /* packets: fewer cannot be seen, ... */
#define ALPHA_BORNE_LEAST 1.0 /* ... but a short queue may take no more */
#define JITTER_ALPHA      2.0 /* times the variation of minimal delays: less is no queue */

void wh_lambda_set_rate(struct wh_lambda *lambda, double rate_pps)
{
	lambda->rate_pps = fmin(fmax(rate_pps, WH_LAMBDA_RATE_LEAST_PPS), lambda->rate_max_pps);
	WH_ASSERT(lambda->rate_pps > 0.0);
}

double wh_lambda_own_alpha_pkts(const struct wh_control *control, double rate_pps)
{
	double wire_bytes = control->config.wire_bytes;
	double part = rate_pps * wire_bytes * 8.0 / WH_LAMBDA_ALPHA_AT_BPS;

	return fmax(wh_lambda_option(control, WH_LAMBDA_ALPHA) / wire_bytes * wh_cbrt(part),
		ALPHA_LEAST);
}

double wh_lambda_alpha_pkts(const struct wh_control *control, double rate_pps)
{
	double pkts = wh_lambda_own_alpha_pkts(control, rate_pps);
	double jitter_s = wh_lambda_view_of(control)->path.jitter_s;
	double borne_pkts = wh_lambda_view_of(control)->alpha_most_pkts;

	pkts = fmax(pkts, JITTER_ALPHA * jitter_s * rate_pps);
	return borne_pkts > 0.0 ? fmin(pkts, fmax(borne_pkts, ALPHA_BORNE_LEAST)) : pkts;
}
