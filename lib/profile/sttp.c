/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * STTP, a shaped, token-based transport (sttp.txt). A probe of two packets finds the bottleneck's
 * capacity, which sizes a token bucket. Acknowledgements (or time) feed it, and changing round
 * trips scale it. There is no window.
 *
 * Options decide what the paper leaves open, and offer both readings where it contradicts itself.
 * Presets reproduce its tables. In III B.3 an acknowledgement brings rho tokens, scaled like the
 * bucket (feed_scales). With rho below one, each round trip would send less than the previous one,
 * and a flow of Table I would end after some twenty packets. So the preset is one token per
 * acknowledgement.
 */

#include "profile/sttp.h"

#include <assert.h>
#include <math.h>

#include "base/assert.h"
#include "base/clock.h"
#include "profile/interval.h"

#define SYN_US 10000

/* Without an acknowledgement for this many round trips, and without tokens, one is added. */
#define STARVED_RTTS    4
#define STARVED_LEAST_S 0.2 /* RFC 6298's minimum timeout, as in BSD */

enum {
	HISTORY,
	THRESHOLD,
	GROWTH_BY_SHARE,
	SCALE_TWICE,
	ADAPTIVE,
	FEED_SCALES,
	TIMER,
	TOKEN_RETURNS,
	RETURNS_CLEAR,
	PROBE_TAKES,
	PROBE_REPEATS,
	PROBE_PKTS,
	PROBE_BYTES,
	SPAN,
	OPTIONS,
};

static const struct wh_option options[OPTIONS] = {
	[HISTORY] = {"history", WH_OPTION_SHARE, 0, 1, 0.5, false,
		"III B.3: 0.5 in the text, 0.9 in the formula",
		"weight of what was when sigma, rho and tokens are scaled"},
	[THRESHOLD] = {"threshold", WH_OPTION_SHARE, 0, 1, 0.05, false, "III B.3",
		"a round trip that differs from the last by more than this scales"},
	[GROWTH_BY_SHARE] = {"growth_by_share", WH_OPTION_SWITCH, 0, 1, 1, false, "IV B.1",
		"15 % less round trip scales by 1.15, not by 1/0.85 (III B.3)"},
	[SCALE_TWICE] = {"scale_twice", WH_OPTION_SWITCH, 0, 1, 0, false, "III B.1",
		"tokens are scaled before an acknowledgement feeds them and after it"},
	[ADAPTIVE] = {"adaptive", WH_OPTION_SWITCH, 0, 1, 0, false, "V B",
		"the weight of what was follows the round trips, 10 to 90 %"},
	[FEED_SCALES] = {"feed_scales", WH_OPTION_SWITCH, 0, 1, 0, false,
		"III B.3: rho, too; IV B.1: bucket size and tokens",
		"what an acknowledgement brings is scaled, too; with a timer it is"},
	[TIMER] = {"timer", WH_OPTION_SWITCH, 0, 1, 0, false, "V B",
		"time feeds the bucket, and not acknowledgements"},
	[TOKEN_RETURNS] = {"token_returns", WH_OPTION_SWITCH, 0, 1, 0, false, NULL,
		"the token of a packet that is lost comes back"},
	[RETURNS_CLEAR] = {"returns_clear", WH_OPTION_SWITCH, 0, 1, 1, false, NULL,
		"it does while round trips are about the least: no queue lost it"},
	[PROBE_TAKES] = {"probe_takes", WH_OPTION_SWITCH, 0, 1, 1, false, "III B.1",
		"the probe takes one of the first tokens: seven of eight are left"},
	[PROBE_REPEATS] = {"probe_repeats", WH_OPTION_SWITCH, 0, 1, 1, false,
		"appendix: who sent 80 bytes", "a lost probe is retransmitted"},
	[PROBE_PKTS] = {"probe_pkts", WH_OPTION_COUNT, 2, WH_STTP_PROBE_PKTS_MAX, 2, false,
		"III A; V B has trains", "packets of a probe, whose median gap counts"},
	[PROBE_BYTES] = {"probe_bytes", WH_OPTION_COUNT, 40, 9280, 0, false, "appendix: 40",
		"of each packet of a probe, as IP counts it; auto: a full packet's"},
	[SPAN] = {"span", WH_OPTION_TIME, 1, 1e12, 1e9, false, "III B, Table I",
		"sigma begins as what the bottleneck passes in this time"},
};

static_assert(sizeof(struct wh_sttp) <= WH_CONTROL_STATE_BYTES, "a controller's state has room");
static_assert(OPTIONS <= WH_OPTIONS_MAX, "each option has a value");

static struct wh_sttp *state_of(struct wh_control *control)
{
	return (struct wh_sttp *)control->state;
}

struct wh_sttp_rules wh_sttp_rules(const struct wh_profile_options *set)
{
	const double *value = set->value;

	return (struct wh_sttp_rules){
		.bucket =
			{
				.history = value[HISTORY],
				.threshold = value[THRESHOLD],
				.growth_by_share = value[GROWTH_BY_SHARE] != 0.0,
				.twice = value[SCALE_TWICE] != 0.0,
				.adaptive = value[ADAPTIVE] != 0.0,
				.feed_scales = value[FEED_SCALES] != 0.0 || value[TIMER] != 0.0,
			},
		.timer = value[TIMER] != 0.0,
		.token_returns = value[TOKEN_RETURNS] != 0.0,
		.returns_clear = value[RETURNS_CLEAR] != 0.0,
		.probe_takes = value[PROBE_TAKES] != 0.0,
		.probe_repeats = value[PROBE_REPEATS] != 0.0,
		.probe_pkts = (uint32_t)value[PROBE_PKTS],
		.probe_bytes = (uint32_t)value[PROBE_BYTES],
		.span_s = value[SPAN] / 1e9,
	};
}

/* sigma is rounded: a measured capacity may miss a whole number of packets slightly. */
void wh_sttp_fill(struct wh_bucket *bucket, const struct wh_sttp_rules *rules, double capacity_pps,
	double rtt)
{
	double sigma = fmax(round(capacity_pps * rules->span_s), 1.0);

	WH_ASSERT(capacity_pps > 0.0);
	wh_bucket_init(bucket, &rules->bucket);
	wh_bucket_fill(bucket, sigma, rules->timer ? capacity_pps : 1.0,
		fmax(sigma - rules->probe_takes, 1.0), rtt);
}

static double seconds(const struct wh_control *control, uint64_t span_tsc)
{
	return (double)span_tsc / (double)control->config.hz;
}

static void bound(struct wh_control *control)
{
	state_of(control)->min_fp = wh_control_rate_fp(control);
}

static void init(struct wh_control *control)
{
	struct wh_sttp *sttp = state_of(control);

	sttp->rules = wh_sttp_rules(&control->config.options);
	bound(control);
}

/*
 * If the clock is too coarse for the gap no bottleneck was found: the rate bound, or the table,
 * limits.
 */
static double capacity_of(const struct wh_control *control, const struct wh_probe_event *event)
{
	const struct wh_control_config *config = &control->config;
	double most_pps = (double)config->window_pkts_max;

	if (config->rate_bps > 0)
		most_pps = (double)config->rate_bps / (8.0 * config->wire_bytes);
	if (event->gap_tsc == 0)
		return most_pps;

	double bytes_per_s = event->bytes / seconds(control, event->gap_tsc);

	return config->rate_bps > 0 ? fmin(bytes_per_s / config->wire_bytes, most_pps)
				    : bytes_per_s / config->wire_bytes;
}

/*
 * "Data leave on the second's return"; its round trip is the first that others are compared with.
 */
static void on_probe(struct wh_control *control, const struct wh_probe_event *event)
{
	struct wh_sttp *sttp = state_of(control);

	WH_ASSERT(!sttp->probed && event->rtt_tsc > 0 && event->bytes > 0);
	sttp->probed = true;
	sttp->capacity_pps = capacity_of(control, event);
	sttp->rtt_tsc = event->rtt_tsc;
	sttp->acked_tsc = event->now_tsc;
	sttp->fed_tsc = event->now_tsc;
	wh_sttp_fill(&sttp->bucket, &sttp->rules, sttp->capacity_pps, (double)event->rtt_tsc);
}

static void take_sent(struct wh_sttp *sttp, uint64_t sent_pkts_total)
{
	WH_ASSERT(sent_pkts_total >= sttp->sent_pkts);
	wh_bucket_take(&sttp->bucket, (double)(sent_pkts_total - sttp->sent_pkts));
	sttp->sent_pkts = sent_pkts_total;
}

static void pass_time(const struct wh_control *control, struct wh_sttp *sttp, uint64_t now_tsc)
{
	if (sttp->rules.timer && now_tsc > sttp->fed_tsc)
		wh_bucket_feed(&sttp->bucket, seconds(control, now_tsc - sttp->fed_tsc));
	sttp->fed_tsc = now_tsc;
}

/*
 * A packet that was retransmitted although it was not lost took two tokens. The receiver returns
 * both (II). Otherwise each premature NAK would slow the flow down for good: nothing else adds
 * tokens.
 */
static uint64_t returned_pkts(struct wh_sttp *sttp, const struct wh_feedback_event *event)
{
	uint64_t duplicate_pkts = wh_max_u64(event->duplicate_pkts_total, sttp->duplicate_pkts);
	uint64_t more = duplicate_pkts - sttp->duplicate_pkts;

	sttp->duplicate_pkts = duplicate_pkts;
	return event->acked_pkts + more;
}

static void on_feedback(struct wh_control *control, const struct wh_feedback_event *event)
{
	struct wh_sttp *sttp = state_of(control);

	if (!sttp->probed)
		return;

	uint64_t returned = returned_pkts(sttp, event);

	take_sent(sttp, event->sent_pkts_total);
	pass_time(control, sttp, event->now_tsc);
	wh_bucket_hear(&sttp->bucket, sttp->rules.timer ? 0.0 : (double)returned,
		(double)event->sample_rtt_tsc);
	sttp->acked_pkts += event->acked_pkts;
	if (event->acked_pkts > 0)
		sttp->acked_tsc = event->now_tsc;
	/* A sample may be of a packet that was missing for long and then recovered by repair. */
	if (event->rtt_tsc > 0)
		sttp->rtt_tsc = event->rtt_tsc;
	else if (event->sample_rtt_tsc > 0)
		sttp->rtt_tsc = event->sample_rtt_tsc;
}

static void on_loss(struct wh_control *control, const struct wh_loss_event *event)
{
	struct wh_sttp *sttp = state_of(control);

	if (!sttp->probed)
		return;
	take_sent(sttp, event->sent_pkts_total);
	if (!sttp->rules.timer && wh_sttp_token_returns(&sttp->rules, &sttp->bucket))
		wh_bucket_add(&sttp->bucket, (double)event->lost_pkts);
}

/*
 * If everything outstanding is lost no acknowledgement brings a token for retransmissions. Reno's
 * timer would retransmit; here it adds a token.
 */
static void feed_starved(struct wh_control *control, struct wh_sttp *sttp, uint64_t now_tsc)
{
	double patience_s = fmax(STARVED_RTTS * seconds(control, sttp->rtt_tsc), STARVED_LEAST_S);

	if (wh_bucket_whole(&sttp->bucket) > 0 ||
		seconds(control, now_tsc - sttp->acked_tsc) < patience_s)
		return;
	sttp->acked_tsc = now_tsc;
	wh_bucket_add(&sttp->bucket, 1.0);
}

static void on_tick(struct wh_control *control, const struct wh_tick_event *event)
{
	struct wh_sttp *sttp = state_of(control);

	if (!sttp->probed)
		return;
	take_sent(sttp, event->sent_pkts_total);
	pass_time(control, sttp, event->now_tsc);
	feed_starved(control, sttp, event->now_tsc);
}

static struct wh_decision decide(const struct wh_control *control)
{
	const struct wh_sttp *sttp = (const struct wh_sttp *)control->state;

	return (struct wh_decision){
		.interval_fp = sttp->min_fp,
		.window_pkts = control->config.window_pkts_max,
		.by_tokens = true,
		.tokens = sttp->sent_pkts + wh_bucket_whole(&sttp->bucket),
		.limit = sttp->probed ? WH_LIMIT_LINE : WH_LIMIT_START,
	};
}

static void adapt(const struct wh_profile_options *set, struct wh_feedback *feedback)
{
	struct wh_sttp_rules rules = wh_sttp_rules(set);

	feedback->probe.pkts = rules.probe_pkts;
	feedback->probe.bytes = rules.probe_bytes;
	feedback->probe.repeats = rules.probe_repeats;
}

const struct wh_profile wh_profile_sttp = {
	.number = 6,
	.name = "sttp",
	.summary = "STTP: token bucket filled by a packet pair, fed by acknowledgements",
	.options = options,
	.n_options = OPTIONS,

	.control_bytes = sizeof(struct wh_sttp),
	.init = init,
	.on_probe = on_probe,
	.on_feedback = on_feedback,
	.on_loss = on_loss,
	.on_tick = on_tick,
	.on_rate = bound,
	.decide = decide,

	.feedback =
		{
			.period_us = SYN_US,
			.report_per_packet = true,
			.nak_packets_max = 16,
			.data_tell = true,
			.round_trips = true,
		},
	.adapt = adapt,

	.code = WH_FEC_RS,
};
