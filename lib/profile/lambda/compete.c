/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/compete.h"

#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "profile/lambda/params.h"

static void begin_round(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts)
{
	compete->round_pkts = sent_pkts;
	compete->round_tsc = now_tsc;
	compete->round_held_up = false;
	compete->round_lost_pkts = compete->round_pkts_seen = 0.0;
	compete->round_arrived_pkts = 0.0;
	compete->round_arrived_tsc = path->arrived_tsc;
	compete->round_peak_s = 0.0;
}

void wh_lambda_compete_begin(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double rate_pps, double capacity_pps)
{
	double round_s = wh_lambda_path_rtt_s(path) + path->queue_s;
	double had_pps = fmin(rate_pps, params.modest_most * capacity_pps);
	double pps = fmax(had_pps, params.window_first * capacity_pps);

	*compete = (struct wh_lambda_compete){
		.window_pkts = fmax(pps * round_s, params.window_least_pkts),
		.seen_pkts = path->seen_pkts,
		.delivered_pkts = path->delivered_pkts,
		.cut_pkts = sent_pkts,
		.cut_tsc = now_tsc,
		.queued_tsc = now_tsc,
		.capacity_pps = capacity_pps,
		.pace = params.pace,
	};
	compete->cut_from_pkts = compete->window_pkts;
	begin_round(compete, path, now_tsc, sent_pkts);
}

/* Losses beyond the noise, with a queue: it overflows. */
static bool overflown(const struct wh_lambda_compete *compete, double noise)
{
	double mean = noise * compete->round_pkts_seen;

	return compete->round_lost_pkts > mean + params.sigmas * sqrt(mean) &&
	       compete->round_peak_s >= params.low * compete->longest_s;
}

static void cut(struct wh_lambda_compete *compete, uint64_t now_tsc, uint64_t sent_pkts)
{
	compete->cut_from_pkts = compete->window_pkts;
	compete->cut_tsc = now_tsc;
	compete->cut_pkts = sent_pkts;
	compete->longest_s *= params.peak_fades;
	compete->window_pkts = fmax(params.shrink * compete->window_pkts, params.window_least_pkts);
	compete->round_lost_pkts = compete->round_pkts_seen = 0.0;
}

static void learn_share(struct wh_lambda_compete *compete, const struct wh_lambda_path *path)
{
	double span_s =
		(double)(int64_t)(path->arrived_tsc - compete->round_arrived_tsc) / path->hz;
	double pps;

	if (span_s <= 0.0 || compete->capacity_pps <= 0.0)
		return;
	pps = compete->round_arrived_pkts / span_s;
	compete->capacity_pps = fmax(compete->capacity_pps, pps);
	compete->share += (pps / compete->capacity_pps - compete->share) * params.share_learnt;
}

static bool are_gone(const struct wh_lambda_compete *compete, double clear_for_s)
{
	double flat_s = wh_cbrt(compete->cut_from_pkts * (1.0 - params.shrink) / params.cubic);

	return clear_for_s >= fmax(params.clear_s, params.clear_flat * flat_s);
}

/*
 * A host that is away from its port for a part of the time sends less than the window allows: what
 * it sends meanwhile goes faster.
 */
static void learn_pace(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts)
{
	double span_s = (double)(now_tsc - compete->round_tsc) / path->hz;
	double round_s = fmax(wh_lambda_path_rtt_s(path) + path->queue_s, 1e-9);
	double window_pps = compete->window_pkts / round_s;
	double pps = fmin(wh_lambda_compete_pps(compete, path), window_pps);
	double due_pkts = params.whole * pps * span_s;
	double pkts = (double)(sent_pkts - compete->round_pkts);

	if (compete->round_held_up || path->seen_pkts <= compete->cut_pkts)
		return;
	compete->pace *= pkts < due_pkts ? fmin(due_pkts / fmax(pkts, 1.0), params.pace_step)
					 : params.pace_back;
	compete->pace = fmin(fmax(compete->pace, params.pace), params.pace_most);
}

static bool end_round(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double clear_s)
{
	learn_share(compete, path);
	learn_pace(compete, path, now_tsc, sent_pkts);
	compete->clear_rounds = compete->round_peak_s > clear_s ? 0 : compete->clear_rounds + 1;
	if (compete->clear_rounds == 0)
		compete->queued_tsc = now_tsc;
	begin_round(compete, path, now_tsc, sent_pkts);
	return are_gone(compete, (double)(now_tsc - compete->queued_tsc) / path->hz);
}

/* Per round trip: CUBIC's while our share is small or there is no queue, else Reno's. */
static double growth_pkts(const struct wh_lambda_compete *compete,
	const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double flat_s = wh_cbrt(compete->cut_from_pkts * (1.0 - params.shrink) / params.cubic);
	double ahead_s = wh_lambda_path_rtt_s(path) + path->queue_s;
	double t_s = (double)(now_tsc - compete->cut_tsc) / path->hz + ahead_s - flat_s;
	double target_pkts = compete->cut_from_pkts + params.cubic * t_s * t_s * t_s;
	double growth =
		fmin(target_pkts - compete->window_pkts, params.cubic_most * compete->window_pkts);
	double little =
		(params.modest_most - compete->share) / (params.modest_most - params.modest);

	if (compete->clear_rounds < params.clear_grow)
		growth *= fmin(fmax(little, 0.0), 1.0);
	return fmax(growth, params.growth_pkts);
}

double wh_lambda_compete_pps(
	const struct wh_lambda_compete *compete, const struct wh_lambda_path *path)
{
	double round_s = wh_lambda_path_rtt_s(path) + path->queue_s;

	return compete->window_pkts / fmax(round_s, 1e-9);
}

/* Arrivals, and losses among packets sent after the latest cut. */
static void count(struct wh_lambda_compete *compete, const struct wh_lambda_path *path)
{
	double seen = (double)(path->seen_pkts - compete->seen_pkts);
	double arrived = (double)(path->delivered_pkts - compete->delivered_pkts);

	compete->seen_pkts = path->seen_pkts;
	compete->delivered_pkts = path->delivered_pkts;
	compete->arrived_pkts = arrived;
	compete->round_arrived_pkts += arrived;
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
		cut(compete, now_tsc, sent_pkts);
	else if (!heeded && !path->sample.held_up)
		compete->window_pkts += growth_pkts(compete, path, now_tsc) *
					compete->arrived_pkts / compete->window_pkts;
	return path->seen_pkts > compete->round_pkts &&
	       end_round(compete, path, now_tsc, sent_pkts, clear_s);
}
