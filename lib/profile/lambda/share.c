/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/share.h"

#include <math.h>

#include "base/arith.h"
#include "base/assert.h"

#define FOUND_S   0.3e-3 /* hosts' jitter is no queue */
#define CONTENDED 0.85   /* of the capacity arrives: other flows have the rest */
#define ALONE     0.93   /* of the capacity is ours, ... */
#define ALONE_S   0.15   /* ... and no queue was seen for this long, */
#define ALONE_RTT 4.0    /* or this */

#define PULL         0.91    /* of the distance to the equal share (its logarithm) in a second */
#define STEP_MOST_S  0.5     /* of a cycle counts, on long paths */
#define TURN_RTT     1.4     /* round trips until a change is seen in a sample, */
#define TURN_S       2e-3    /* and this */
#define TARGET_S     0.18e-3 /* of queue, */
#define TARGET_RTT   0.005   /* or this share of the round trip, */
#define LEVEL        0.015   /* and this for each unit of the price, */
#define BEND         0.035   /* and this by the square of what is beyond ... */
#define BEND_FROM    2.0     /* ... this price: hundreds of flows have to agree sooner */
#define CUT          0.7     /* of a wrong queue in a cycle, */
#define CUT_GROWN    0.59    /* of what it has grown, */
#define CUT_MOST     0.6     /* of the rate, ... */
#define RISE_MOST    0.3     /* ... or this the other way */
#define CHANGE_LEAST 0.4     /* of the rate stays, ... */
#define CHANGE_MOST  2.0     /* ... or comes, in a cycle */
#define RATE_LEAST   3.0     /* packets a turn, so that there is news */

#define PRICE_JOINS  0.69 /* of a newcomer: that of two flows */
#define PRICE_LEAST  (-1.0)
#define PRICE_MOST   7.0
#define LEARN        3.1  /* of the price, by queue times turns squared, in a second, ... */
#define LEARN_TURN   0.45 /* ... but no more than this by turns cubed: else it sways */
#define LEARN_MOST   0.5  /* of the distance to the price of this queue in a cycle, */
#define LEARN_MOST_S 3.0  /* and this in a second */

#define GROW       0.001 /* of the rate in a turn, without a queue, ... */
#define GROW_FROM  2.0   /* ... for this many turns; then faster and faster, ... */
#define GROW_RATE  2.0   /* ... by this exponent of turns, ... */
#define GROW_TURNS 10.0  /* ... of this many at most, ... */
#define GROW_MOST  0.4   /* ... up to this */

#define CUT_OVERFLOW 0.8 /* of the arrival rate is left when the queue overflows, ... */
#define CUT_UNSEEN   0.5 /* ... or this if it is not even seen, ... */
#define UNSEEN_RTT   0.3 /* ... but shorter than this share of the round trip, ... */
#define UNSEEN_S     3.0 /* ... by who has been in contention for less than this */
#define DOUBTS       2   /* samples in which the least delay does not fall: it is right */
#define DOUBT_FALLS  0.995
#define DOUBT_CUT    0.25 /* of the rate, until then */

static double target_s(const struct wh_lambda_path *path)
{
	return fmax(TARGET_S, TARGET_RTT * wh_lambda_path_rtt_s(path));
}

static double turn_s(const struct wh_lambda_path *path)
{
	return TURN_RTT * wh_lambda_path_rtt_s(path) + TURN_S;
}

void wh_lambda_share_begin(struct wh_lambda_share *share, uint64_t now_tsc)
{
	share->contended = true;
	share->queued_tsc = now_tsc;
}

void wh_lambda_share_join(struct wh_lambda_share *share, uint64_t now_tsc)
{
	wh_lambda_share_begin(share, now_tsc);
	share->joins = true;
}

bool wh_lambda_share_found(
	struct wh_lambda_share *share, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	if (path->queue_s > FOUND_S)
		wh_lambda_share_join(share, now_tsc);
	return path->short_pps > 0.0;
}

bool wh_lambda_share_contended(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	uint64_t now_tsc, double busy_pps, double capacity_pps, double patience_s)
{
	bool queued = path->sample.queue_s > target_s(path) / 2.0;
	double alone_s = fmax(ALONE_S, ALONE_RTT * wh_lambda_path_rtt_s(path));

	/* After a pause of a host one sample may arrive faster than the capacity. */
	share->capacity_pps = fmax(fmax(share->capacity_pps, capacity_pps),
		fmin(path->sample.arrival_pps, share->before_pps));
	share->before_pps = path->sample.arrival_pps;
	if (queued)
		share->queued_tsc = now_tsc;
	if (busy_pps == 0.0 || busy_pps >= CONTENDED * share->capacity_pps)
		share->less_tsc = 0;
	else if (share->less_tsc == 0)
		share->less_tsc = now_tsc;
	if (queued && share->less_tsc > 0 &&
		(double)(now_tsc - share->less_tsc) / path->hz >= patience_s)
		share->contended = true;
	else if ((double)(now_tsc - share->queued_tsc) / path->hz > alone_s &&
		 path->sample.arrival_pps > ALONE * share->capacity_pps)
		share->contended = false;
	return share->contended;
}

/* The queue that belongs to the price; `slope_s`: for each unit more. */
static double due_s(const struct wh_lambda_share *share, double rtt_s, double *slope_s)
{
	double beyond = fmax(share->price - BEND_FROM, 0.0);

	*slope_s = (LEVEL + 2.0 * BEND * beyond) * rtt_s;
	return (LEVEL * share->price + BEND * beyond * beyond) * rtt_s;
}

/* A flow that meets contention at its start guesses; one that was there has its share already. */
static void begin_price(struct wh_lambda_share *share, double own_price)
{
	if (share->joins)
		share->price = PRICE_JOINS;
	else if (share->age_s == 0.0)
		share->price = fmax(own_price, PRICE_LEAST);
}

/* `wrong_s`: beyond the queue that belongs to the price. */
static double learnt(
	const struct wh_lambda_path *path, double wrong_s, double slope_s, double cycle_s)
{
	double turn = turn_s(path);
	double gain = fmin(LEARN / (turn * turn), LEARN_TURN / (turn * turn * turn)) * cycle_s;
	double most = LEARN_MOST_S * fmin(cycle_s, STEP_MOST_S);

	return fmin(fmax(fmin(gain, LEARN_MOST / slope_s) * wrong_s, -most), most);
}

/*
 * What all take of a line without a queue, from which others may have gone, as far as the capacity
 * is known. It grows alike for all, and the price falls as much, so that shares stay as they are.
 */
static double grown(const struct wh_lambda_share *share, const struct wh_lambda_path *path,
	double rate_pps, double cycle_s)
{
	double empty_s = (double)(int64_t)(path->moved_tsc - share->queued_tsc) / path->hz;
	double turns = empty_s / turn_s(path) - GROW_FROM;
	double grows = GROW * fmin(cycle_s, STEP_MOST_S) / turn_s(path) *
		       wh_exp(GROW_RATE * fmin(fmax(turns, -GROW_TURNS), GROW_TURNS));

	if (path->sample.queue_s > target_s(path) / 2.0)
		return 0.0;
	return fmin(fmin(grows, GROW_MOST), fmax(share->capacity_pps / rate_pps - 1.0, 0.0));
}

/*
 * Who began while the queue was full takes a part of it for the path, and would push while others
 * see a queue. So all who have lost packets reduce their rates until the least delay falls no more:
 * then the queue is empty, as they do so at the same time.
 */
static bool doubts(struct wh_lambda_share *share, const struct wh_lambda_path *path)
{
	double rtt_s = wh_lambda_path_rtt_s(path);
	bool begins = share->joins || (share->young && share->age_s == 0.0);

	if (begins && path->delivered_pkts < path->seen_pkts)
		share->doubts = DOUBTS;
	else if (share->doubts == 0)
		return false;
	else if (rtt_s < DOUBT_FALLS * share->rtt_s)
		share->doubts = DOUBTS;
	if (share->doubts > 0 && path->sample.lost_pkts == 0 && rtt_s >= DOUBT_FALLS * share->rtt_s)
		share->doubts--;
	share->rtt_s = rtt_s;
	return true;
}

double wh_lambda_share_rate(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	double rate_pps, double unit_pps, double cycle_s)
{
	WH_ASSERT(rate_pps > 0.0 && unit_pps > 0.0 && cycle_s > 0.0);

	double own_price = wh_log(unit_pps / rate_pps);
	double queue_s = path->sample.queue_s, slope_s;

	begin_price(share, own_price);

	double wrong_s =
		queue_s - target_s(path) - due_s(share, wh_lambda_path_rtt_s(path), &slope_s);
	double cut = (CUT * wrong_s + CUT_GROWN * (queue_s - share->queue_s)) / cycle_s;
	double grows = grown(share, path, rate_pps, cycle_s);

	share->price += learnt(path, wrong_s, slope_s, cycle_s) - grows;
	share->price = fmin(fmax(share->price, PRICE_LEAST), PRICE_MOST);

	double pull = PULL * fmin(cycle_s, STEP_MOST_S) * (own_price - share->price);
	double more = pull + grows - fmin(fmax(cut, -RISE_MOST), CUT_MOST);

	if (doubts(share, path))
		more = fmin(pull, 0.0) - fmin(fmax(cut, DOUBT_CUT), CUT_MOST);
	share->joins = false;
	share->age_s += cycle_s;
	share->queue_s = queue_s;
	return fmax(rate_pps * fmin(fmax(1.0 + more, CHANGE_LEAST), CHANGE_MOST),
		RATE_LEAST / turn_s(path));
}

double wh_lambda_share_overflows(
	const struct wh_lambda_share *share, const struct wh_lambda_path *path, double rate_pps)
{
	double arrival_pps = path->sample.arrival_pps;
	bool unseen = share->age_s < UNSEEN_S &&
		      path->sample.queue_s < UNSEEN_RTT * wh_lambda_path_rtt_s(path);
	double kept = unseen ? CUT_UNSEEN : CUT_OVERFLOW;

	return arrival_pps > 0.0 ? fmin(kept * arrival_pps, rate_pps) : rate_pps;
}
