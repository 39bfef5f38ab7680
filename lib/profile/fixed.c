/* SPDX-License-Identifier: BSD-3-Clause */

/* A constant rate in any case: for dedicated paths, and as the baseline of other profiles. */

#include "profile/fixed.h"

#include <assert.h>

#include "base/assert.h"
#include "profile/interval.h"

struct fixed {
	uint64_t interval_fp;
};

static_assert(sizeof(struct fixed) <= WH_CONTROL_STATE_BYTES, "a controller's state has room");

static void init(struct wh_control *control)
{
	struct fixed *fixed = (struct fixed *)control->state;

	fixed->interval_fp = wh_control_rate_fp(control);
}

static struct wh_decision decide(const struct wh_control *control)
{
	const struct fixed *fixed = (const struct fixed *)control->state;

	WH_ASSERT((fixed->interval_fp != 0) == (control->config.rate_bps != 0));
	return (struct wh_decision){
		.interval_fp = fixed->interval_fp,
		.window_pkts = control->config.window_pkts_max,
	};
}

const struct wh_profile wh_profile_fixed = {
	.number = 1,
	.name = "fixed",
	.summary = "the operator names the rate; complete reports and NAK (dedicated paths)",

	.control_bytes = sizeof(struct fixed),
	.init = init,
	.on_rate = init,
	.decide = decide,
	.rate_is_told = true,
	.control_is_paced = true,

	.feedback =
		{
			.period_us = 10000,
			/* Half a second-level cache of today's cores. */
			.report_bytes = UINT32_C(512) << 10,
			/*
			 * Many more than UDT's one: on a lossy path at line rate, the
			 * retransmissions lost in one round trip must fit into the reports of one
			 * round trip.
			 */
			.nak_packets_max = 16,
		},

	.code = WH_FEC_RS,
};
