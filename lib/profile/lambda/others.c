/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/others.h"

#include <math.h>
#include <string.h>

#include "base/arith.h"
#include "base/assert.h"

#define DOUBT_S            20.0 /* after the path seemed to become longer, ... */
#define DOUBT_RTT          0.03 /* ... a round trip shorter by this share disproves it */
#define FILL_S             1e-3 /* a queue longer than this, */
#define FILL_RTT           0.1
#define FILL_ALPHA         24.0 /* and longer than many flows of our kind leave, */
#define FILL_MOST_RTT      0.5  /* at most this, ... */
#define FILL_ALPHA_LEAST   6.0  /* ... and at least this, */
#define FILL_FOR_S         0.5  /* for this long, is that of other flows */
#define FILL_FOR_RTT       12.0
#define CONTENTION_RTT     0.33 /* of queue: more than contention of our kind leaves, ... */
#define CONTENTION_FOR_S   3.0  /* ... for this long, once it has settled, ... */
#define CONTENTION_FOR_RTT 18.0
#define EMPTY_S            0.3e-3 /* of queue counts as none, ... */
#define EMPTY_RTT          0.05   /* ... or this; settled contention drains it so far within ... */
#define EMPTY_FOR_S        6.0
#define EMPTY_FOR_RTT      60.0
#define CONTENTION_SPAN_S  1.0 /* ... of which a sample counts this much at most */

#define LEFT         0.93 /* of the capacity arrives at most: other flows have the rest */
#define PEAK_ALPHA   2.0  /* times what we leave in the queue was seen there */
#define RAISED       1.05 /* times the previous arrival rate: losses may be our own fault */
#define GROWN_PKTS   16   /* lost at once: TCP windows overshoot by few, our steps by shares */
#define LOST_SIGMAS  3.0  /* beyond the noise: */
#define NOISE_HIDDEN 1e-3 /* assumed while it is unknown, */
#define NOISE_LEAST  1e-4 /* and at least this where it is known */
#define OVERFLOWS    2.5  /* of them, decayed, are enough, ... */
#define OVERFLOWS_S  4.0  /* ... with this time constant */

void wh_lambda_others_doubt(
	struct wh_lambda_others *others, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	others->told = true;
	others->told_tsc = now_tsc;
	others->told_s = -1.0;
	memcpy(others->before, path->least, sizeof(others->before));
}

bool wh_lambda_others_disprove(
	struct wh_lambda_others *others, struct wh_lambda_path *path, uint64_t now_tsc)
{
	double rtt_s = wh_lambda_path_rtt_s(path);

	if (!others->told || rtt_s == 0.0)
		return false;
	if (others->told_s < 0.0)
		others->told_s = rtt_s;
	if ((double)(now_tsc - others->told_tsc) / path->hz > DOUBT_S) {
		others->told = false;
		return false;
	}
	if (rtt_s > others->told_s * (1.0 - DOUBT_RTT))
		return false;
	others->told = false;
	path->least[0] = others->before[0];
	path->least[1] = others->before[1];
	path->queue_s += fmax(rtt_s - wh_lambda_path_rtt_s(path), 0.0);
	return true;
}

/*
 * All contending flows drain the queue from time to time (lambda.c); TCPs grow into what is
 * drained.
 */
static bool never_empty(
	struct wh_lambda_others *others, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double rtt_s = wh_lambda_path_rtt_s(path);

	if (others->empty_tsc == 0 || !others->settled ||
		path->sample.queue_s < fmax(EMPTY_S, EMPTY_RTT * rtt_s))
		others->empty_tsc = now_tsc;
	return wh_lambda_since_s(path, now_tsc, others->empty_tsc) >
	       fmax(EMPTY_FOR_S, EMPTY_FOR_RTT * rtt_s);
}

/* Contending flows' queue is longer at first, and a TCP's may run empty after its losses. */
static bool stands_in_contention(struct wh_lambda_others *others, const struct wh_lambda_path *path,
	uint64_t now_tsc, double rate_pps, double least_s)
{
	double rtt_s = wh_lambda_path_rtt_s(path), queue_s = path->sample.queue_s;
	double span_s = fmin(wh_lambda_since_s(path, now_tsc, others->full_tsc), CONTENTION_SPAN_S);
	bool full = queue_s > fmax(least_s, CONTENTION_RTT * rtt_s);

	if (others->full_tsc > 0)
		others->full_s = fmax(others->full_s + (full ? span_s : -span_s), 0.0);
	others->full_tsc = now_tsc;
	if (others->full_s == 0.0 || others->full_pps == 0.0)
		others->full_pps = rate_pps;
	return never_empty(others, path, now_tsc) ||
	       (full && others->full_s >=
				fmax(CONTENTION_FOR_S, CONTENTION_FOR_RTT * (rtt_s + queue_s)));
}

static bool stands(struct wh_lambda_others *others, const struct wh_lambda_path *path,
	uint64_t now_tsc, double rate_pps, double own_s)
{
	double rtt_s = wh_lambda_path_rtt_s(path), queue_s = path->sample.queue_s;
	double many_s =
		fmax(fmin(FILL_ALPHA * own_s, FILL_MOST_RTT * rtt_s), FILL_ALPHA_LEAST * own_s);
	double least_s = fmax(fmax(FILL_S, FILL_RTT * rtt_s), many_s);

	if (others->contended)
		return stands_in_contention(others, path, now_tsc, rate_pps, least_s);
	others->full_s = 0.0;
	others->empty_tsc = 0;
	if (queue_s < least_s) {
		others->full_pps = 0.0;
		return false;
	}
	if (others->full_pps == 0.0) {
		others->full_pps = rate_pps;
		others->full_tsc = now_tsc;
	}
	return wh_lambda_since_s(path, now_tsc, others->full_tsc) >=
	       fmax(FILL_FOR_S, FILL_FOR_RTT * (rtt_s + queue_s));
}

static bool overflows(struct wh_lambda_others *others, const struct wh_lambda_path *path,
	uint64_t now_tsc, double own_s, double noise, double capacity_pps)
{
	const struct wh_lambda_sample *sample = &path->sample;
	double hidden = noise > 0.0 ? fmax(noise, NOISE_LEAST) : NOISE_HIDDEN;
	double mean = hidden * (double)sample->seen_pkts;
	bool raised = sample->sent_pps > RAISED * others->before_pps;

	WH_ASSERT(own_s > 0.0 && capacity_pps > 0.0);
	others->before_pps = sample->arrival_pps;
	/* Contending flows' own pushes overflow queues, and a longer one would stand. */
	if (others->contended &&
		(!others->settled || sample->peak_s > CONTENTION_RTT * wh_lambda_path_rtt_s(path)))
		return false;
	if (sample->arrival_pps == 0.0 || raised || sample->lost_pkts > GROWN_PKTS ||
		sample->arrival_pps > LEFT * capacity_pps || sample->peak_s < PEAK_ALPHA * own_s ||
		(double)sample->lost_pkts <= mean + LOST_SIGMAS * sqrt(mean))
		return false;
	others->overflows *= wh_exp(
		-fmin(wh_lambda_since_s(path, now_tsc, others->overflown_tsc) / OVERFLOWS_S, 50.0));
	others->overflows += 1.0;
	others->overflown_tsc = now_tsc;
	return others->overflows >= OVERFLOWS;
}

bool wh_lambda_others_fill(struct wh_lambda_others *others, const struct wh_lambda_path *path,
	uint64_t now_tsc, double rate_pps, double own_s, double noise, double capacity_pps)
{
	return stands(others, path, now_tsc, rate_pps, own_s) ||
	       overflows(others, path, now_tsc, own_s, noise, capacity_pps);
}
