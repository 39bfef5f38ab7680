/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The UDT algorithm: AIMD of the sending rate every SYN by (2)-(5) and (7), capacity by (6),
 * window by (1). Numbers in brackets and sections are those of udt.txt.
 */

#include "profile/udt.h"

#include <assert.h>
#include <math.h>

#include "base/assert.h"
#include "base/clock.h"
#include "measure/constants.h"
#include "profile/interval.h"

#define SYN_US                10000  /* III A: constant synchronization interval, 0.01 s */
#define BETA_PRESET           1.5e-6 /* III C, formulas (3) and (4) */
#define LOSS_THRESHOLD_PRESET 0.01   /* III C: no increase from this loss rate on */
#define DECREASE_PRESET       1.125  /* (7): the rate falls by 1/9 */
#define FIRST_E               4      /* III C: dc == 2^e, e starts at 4 */
#define FIRST_WINDOW          2      /* III D */

enum {
	FORMULA3,
	SPARE_SINGLE_LOSS,
	DELAY_WARNING,
	BANDWIDTH_IN_BYTES,
	BETA,
	LOSS_THRESHOLD,
	ONE_WAY,
	EMPTY_SYN,
	DECREASE,
	SYN,
	OPTIONS,
};

static const struct wh_option options[OPTIONS] = {
	[FORMULA3] = {"formula3", WH_OPTION_SWITCH, 0, 1, 1, false, "III C (3); V removes it",
		"go back to the rate before a decrease by a ninth of the capacity", true},
	[SPARE_SINGLE_LOSS] = {"spare_single_loss", WH_OPTION_SWITCH, 0, 1, 0, false, "V",
		"the first single loss of an epoch does not decrease the rate", true},
	[DELAY_WARNING] = {"delay_warning", WH_OPTION_SWITCH, 0, 1, 1, false, "III C; V removes it",
		"a delay that grows decreases the rate", true},
	[BANDWIDTH_IN_BYTES] = {"bandwidth_in_bytes", WH_OPTION_SWITCH, 0, 1, 0, false, "III C",
		"free bandwidth in (3) and (4) in bytes per second, not in bits", true},
	[BETA] = {"beta", WH_OPTION_REAL, 1e-12, 1, BETA_PRESET, false, "III C (3), (4)",
		"how fast the rate rises", true},
	[LOSS_THRESHOLD] = {"loss_threshold", WH_OPTION_SHARE, 0, 1, LOSS_THRESHOLD_PRESET, false,
		"III C", "from this loss rate on the rate does not rise", true},
	[ONE_WAY] = {"one_way", WH_OPTION_SWITCH, 0, 1, 0, true, "V",
		"the trend is that of the one-way delay, not of the round trip"},
	[EMPTY_SYN] = {"empty_syn", WH_OPTION_SWITCH, 0, 1, 0, false, "III C is silent",
		"an interval in which nothing was sent counts as one without loss", true},
	[DECREASE] = {"decrease", WH_OPTION_REAL, 1, 100, DECREASE_PRESET, false, "III C (7)",
		"how many times longer a decrease makes the time between packets", true},
	[SYN] = {"syn", WH_OPTION_TIME, 1e6, 1e9, SYN_US * 1e3, true, "III A",
		"interval of rate control and acknowledgements"},
};

static_assert(sizeof(struct wh_udt) <= WH_CONTROL_STATE_BYTES, "a controller's state has room");
static_assert(OPTIONS <= WH_OPTIONS_MAX, "each option has a value");
static_assert(WH_WINDOW_PKTS_MIN >= FIRST_WINDOW, "slow start has its first window");

static struct wh_udt *state_of(struct wh_control *control)
{
	return (struct wh_udt *)control->state;
}

static double option(const struct wh_control *control, uint32_t which)
{
	return control->config.options.value[which];
}

static double ewma(double old, double sample)
{
	return (old * WH_EWMA_KEEP + sample * (WH_EWMA_PARTS - WH_EWMA_KEEP)) / WH_EWMA_PARTS;
}

static double seconds(const struct wh_control *control, uint64_t span_tsc)
{
	return (double)span_tsc / (double)control->config.hz;
}

/* C; 0 in slow start, which has no rate. */
static double rate_pps(const struct wh_control *control, const struct wh_udt *udt)
{
	WH_ASSERT(udt->slow_start || udt->interval_tsc > 0.0);
	return udt->slow_start ? 0.0 : (double)control->config.hz / udt->interval_tsc;
}

/*
 * The paper bounds W from above by the peer's buffers only. From below it is 4 after slow start:
 * with 2 packets in a long round trip half of the arrival intervals are pauses, at most half pass
 * III B's filter, AS is 0, and (1) would leave W at 2 for ever.
 *
 * W is whole packets, rounded up at each update. If W limits the flow, AS is what W lets through,
 * and (1) confirms any W: what rounding down removes would never come back, and a flow on 10 Mb/s
 * with 20 ms would fall from 9 to 5 Mb/s within a minute.
 */
static void set_window(const struct wh_control *control, struct wh_udt *udt, double window_pkts)
{
	double least_pkts = udt->slow_start ? FIRST_WINDOW : WH_UDT_LEAST_WINDOW;

	udt->window_pkts =
		fmin(fmax(ceil(window_pkts), least_pkts), (double)control->config.window_pkts_max);
	WH_ASSERT(udt->window_pkts >= FIRST_WINDOW);
}

static void set_interval(struct wh_udt *udt, double interval_tsc)
{
	WH_ASSERT(interval_tsc >= 0.0);
	WH_ASSERT(udt->interval_min_tsc > 0.0 && udt->interval_min_tsc <= udt->interval_max_tsc);
	udt->interval_tsc = fmin(fmax(interval_tsc, udt->interval_min_tsc), udt->interval_max_tsc);
}

/*
 * rate_bps bounds the interval from below. From above it is a second: below one packet per second
 * the flow learns nothing that could raise the rate again. The paper has neither bound.
 */
static void bound_interval(struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	struct wh_udt *udt = state_of(control);
	uint64_t min_fp = wh_max_u64(wh_control_rate_fp(control), WH_INTERVAL_MIN_FP);

	udt->interval_min_tsc = (double)min_fp / (double)WH_INTERVAL_MIN_FP;
	udt->interval_max_tsc = fmax((double)config->hz, udt->interval_min_tsc);
	if (!udt->slow_start)
		set_interval(udt, udt->interval_tsc);
}

static void init(struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	struct wh_udt *udt = state_of(control);

	WH_ASSERT(config->hz <= WH_INTERVAL_MAX_FP >> WH_INTERVAL_FRACTION_BITS);
	udt->slow_start = true;
	bound_interval(control);
	set_window(control, udt, FIRST_WINDOW);
}

/* III D in slow start, (1) after it, which needs an RTT; (6), whose first sample sets B. */
static void on_feedback(struct wh_control *control, const struct wh_feedback_event *event)
{
	struct wh_udt *udt = state_of(control);

	if (event->rtt_tsc > 0)
		udt->rtt_tsc = event->rtt_tsc;
	if (event->arrival_pps > 0)
		udt->arrival_pps = event->arrival_pps;

	if (event->capacity_pps > 0)
		udt->capacity_pps = udt->capacity_pps > 0.0
					    ? ewma(udt->capacity_pps, event->capacity_pps)
					    : event->capacity_pps;

	if (udt->slow_start) {
		set_window(control, udt, (double)event->acked_pkts_total);
	} else if (event->arrival_pps > 0 && udt->rtt_tsc > 0) {
		double span_s = seconds(control, udt->rtt_tsc + control->config.syn_tsc);

		set_window(control, udt, ewma(udt->window_pkts, event->arrival_pps * span_s));
	}
}

/*
 * (7). D is the rate before the decrease: C < D then holds until the rate is back where congestion
 * began, whereas the rate after it would make (3) unreachable.
 */
static void decrease(struct wh_control *control, struct wh_udt *udt)
{
	WH_ASSERT(!udt->slow_start);
	udt->last_decrease_pps = rate_pps(control, udt);
	set_interval(udt, udt->interval_tsc * option(control, DECREASE));
	udt->decreases++;
}

/*
 * III D: the interval becomes the packet arrival interval. While AS is unknown the rate is W per
 * RTT + SYN, which is (1) solved for AS.
 *
 * The event that ends slow start does not also decrease by (7): the arrival speed under congestion
 * is what the bottleneck lets through, and the change from no interval to that one is the decrease.
 * D stays 0, since (3)'s guess that B/9 is free assumes a rate that was cut by 1/9.
 */
static void end_slow_start(struct wh_control *control, struct wh_udt *udt)
{
	double rate = udt->arrival_pps;

	if (udt->arrival_pps == 0)
		rate = udt->window_pkts / seconds(control, udt->rtt_tsc + control->config.syn_tsc);
	WH_ASSERT(rate > 0.0);
	udt->slow_start = false;
	set_interval(udt, (double)control->config.hz / rate);
	set_window(control, udt, udt->window_pkts);
}

/* Each update of last_dec_seq freezes sending for a SYN, also at the end of slow start. */
static void begin_epoch(
	struct wh_control *control, struct wh_udt *udt, uint64_t now_tsc, uint64_t sent_end)
{
	if (udt->slow_start)
		end_slow_start(control, udt);
	else
		decrease(control, udt);
	WH_ASSERT(!udt->slow_start && sent_end >= udt->dec_end);
	udt->dec_end = sent_end;
	udt->decrease_count = 1;
	udt->e = FIRST_E;
	udt->single_loss_spared = false;
	udt->freeze_until_tsc = now_tsc + control->config.syn_tsc;
	udt->freezes++;
}

/*
 * Section V, "not to decrease sending rate for the first single loss": such a NAK begins no epoch;
 * it is only remembered. The next NAK beyond last_dec_seq begins one whatever it reports, even the
 * same packet, whose retransmission was then lost as well. A delay warning in between also begins
 * one, and the loss is forgotten. Slow start ends at the first loss nevertheless (III D).
 */
static bool spare(const struct wh_control *control, struct wh_udt *udt, uint64_t lost_pkts)
{
	if (option(control, SPARE_SINGLE_LOSS) == 0.0 || udt->slow_start || lost_pkts != 1 ||
		udt->single_loss_spared)
		return false;
	udt->single_loss_spared = true;
	return true;
}

static void on_loss(struct wh_control *control, const struct wh_loss_event *event)
{
	struct wh_udt *udt = state_of(control);

	WH_ASSERT(event->lost_pkts > 0);
	WH_ASSERT(event->last_lost_pn < event->sent_end);
	udt->lost_pkts += event->lost_pkts;

	if (udt->slow_start || event->last_lost_pn >= udt->dec_end) {
		if (!spare(control, udt, event->lost_pkts))
			begin_epoch(control, udt, event->now_tsc, event->sent_end);
		return;
	}
	udt->decrease_count++;
	if (udt->decrease_count == UINT64_C(1) << udt->e) {
		decrease(control, udt);
		udt->e++;
	}
	WH_ASSERT(udt->e < 64 && udt->decrease_count < UINT64_C(1) << udt->e);
}

static void on_delay(struct wh_control *control, const struct wh_delay_event *event)
{
	if (option(control, DELAY_WARNING) != 0.0)
		begin_epoch(control, state_of(control), event->now_tsc, event->sent_end);
}

/*
 * III C: moving average, from 0, of the loss rate per SYN. A SYN in which nothing was sent, as in a
 * freeze, has no rate: its losses count in the next. By option it counts as one without loss, so
 * that a flow of less than a packet per SYN recovers from a loss by time, not by packets.
 */
static void update_loss_rate(
	const struct wh_control *control, struct wh_udt *udt, uint64_t sent_pkts_total)
{
	WH_ASSERT(sent_pkts_total >= udt->sent_pkts_total);

	uint64_t sent_pkts = sent_pkts_total - udt->sent_pkts_total;

	if (sent_pkts == 0) {
		if (option(control, EMPTY_SYN) != 0.0)
			udt->loss_rate = ewma(udt->loss_rate, 0.0);
		return;
	}
	udt->loss_rate =
		ewma(udt->loss_rate, fmin(1.0, (double)udt->lost_pkts / (double)sent_pkts));
	WH_ASSERT(udt->loss_rate >= 0.0 && udt->loss_rate <= 1.0);
	udt->lost_pkts = 0;
	udt->sent_pkts_total = sent_pkts_total;
}

/*
 * inc of (2)-(4), in packets per SYN. 10^ceil(log10 B') is found by multiplication, exact where
 * log10 need not be; below 1 it never matters, as the result is then below one byte (beta <= 1).
 *
 * B' is in bits per second by default, against the words of III C, because of Tables 1 and 3:
 *
 *   Table 1: two flows of 200 Mb/s and of x Mb/s end-to-end capacity are fair when B/9 of both
 *   falls into one class. In bits 200/9 = 22 Mb/s is in the class of 10^8, and x/9 joins it above
 *   x = 90: between the unfair 53.2 Mb/s at x = 80 and the fair 91.6 at x = 100. In bytes 200/9 is
 *   2.8 MB/s, and x/9 passes 1 MB/s at x = 72 already: x = 80 would have to be fair.
 *
 *   Table 3, without (3): by (13) the flow gets max(10^a, x - 10^a), at most 100 Mb/s. For x = 120
 *   that is 100 Mb/s in bits, 80 in bytes (10^7 bytes/s), and up to 11 % more; it got 98.5.
 */
static double increase_pkts(const struct wh_control *control, const struct wh_udt *udt)
{
	double packet_bytes = control->config.packet_bytes;
	double rate = rate_pps(control, udt);
	double least = 1.0 / packet_bytes;

	if (udt->capacity_pps <= rate)
		return least; /* (2): one byte */

	double free_pps = udt->capacity_pps - rate; /* (4) */

	if (option(control, FORMULA3) != 0.0 && rate < udt->last_decrease_pps)
		free_pps = udt->capacity_pps / 9.0; /* (3) */

	double free_units =
		free_pps * packet_bytes * (option(control, BANDWIDTH_IN_BYTES) != 0.0 ? 1 : 8);
	double power_of_ten = 1.0;

	while (power_of_ten < free_units)
		power_of_ten *= 10.0;
	return fmax(power_of_ten * option(control, BETA) / packet_bytes, least);
}

static void on_tick(struct wh_control *control, const struct wh_tick_event *event)
{
	struct wh_udt *udt = state_of(control);
	double syn_tsc = (double)control->config.syn_tsc;

	update_loss_rate(control, udt, event->sent_pkts_total);
	if (udt->slow_start || udt->loss_rate >= option(control, LOSS_THRESHOLD))
		return;

	double pkts_per_syn = syn_tsc / udt->interval_tsc;

	set_interval(udt, syn_tsc / (pkts_per_syn + increase_pkts(control, udt))); /* (5) */
}

static struct wh_decision decide(const struct wh_control *control)
{
	const struct wh_udt *udt = (const struct wh_udt *)control->state;
	bool bounded = control->config.rate_bps > 0;
	double interval_tsc = udt->interval_tsc;

	WH_ASSERT(udt->slow_start ||
		  (interval_tsc >= udt->interval_min_tsc && interval_tsc <= udt->interval_max_tsc));
	if (udt->slow_start)
		interval_tsc = bounded ? udt->interval_min_tsc : 0.0;
	return (struct wh_decision){
		.interval_fp = (uint64_t)llround(interval_tsc * (double)WH_INTERVAL_MIN_FP),
		.window_pkts = (uint32_t)udt->window_pkts,
		.freeze_until_tsc = udt->freeze_until_tsc,
		.limit = udt->slow_start ? WH_LIMIT_START : WH_LIMIT_LOSS,
	};
}

static void adapt(const struct wh_profile_options *set, struct wh_feedback *feedback)
{
	feedback->trend_one_way = set->value[ONE_WAY] != 0.0;
	feedback->period_us = (uint32_t)(set->value[SYN] / 1e3);
}

const struct wh_profile wh_profile_udt = {
	.number = 2,
	.name = "udt",
	.summary = "UDT: AIMD by measured capacity, ACK/ACK2/NAK, delay warnings",
	.options = options,
	.n_options = OPTIONS,

	.control_bytes = sizeof(struct wh_udt),
	.init = init,
	.on_feedback = on_feedback,
	.on_loss = on_loss,
	.on_delay = on_delay,
	.on_tick = on_tick,
	.on_rate = bound_interval,
	.decide = decide,

	.feedback =
		{
			.period_us = SYN_US,
			.report_on_news_only = true,
			.data_tell = true,    /* III E has no sender report */
			.nak_packets_max = 1, /* III E: only what fits into one packet */
			.delay_warnings = true,
			.pair_period_pkts = WH_PAIR_PERIOD_PKTS,
		},
	.adapt = adapt,

	.code = WH_FEC_RS,
};
