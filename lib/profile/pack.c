/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Positive acknowledgement, the baseline of periodic-exchange.txt, which says little about it: "if
 * the acknowledgment is lost or delayed the packet is retransmitted once more after waiting for its
 * retransmission timer to expire". So each received packet, including duplicates, is acknowledged
 * at once, and each packet has a timer. The paper does not say whether an acknowledgement is
 * cumulative, as in others of its time, or of one packet. With cumulative ones a loss delays the
 * acknowledgements of a round trip, and their timers expire; so the overhead grows with the window,
 * up to the 25 % at the end of Fig. 5's axis (1e-3 times the 250 packets of a round trip).
 * Therefore it is the preset. Window, rate and the eight tasks are those of `pxp`.
 */

#include "profile/pack.h"

#include <assert.h>
#include <math.h>

#include "profile/pxp.h"

#define PERIOD_US 10000 /* of the transmitter's reports, and of news of free buffers */

/* Default timeout, in round trips; at least as long as a host may pause. */
#define RTT_SHARE      2.0
#define TIMEOUT_US_MIN 10000
#define TIMEOUT_US_MAX 60000000

#define NS_PER_MS 1e6

enum {
	TIMEOUT,
	WINDOW,
	IN_ORDER,
	OPTIONS,
};

static const struct wh_option options[OPTIONS] = {
	[TIMEOUT] = {"timeout", WH_OPTION_TIME, NS_PER_MS, 60e9, 0, false, "Simulation Runs",
		"without acknowledgement a packet is retransmitted; auto: two RTT, 10ms or more"},
	[WINDOW] = {"window", WH_OPTION_COUNT, 2, 1 << 24, 0, false, "Simulation Runs",
		"packets from the first unacknowledged one on; auto: as memory allows", true},
	[IN_ORDER] = {"in_order", WH_OPTION_SWITCH, 0, 1, 1, true, NULL,
		"acknowledgements are of all before the first that misses; off: of one packet"},
};

static_assert(OPTIONS <= WH_OPTIONS_MAX, "each option has a value");
static_assert(TIMEOUT_US_MAX < INT32_MAX, "a clock that wraps tells before from after");

static void wait_for(struct wh_control *control, uint64_t rtt_tsc)
{
	struct wh_exchange *exchange = (struct wh_exchange *)control->state;
	double timeout_ns = control->config.options.value[TIMEOUT];
	double timeout_us = timeout_ns / 1e3;

	if (timeout_ns == 0.0)
		timeout_us = fmax(RTT_SHARE * 1e6 * (double)rtt_tsc / (double)control->config.hz,
			TIMEOUT_US_MIN);
	exchange->resend_after = (uint32_t)fmin(timeout_us, TIMEOUT_US_MAX);
}

static void init(struct wh_control *control)
{
	wh_exchange_on_rate(control);
	wait_for(control, control->config.hz / 10);
}

static void on_feedback(struct wh_control *control, const struct wh_feedback_event *event)
{
	if (event->rtt_tsc > 0)
		wait_for(control, event->rtt_tsc);
}

static struct wh_decision decide(const struct wh_control *control)
{
	return wh_exchange_decide(control, control->config.options.value[WINDOW]);
}

static void adapt(const struct wh_profile_options *set, struct wh_feedback *feedback)
{
	feedback->ack_in_order = set->value[IN_ORDER] != 0.0;
}

const struct wh_profile wh_profile_pack = {
	.number = 5,
	.name = "pack",
	.summary = "positive acknowledgement of each packet, and timers (baseline of pxp)",
	.options = options,
	.n_options = OPTIONS,

	.control_bytes = sizeof(struct wh_exchange),
	.init = init,
	.on_feedback = on_feedback,
	.on_rate = wh_exchange_on_rate,
	.decide = decide,
	.rate_is_told = true,
	.control_is_paced = true,

	.feedback =
		{
			.resend = WH_RESEND_TIMED,
			.ack_each = true,
			.no_ack2 = true,
			.period_us = PERIOD_US,
			.report_on_news_only = true,
		},
	.adapt = adapt,

	.code = WH_FEC_RS,
};
