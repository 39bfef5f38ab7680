/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A rate shared by several lanes: the sum of what they hold and of the pool is always the whole
 * rate, so that together they never send faster. When the whole rate is reduced, the pool is
 * negative until lanes have given enough back. A lane with nothing to send gives back almost all,
 * and a lane limited by its rate takes from the pool, up to an equal part among those.
 *
 * May be called on any core; each lane's own part belongs to its core.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "session/session.h"

/* Initially all zeros. */
struct wh_share {
	struct wh_spin lock;
	uint32_t lanes;    /* that have ever entered */
	uint64_t part_bps; /* the equal part of each lane */
	uint64_t busy;     /* bit i: lane i is busy */
	int64_t pool_bps;
};

struct wh_lane_share {
	struct wh_share *share; /* NULL: the rate is not shared */
	uint64_t bit;
	uint64_t held_bps;
	/* The rate last returned. What it lacks of held_bps goes back once the lane keeps to it. */
	uint64_t told_bps;
	uint64_t limited_tsc; /* of its session, at the last look */
};

/* Adds the lane with its present rate; bps > 0, lane < 64. */
void wh_share_enter(
	struct wh_lane_share *lane, struct wh_share *share, uint32_t number, uint64_t bps);

/*
 * Sets the part of every lane, > 0, from now on; each lane may call it when it learns of the
 * change.
 */
void wh_share_change(struct wh_lane_share *lane, uint64_t bps);

/* The lane sends no more: others get its part. Harmless if it never entered. */
void wh_share_leave(struct wh_lane_share *lane);

/*
 * Whether the pace limited the session for more than a tenth of the span since the last look. A
 * lane whose controller is below its rate for another cause counts as well: with a lower rate it
 * could not increase again.
 */
bool wh_share_is_busy(
	struct wh_lane_share *lane, const struct wh_session_stats *stats, uint64_t span_tsc);

/*
 * Call every few milliseconds with whether the rate limits the lane, and its actual rate. Returns
 * the new rate.
 */
uint64_t wh_share_step(struct wh_lane_share *lane, bool busy, uint64_t going_bps);
