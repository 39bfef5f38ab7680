/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/share.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/clock.h"

/* What a lane without work keeps of its part, so that its first packets go at once. */
#define KEPT_SHARE 64

/* Of the time between two looks; a lane is busy if its rate held it up for so long. */
#define BUSY_SHARE 10

void wh_share_enter(
	struct wh_lane_share *lane, struct wh_share *share, uint32_t number, uint64_t bps)
{
	WH_ASSERT(number < 64 && bps > 0);
	*lane = (struct wh_lane_share){
		.share = share,
		.bit = UINT64_C(1) << number,
		.part_bps = bps,
		.held_bps = bps,
		.told_bps = bps,
	};
	atomic_fetch_add(&share->total_bps, bps);
	atomic_fetch_add(&share->lanes, 1);
}

void wh_share_leave(struct wh_lane_share *lane)
{
	struct wh_share *share = lane->share;

	if (share == NULL)
		return;
	WH_ASSERT(lane->told_bps <= lane->held_bps);
	atomic_fetch_and(&share->busy, ~lane->bit);
	atomic_fetch_add(&share->pool_bps, lane->held_bps);
	lane->share = NULL;
}

/* As much of `wanted` as there is. */
static uint64_t take(_Atomic uint64_t *from, uint64_t wanted_bps)
{
	uint64_t left_bps = atomic_load(from);
	uint64_t taken_bps;

	do
		taken_bps = wh_min_u64(left_bps, wanted_bps);
	while (!atomic_compare_exchange_weak(from, &left_bps, left_bps - taken_bps));
	return taken_bps;
}

/* Debts come before what any lane wants; what is left of them. */
static uint64_t pay_debts(struct wh_share *share)
{
	uint64_t owed_bps = take(&share->owed_bps, UINT64_MAX);

	if (owed_bps == 0)
		return 0;
	owed_bps -= take(&share->pool_bps, owed_bps);
	return atomic_fetch_add(&share->owed_bps, owed_bps) + owed_bps;
}

void wh_share_change(struct wh_lane_share *lane, uint64_t bps)
{
	struct wh_share *share = lane->share;

	WH_ASSERT(share != NULL && bps > 0);
	if (bps > lane->part_bps) {
		atomic_fetch_add(&share->total_bps, bps - lane->part_bps);
		atomic_fetch_add(&share->pool_bps, bps - lane->part_bps);
	} else {
		atomic_fetch_sub(&share->total_bps, lane->part_bps - bps);
		atomic_fetch_add(&share->owed_bps, lane->part_bps - bps);
	}
	lane->part_bps = bps;
}

bool wh_share_is_busy(
	struct wh_lane_share *lane, const struct wh_session_stats *stats, uint64_t span_tsc)
{
	uint64_t limited_tsc = stats->limit_tsc[WH_LIMIT_RATE] + stats->limit_tsc[WH_LIMIT_LOSS];
	uint64_t before_tsc = lane->limited_tsc;

	WH_ASSERT(limited_tsc >= before_tsc);
	lane->limited_tsc = limited_tsc;
	return limited_tsc - before_tsc > span_tsc / BUSY_SHARE;
}

static uint64_t target_of(const struct wh_lane_share *lane, bool busy)
{
	struct wh_share *share = lane->share;
	uint64_t all = busy ? atomic_fetch_or(&share->busy, lane->bit) | lane->bit
			    : atomic_fetch_and(&share->busy, ~lane->bit);
	uint64_t parts = busy ? (uint64_t)__builtin_popcountll(all)
			      : KEPT_SHARE * atomic_load(&share->lanes);

	return wh_max_u64(atomic_load(&share->total_bps) / parts, 1);
}

uint64_t wh_share_step(struct wh_lane_share *lane, bool busy, uint64_t going_bps)
{
	struct wh_share *share = lane->share;
	uint64_t target_bps = target_of(lane, busy);

	WH_ASSERT(lane->told_bps <= lane->held_bps && lane->bit != 0);
	if (going_bps == lane->told_bps && lane->told_bps < lane->held_bps) {
		atomic_fetch_add(&share->pool_bps, lane->held_bps - lane->told_bps);
		lane->held_bps = lane->told_bps;
	}

	uint64_t owed_bps = pay_debts(share);

	/* Each offers all of it: what is too much comes back out of the pool. */
	if (owed_bps > 0)
		target_bps = wh_min_u64(
			target_bps, lane->held_bps > owed_bps ? lane->held_bps - owed_bps : 1);
	if (target_bps > lane->held_bps)
		lane->held_bps += take(&share->pool_bps, target_bps - lane->held_bps);
	lane->told_bps = wh_min_u64(target_bps, lane->held_bps);
	return lane->told_bps;
}
