/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SHARE_H
#define WH_APP_SHARE_H

/*
 * A rate that several lanes share: what they hold and what is in the pool adds up to the whole at
 * any moment, so that together they never send faster. Once the whole has become less, the pool is
 * below zero until lanes have given as much back. A lane without anything to send gives back all
 * but a little, one that its rate holds up takes what is there, up to its part among those.
 *
 * Any core; each lane's own part is its core's.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "session/session.h"

/* All zeros to begin with. */
struct wh_share {
	struct wh_spin lock;
	uint32_t lanes;    /* that have entered, whether or not they are still there */
	uint64_t part_bps; /* of each, in equal parts */
	uint64_t busy;     /* a bit for each lane */
	int64_t pool_bps;
};

struct wh_lane_share {
	struct wh_share *share; /* NULL: nothing is shared */
	uint64_t bit;
	uint64_t held_bps;
	uint64_t told_bps;    /* less than held: given back once the lane goes by it */
	bool by_window;       /* its controller's window is the rate that it found */
	uint64_t limited_tsc; /* of its session, when it was looked at last */
};

/* Brings the part by which it goes; bps > 0, lane < 64. */
void wh_share_enter(
	struct wh_lane_share *lane, struct wh_share *share, uint32_t number, uint64_t bps);

/* Every lane's part is another, > 0, from here on; each lane may say so, as it hears of it. */
void wh_share_change(struct wh_lane_share *lane, uint64_t bps);

/* It sends no more: others have its part. Harmless if it never entered. */
void wh_share_leave(struct wh_lane_share *lane);

/*
 * Whether a rate held its session up for more than a tenth of the span since the last look. One
 * whose controller goes below its bound for losses, or by a window of its own, counts: with the
 * bound taken away, it would not get up again.
 */
bool wh_share_is_busy(
	struct wh_lane_share *lane, const struct wh_session_stats *stats, uint64_t span_tsc);

/*
 * Every few milliseconds: whether its rate is what holds the lane up, and the rate that it goes by.
 * Returns the rate that it shall have.
 */
uint64_t wh_share_step(struct wh_lane_share *lane, bool busy, uint64_t going_bps);

#endif
