/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_HALF_H
#define WH_SESSION_HALF_H

/*
 * One half of an endpoint: the places of the sessions whose home it is, and which of all places
 * want to be looked at in this turn. Thousands of sessions that rest cost a turn nothing but a
 * look at whether any was kicked:
 *
 *   active    looked at every turn: has work, or is due within WH_HALF_AHEAD_US
 *   resting   known by its deadline alone; all deadlines are gone through when the soonest has come
 *
 * A place becomes active by its deadline, by news that this half sees itself (wh_half_activate),
 * or by a kick, which any core may give. One core owns a half and writes everything in it but the
 * kicks; the other half's core reads `turn` to learn that this one has let go of a session.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "track/bitset.h"

#define WH_HALF_AHEAD_US 50

struct wh_half {
	uint64_t ahead_tsc;
	uint32_t all_places; /* of both halves */
	uint32_t first;      /* own places: [first, first + places) */
	uint32_t places;
	struct wh_bitset vacant; /* of own places, counted from `first` */
	uint32_t tenants;
	uint32_t cursor; /* own place that the next offer is for, if it is vacant */

	uint32_t *active; /* places; the first `actives` of all_places */
	uint32_t actives;
	bool *is_active;        /* by place */
	uint64_t *deadline_tsc; /* by own place, from `first` on; NEVER while it is active */
	uint64_t soonest_tsc;   /* of them, or earlier */

	uint64_t polls;       /* of own sessions, ever */
	uint64_t queued_pkts; /* what transmitters of own receivers have waiting, by their word */

	_Atomic uint64_t *kick; /* a bit per place, and the one of wh_half_unplaced */
	_Atomic bool kicked; /* set after a bit: as long as it is not, none has to be looked for */

	_Alignas(64) _Atomic uint64_t turn;
};

/* For a table of `places` in all, a power of two. NULL: no memory. */
struct wh_half *wh_half_create(uint64_t hz, uint32_t first, uint32_t places, uint32_t all_places);
void wh_half_destroy(struct wh_half *half); /* NULL is allowed */

/* What sessions without a place are kicked by. */
static inline uint32_t wh_half_unplaced(const struct wh_half *half)
{
	return half->all_places;
}

#define WH_HALF_FULL UINT32_MAX

/*
 * A vacant place of this half, or WH_HALF_FULL. They are offered in turn, so that as many offers as
 * there are do not meet.
 */
uint32_t wh_half_offer(struct wh_half *half);

/* Somebody moves in, or has left. */
void wh_half_occupy(struct wh_half *half, uint32_t place);
void wh_half_vacate(struct wh_half *half, uint32_t place);
bool wh_half_is_vacant(const struct wh_half *half, uint32_t place);

/*
 * Any core: the place wants to be looked at. Whatever was written before is seen by whoever looks
 * because of it.
 */
static inline void wh_half_kick(struct wh_half *half, uint32_t place)
{
	atomic_fetch_or(&half->kick[place / 64], UINT64_C(1) << place % 64);
	atomic_store(&half->kicked, true);
}

/* The half's own core: likewise, at once. */
void wh_half_activate(struct wh_half *half, uint32_t place);

/* A turn begins: activates what was kicked and what is due. True: wh_half_unplaced was kicked. */
bool wh_half_begin_turn(struct wh_half *half, uint64_t now_tsc);

/*
 * The i-th active place has been looked at and wants to be again at deadline_tsc. False: it rests
 * until then, and another is the i-th.
 */
bool wh_half_stays(struct wh_half *half, uint32_t i, uint64_t now_tsc, uint64_t deadline_tsc);

/* The soonest deadline of those that rest; 0 when somebody was kicked. */
uint64_t wh_half_deadline(const struct wh_half *half);

#endif
