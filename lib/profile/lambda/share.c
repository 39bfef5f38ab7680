/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/share.h"

#include <math.h>

#include "base/arith.h"
#include "base/assert.h"

#define FOUND_S   0.3e-3 /* hosts' jitter is no queue */
#define CROWDED   0.85   /* of the capacity arrives: other flows have the rest, ... */
#define LESS_S    1.0    /* for this long: a path that became narrower or longer is noticed first */
#define ALONE_S   0.15   /* ... until no queue was seen for this long */
#define ALONE_RTT 4.0

#define PUSH         1.4    /* per second, of the geometric mean of rate and unit, at first */
#define PUSH_S       2.5    /* time constant: then shares are equal, ... */
#define PUSH_KEEPS   3e-4   /* ... and this much by the square of a cycle stays, */
#define PUSH_LEAST   0.02   /* but no less than this */
#define PUSH_MOST    0.4    /* or more */
#define PUSH_QUEUE   0.1    /* of a round trip in the queue: above it pushes are smaller */
#define COMES_RTT    0.15   /* of a round trip in the queue: a flow has joined, ... */
#define COMES_S      4.5    /* ... unless one joined less than this time ago */
#define EMPTY        3      /* samples without a queue before pushes double with each sample, */
#define EMPTY_MOST   12     /* at most this often, */
#define EMPTY_SHARE  0.3    /* up to this share of the rate: all flows do so */
#define TARGET_S     0.2e-3 /* of queue, */
#define TARGET_RTT   0.005  /* or this share of the round trip */
#define CUT          0.7    /* of the queue beyond that */
#define CUT_GROWN    0.5    /* of the growth of the queue, ... */
#define CUT_RTT_S    0.185  /* ... and in a second by no less than at this round trip */
#define CUT_MOST     0.6    /* of the rate */
#define CUT_OVERFLOW 0.8    /* of the arrival rate is left when the queue overflows */

static double target_s(const struct wh_lambda_path *path)
{
	return fmax(TARGET_S, TARGET_RTT * wh_lambda_path_rtt_s(path));
}

void wh_lambda_share_begin(struct wh_lambda_share *share, uint64_t now_tsc)
{
	share->crowded = true;
	share->queued_tsc = now_tsc;
}

bool wh_lambda_share_found(
	struct wh_lambda_share *share, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	if (path->queue_s > FOUND_S)
		wh_lambda_share_begin(share, now_tsc);
	return path->short_pps > 0.0;
}

bool wh_lambda_share_crowded(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	uint64_t now_tsc, double busy_pps, double capacity_pps)
{
	bool queued = path->sample.queue_s > target_s(path) / 2.0;
	double alone_s = fmax(ALONE_S, ALONE_RTT * wh_lambda_path_rtt_s(path));

	/* After a pause of a host one sample may arrive faster than the capacity. */
	share->capacity_pps = fmax(fmax(share->capacity_pps, capacity_pps),
		fmin(path->sample.arrival_pps, share->before_pps));
	share->before_pps = path->sample.arrival_pps;
	share->empty = queued ? 0 : share->empty + 1;
	if (queued)
		share->queued_tsc = now_tsc;
	if (busy_pps == 0.0 || busy_pps >= CROWDED * share->capacity_pps)
		share->less_tsc = 0;
	else if (share->less_tsc == 0)
		share->less_tsc = now_tsc;
	if (queued && share->less_tsc > 0 &&
		(double)(now_tsc - share->less_tsc) / path->hz >= LESS_S)
		share->crowded = true;
	else if ((double)(now_tsc - share->queued_tsc) / path->hz > alone_s)
		share->crowded = false;
	return share->crowded;
}

/* Per second, of the mean of rate and unit: large while shares are new, then small. */
static double push(struct wh_lambda_share *share, double queue_s, double rtt_s, double cycle_s)
{
	WH_ASSERT(cycle_s > 0.0);
	share->settled_s += cycle_s;
	if (queue_s > COMES_RTT * rtt_s && share->settled_s > COMES_S)
		share->settled_s = 0.0;

	double least = fmin(fmax(PUSH_KEEPS / (cycle_s * cycle_s), PUSH_LEAST), PUSH_MOST);
	double ago = fmin(share->settled_s / PUSH_S, 10.0);
	double now = least + (PUSH - least) * wh_exp(-ago * ago);

	return queue_s > PUSH_QUEUE * rtt_s ? now * PUSH_QUEUE * rtt_s / queue_s : now;
}

double wh_lambda_share_rate(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	double rate_pps, double unit_pps, double cycle_s)
{
	double queue_s = path->sample.queue_s, rtt_s = wh_lambda_path_rtt_s(path);
	double push_pps = push(share, queue_s, rtt_s, cycle_s) * sqrt(rate_pps * unit_pps) *
			  fmin(cycle_s, 1.0);
	double far = fmax(rtt_s / CUT_RTT_S, 1.0);
	double cut = far * far *
		     (CUT * fmax(queue_s - target_s(path), 0.0) +
			     CUT_GROWN * (queue_s - share->queue_s));

	WH_ASSERT(rate_pps > 0.0);
	if (share->empty > EMPTY)
		push_pps = fmin(ldexp(push_pps, (int)fmin(share->empty - EMPTY, EMPTY_MOST)),
			fmax(push_pps, EMPTY_SHARE * rate_pps));
	share->queue_s = queue_s;
	return rate_pps * (1.0 - fmin(fmax(cut / cycle_s, 0.0), CUT_MOST)) +
	       fmin(push_pps, rate_pps);
}

double wh_lambda_share_overflows(const struct wh_lambda_path *path, double rate_pps)
{
	double arrival_pps = path->sample.arrival_pps;

	return arrival_pps > 0.0 ? fmin(CUT_OVERFLOW * arrival_pps, rate_pps) : rate_pps;
}
