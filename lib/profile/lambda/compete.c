/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/compete.h"

#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "base/assert.h"

#define DOUBT_S         20.0 /* after the way seemed to become longer, ... */
#define DOUBT_RTT       0.03 /* ... and shorter again by such a share of its round trip */
#define OTHERS_ALPHA    24.0 /* a queue of more than many of us leave, */
#define OTHERS_S        1e-3
#define OTHERS_RTT      0.1
#define OTHERS_FILL_S   0.5 /* for so long, is others' */
#define OTHERS_FILL_RTT 12.0
#define FIRST           0.31 /* of the capacity, to begin with: one TCP that is there has more */
#define MODEST          0.2  /* of the capacity: with less the window grows as CUBIC's does, ... */
#define MODEST_MOST     0.33 /* ... and with more as a Reno's */
#define SHARE_LEARNT    0.25 /* from each round */
#define CUBIC           0.4  /* packets in the cube of a second (RFC 9438, 5) */
#define CUBIC_MOST      0.5  /* of the window in a round trip */
#define GROWTH_PKTS                                                                                \
	0.75 /* in a round trip: more than the 0.53 of RFC 9438, 4.3, since CUBICs take more */
#define SHRINK       0.7
#define WINDOW_LEAST 2.0
#define LOST_SIGMAS  3.0  /* beyond the noise */
#define FALLEN       0.75 /* of the queue of late: others have lost */
#define CLEAR_ROUNDS 30   /* without a queue, ... */
#define CLEAR_S      4.0  /* ... and for so long, since a CUBIC takes so long, and they are gone */
#define CLEAR_GROW   10   /* rounds without a queue, and we grow as CUBIC does */
#define ALONE        0.95 /* of the capacity is ours */
#define ALONE_ROUNDS 8
#define OVERFLOWS    0.5  /* of the largest queue of late */
#define MOST_FORGETS 0.99 /* by each state */

void wh_lambda_compete_doubt(
	struct wh_lambda_compete *compete, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	compete->told = true;
	compete->told_tsc = now_tsc;
	compete->told_s = -1.0;
	memcpy(compete->before, path->least, sizeof(compete->before));
}

bool wh_lambda_compete_disproves(
	struct wh_lambda_compete *compete, struct wh_lambda_path *path, uint64_t now_tsc)
{
	double rtt_s = wh_lambda_path_rtt_s(path);

	if (!compete->told || rtt_s == 0.0)
		return false;
	if (compete->told_s < 0.0)
		compete->told_s = rtt_s;
	if ((double)(now_tsc - compete->told_tsc) / path->hz > DOUBT_S) {
		compete->told = false;
		return false;
	}
	if (rtt_s > compete->told_s * (1.0 - DOUBT_RTT))
		return false;
	compete->told = false;
	path->least[0] = compete->before[0];
	path->least[1] = compete->before[1];
	path->queue_s += fmax(rtt_s - wh_lambda_path_rtt_s(path), 0.0);
	return true;
}

bool wh_lambda_compete_fills(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, double rate_pps, double own_s)
{
	double rtt_s = wh_lambda_path_rtt_s(path), queue_s = path->sample.queue_s;

	if (queue_s < fmax(fmax(OTHERS_S, OTHERS_RTT * rtt_s), OTHERS_ALPHA * own_s)) {
		compete->full_pps = 0.0;
		return false;
	}
	if (compete->full_pps == 0.0) {
		compete->full_pps = rate_pps;
		compete->full_tsc = now_tsc;
	}
	return (double)(now_tsc - compete->full_tsc) / path->hz >=
	       fmax(OTHERS_FILL_S, OTHERS_FILL_RTT * (rtt_s + queue_s));
}

static void begin_round(
	struct wh_lambda_compete *compete, const struct wh_lambda_path *path, uint64_t sent_pkts)
{
	compete->round_pkts = sent_pkts;
	compete->round_lost_pkts = compete->round_pkts_seen = 0.0;
	compete->round_arrived_pkts = 0.0;
	compete->round_arrived_tsc = path->arrived_tsc;
	compete->round_queue_s = INFINITY;
}

void wh_lambda_compete_begin(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double rate_pps, double capacity_pps)
{
	double round_s = wh_lambda_path_rtt_s(path) + path->queue_s;
	double had_pps = fmin(fmax(rate_pps, compete->full_pps), MODEST_MOST * capacity_pps);
	double pps = fmax(had_pps, FIRST * capacity_pps);

	WH_ASSERT(!compete->on);
	*compete = (struct wh_lambda_compete){
		.on = true,
		.window_pkts = fmax(pps * round_s, WINDOW_LEAST),
		.seen_pkts = path->seen_pkts,
		.delivered_pkts = path->delivered_pkts,
		.cut_pkts = sent_pkts,
		.cut_tsc = now_tsc,
		.queued_tsc = now_tsc,
		.capacity_pps = capacity_pps,
	};
	compete->cut_from_pkts = compete->window_pkts;
	begin_round(compete, path, sent_pkts);
}

/* More is lost than the noise takes, and a queue stood that may have overflown. */
static bool overflown(const struct wh_lambda_compete *compete, double noise, double queue_s)
{
	double mean = noise * compete->round_pkts_seen;

	return compete->round_lost_pkts > mean + LOST_SIGMAS * sqrt(mean) &&
	       queue_s >= OVERFLOWS * compete->most_queue_s;
}

/*
 * The queue has fallen by more than we did: others have lost of theirs. Who paces loses less often
 * than who sends in bursts, and would take all in the end.
 */
static bool others_cut(const struct wh_lambda_compete *compete)
{
	return compete->share >= MODEST_MOST &&
	       compete->round_queue_s < FALLEN * compete->most_queue_s;
}

static void cut(struct wh_lambda_compete *compete, uint64_t now_tsc, uint64_t sent_pkts)
{
	compete->cut_from_pkts = compete->window_pkts;
	compete->cut_tsc = now_tsc;
	compete->cut_pkts = sent_pkts;
	compete->window_pkts = fmax(SHRINK * compete->window_pkts, WINDOW_LEAST);
	compete->round_lost_pkts = compete->round_pkts_seen = 0.0;
	compete->most_queue_s = 0.0;
}

static void learn_share(struct wh_lambda_compete *compete, const struct wh_lambda_path *path)
{
	double span_s =
		(double)(int64_t)(path->arrived_tsc - compete->round_arrived_tsc) / path->hz;
	double share;

	if (span_s <= 0.0 || compete->capacity_pps <= 0.0)
		return;
	share = fmin(compete->round_arrived_pkts / span_s / compete->capacity_pps, 1.0);
	compete->share += (share - compete->share) * SHARE_LEARNT;
}

static bool are_gone(const struct wh_lambda_compete *compete, double clear_for_s)
{
	return (compete->clear_rounds >= CLEAR_ROUNDS && clear_for_s >= CLEAR_S) ||
	       compete->alone_rounds >= ALONE_ROUNDS;
}

static void end_round(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double clear_s)
{
	learn_share(compete, path);
	compete->alone_rounds = compete->share > ALONE ? compete->alone_rounds + 1 : 0;
	compete->clear_rounds = compete->round_queue_s > clear_s ? 0 : compete->clear_rounds + 1;
	if (compete->clear_rounds == 0)
		compete->queued_tsc = now_tsc;
	if (are_gone(compete, (double)(now_tsc - compete->queued_tsc) / path->hz))
		compete->on = false;
	begin_round(compete, path, sent_pkts);
}

/* In a round trip: CUBIC's, where we have little of the way or no queue stands; else a Reno's. */
static double growth_pkts(const struct wh_lambda_compete *compete,
	const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double flat_s = wh_cbrt(compete->cut_from_pkts * (1.0 - SHRINK) / CUBIC);
	double ahead_s = wh_lambda_path_rtt_s(path) + path->queue_s;
	double t_s = (double)(now_tsc - compete->cut_tsc) / path->hz + ahead_s - flat_s;
	double target_pkts = compete->cut_from_pkts + CUBIC * t_s * t_s * t_s;
	double growth = fmin(target_pkts - compete->window_pkts, CUBIC_MOST * compete->window_pkts);
	double little = (MODEST_MOST - compete->share) / (MODEST_MOST - MODEST);

	if (compete->clear_rounds < CLEAR_GROW)
		growth *= fmin(fmax(little, 0.0), 1.0);
	return fmax(growth, GROWTH_PKTS);
}

void wh_lambda_compete_hear(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double noise, double clear_s)
{
	WH_ASSERT(compete->on && path->seen_pkts >= compete->seen_pkts);

	double seen = (double)(path->seen_pkts - compete->seen_pkts);
	double arrived = (double)(path->delivered_pkts - compete->delivered_pkts);
	bool heeded = path->seen_pkts <= compete->cut_pkts;

	compete->seen_pkts = path->seen_pkts;
	compete->delivered_pkts = path->delivered_pkts;
	compete->most_queue_s = fmax(compete->most_queue_s * MOST_FORGETS, path->queue_s);
	compete->round_queue_s = fmin(compete->round_queue_s, path->queue_s);
	compete->round_arrived_pkts += arrived;
	if (heeded) {
		compete->round_lost_pkts = compete->round_pkts_seen = 0.0;
	} else {
		compete->round_pkts_seen += seen;
		compete->round_lost_pkts = fmax(compete->round_lost_pkts + seen - arrived, 0.0);
	}
	if (overflown(compete, noise, path->queue_s) || (!heeded && others_cut(compete))) {
		cut(compete, now_tsc, sent_pkts);
	} else if (!heeded && !path->sample.held_up) {
		compete->window_pkts +=
			growth_pkts(compete, path, now_tsc) * arrived / compete->window_pkts;
	}
	if (path->seen_pkts > compete->round_pkts)
		end_round(compete, path, now_tsc, sent_pkts, clear_s);
}
