/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds the rate of a path without being told anything, and keeps it. docs/controller.md has the
 * equations, what they assume, and where they are weak. In six parts:
 *
 * model  path.c derives delay, queue and arrivals from the receiver's reports, loss.c what losses
 *        mean: noise, or a ceiling.
 * start  is here: a train of packets gives the capacity by the spacing in which they arrive; half
 *        of it goes until a report shows that nobody else is there. On a known path half of what
 *        was kept goes right behind the train (Careful Resume, RFC 9959).
 * alone  hold.c
 * shared share.c: with others that reduce when the queue becomes too long
 * window compete.c: with flows that fill every queue, as one TCP
 * yield  yield.c: a scavenger gives way to all others
 *
 * part.c has what they all measure: the queue, and our part of the line while it stands.
 */

#include "profile/lambda/lambda.h"

#include <math.h>

#include "profile/interval.h"
#include "profile/lambda/lambda_internal.h"

#define TRAIN_PKTS  32    /* enough to show the capacity, few enough to lose little */
#define ALPHA_BYTES 12000 /* that we keep in the queue at 1 Gb/s */

static const struct wh_option options[WH_LAMBDA_OPTIONS] = {
	[WH_LAMBDA_TRAIN] = {"train", WH_OPTION_COUNT, 2, 1024, TRAIN_PKTS, false, NULL,
		"packets that go first, at once, to find the capacity"},
	[WH_LAMBDA_ALPHA] = {"alpha", WH_OPTION_COUNT, 100, 1 << 24, ALPHA_BYTES, false, "FAST TCP",
		"bytes that it keeps in the queue at 1 Gb/s, and more at a higher rate", true},
	[WH_LAMBDA_SHARE] = {"share", WH_OPTION_SHARING, WH_SHARING_DEDICATED, WH_SHARING_SCAVENGER,
		WH_SHARING_FAIR, false, NULL,
		"dedicated: alone on the path; fair: an equal share; scavenger: gives way", true},
};

static void bound_rate(struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	bool bound = lambda->phase >= WH_LAMBDA_HOLD && lambda->rate_pps >= lambda->rate_max_pps;
	double most_pps = (double)config->hz; /* a packet a cycle */

	if (config->rate_bps > 0)
		most_pps = fmin(most_pps, wh_lambda_pps_of(control, (double)config->rate_bps));
	if (config->line_bps > 0)
		most_pps = fmin(most_pps, wh_lambda_pps_of(control, (double)config->line_bps));
	lambda->rate_max_pps = fmax(most_pps, 1e-6);
	/* If only the bound limited the rate, half of the train's capacity is safe. */
	wh_lambda_set_rate(lambda, fmax(lambda->rate_pps, bound ? lambda->train_pps / 2.0 : 0.0));
	lambda->line_pps = fmin(fmax(lambda->line_pps, lambda->train_pps), lambda->rate_max_pps);
}

/* Nobody has measured more than our own line carries. */
static double known_bps(const struct wh_control_config *config)
{
	double bps = (double)config->known.capacity_bps;

	return config->line_bps > 0 ? fmin(bps, (double)config->line_bps) : bps;
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
static void jump(struct wh_control *control, const struct wh_tick_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double train_pkts = wh_lambda_option(control, WH_LAMBDA_TRAIN);
	double share = wh_lambda_is_dedicated(control) ? params.jump_own : params.verify;
	double rtt_s = (double)event->rtt_tsc / control->config.hz;
	double jump_pkts = lambda->line_pps * share * rtt_s;

	if (lambda->phase != WH_LAMBDA_START || lambda->jump_pkts > 0 ||
		lambda->path.seen_pkts > 0 || (double)event->sent_pkts_total < train_pkts ||
		!is_known_path(&control->config, rtt_s) || jump_pkts < train_pkts ||
		wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_SCAVENGER)
		return;
	lambda->jump_pkts = (uint32_t)fmin(jump_pkts, UINT32_MAX);
	wh_lambda_set_rate(lambda, lambda->line_pps * share);
	wh_lambda_path_mark(&lambda->path, event->now_tsc,
		event->sent_pkts_total + (uint64_t)(train_pkts * share / (1.0 - share)));
}

static void init(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	wh_lambda_path_init(&lambda->path, control->config.hz);
	bound_rate(control);
	lambda->rate_pps = lambda->rate_max_pps;
	lambda->line_pps = wh_lambda_pps_of(control, known_bps(&control->config));
}

static double window_pkts(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double covered_s = wh_lambda_path_covered_s(&lambda->path);
	double pkts = lambda->rate_pps * covered_s;

	if (lambda->compete.on)
		return fmin(lambda->compete.window_pkts + lambda->rate_pps * lambda->path.gap_s,
			(double)control->config.window_pkts_max);
	if (lambda->phase == WH_LAMBDA_CUT)
		return fmin(fmax(pkts, params.window_least_pkts),
			(double)control->config.window_pkts_max);
	if (lambda->drains > 0.0)
		return fmax(pkts, params.window_least_pkts);
	if (lambda->phase == WH_LAMBDA_HOLD)
		pkts += lambda->rate_pps * wh_lambda_target_s(control);
	else if (lambda->phase > WH_LAMBDA_HOLD)
		pkts += lambda->rate_pps * (wh_lambda_most_s(control) + covered_s);
	pkts = fmax(pkts + params.slack_pkts,
		fmin(params.burst_pkts, lambda->rate_pps * params.burst_s));
	return fmin(pkts, (double)control->config.window_pkts_max);
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
	lambda->blind |= lambda->line_pps < lambda->rate_max_pps &&
			 (double)event->overtaken_tsc >
				 params.disordered * lambda->train.s * lambda->path.hz;
	lambda->phase = WH_LAMBDA_VERIFY;
	wh_lambda_set_rate(lambda, lambda->train_pps * verified_share(control));
	lambda->good_pps = lambda->rate_pps;
	if (lambda->jump_pkts == 0) /* else what is in flight behind the train verifies it */
		wh_lambda_mark(lambda, event);
}

static void verify(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;

	/* Only packets of the rate to be verified are in flight: their first report decides. */
	if (!path->filling)
		return;
	lambda->own_pps = lambda->line_pps;
	if (path->queue_s >= params.verify_queue * wh_lambda_target_s(control)) {
		wh_lambda_begin_fill(lambda, event);
		return;
	}
	wh_lambda_set_rate(lambda, lambda->line_pps);
	wh_lambda_begin_hold(lambda, event);
}

/* The window limits what is sent; the rate follows from it. */
static void compete(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double alpha_s = wh_lambda_target_s(control);

	wh_lambda_path_keep(&lambda->path, event->now_tsc);
	wh_lambda_compete_hear(&lambda->compete, path, event->now_tsc, event->sent_pkts,
		wh_lambda_loss_sure_noise(&lambda->loss), alpha_s);
	wh_lambda_set_rate(lambda, wh_lambda_compete_pps(&lambda->compete, path));
	lambda->busy_pps = lambda->good_pps = lambda->rate_pps;
	lambda->step = 0.0;
	wh_lambda_mark(lambda, event);
}

/* The train may not have found any capacity. */
static void scavenge(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double found_pps =
		fmax(fmax(lambda->line_pps, lambda->yield.capacity_pps), params.rate_least_pps);
	double own_s = wh_lambda_target_s(control);

	if (lambda->phase < WH_LAMBDA_HOLD && lambda->blind)
		wh_lambda_yield_begin_blind(&lambda->yield);
	lambda->phase = WH_LAMBDA_HOLD;
	wh_lambda_set_rate(lambda, wh_lambda_yield_hear(&lambda->yield, &lambda->path, event, own_s,
					   lambda->rate_pps, found_pps));
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

static void learn_noise(struct wh_lambda *lambda)
{
	const struct wh_lambda_path *path = &lambda->path;
	bool low = path->latest_s < params.low * lambda->longest_s;
	double seen = (double)(path->seen_pkts - lambda->low_seen_pkts);
	double came = (double)(path->delivered_pkts - lambda->low_delivered_pkts);

	if (low && lambda->was_low && lambda->phase >= WH_LAMBDA_CUT &&
		lambda->rate_pps < params.whole * lambda->peak_pps)
		wh_lambda_loss_learn(&lambda->loss, seen, fmax(seen - came, 0.0),
			(double)(path->lost_runs - lambda->low_runs));
	lambda->was_low = low;
	lambda->low_seen_pkts = path->seen_pkts;
	lambda->low_delivered_pkts = path->delivered_pkts;
	lambda->low_runs = path->lost_runs;
}

/* Flows that fill every queue let it stand, whatever we do. */
static bool others_fill(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double span_s = fmin(wh_lambda_since_s(path, event->now_tsc, lambda->heard_tsc),
		wh_lambda_path_covered_s(path));
	double patience_s =
		fmax(params.full_s, params.full_rtt * (wh_lambda_path_rtt_s(path) + path->queue_s));
	bool full = path->queue_s > fmax(wh_lambda_most_s(control), params.full_least_s);

	if (lambda->phase <= WH_LAMBDA_HOLD) {
		lambda->full_s = 0.0;
		return false;
	}
	lambda->full_s = fmax(lambda->full_s + (full ? span_s : -span_s), 0.0);
	return wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_FAIR &&
	       lambda->full_s > patience_s;
}

static void law(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	wh_lambda_note_queue(control, event);
	learn_noise(lambda);
	if (others_fill(control, event)) {
		wh_lambda_compete_begin(&lambda->compete, &lambda->path, lambda->now_tsc,
			lambda->sent_pkts, lambda->rate_pps, wh_lambda_line_pps(lambda));
		wh_lambda_begin_after_others(lambda);
	} else if (lambda->phase >= WH_LAMBDA_CUT) {
		wh_lambda_share(control, event);
	} else {
		wh_lambda_hold(control, event);
	}
	lambda->heard_tsc = event->now_tsc;
}

static void on_delivery(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	uint64_t before_pkts = lambda->path.seen_pkts;

	wh_lambda_path_hear(&lambda->path, event, lambda->rate_pps);
	lambda->now_tsc = event->now_tsc;
	lambda->sent_pkts = event->sent_pkts;
	lambda->waits = event->sent_pkts > lambda->path.seen_pkts;
	if (lambda->phase == WH_LAMBDA_START) {
		if (lambda->path.seen_pkts == 0)
			return;

		if (lambda->path.seen_pkts > before_pkts)
			fetch_in_train(lambda);

		bool over = wh_lambda_train_hear(&lambda->train, &lambda->path, event, before_pkts,
			(uint64_t)wh_lambda_option(control, WH_LAMBDA_TRAIN));

		lambda->train_ends_early = !over && ends_early(control);
		if (over || lambda->train_ends_early)
			end_train(control, event);
		return;
	}
	if (lambda->path.seen_pkts == before_pkts)
		return;
	if (lambda->fetch_pkts > 0)
		wh_lambda_mark(lambda, event); /* losses of an outage say nothing about the rate */
	lambda->fetch_pkts = 0;
	if (wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_SCAVENGER) {
		scavenge(control, event);
		return;
	}
	if (lambda->compete.on) {
		compete(control, event);
		return;
	}
	if (lambda->phase == WH_LAMBDA_VERIFY)
		verify(control, event);
	law(control, event);
}

/* When the way of sharing changes, the present rate is kept as a guess, and verified. */
static void on_options(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double share = wh_lambda_option(control, WH_LAMBDA_SHARE);
	bool competed = lambda->compete.on && share != WH_SHARING_FAIR;
	bool gave_way = lambda->yield.heard_tsc != 0 && share != WH_SHARING_SCAVENGER;

	if (competed)
		lambda->compete.on = false;
	if (gave_way)
		lambda->yield = (struct wh_lambda_yield){0};
	if (!competed && !gave_way)
		return;
	lambda->phase = WH_LAMBDA_VERIFY;
	lambda->good_pps = lambda->rate_pps;
	lambda->busy_pps = 0.0;
	lambda->step = 0.0;
	wh_lambda_path_mark(&lambda->path, lambda->now_tsc, lambda->sent_pkts);
}

/* No news for a long time: all packets of the window may be lost. */
static void on_tick(struct wh_control *control, const struct wh_tick_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	bool heard = lambda->path.seen_pkts > 0;
	double rtt_s = heard ? wh_lambda_path_rtt_s(&lambda->path)
			     : (double)event->rtt_tsc / lambda->path.hz;
	double patience_s = fmax(heard ? params.still_s : params.still_first_s,
		params.still_rtt * rtt_s + 2.0 * lambda->path.queue_s +
			params.still_pkts / lambda->rate_pps +
			fmin(lambda->path.gap_s, params.report_s));

	jump(control, event);
	/* There was nothing to wait for until packets were sent. */
	if (heard && !lambda->waits)
		lambda->still_tsc = event->now_tsc;
	lambda->waits = event->sent_pkts_total > lambda->path.seen_pkts;
	if (lambda->still_tsc < lambda->path.moved_tsc || lambda->still_tsc == 0)
		lambda->still_tsc =
			lambda->path.moved_tsc > 0 ? lambda->path.moved_tsc : event->now_tsc;
	if (event->now_tsc <= lambda->still_tsc ||
		(double)(event->now_tsc - lambda->still_tsc) / lambda->path.hz < patience_s)
		return;
	lambda->still_tsc = event->now_tsc;
	lambda->fetch_pkts = event->sent_pkts_total + 1;
}

/* Beside TCPs a window limits, but never beyond what the operator and the line allow. */
static double pace_pps(const struct wh_lambda *lambda)
{
	if (lambda->compete.on)
		return fmin(lambda->rate_pps * lambda->compete.pace, lambda->rate_max_pps);
	return lambda->rate_pps * (1.0 - lambda->drains);
}

static uint64_t interval_fp(const struct wh_control *control)
{
	double fp = (double)control->config.hz / pace_pps(wh_lambda_view_of(control)) *
		    (double)WH_INTERVAL_MIN_FP;

	return (uint64_t)fmin(
		fmax(ceil(fp), (double)WH_INTERVAL_MIN_FP), (double)WH_INTERVAL_MAX_FP);
}

/* A scavenger does not catch up, and nobody does while a queue is drained. */
static uint64_t owed_most_tsc(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);

	if (lambda->phase < WH_LAMBDA_HOLD || lambda->phase == WH_LAMBDA_CUT ||
		lambda->drains > 0.0 ||
		wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_SCAVENGER)
		return 0;
	return (uint64_t)(wh_lambda_path_rtt_s(&lambda->path) * lambda->path.hz);
}

/* As far as the controller itself can tell. */
static enum wh_limit limit_of(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double capacity_pps = lambda->line_pps;

	if (lambda->phase < WH_LAMBDA_HOLD || lambda->blind)
		return WH_LIMIT_START;
	if (lambda->rate_pps < params.most_of_line * capacity_pps &&
		wh_lambda_path_pause_s(&lambda->path, lambda->rate_pps) > 0.0)
		return WH_LIMIT_CPU;
	if (lambda->compete.on || lambda->phase > WH_LAMBDA_HOLD ||
		lambda->rate_pps < params.most_of_line * lambda->yield.capacity_pps)
		return WH_LIMIT_OTHERS;
	if (lambda->loss.ceiling_pps > 0.0 || lambda->loss.trial != WH_LAMBDA_NO_TRIAL)
		return WH_LIMIT_LOSS;
	return WH_LIMIT_LINE;
}

static struct wh_decision decide(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	uint64_t pkts = lambda->phase == WH_LAMBDA_START
				? lambda->train.from_pkts + lambda->jump_pkts +
					  (uint64_t)wh_lambda_option(control, WH_LAMBDA_TRAIN)
				: lambda->path.seen_pkts + (uint64_t)window_pkts(control);

	return (struct wh_decision){
		.interval_fp = interval_fp(control),
		.window_pkts = control->config.window_pkts_max,
		.owed_most_tsc = owed_most_tsc(control),
		.by_tokens = true,
		.tokens = pkts > lambda->fetch_pkts ? pkts : lambda->fetch_pkts,
		.limit = limit_of(control),
	};
}

struct wh_lambda_view wh_lambda_view(const struct wh_control *control)
{
	static const char *const names[] = {"start", "verify", "hold", "cut", "fill", "test"};
	const struct wh_lambda *lambda = wh_lambda_view_of(control);

	if (control->profile != &wh_profile_lambda)
		return (struct wh_lambda_view){0};
	return (struct wh_lambda_view){
		.phase = names[lambda->phase],
		.rate_pps = lambda->rate_pps,
		.window_pkts = window_pkts(control),
		.queue_s = lambda->path.queue_s,
		.rtt_s = wh_lambda_path_rtt_s(&lambda->path),
		.noise = wh_lambda_loss_noise(&lambda->loss),
		.ceiling_pps = lambda->loss.ceiling_pps,
		.estimate_pps = lambda->line_pps,
	};
}

/*
 * The rate beside TCPs, or of a scavenger beside other flows, is not the capacity of the path: a
 * session that begins with it would begin too low. Other flows of our kind may be lanes of the same
 * job, whose rates are added up, so that a rate beside these counts.
 */
static bool is_of_the_way(const struct wh_lambda *lambda)
{
	return lambda->phase >= WH_LAMBDA_HOLD && !lambda->compete.on &&
	       lambda->rate_pps >= params.most_of_line * lambda->yield.capacity_pps;
}

/* If the train told nothing, a rate that was never used is what was kept before, or a guess. */
static double found_pps(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);

	if (lambda->train.s > 0.0 ||
		wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_SCAVENGER)
		return lambda->rate_pps;
	return fmin(lambda->rate_pps, lambda->sent_most_pps);
}

static void found(const struct wh_control *control, struct wh_known_path *known)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double bps = found_pps(control) * 8.0 * control->config.wire_bytes;
	double rtt_ns = wh_lambda_path_rtt_s(&lambda->path) * 1e9;

	if (!is_of_the_way(lambda) || bps < 1.0 || rtt_ns < 1.0)
		return;
	known->capacity_bps = (uint64_t)fmin(bps, (double)WH_KNOWN_BPS_MAX);
	known->rtt_ns = (uint64_t)fmin(rtt_ns, (double)WH_KNOWN_RTT_MAX_NS);
}

/* Where nobody else shares the path, its round trip changes little and is told less often. */
static void adapt(const struct wh_profile_options *chosen, struct wh_feedback *feedback)
{
	if (chosen->value[WH_LAMBDA_SHARE] == WH_SHARING_DEDICATED)
		feedback->data_per_report = params.data_per_report;
}

const struct wh_profile wh_profile_lambda = {
	.number = 8,
	.name = "lambda",
	.summary = "finds the rate by itself: trains, delivery and delay; harms nobody",
	.options = options,
	.n_options = WH_LAMBDA_OPTIONS,

	.control_bytes = sizeof(struct wh_lambda),
	.init = init,
	.on_delivery = on_delivery,
	.on_tick = on_tick,
	.on_rate = bound_rate,
	.on_options = on_options,
	.decide = decide,
	.found = found,

	.feedback =
		{
			.period_us = 10000,
			.resend = WH_RESEND_LATE,
			.no_ack2 = true,
			.delivery = true,
			.repair_tail = true,
		},

	.adapt = adapt,
	.code = WH_FEC_RS,
};
