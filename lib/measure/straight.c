/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/straight.h"

#include <math.h>

#include "base/assert.h"

#define LAST (WH_STRAIGHT_BLOCKS - 1)
#define HALF (WH_STRAIGHT_BLOCKS / 2)

void wh_straight_init(struct wh_straight *straight, uint64_t hz)
{
	WH_ASSERT(hz >= 1000);
	*straight = (struct wh_straight){.block_tsc = hz / 1000 * WH_STRAIGHT_BLOCK_MS};
}

/* Correct although clocks wrap. */
static double minus(uint64_t later, uint64_t earlier)
{
	return (double)(int64_t)(later - earlier);
}

static double delay_minus(
	const struct wh_straight_point *later, const struct wh_straight_point *earlier)
{
	return minus((uint64_t)later->delay_tsc, (uint64_t)earlier->delay_tsc);
}

/* The largest distance of a point from the line through the first and the last point. */
static double bend(const struct wh_straight *straight, double slope)
{
	const struct wh_straight_point *first = &straight->point[0];
	double most = 0.0;

	for (uint32_t i = 1; i < LAST; i++) {
		const struct wh_straight_point *point = &straight->point[i];
		double on_line = slope * minus(point->at_tsc, first->at_tsc);

		most = fmax(most, fabs(delay_minus(point, first) - on_line));
	}
	return most;
}

static double pace(const struct wh_straight_point *from, const struct wh_straight_point *to)
{
	double span = minus(to->sent_tsc, from->sent_tsc);

	return span > 0.0 ? minus(to->sent_pkts, from->sent_pkts) / span : 0.0;
}

/* By how much our lower rate would have shortened a queue, at least. */
static double lessened(const struct wh_straight *straight)
{
	const struct wh_straight_point *first = &straight->point[0];
	const struct wh_straight_point *half = &straight->point[HALF];
	const struct wh_straight_point *last = &straight->point[LAST];
	double before = pace(first, half), after = pace(half, last);

	if (before <= 0.0)
		return 0.0;
	return (1.0 - after / before) * minus(last->at_tsc, half->at_tsc) -
	       WH_STRAIGHT_PKTS / before;
}

static bool learn(struct wh_straight *straight)
{
	const struct wh_straight_point *first = &straight->point[0];
	const struct wh_straight_point *last = &straight->point[LAST];
	double span = minus(last->at_tsc, first->at_tsc);
	double slope = span > 0.0 ? delay_minus(last, first) / span : 0.0;
	double us_tsc = (double)straight->block_tsc / (1e3 * WH_STRAIGHT_BLOCK_MS);
	double bent = bend(straight, slope);

	if (slope > WH_SKEW_MOST_PPM * 1e-6 || slope * span <= WH_STRAIGHT_LINE * bent)
		return false;
	if (lessened(straight) < WH_STRAIGHT_SURE * (bent + WH_STRAIGHT_US * us_tsc))
		return false;
	straight->slope = slope;
	return true;
}

static bool end_block(struct wh_straight *straight, const struct wh_straight_point *now)
{
	WH_ASSERT(straight->points <= WH_STRAIGHT_BLOCKS);
	if (straight->points == WH_STRAIGHT_BLOCKS) {
		for (uint32_t i = 0; i < LAST; i++)
			straight->point[i] = straight->point[i + 1];
		straight->points--;
	}
	straight->least.sent_pkts = now->sent_pkts;
	straight->least.sent_tsc = now->sent_tsc;
	straight->point[straight->points++] = straight->least;
	return straight->points == WH_STRAIGHT_BLOCKS && learn(straight);
}

bool wh_straight_add(struct wh_straight *straight, struct wh_straight_point point)
{
	bool ended = straight->begun &&
		     minus(point.at_tsc, straight->block_began_tsc) >= (double)straight->block_tsc;
	bool learnt = ended && end_block(straight, &point);

	WH_ASSERT(straight->block_tsc > 0);
	if (!straight->begun || ended) {
		straight->begun = true;
		straight->block_began_tsc = point.at_tsc;
		straight->least = point;
	} else if (delay_minus(&point, &straight->least) < 0.0) {
		straight->least = point;
	}
	return learnt;
}
