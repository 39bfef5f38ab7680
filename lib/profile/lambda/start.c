/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A train of packets gives the capacity by the spacing in which they arrive; half of it goes until
 * a report shows that nobody else is there. On a known path half of what was kept goes right behind
 * the train (Careful Resume, RFC 9959).
 */

#include <math.h>

#include "profile/lambda/lambda_internal.h"

/* Nobody has measured more than our own line carries. */
double wh_lambda_known_pps(const struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	double bps = (double)config->known.capacity_bps;

	return wh_lambda_pps_of(
		control, config->line_bps > 0 ? fmin(bps, (double)config->line_bps) : bps);
}

/* A round trip of half of what was kept, or of more than ten times it: another path (RFC 9959). */
static bool is_known_path(const struct wh_control_config *config, double rtt_s)
{
	double kept_s = (double)config->known.rtt_ns / 1e9;

	return 2.0 * rtt_s > kept_s && rtt_s <= params.known_rtt_most * kept_s;
}

/*
 * The train has left, and the path is known: a part of what was kept of it goes behind, for one
 * round trip at most. The first packets wait behind the train, until its queue is gone; those after
 * them verify the rate, soon after the train's own report.
 */
void wh_lambda_jump(struct wh_control *control, const struct wh_tick_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double train_pkts = wh_lambda_option(control, WH_LAMBDA_TRAIN);
	double share = wh_lambda_is_dedicated(control) ? params.verify_own : params.verify;
	double rtt_s = (double)event->rtt_tsc / control->config.hz;
	double jump_pkts = lambda->line_pps * share * rtt_s;

	if (lambda->mode != WH_LAMBDA_START || lambda->jump_pkts > 0 ||
		lambda->path.seen_pkts > 0 || (double)event->sent_pkts_total < train_pkts ||
		!is_known_path(&control->config, rtt_s) || jump_pkts < train_pkts ||
		wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_SCAVENGER)
		return;
	lambda->jump_pkts = (uint32_t)fmin(jump_pkts, UINT32_MAX);
	wh_lambda_set_rate(lambda, lambda->line_pps * share);
	wh_lambda_path_mark(&lambda->path, event->now_tsc,
		event->sent_pkts_total + (uint64_t)(train_pkts * share / (1.0 - share)));
}

/* On a dedicated path no other flow can have taken a part: only the train may be wrong. */
static double verified_share(const struct wh_control *control)
{
	if (!wh_lambda_is_dedicated(control))
		return params.verify;
	return wh_lambda_view_of(control)->train_ends_early ? 1.0 : params.verify_own;
}

/*
 * On a slow line a train takes longer than the round trip: half of it tells the capacity while the
 * rest still stands in the queue, so that the line does not become idle.
 */
static bool ends_early(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double enough_pkts = wh_lambda_option(control, WH_LAMBDA_TRAIN) / 2.0;

	return wh_lambda_is_dedicated(control) && (double)lambda->train.pkts >= enough_pkts &&
	       lambda->train.s > wh_lambda_path_rtt_s(&lambda->path);
}

/* A train that arrived all at once has passed within a round trip: less than that is disproved. */
static void doubt_known(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double rtt_s = wh_lambda_path_rtt_s(&lambda->path);

	if (lambda->train.s == 0.0 && rtt_s > 0.0 &&
		(!is_known_path(&control->config, rtt_s) ||
			lambda->line_pps * rtt_s < (double)lambda->path.delivered_pkts))
		lambda->line_pps = 0.0;
}

static void end_train(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double all_pkts = wh_lambda_option(control, WH_LAMBDA_TRAIN);

	/* Almost all is lost: of few spacings one may be that to a probe, a round trip later. */
	if ((double)lambda->train.pkts < fmin(params.short_pkts, all_pkts / 2.0) &&
		lambda->train.s > wh_lambda_path_rtt_s(&lambda->path))
		lambda->train.s = 0.0;
	doubt_known(control);
	if (lambda->train.s == 0.0 && lambda->line_pps == 0.0 && ++lambda->trains < params.trains) {
		lambda->train = (struct wh_lambda_train){.from_pkts = event->sent_pkts};
		lambda->jump_pkts = 0;
		wh_lambda_set_rate(lambda, lambda->rate_max_pps);
		return;
	}
	lambda->blind = lambda->train.s == 0.0 && lambda->line_pps == 0.0;
	lambda->train_pps = wh_lambda_train_pps(&lambda->train, &lambda->path, lambda->line_pps);
	lambda->line_pps = fmin(lambda->train_pps, lambda->rate_max_pps);
	lambda->seeks = true;
	lambda->mode = WH_LAMBDA_VERIFY;
	wh_lambda_set_rate(lambda, lambda->train_pps * verified_share(control));
	lambda->good_pps = lambda->rate_pps;
	if (lambda->jump_pkts == 0) /* else what is in flight behind the train verifies it */
		wh_lambda_mark(lambda, event);
}

/* News of what arrived before an outage may come first: it lasts until the fetched packet came. */
static void fetch_in_train(struct wh_lambda *lambda)
{
	if (lambda->fetch_pkts == 0)
		return;
	wh_lambda_train_interrupted(&lambda->train);
	if (lambda->path.seen_pkts >= lambda->fetch_pkts)
		lambda->fetch_pkts = 0;
}

void wh_lambda_start(
	struct wh_control *control, const struct wh_delivery_event *event, uint64_t before_pkts)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	if (lambda->path.seen_pkts == 0)
		return;
	if (lambda->path.seen_pkts > before_pkts)
		fetch_in_train(lambda);

	bool over = wh_lambda_train_hear(&lambda->train, &lambda->path, event, before_pkts,
		(uint64_t)wh_lambda_option(control, WH_LAMBDA_TRAIN));

	lambda->train_ends_early = !over && ends_early(control);
	if (over || lambda->train_ends_early)
		end_train(control, event);
}

void wh_lambda_verify(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;

	/* Only packets of the rate to be verified are in flight: their first report decides. */
	if (!path->filling)
		return;
	lambda->own_pps = lambda->line_pps;
	if (path->queue_s < params.verify_queue * wh_lambda_target_s(control)) {
		wh_lambda_set_rate(lambda, lambda->line_pps);
	} else if (!wh_lambda_is_dedicated(control)) {
		wh_lambda_begin_fill(lambda, event);
		return;
	}
	wh_lambda_begin_hold(lambda, event);
}
