/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * HighSpeed TCP as lambda-tcp.txt uses it: bandwidth discovery by limited slow start (3.1; RFC
 * 3742), AIMD depending on the window (5.2; RFC 3649), and paced packets (5.1), where a TCP would
 * send what the window allows at once.
 *
 * The paper paces in the device driver with a fixed gap and does not say how a sender would choose
 * one. Here the window is spread evenly over a round trip.
 */

#include "profile/hstcp.h"

#include <assert.h>
#include <math.h>

#include "base/assert.h"
#include "profile/interval.h"

/* Fig. 5: 512 packets after 8 round trips. In Fig. 9 it takes 9, as from a window of 1. */
#define INITIAL_WINDOW 2

#define MAX_SSTHRESH 100 /* recommended by RFC 3742; the paper wants a limit and names none */

/*
 * Below that limit the window doubles while its packets are sent, which at the present rate would
 * take 1.44 round trips. Above it, and in avoidance, it changes little per round trip.
 */
#define DOUBLING_GAIN 2.0

#define WINDOW_LEAST 2 /* as RFC 5681's threshold; a loss reduces it no further */

/*
 * An unused window says nothing about the path (RFC 7661): the window grows to at most this
 * multiple of what was acknowledged in a round trip. A doubling window is twice that at the end of
 * a round trip; others are slightly above it.
 */
#define DOUBLING_USED 3.0
#define STEADY_USED   1.5
#define USED_BESIDE   2.0 /* packets; for the smallest windows */

#define ACK_BYTES_MOST (1 << 30)

enum {
	PACE,
	PACE_GAIN,
	WINDOW,
	LIMIT,
	AIMD,
	LOW,
	HIGH,
	HIGH_P,
	HIGH_DECREASE,
	ACK_BYTES,
	OPTIONS,
};

static const struct wh_option options[OPTIONS] = {
	[PACE] = {"pace", WH_OPTION_SWITCH, 0, 1, 1, false, "5.1",
		"the window goes out evenly over a round trip; off: at once", true},
	[PACE_GAIN] = {"pace_gain", WH_OPTION_REAL, 0.1, 10, 1, false, NULL,
		"so many windows in a round trip; twice as many while the window doubles", true},
	[WINDOW] = {"initial_window", WH_OPTION_COUNT, 1, 1 << 20, INITIAL_WINDOW, false, "Fig. 5",
		"packets of the first round trip"},
	[LIMIT] = {"max_ssthresh", WH_OPTION_COUNT, 0, 1 << 30, MAX_SSTHRESH, false,
		"3.1; RFC 3742", "above it slow start adds half of it a round trip; 0: no limit"},
	[AIMD] = {"aimd", WH_OPTION_SWITCH, 0, 1, 1, false, "5.2",
		"a(w) and b(w) of RFC 3649; off: a packet a round trip, and half", true},
	[LOW] = {"low_window", WH_OPTION_COUNT, 2, 1 << 20, 38, false, "RFC 3649",
		"up to this window as any TCP"},
	[HIGH] = {"high_window", WH_OPTION_COUNT, 3, 1 << 30, 83000, false, "RFC 3649",
		"the mean window at the loss rate high_p"},
	[HIGH_P] = {"high_p", WH_OPTION_SHARE, 1e-15, 0.1, 1e-7, false, "RFC 3649",
		"the loss rate of high_window"},
	[HIGH_DECREASE] = {"high_decrease", WH_OPTION_SHARE, 1e-6, 0.5, 0.1, false, "RFC 3649",
		"what a loss takes of high_window"},
	[ACK_BYTES] = {"ack_bytes", WH_OPTION_COUNT, 0, ACK_BYTES_MOST, 65536, true, NULL,
		"the receiver also speaks after so many bytes; 0: every 10 ms alone"},
};

static_assert(sizeof(struct wh_hstcp) <= WH_CONTROL_STATE_BYTES, "a controller's state has room");
static_assert(OPTIONS <= WH_OPTIONS_MAX, "each option has a value");
static_assert(WH_WINDOW_PKTS_MIN >= WINDOW_LEAST, "no window is too small for it");

static struct wh_hstcp *state_of(struct wh_control *control)
{
	return (struct wh_hstcp *)control->state;
}

static double option(const struct wh_control *control, uint32_t which)
{
	return control->config.options.value[which];
}

static bool in_slow_start(const struct wh_hstcp *hstcp)
{
	return hstcp->threshold_pkts == 0.0 || hstcp->window_pkts < hstcp->threshold_pkts;
}

/* In slow start below the limit a window doubles per round trip. */
static bool doubles(const struct wh_control *control, const struct wh_hstcp *hstcp)
{
	double limit = option(control, LIMIT);

	return in_slow_start(hstcp) && (limit == 0.0 || hstcp->window_pkts <= limit);
}

static void set_window(struct wh_control *control, double window_pkts)
{
	struct wh_hstcp *hstcp = state_of(control);

	hstcp->window_pkts = fmin(fmax(window_pkts, 1.0), (double)control->config.window_pkts_max);
	WH_ASSERT(hstcp->window_pkts >= 1.0);
}

/* The operator's bound of the rate is a lower bound of the interval. */
static void bound_interval(struct wh_control *control)
{
	state_of(control)->interval_min_fp = wh_control_rate_fp(control);
}

static void init(struct wh_control *control)
{
	struct wh_hstcp *hstcp = state_of(control);

	wh_highspeed_init(
		&hstcp->highspeed, &(struct wh_highspeed_config){
					   .low_pkts = option(control, LOW),
					   .high_pkts = option(control, HIGH),
					   .high_p = option(control, HIGH_P),
					   .high_decrease = option(control, HIGH_DECREASE),
				   });
	bound_interval(control);
	set_window(control, option(control, WINDOW));
}

/* Window increase per acknowledged packet. */
static double increase_pkts(const struct wh_control *control, const struct wh_hstcp *hstcp)
{
	double limit = option(control, LIMIT);
	double window = hstcp->window_pkts;
	double a = 1.0;

	WH_ASSERT(window >= 1.0);
	if (doubles(control, hstcp))
		return 1.0;
	if (option(control, AIMD) != 0.0)
		a = wh_highspeed_increase(&hstcp->highspeed, window);
	if (!in_slow_start(hstcp))
		return a / window;
	/* RFC 3742: K = int(cwnd / (0.5 max_ssthresh)), and 1 / K each. */
	return fmax(1.0 / floor(window / (0.5 * limit)), a / window);
}

/*
 * Counts acknowledgements per round trip, which shows how much of the window is used. With an
 * unknown round trip there are no rounds, and the first windows are small.
 */
static void count_round(struct wh_hstcp *hstcp, const struct wh_feedback_event *event)
{
	hstcp->round_pkts += (double)event->acked_pkts;
	if (hstcp->round_tsc == 0)
		hstcp->round_tsc = event->now_tsc;
	if (event->now_tsc - hstcp->round_tsc < hstcp->rtt_tsc)
		return;
	hstcp->used_pkts = hstcp->round_pkts;
	hstcp->round_pkts = 0.0;
	hstcp->round_tsc = event->now_tsc;
}

/* Largest window that present use allows; slow start may just have passed its limit. */
static double most_pkts(const struct wh_control *control, const struct wh_hstcp *hstcp)
{
	double limit = option(control, LIMIT);
	bool doubled = in_slow_start(hstcp) &&
		       (limit == 0.0 || hstcp->window_pkts <= DOUBLING_USED * limit);
	double used = fmax(hstcp->used_pkts, hstcp->round_pkts);

	return fmax((doubled ? DOUBLING_USED : STEADY_USED) * used + USED_BESIDE,
		option(control, WINDOW));
}

static void on_feedback(struct wh_control *control, const struct wh_feedback_event *event)
{
	struct wh_hstcp *hstcp = state_of(control);

	if (event->rtt_tsc > 0)
		hstcp->rtt_tsc = event->rtt_tsc;
	count_round(hstcp, event);
	if (event->acked_pkts == 0)
		return;

	double most = most_pkts(control, hstcp);
	double acked = (double)event->acked_pkts;

	if (hstcp->window_pkts >= most)
		return;

	double grown = hstcp->window_pkts + acked * increase_pkts(control, hstcp);

	/* One report of many packets must not carry slow start beyond its end. */
	if (in_slow_start(hstcp) && hstcp->threshold_pkts > 0.0)
		grown = fmin(grown, fmax(hstcp->threshold_pkts, hstcp->window_pkts + 1.0));
	set_window(control, fmin(grown, most));
}

/* The first loss, and one in slow start, follows a window that had doubled. */
static double kept_share(const struct wh_control *control, const struct wh_hstcp *hstcp)
{
	if (in_slow_start(hstcp) || option(control, AIMD) == 0.0)
		return 0.5;
	return 1.0 - wh_highspeed_decrease(&hstcp->highspeed, hstcp->window_pkts);
}

/* One cut per window in flight: RFC 6582's `recover`. */
static void on_loss(struct wh_control *control, const struct wh_loss_event *event)
{
	struct wh_hstcp *hstcp = state_of(control);

	WH_ASSERT(event->last_lost_pn < event->sent_end);
	if (event->last_lost_pn < hstcp->cut_end)
		return;

	double kept = fmax(hstcp->window_pkts * kept_share(control, hstcp), (double)WINDOW_LEAST);

	hstcp->cut_end = event->sent_end;
	hstcp->threshold_pkts = kept;
	hstcp->cuts++;
	set_window(control, kept);
}

/* A TCP's timeout: slow start from one packet to half of the previous window. */
static void on_silence(struct wh_control *control, const struct wh_silence_event *event)
{
	struct wh_hstcp *hstcp = state_of(control);

	WH_ASSERT(event->since_tsc <= event->now_tsc);
	hstcp->threshold_pkts =
		fmax(fmax(hstcp->window_pkts, hstcp->threshold_pkts) / 2.0, (double)WINDOW_LEAST);
	hstcp->round_tsc = 0;
	hstcp->round_pkts = hstcp->used_pkts = 0.0;
	hstcp->timeouts++;
	set_window(control, 1.0);
}

static uint64_t interval_fp(const struct wh_control *control, const struct wh_hstcp *hstcp)
{
	double gain = option(control, PACE_GAIN) * (doubles(control, hstcp) ? DOUBLING_GAIN : 1.0);
	double fp = (double)hstcp->rtt_tsc / (hstcp->window_pkts * gain) *
		    (double)(UINT64_C(1) << WH_INTERVAL_FRACTION_BITS);

	if (option(control, PACE) == 0.0 || hstcp->rtt_tsc == 0)
		return hstcp->interval_min_fp;
	fp = fmin(fmax(fp, (double)WH_INTERVAL_MIN_FP), (double)WH_INTERVAL_MAX_FP);
	return (uint64_t)fmax(fp, (double)hstcp->interval_min_fp);
}

static struct wh_decision decide(const struct wh_control *control)
{
	const struct wh_hstcp *hstcp = (const struct wh_hstcp *)control->state;

	return (struct wh_decision){
		.interval_fp = interval_fp(control, hstcp),
		.window_pkts = (uint32_t)hstcp->window_pkts,
		.limit = in_slow_start(hstcp) ? WH_LIMIT_START : WH_LIMIT_LOSS,
	};
}

static void adapt(const struct wh_profile_options *set, struct wh_feedback *feedback)
{
	feedback->report_bytes = (uint32_t)set->value[ACK_BYTES];
}

static const struct wh_option *contradiction(const struct wh_profile_options *set, const char **why)
{
	if (set->value[HIGH] > set->value[LOW])
		return NULL;
	*why = "is not above low_window";
	return &options[HIGH];
}

const struct wh_profile wh_profile_hstcp = {
	.number = 7,
	.name = "hstcp",
	.summary = "HighSpeed TCP: AIMD by the window, limited slow start, paced",
	.options = options,
	.n_options = OPTIONS,
	.contradiction = contradiction,

	.control_bytes = sizeof(struct wh_hstcp),
	.init = init,
	.on_feedback = on_feedback,
	.on_loss = on_loss,
	.on_silence = on_silence,
	.on_rate = bound_interval,
	.decide = decide,

	.feedback =
		{
			.period_us = 10000,
			.report_bytes = 65536,
			.nak_packets_max = 16, /* as `fixed`: SACK reports all holes, too */
		},
	.adapt = adapt,

	.code = WH_FEC_RS,
};
