/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds the rate of a path without being told anything, and keeps it. docs/controller.md has the
 * equations, what they assume, and where they are weak. In six parts:
 *
 * model  path.c derives delay, queue and arrivals from the receiver's reports, loss.c what losses
 *        mean: noise, or a ceiling.
 * start  start.c
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
	bool bound = lambda->mode >= WH_LAMBDA_YIELD && lambda->rate_pps >= lambda->rate_max_pps;
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

static void init(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	wh_lambda_path_init(&lambda->path, control->config.hz);
	bound_rate(control);
	lambda->rate_pps = lambda->rate_max_pps;
	lambda->line_pps = wh_lambda_known_pps(control);
}

/*
 * While the receiver's host is away packets wait in its port, as many as there is room for: the
 * rate does not bound them if hosts are slower than the line. A report may be late by a round trip.
 */
static double covered_s(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double rtt_s = wh_lambda_path_rtt_s(&lambda->path);
	double port_s = params.port_bytes / control->config.wire_bytes / lambda->rate_pps;

	return fmin(wh_lambda_path_covered_s(&lambda->path), rtt_s + fmax(rtt_s, port_s));
}

static double window_pkts(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double pkts = lambda->rate_pps * covered_s(control);

	if (lambda->mode == WH_LAMBDA_WINDOW)
		return fmin(lambda->compete.window_pkts + lambda->rate_pps * lambda->path.gap_s,
			(double)control->config.window_pkts_max);
	if (lambda->mode == WH_LAMBDA_CUT)
		return fmin(fmax(pkts, params.window_least_pkts),
			(double)control->config.window_pkts_max);
	if (lambda->drains > 0.0)
		return fmax(pkts, params.window_least_pkts);
	if (lambda->mode == WH_LAMBDA_HOLD || lambda->mode == WH_LAMBDA_YIELD)
		pkts += lambda->rate_pps * wh_lambda_target_s(control);
	else if (lambda->mode > WH_LAMBDA_HOLD)
		pkts += pkts + lambda->rate_pps * wh_lambda_most_s(control);
	return fmin(pkts + params.slack_pkts, (double)control->config.window_pkts_max);
}

/* The window limits what is sent; the rate follows from it. */
static void compete(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double alpha_s = wh_lambda_target_s(control);

	wh_lambda_path_keep(&lambda->path, event->now_tsc);
	if (wh_lambda_compete_hear(&lambda->compete, path, event->now_tsc, event->sent_pkts,
		    wh_lambda_loss_noise(&lambda->loss), alpha_s))
		lambda->mode = WH_LAMBDA_FILL;
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

	if (lambda->mode < WH_LAMBDA_YIELD && lambda->blind)
		wh_lambda_yield_begin_blind(&lambda->yield);
	lambda->mode = WH_LAMBDA_YIELD;
	wh_lambda_set_rate(lambda, wh_lambda_yield_hear(&lambda->yield, &lambda->path, event, own_s,
					   lambda->rate_pps, found_pps));
}

static void learn_noise(struct wh_lambda *lambda)
{
	const struct wh_lambda_path *path = &lambda->path;
	bool low = path->latest_s < params.low * lambda->longest_s;
	double seen = (double)(path->seen_pkts - lambda->low_seen_pkts);
	double came = (double)(path->delivered_pkts - lambda->low_delivered_pkts);
	double lost = fmax(seen - came, 0.0);
	/* Nobody looks for runs with repair packets. */
	double runs = path->lost_runs > 0 ? (double)(path->lost_runs - lambda->low_runs) : lost;

	if (low && lambda->was_low && lambda->mode >= WH_LAMBDA_CUT &&
		lambda->rate_pps < params.whole * lambda->peak_pps)
		wh_lambda_loss_learn(&lambda->loss, seen, lost, runs);
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
	bool full = path->queue_s > wh_lambda_most_s(control);

	if (lambda->mode <= WH_LAMBDA_HOLD) {
		lambda->full_s = 0.0;
		return false;
	}
	lambda->full_s = fmax(lambda->full_s + (full ? span_s : -span_s), 0.0);
	return lambda->full_s > wh_lambda_path_patience_s(path);
}

static void law(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	wh_lambda_note_queue(control, event);
	learn_noise(lambda);
	if (others_fill(control, event)) {
		wh_lambda_compete_begin(&lambda->compete, &lambda->path, lambda->now_tsc,
			lambda->sent_pkts, wh_lambda_line_pps(lambda));
		wh_lambda_begin_after_others(lambda);
	} else if (lambda->mode >= WH_LAMBDA_CUT) {
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
	if (lambda->mode == WH_LAMBDA_START) {
		wh_lambda_start(control, event, before_pkts);
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
	if (lambda->mode == WH_LAMBDA_WINDOW) {
		compete(control, event);
		return;
	}
	if (lambda->mode == WH_LAMBDA_VERIFY)
		wh_lambda_verify(control, event);
	law(control, event);
}

/* When the way of sharing changes, the present rate is kept as a guess, and verified. */
static void on_options(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double share = wh_lambda_option(control, WH_LAMBDA_SHARE);
	bool shared = lambda->mode >= WH_LAMBDA_CUT && share != WH_SHARING_FAIR;
	bool gave_way = lambda->mode == WH_LAMBDA_YIELD && share != WH_SHARING_SCAVENGER;

	if (!shared && !gave_way)
		return;
	lambda->yield = (struct wh_lambda_yield){0};
	lambda->mode = WH_LAMBDA_VERIFY;
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
	double patience_s = fmax(heard ? 0.0 : params.still_first_s,
		params.still_rtt * rtt_s + 2.0 * lambda->path.queue_s +
			params.still_pkts / lambda->rate_pps +
			fmin(lambda->path.gap_s, params.report_s));

	wh_lambda_jump(control, event);
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
	if (lambda->mode == WH_LAMBDA_WINDOW)
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

	if (lambda->mode < WH_LAMBDA_HOLD || lambda->mode == WH_LAMBDA_CUT ||
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

	if (lambda->mode < WH_LAMBDA_YIELD || lambda->blind)
		return WH_LIMIT_START;
	if (lambda->rate_pps < params.most_of_line * capacity_pps &&
		wh_lambda_path_pause_s(&lambda->path, lambda->rate_pps) > 0.0)
		return WH_LIMIT_CPU;
	if (lambda->mode > WH_LAMBDA_HOLD ||
		lambda->rate_pps < params.most_of_line * lambda->yield.capacity_pps)
		return WH_LIMIT_OTHERS;
	if (lambda->loss.ceiling_pps > 0.0 || lambda->loss.trial != WH_LAMBDA_NO_TRIAL)
		return WH_LIMIT_LOSS;
	return WH_LIMIT_LINE;
}

/* Which part decides the rate. */
static const char *mode_name(const struct wh_lambda *lambda)
{
	static const char *const names[] = {
		"start", "verify", "yield", "hold", "cut", "fill", "window"};

	if (lambda->mode != WH_LAMBDA_HOLD)
		return names[lambda->mode];
	if (lambda->drains > 0.0)
		return "drain";
	if (lambda->loss.trial != WH_LAMBDA_NO_TRIAL)
		return "trial";
	return lambda->seeks ? "seek" : "hold";
}

static struct wh_decision decide(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	uint64_t pkts = lambda->mode == WH_LAMBDA_START
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
		.mode = mode_name(lambda),
	};
}

/*
 * The rate beside TCPs, or of a scavenger beside other flows, is not the capacity of the path: a
 * session that begins with it would begin too low. Other flows of our kind may be lanes of the same
 * job, whose rates are added up, so that a rate beside these counts.
 */
static bool is_of_the_way(const struct wh_lambda *lambda)
{
	return lambda->mode >= WH_LAMBDA_YIELD && lambda->mode != WH_LAMBDA_WINDOW &&
	       lambda->rate_pps >= params.most_of_line * lambda->yield.capacity_pps;
}

/* If the train told nothing, a rate that never arrived is what was kept before, or a guess. */
static double found_pps(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);

	if (lambda->train.s > 0.0 ||
		wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_SCAVENGER)
		return lambda->rate_pps;
	return fmin(lambda->rate_pps, lambda->path.arrived_most_pps);
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
