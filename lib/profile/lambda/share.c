/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/share.h"

#include <math.h>

#include "base/assert.h"

#define CROWDED   0.85 /* of what the way bears arrives: others have the rest, ... */
#define LESS_S    1.6  /* for so long: a way that has become narrower or longer is heeded first */
#define ALONE_S   0.5  /* ... until no queue was seen for so long */
#define ALONE_RTT 10.0

#define PUSH       0.4    /* in a second, of the mean of the rate and the unit */
#define PUSH_QUEUE 0.05   /* of a round trip: pushes are less when more than that stands */
#define EMPTY      3      /* samples without a queue, and pushes double from each to the next */
#define EMPTY_MOST 12     /* doublings */
#define TARGET_S   0.2e-3 /* that stand in the queue */
#define TARGET_RTT 0.005  /* or such a part of the round trip */
#define CUT        0.7    /* of what is beyond that */
#define CUT_GROWN  0.5    /* of what the queue has grown by */
#define CUT_MOST   0.6    /* of the rate */

static double target_s(const struct wh_lambda_path *path)
{
	return fmax(TARGET_S, TARGET_RTT * wh_lambda_path_rtt_s(path));
}

void wh_lambda_share_begin(struct wh_lambda_share *share, uint64_t now_tsc)
{
	share->crowded = true;
	share->queued_tsc = now_tsc;
}

bool wh_lambda_share_crowded(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	uint64_t now_tsc, double busy_pps, double capacity_pps)
{
	bool queued = path->sample.queue_s > target_s(path) / 2.0;
	double alone_s = fmax(ALONE_S, ALONE_RTT * wh_lambda_path_rtt_s(path));

	share->capacity_pps = fmax(fmax(share->capacity_pps, capacity_pps), busy_pps);
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

double wh_lambda_share_rate(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	double rate_pps, double unit_pps, double cycle_s)
{
	double queue_s = path->sample.queue_s, rtt_s = wh_lambda_path_rtt_s(path);
	double push_pps = PUSH * sqrt(rate_pps * unit_pps) * fmin(cycle_s, 1.0);
	double cut =
		CUT * fmax(queue_s - target_s(path), 0.0) + CUT_GROWN * (queue_s - share->queue_s);

	WH_ASSERT(cycle_s > 0.0 && rate_pps > 0.0);
	if (queue_s > PUSH_QUEUE * rtt_s)
		push_pps *= PUSH_QUEUE * rtt_s / queue_s;
	if (share->empty > EMPTY)
		push_pps = ldexp(push_pps, (int)fmin(share->empty - EMPTY, EMPTY_MOST));
	share->queue_s = queue_s;
	return rate_pps * (1.0 - fmin(fmax(cut / cycle_s, 0.0), CUT_MOST)) +
	       fmin(push_pps, rate_pps);
}
