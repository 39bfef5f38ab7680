/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Periodic exchange of complete state (periodic-exchange.txt): both ends send their complete report
 * once per control interval. A packet is retransmitted when enough of the receiver's reports have
 * passed and the last one still reports it missing. A window of packet numbers and the operator's
 * rate limit the flow. There are no timers and no requests: a lost report costs nothing but its
 * place in the count.
 *
 * Instead of the paper's bitmap a report contains a range from the lower edge on and its holes.
 * That is the same information for any window; a bitmap of a million packets would need 87 reports.
 * A report with too many holes says how far it goes, and the next one continues there.
 */

#include "profile/pxp.h"

#include <assert.h>
#include <math.h>

#include "base/assert.h"
#include "base/clock.h"
#include "profile/interval.h"

#define PERIOD_US 5000 /* "period of information exchange=5ms", Fig. 5 */

/*
 * Default timeout: a packet and the report that tells of it take a round trip and up to two
 * intervals. Half a round trip is added for reordering.
 */
#define RTT_SHARE 1.5
#define SPARE     2

#define COUNT_MAX (UINT32_C(1) << 20)

#define SKIP_MOST 2 /* "sending one control packet and skip one or two" */

/*
 * Time to process a control packet in memory, sealed and sent, by test/perf/packet.c; the paper has
 * no measurement.
 */
#define PROCESSING_NS 1000

#define NS_PER_MS 1e6

enum {
	PERIOD,
	TIMEOUT,
	WINDOW,
	PROCESSING,
	LOAD,
	SKIP,
	QUEUED,
	OPTIONS,
};

static const struct wh_option options[OPTIONS] = {
	[PERIOD] = {"period", WH_OPTION_TIME, NS_PER_MS, 1e9, PERIOD_US * 1e3, true, "Fig. 5",
		"nominal part of the control interval"},
	[TIMEOUT] = {"timeout", WH_OPTION_TIME, NS_PER_MS, 60e9, 0, false,
		"Retransmission Time Out",
		"in reports of the nominal period; auto: 1.5 round trips and 2 reports"},
	[WINDOW] = {"window", WH_OPTION_COUNT, 2, 1 << 24, 0, false, "Simulation Runs",
		"packets from the first unacknowledged one on; auto: as memory allows", true},
	[PROCESSING] = {"processing", WH_OPTION_TIME, 0, 1e9, PROCESSING_NS, true,
		"Control Packet Transmission Time",
		"of one connection's control packet, added to the interval for each connection"},
	[LOAD] = {"load", WH_OPTION_REAL, 0, 100, 1, true, "Control Packet Transmission Time",
		"how much what waits at the receiver adds to the interval"},
	[SKIP] = {"skip", WH_OPTION_COUNT, 0, SKIP_MOST, SKIP_MOST, true,
		"Control Packet Transmission Time",
		"reports that a connection with low activity skips, at most, and counts"},
	[QUEUED] = {"queued", WH_OPTION_COUNT, 1, 1 << 30, 0, true,
		"Control Packet Transmission Time",
		"packets queued for the receiver with which it accepts this; auto: any"},
};

static_assert(
	sizeof(struct wh_exchange) <= WH_CONTROL_STATE_BYTES, "a controller's state has room");
static_assert(OPTIONS <= WH_OPTIONS_MAX, "each option has a value");

static uint32_t count_of(double states)
{
	return (uint32_t)fmin(fmax(ceil(states), 1.0), COUNT_MAX);
}

void wh_exchange_on_rate(struct wh_control *control)
{
	struct wh_exchange *exchange = (struct wh_exchange *)control->state;

	exchange->interval_fp = wh_control_rate_fp(control);
}

struct wh_decision wh_exchange_decide(const struct wh_control *control, double span_pkts)
{
	const struct wh_exchange *exchange = (const struct wh_exchange *)control->state;

	WH_ASSERT((exchange->interval_fp != 0) == (control->config.rate_bps != 0));
	WH_ASSERT(exchange->resend_after > 0);
	return (struct wh_decision){
		.interval_fp = exchange->interval_fp,
		.window_pkts = control->config.window_pkts_max,
		.span_pkts = (uint32_t)span_pkts,
		.resend_after = exchange->resend_after,
	};
}

static void wait_for(struct wh_control *control, uint64_t rtt_tsc)
{
	const struct wh_control_config *config = &control->config;
	struct wh_exchange *exchange = (struct wh_exchange *)control->state;
	double period_tsc = (double)config->syn_tsc;
	double timeout_ns = config->options.value[TIMEOUT];

	if (timeout_ns > 0.0)
		exchange->resend_after =
			count_of(timeout_ns * (double)config->hz / WH_NS_PER_S / period_tsc);
	else
		exchange->resend_after = count_of(RTT_SHARE * (double)rtt_tsc / period_tsc) + SPARE;
}

/* Before the path is known: a tenth of a second, as elsewhere. */
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
	feedback->period_us = (uint32_t)(set->value[PERIOD] / 1e3);
	feedback->queued_pkts_max = (uint32_t)set->value[QUEUED];
	feedback->interval = (struct wh_interval_rules){
		.processing_ns = (uint32_t)set->value[PROCESSING],
		.load = set->value[LOAD],
		.skip = (uint32_t)set->value[SKIP],
	};
}

const struct wh_profile wh_profile_pxp = {
	.number = 4,
	.name = "pxp",
	.summary = "periodic exchange of complete state: no timers, no requests",
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
			.resend = WH_RESEND_COUNTED,
			.no_ack2 = true,
			.period_us = PERIOD_US,
		},
	.adapt = adapt,

	.code = WH_FEC_RS,
};
