/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SHARE_H
#define WH_APP_SHARE_H

/*
 * A rate that several lanes share: what they hold and what is in the pool adds up to the whole at
 * any moment, or once it has become less to that and what is owed, so that together they never send
 * faster. A lane without anything to send gives back all but a little, one that its rate holds up
 * takes what is there, up to its part among those.
 *
 * Any core; each lane's own part is its core's.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/* All zeros to begin with. */
struct wh_share {
	_Atomic uint64_t total_bps;
	_Atomic uint64_t pool_bps;
	_Atomic uint64_t owed_bps; /* taken off the whole, and not yet out of lanes or pool */
	_Atomic uint64_t busy;     /* a bit for each lane */
	_Atomic uint64_t lanes;
};

struct wh_lane_share {
	struct wh_share *share; /* NULL: nothing is shared */
	uint64_t bit;
	uint64_t part_bps; /* what it brought */
	uint64_t held_bps;
	uint64_t told_bps;    /* less than held: given back once the lane goes by it */
	uint64_t limited_tsc; /* of its session, when it was looked at last */
};

/* Brings a part of its own; bps > 0, lane < 64. */
void wh_share_enter(
	struct wh_lane_share *lane, struct wh_share *share, uint32_t number, uint64_t bps);
/* Its part is another, > 0, from here on. */
void wh_share_change(struct wh_lane_share *lane, uint64_t bps);

/* It sends no more: others have its part. Harmless if it never entered. */
void wh_share_leave(struct wh_lane_share *lane);

/*
 * Whether a rate held its session up for more than a tenth of the span since the last look. One
 * whose controller goes below its bound for losses counts: with the bound taken away, it would not
 * get up again.
 */
bool wh_share_is_busy(
	struct wh_lane_share *lane, const struct wh_session_stats *stats, uint64_t span_tsc);

/*
 * Every few milliseconds: whether its rate is what holds the lane up, and the rate that it goes by.
 * Returns the rate that it shall have.
 */
uint64_t wh_share_step(struct wh_lane_share *lane, bool busy, uint64_t going_bps);

#endif
