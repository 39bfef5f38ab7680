/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/compete.h"

#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "profile/lambda/params.h"

static void begin_round(struct wh_lambda_compete *compete, uint64_t now_tsc, uint64_t sent_pkts)
{
	compete->round_pkts = sent_pkts;
	compete->round_tsc = now_tsc;
	compete->round_held_up = false;
	compete->round_lost_pkts = compete->round_pkts_seen = 0.0;
	compete->round_peak_s = 0.0;
}

void wh_lambda_compete_begin(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double line_pps)
{
	double line_pkts = line_pps * wh_lambda_path_round_s(path);

	*compete = (struct wh_lambda_compete){
		.window_pkts = fmax(params.window_first * line_pkts, params.window_least_pkts),
		.seen_pkts = path->seen_pkts,
		.delivered_pkts = path->delivered_pkts,
		.line_tsc = now_tsc,
		.line_seen_pkts = path->seen_pkts,
		.line_delivered_pkts = path->delivered_pkts,
		.cut_pkts = sent_pkts,
		.cut_tsc = now_tsc,
		.queued_tsc = now_tsc,
		.line_pps = line_pps,
		.pace = params.pace,
	};
	compete->cut_from_pkts = compete->window_pkts;
	begin_round(compete, now_tsc, sent_pkts);
}

/* Losses beyond the noise, with a queue: it overflows. */
static bool overflown(const struct wh_lambda_compete *compete, double noise)
{
	double mean = noise * compete->round_pkts_seen;

	return compete->round_lost_pkts > mean + params.sigmas * sqrt(mean) &&
	       compete->round_peak_s >= params.low * compete->longest_s;
}

/* BBR ignores losses: beside it a window that shrinks with each would shrink to nothing. */
static void cut(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts)
{
	double floor_pkts = params.window_floor * compete->line_pps * wh_lambda_path_round_s(path);
	double least_pkts = fmax(floor_pkts, params.window_least_pkts);

	compete->cut_from_pkts = compete->window_pkts;
	compete->cut_tsc = now_tsc;
	compete->cut_pkts = sent_pkts;
	compete->longest_s *= params.peak_fades;
	compete->window_pkts =
		fmax(params.shrink * compete->window_pkts, fmin(least_pkts, compete->window_pkts));
	compete->round_lost_pkts = compete->round_pkts_seen = 0.0;
}

/* Until the window is what it was before the cut (RFC 9438, 4.2: K). */
static double flat_s(const struct wh_lambda_compete *compete)
{
	return wh_cbrt(compete->cut_from_pkts * (1.0 - params.shrink) / params.cubic);
}

/*
 * A host that is away from its port for a part of the time sends less than the window allows: what
 * it sends meanwhile goes faster.
 */
static void learn_pace(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts)
{
	double span_s = (double)(now_tsc - compete->round_tsc) / path->hz;
	double due_pkts = params.whole * wh_lambda_compete_pps(compete, path) * span_s;
	double pkts = (double)(sent_pkts - compete->round_pkts);

	if (compete->round_held_up || path->seen_pkts <= compete->cut_pkts)
		return;
	compete->pace *= pkts < due_pkts ? fmin(due_pkts / fmax(pkts, 1.0), params.pace_step)
					 : params.pace_back;
	compete->pace = fmin(fmax(compete->pace, params.pace), params.pace_most);
}

/*
 * No other flow takes more than half of what we send for long, though BBR does when it begins: the
 * line has become narrower.
 */
static void learn_line(
	struct wh_lambda_compete *compete, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double seen = (double)(path->seen_pkts - compete->line_seen_pkts);
	double came = (double)(path->delivered_pkts - compete->line_delivered_pkts);

	if (seen < params.arrival_pkts || wh_lambda_since_s(path, now_tsc, compete->line_tsc) <
						  wh_lambda_path_patience_s(path))
		return;
	if (came > 0.0 && came < (1.0 - params.overload) * seen)
		compete->line_pps *= came / seen;
	compete->line_tsc = now_tsc;
	compete->line_seen_pkts = path->seen_pkts;
	compete->line_delivered_pkts = path->delivered_pkts;
}

static bool end_round(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double clear_s)
{
	learn_pace(compete, path, now_tsc, sent_pkts);
	learn_line(compete, path, now_tsc);
	if (compete->round_peak_s > clear_s)
		compete->queued_tsc = now_tsc;
	begin_round(compete, now_tsc, sent_pkts);
	return (double)(now_tsc - compete->queued_tsc) / path->hz >=
	       fmax(params.clear_s, params.clear_flat * flat_s(compete));
}

/* Per round trip: CUBIC's, but no less than Reno's. */
static double growth_pkts(const struct wh_lambda_compete *compete,
	const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double since_s = (double)(now_tsc - compete->cut_tsc) / path->hz;
	double t_s = since_s + wh_lambda_path_round_s(path) - flat_s(compete);
	double target_pkts = compete->cut_from_pkts + params.cubic * t_s * t_s * t_s;

	return fmax(
		fmin(target_pkts - compete->window_pkts, params.cubic_most * compete->window_pkts),
		params.growth_pkts);
}

double wh_lambda_compete_pps(
	const struct wh_lambda_compete *compete, const struct wh_lambda_path *path)
{
	return compete->window_pkts / fmax(wh_lambda_path_round_s(path), 1e-9);
}

/* Arrivals, and losses among packets sent after the latest cut. */
static void count(struct wh_lambda_compete *compete, const struct wh_lambda_path *path)
{
	double seen = (double)(path->seen_pkts - compete->seen_pkts);
	double arrived = (double)(path->delivered_pkts - compete->delivered_pkts);

	compete->seen_pkts = path->seen_pkts;
	compete->delivered_pkts = path->delivered_pkts;
	compete->arrived_pkts = arrived;
	if (path->seen_pkts <= compete->cut_pkts) {
		compete->round_lost_pkts = compete->round_pkts_seen = 0.0;
	} else {
		compete->round_pkts_seen += seen;
		compete->round_lost_pkts = fmax(compete->round_lost_pkts + seen - arrived, 0.0);
	}
	compete->round_peak_s = fmax(compete->round_peak_s, path->queue_s);
	compete->longest_s = fmax(compete->longest_s, path->queue_s);
	compete->round_held_up |= path->sample.held_up;
}

bool wh_lambda_compete_hear(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double noise, double clear_s)
{
	WH_ASSERT(path->seen_pkts >= compete->seen_pkts);

	bool heeded = path->seen_pkts <= compete->cut_pkts;

	count(compete, path);

	if (overflown(compete, noise))
		cut(compete, path, now_tsc, sent_pkts);
	else if (!heeded && !path->sample.held_up)
		compete->window_pkts += growth_pkts(compete, path, now_tsc) *
					compete->arrived_pkts / compete->window_pkts;
	return path->seen_pkts > compete->round_pkts &&
	       end_round(compete, path, now_tsc, sent_pkts, clear_s);
}
