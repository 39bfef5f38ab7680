/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Tornado Transport Protocol's three states (ttp.txt II B and Fig. 1): a control packet that
 * shows congestion divides the rate, a clean one adds to it, any other changes nothing. Nothing
 * else has an influence, and there is no window.
 *
 * Fig. 1 is lost. The text names only the transitions out of the steady state; here the same rules
 * lead out of the two others, so that the state is that of the last control packet which showed
 * anything. Congestion divides the rate again only if all packets of the report were sent at the
 * present rate: if a round trip is longer than n/2 packets, several reports are about the same
 * losses, and Fig. 15 has the rate halved.
 */

#include "profile/ttp.h"

#include <assert.h>
#include <math.h>

#include "base/assert.h"
#include "profile/interval.h"

#define INITIAL_SHARE 0.8 /* III A: initial send rate, relative to the bottleneck's */

/* I: "end hosts configured with gigabit Ethernet cards"; used if no rate is set. */
#define BOTTLENECK_BPS UINT64_C(1000000000)

/*
 * II B names no constant for the additive increase. With this one the 50 Mb/s lost by halving 100
 * are regained after 25 clean control packets.
 */
#define INCREASE_SHARE 0.02

#define RATE_BPS_MAX 1e15
#define Q_PKTS_MAX   (UINT32_C(1) << 30)
#define STRETCH_MOST 1000

enum {
	BOTTLENECK,
	INITIAL_RATE,
	MIN_RATE,
	MAX_RATE,
	INCREASE,
	DECREASE,
	N,
	Q,
	STRETCH,
	STRETCH_MAX,
	INITIAL_LOSS,
	EACH,
	OPTIONS,
};

/* Rates are on the wire; 0: not set. */
static const struct wh_option options[OPTIONS] = {
	[BOTTLENECK] = {"bottleneck", WH_OPTION_RATE, 1, RATE_BPS_MAX, 0, false, "II B",
		"what the path bears; auto: the rate of the transfer, or 1G"},
	[INITIAL_RATE] = {"initial_rate", WH_OPTION_RATE, 1, RATE_BPS_MAX, 0, false, "III A",
		"at the beginning; auto: 80 % of the bottleneck"},
	[MIN_RATE] = {"min_rate", WH_OPTION_RATE, 1, RATE_BPS_MAX, 0, false, "III A",
		"never less; auto: 8 % of the bottleneck"},
	[MAX_RATE] = {"max_rate", WH_OPTION_RATE, 1, RATE_BPS_MAX, 0, false, "III A",
		"never more; auto: the bottleneck"},
	[INCREASE] = {"increase", WH_OPTION_RATE, 1, RATE_BPS_MAX, 0, false, NULL,
		"added after a clean bitmap; auto: 2 % of the bottleneck"},
	[DECREASE] = {"decrease", WH_OPTION_REAL, 1.0 + 1e-6, 1000, 2, false, "II B",
		"congestion divides the rate by this", true},
	[N] = {"n", WH_OPTION_COUNT, 1, WH_BITMAP_PKTS_MAX, 1024, true, "III A",
		"packets of a bitmap, and from one to the next"},
	[Q] = {"q", WH_OPTION_COUNT, 1, Q_PKTS_MAX, 3, true, "III A",
		"so many packets lost in a row are congestion"},
	/*
	 * II B: "a constant factor"; see measure/arrived_bitmap.h. The upper limit is our choice.
	 */
	[STRETCH] = {"stretch", WH_OPTION_COUNT, 1, STRETCH_MOST, 2, true, "II B",
		"a clean bitmap makes the way to the next so many times longer"},
	[STRETCH_MAX] = {"stretch_max", WH_OPTION_COUNT, 1, STRETCH_MOST, 4, true, NULL,
		"and not longer than so many times n"},
	[INITIAL_LOSS] = {"initial_loss", WH_OPTION_SHARE, 0, 1, 0.5, true, "III A",
		"of the path until measured, and what the first chunk is encoded for"},
	[EACH] = {"divide_each", WH_OPTION_SWITCH, 0, 1, 0, false, "II B is silent; Fig. 15: off",
		"packets sent before the rate was divided divide it again", true},
};

static_assert(sizeof(struct wh_ttp) <= WH_CONTROL_STATE_BYTES, "a controller's state has room");
static_assert(OPTIONS <= WH_OPTIONS_MAX, "each option has a value");
static_assert(Q_PKTS_MAX <= UINT32_MAX && WH_BITMAP_PKTS_MAX <= UINT32_MAX / STRETCH_MOST,
	"what is told fits its integers, and so does the longest interval");

static void set_rate(struct wh_ttp *ttp, double rate_bps)
{
	WH_ASSERT(ttp->min_bps > 0.0 && ttp->max_bps > 0.0);
	ttp->rate_bps = fmin(fmax(rate_bps, ttp->min_bps), ttp->max_bps);
}

/* The rate in use. */
static double bounded_bps(const struct wh_ttp *ttp)
{
	return fmin(ttp->rate_bps, ttp->max_bps);
}

static double told_or_share(double told_bps, double bottleneck_bps, double share)
{
	return told_bps > 0.0 ? told_bps : bottleneck_bps * share;
}

/* II B: "determined by inspection": the operator's rate. */
static double bottleneck_of(const struct wh_control_config *config)
{
	if (config->options.value[BOTTLENECK] > 0.0)
		return config->options.value[BOTTLENECK];
	return (double)(config->rate_bps > 0 ? config->rate_bps : BOTTLENECK_BPS);
}

/*
 * The operator's rate bound takes precedence over the options: a minimum above it is reduced to it.
 */
static void init(struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	const double *set = config->options.value;
	struct wh_ttp *ttp = (struct wh_ttp *)control->state;
	double bottleneck_bps = bottleneck_of(config);

	ttp->max_bps = told_or_share(set[MAX_RATE], bottleneck_bps, 1.0);
	if (config->rate_bps > 0)
		ttp->max_bps = fmin(ttp->max_bps, (double)config->rate_bps);
	ttp->min_bps =
		fmin(told_or_share(set[MIN_RATE], bottleneck_bps, WH_TTP_MIN_SHARE), ttp->max_bps);
	ttp->increase_bps = told_or_share(set[INCREASE], bottleneck_bps, INCREASE_SHARE);
	set_rate(ttp, told_or_share(set[INITIAL_RATE], bottleneck_bps, INITIAL_SHARE));
}

/*
 * Only the upper bound changes. Steps, minimum and rate stay, because a bound that falls for a
 * moment, as that of an idle lane, says nothing about the path.
 */
static void on_rate(struct wh_control *control)
{
	struct wh_ttp *ttp = (struct wh_ttp *)control->state;
	double most_bps = (double)control->config.rate_bps;
	double told_bps = control->config.options.value[MAX_RATE];

	WH_ASSERT(most_bps > 0.0);
	ttp->max_bps = told_bps > 0.0 ? fmin(told_bps, most_bps) : most_bps;
}

static bool tells_of_this_rate(const struct wh_control *control, const struct wh_ttp *ttp,
	const struct wh_bitmap_event *event)
{
	return ttp->decreases == 0 || event->first >= ttp->divided_end ||
	       control->config.options.value[EACH] != 0.0;
}

static void divide(
	const struct wh_control *control, struct wh_ttp *ttp, const struct wh_bitmap_event *event)
{
	ttp->decreases++;
	ttp->divided_end = event->sent_end;
	set_rate(ttp, bounded_bps(ttp) / control->config.options.value[DECREASE]);
}

static void on_bitmap(struct wh_control *control, const struct wh_bitmap_event *event)
{
	struct wh_ttp *ttp = (struct wh_ttp *)control->state;

	ttp->bitmaps++;
	WH_ASSERT(ttp->decreases + ttp->increases < ttp->bitmaps);
	switch (event->finding) {
	case WH_BITMAP_CONGESTED:
		ttp->state = WH_TTP_LOSS;
		if (tells_of_this_rate(control, ttp, event))
			divide(control, ttp, event);
		break;
	case WH_BITMAP_CLEAN:
		ttp->state = WH_TTP_NO_LOSS;
		ttp->increases++;
		if (ttp->rate_bps < ttp->max_bps)
			set_rate(ttp, ttp->rate_bps + ttp->increase_bps);
		break;
	case WH_BITMAP_BEARABLE:
		break;
	}
}

/* The interval is computed from whole bits per second, at least one. */
static struct wh_decision decide(const struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	const struct wh_ttp *ttp = (const struct wh_ttp *)control->state;
	uint64_t rate_bps = (uint64_t)fmax(bounded_bps(ttp), 1.0);

	return (struct wh_decision){
		.interval_fp = wh_interval_fp(config->hz, config->wire_bytes, rate_bps),
		.window_pkts = config->window_pkts_max,
		.limit = ttp->decreases > 0 ? WH_LIMIT_LOSS : WH_LIMIT_START,
	};
}

static void adapt(const struct wh_profile_options *set, struct wh_feedback *feedback)
{
	feedback->bitmaps = (struct wh_bitmap_rules){
		.n_pkts = (uint32_t)set->value[N],
		.q_pkts = (uint32_t)set->value[Q],
		.stretch = (uint32_t)set->value[STRETCH],
		.stretch_max = (uint32_t)set->value[STRETCH_MAX],
		.initial_loss = set->value[INITIAL_LOSS],
	};
}

static const struct wh_option *contradiction(const struct wh_profile_options *set, const char **why)
{
	double max_bps = set->value[MAX_RATE];

	if (max_bps == 0.0 || max_bps >= set->value[MIN_RATE])
		return NULL;
	*why = "is below min_rate";
	return &options[MAX_RATE];
}

const struct wh_profile wh_profile_ttp = {
	.number = 3,
	.name = "ttp",
	.summary = "TTP: erasure code, bitmaps, rate halved on congestion",
	.options = options,
	.n_options = OPTIONS,
	.contradiction = contradiction,

	.control_bytes = sizeof(struct wh_ttp),
	.init = init,
	.on_bitmap = on_bitmap,
	.on_rate = on_rate,
	.decide = decide,

	/*
	 * The paper's receiver sends bitmaps only. Ours must also return chunks: by the reports
	 * of `fixed`, which do not affect the rate. The rate is that of data alone: at the lowest
	 * rates the answers to these reports would leave nothing for data.
	 */
	.feedback =
		{
			.period_us = 10000,
			.report_bytes = UINT32_C(512) << 10,
			.nak_packets_max = 16,
		},
	.adapt = adapt,

	.recovery = WH_RECOVERY_HYBRID,
	.code = WH_FEC_TORNADO,
	/*
	 * III A's 50 % of loss needs 1.9 repair packets per data packet in the limit, 0.5 / (0.77 -
	 * 0.5), and 2.5 in a chunk of 711 packets, of which all but one loss pattern in ten
	 * thousand shall be decodable.
	 */
	.repair_ceiling = 0.75,
};
