/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/job_share.h"

#include <rte_common.h>

#include "base/assert.h"
#include "base/clock.h"
#include "job/request.h"

/* An idle lane keeps 1/KEPT_SHARE of its rate, so that its first packets can be sent at once. */
#define KEPT_SHARE 64

/*
 * A lane is busy if its rate limited it for more than 1/BUSY_SHARE of the time between two looks.
 */
#define BUSY_SHARE 10

void wh_share_enter(
	struct wh_lane_share *lane, struct wh_share *share, uint32_t number, uint64_t bps)
{
	WH_ASSERT(number < 64 && bps > 0 && wh_rate_is_paced(bps));
	*lane = (struct wh_lane_share){
		.share = share,
		.bit = UINT64_C(1) << number,
		.held_bps = bps,
		.told_bps = bps,
	};
	WH_HOLD(&share->lock);
	if (share->lanes == 0)
		share->part_bps = bps;
	share->lanes++;
	/* This adds zero, unless the rate has changed since the lane was made. */
	share->pool_bps += (int64_t)(share->part_bps - bps);
}

void wh_share_leave(struct wh_lane_share *lane)
{
	struct wh_share *share = lane->share;

	if (share == NULL)
		return;
	WH_ASSERT(lane->told_bps <= lane->held_bps);
	wh_spin_lock(&share->lock);
	share->busy &= ~lane->bit;
	share->pool_bps += (int64_t)lane->held_bps;
	wh_spin_unlock(&share->lock);
	lane->share = NULL;
}

void wh_share_change(struct wh_lane_share *lane, uint64_t bps)
{
	struct wh_share *share = lane->share;

	WH_ASSERT(share != NULL && bps > 0 && wh_rate_is_paced(bps));
	WH_HOLD(&share->lock);
	share->pool_bps += (int64_t)(bps - share->part_bps) * share->lanes;
	share->part_bps = bps;
}

/* Limits that a higher rate may lift. WH_LIMIT_CPU is one: a core is late relative to the rate. */
static const enum wh_limit paces[] = {
	WH_LIMIT_START, WH_LIMIT_RATE, WH_LIMIT_LINE, WH_LIMIT_OTHERS, WH_LIMIT_LOSS, WH_LIMIT_CPU};

bool wh_share_is_busy(
	struct wh_lane_share *lane, const struct wh_session_stats *stats, uint64_t span_tsc)
{
	uint64_t before_tsc = lane->limited_tsc;
	uint64_t limited_tsc = 0;

	for (uint32_t i = 0; i < RTE_DIM(paces); i++)
		limited_tsc += stats->limit_tsc[paces[i]];
	WH_ASSERT(limited_tsc >= before_tsc);
	lane->limited_tsc = limited_tsc;
	return limited_tsc - before_tsc > span_tsc / BUSY_SHARE;
}

/*
 * Under the lock, like the following functions: the rate that the lane should have, if available.
 */
static uint64_t target_of(const struct wh_lane_share *lane, bool busy)
{
	struct wh_share *share = lane->share;

	share->busy = busy ? share->busy | lane->bit : share->busy & ~lane->bit;

	uint64_t parts = busy ? (uint64_t)__builtin_popcountll(share->busy)
			      : (uint64_t)KEPT_SHARE * share->lanes;

	return wh_max_u64(share->part_bps * share->lanes / parts, 1);
}

static void step(struct wh_lane_share *lane, bool busy, uint64_t going_bps)
{
	struct wh_share *share = lane->share;
	uint64_t target_bps = target_of(lane, busy);

	if (going_bps == lane->told_bps) {
		share->pool_bps += (int64_t)(lane->held_bps - lane->told_bps);
		lane->held_bps = lane->told_bps;
	}
	if (share->pool_bps < 0) {
		/* Each lane offers the whole debt: any excess is taken back from the pool. */
		uint64_t owed_bps = (uint64_t)-share->pool_bps;
		uint64_t rest_bps = lane->held_bps - wh_min_u64(lane->held_bps, owed_bps);

		target_bps = wh_min_u64(target_bps, wh_max_u64(rest_bps, 1));
	} else if (target_bps > lane->held_bps) {
		uint64_t more_bps =
			wh_min_u64(target_bps - lane->held_bps, (uint64_t)share->pool_bps);

		share->pool_bps -= (int64_t)more_bps;
		lane->held_bps += more_bps;
	}
	lane->told_bps = wh_min_u64(target_bps, lane->held_bps);
}

uint64_t wh_share_step(struct wh_lane_share *lane, bool busy, uint64_t going_bps)
{
	WH_ASSERT(lane->told_bps <= lane->held_bps && lane->bit != 0);
	WH_HOLD(&lane->share->lock);
	step(lane, busy, going_bps);
	return lane->told_bps;
}
