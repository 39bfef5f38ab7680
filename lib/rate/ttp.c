/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The Tornado Transport Protocol's three states (ttp.txt II B and Fig. 1): a control packet that
 * shows congestion divides the rate, a clean one adds to it, any other changes nothing. Nothing
 * else has an influence, and there is no window.
 *
 * Fig. 1 is lost. The text names transitions out of the steady state alone; here the two others
 * are left by the same rules, so that the state is what the last control packet that showed
 * anything said, and each one that shows congestion divides the rate again.
 */

#include <assert.h>
#include <math.h>

#include "base/assert.h"
#include "rate/control.h"
#include "rate/pacer.h"

struct ttp {
	enum wh_ttp_state state;
	double rate_bps;
	double min_bps;
	double max_bps;
	double increase_bps;
	uint64_t bitmaps;
	uint64_t decreases;
	uint64_t increases;
};

static_assert(sizeof(struct ttp) <= WH_CONTROL_STATE_BYTES, "the state fits");

static void set_rate(struct ttp *ttp, double rate_bps)
{
	ttp->rate_bps = fmin(fmax(rate_bps, ttp->min_bps), ttp->max_bps);
}

static double told_or_share(uint64_t told_bps, double bottleneck_bps, double share)
{
	return told_bps > 0 ? (double)told_bps : bottleneck_bps * share;
}

/* II B: "determined by inspection", which is what an operator's rate comes from. */
static double bottleneck_of(const struct wh_control_config *config)
{
	if (config->ttp.bottleneck_bps > 0)
		return (double)config->ttp.bottleneck_bps;
	return (double)(config->rate_bps > 0 ? config->rate_bps : WH_TTP_BOTTLENECK_BPS);
}

/* The operator's bound stands above the options': a minimum beyond it is the bound. */
static void init(struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	const struct wh_ttp_options *options = &config->ttp;
	struct ttp *ttp = (struct ttp *)control->state;
	double bottleneck_bps = bottleneck_of(config);

	WH_ASSERT(options->decrease > 1.0);
	ttp->max_bps = told_or_share(options->max_bps, bottleneck_bps, 1.0);
	if (config->rate_bps > 0)
		ttp->max_bps = fmin(ttp->max_bps, (double)config->rate_bps);
	ttp->min_bps = fmin(
		told_or_share(options->min_bps, bottleneck_bps, WH_TTP_MIN_SHARE), ttp->max_bps);
	ttp->increase_bps =
		told_or_share(options->increase_bps, bottleneck_bps, WH_TTP_INCREASE_SHARE);
	set_rate(ttp, told_or_share(options->initial_bps, bottleneck_bps, WH_TTP_INITIAL_SHARE));
}

/* Steps and least stay what they were; what may not be exceeded is another rate. */
static void on_rate(struct wh_control *control)
{
	struct ttp *ttp = (struct ttp *)control->state;
	double most_bps = (double)control->config.rate_bps;

	ttp->max_bps = control->config.ttp.max_bps > 0
			       ? fmin((double)control->config.ttp.max_bps, most_bps)
			       : most_bps;
	ttp->min_bps = fmin(ttp->min_bps, ttp->max_bps);
	set_rate(ttp, ttp->rate_bps);
}

static void on_bitmap(struct wh_control *control, const struct wh_bitmap_event *event)
{
	struct ttp *ttp = (struct ttp *)control->state;

	ttp->bitmaps++;
	switch (event->finding) {
	case WH_BITMAP_CONGESTED:
		ttp->state = WH_TTP_LOSS;
		ttp->decreases++;
		set_rate(ttp, ttp->rate_bps / control->config.ttp.decrease);
		break;
	case WH_BITMAP_CLEAN:
		ttp->state = WH_TTP_NO_LOSS;
		ttp->increases++;
		set_rate(ttp, ttp->rate_bps + ttp->increase_bps);
		break;
	case WH_BITMAP_BEARABLE:
		break;
	}
}

/* The pacer takes whole bits per second; a rate below one is one. */
static struct wh_decision decide(const struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	const struct ttp *ttp = (const struct ttp *)control->state;
	uint64_t rate_bps = (uint64_t)fmax(ttp->rate_bps, 1.0);

	return (struct wh_decision){
		.interval_fp = wh_pacer_interval_fp(config->hz, config->wire_bytes, rate_bps),
		.window_pkts = config->window_pkts_max,
	};
}

struct wh_ttp_view wh_ttp_view(const struct wh_control *control)
{
	const struct ttp *ttp = (const struct ttp *)control->state;

	if (control->ops != &wh_control_ttp)
		return (struct wh_ttp_view){0};
	return (struct wh_ttp_view){
		.state = ttp->state,
		.rate_bps = (uint64_t)ttp->rate_bps,
		.bitmaps = ttp->bitmaps,
		.decreases = ttp->decreases,
		.increases = ttp->increases,
	};
}

const struct wh_control_ops wh_control_ttp = {
	.name = "ttp",
	.summary = "three states by bitmaps: halved on congestion, additive increase (TTP)",
	.init = init,
	.on_feedback = wh_control_ignore_feedback,
	.on_loss = wh_control_ignore_loss,
	.on_delay = wh_control_ignore_delay,
	.on_bitmap = on_bitmap,
	.on_tick = wh_control_ignore_tick,
	.on_rate = on_rate,
	.decide = decide,
};
