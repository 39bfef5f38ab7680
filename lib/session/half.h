/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One half of an endpoint: the places of its own sessions, and which of all places must be polled
 * in this turn. A place is in one of two states:
 *
 *   active    polled every turn: has work, or is due within WH_HALF_AHEAD_US
 *   resting   has a deadline only; all deadlines are checked when the soonest is reached
 *
 * So a turn with thousands of resting sessions costs one check whether any was kicked. A place
 * becomes active when its deadline is reached, when this half has news for it (wh_half_activate),
 * or by a kick, which any core may give. One core owns a half and writes everything in it but the
 * kicks. The other half's core reads `turn` to learn when this half holds a session no more.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/limit/intake.h"
#include "track/bitset.h"

#define WH_HALF_AHEAD_US 50

struct wh_half {
	uint64_t ahead_tsc;
	uint32_t all_places; /* of both halves */
	uint32_t first;      /* own places: [first, first + places) */
	uint32_t places;
	struct wh_bitset vacant; /* of own places, counted from `first` */
	uint32_t tenants;
	uint32_t cursor; /* own place to offer next if it is vacant, counted from `first` */

	uint32_t *active; /* places; the first `actives` of all_places */
	uint32_t actives;
	bool *is_active;        /* by place */
	uint64_t *deadline_tsc; /* by own place, from `first` on; NEVER while it is active */
	uint64_t soonest_tsc;   /* no deadline is earlier */

	uint64_t polls;                /* of own sessions, ever */
	struct wh_intake_share intake; /* of own receivers */
	uint64_t queued_pkts; /* sum of what transmitters report as waiting, for own receivers */

	_Atomic uint64_t *kick; /* a bit per place, and one for wh_half_unplaced */
	_Atomic bool kicked;    /* set after any bit: false means that no bit is set */

	_Alignas(64) _Atomic uint64_t turn;
};

/* For a table of `places` in all, a power of two. NULL: no memory. */
struct wh_half *wh_half_create(uint64_t hz, uint32_t first, uint32_t places, uint32_t all_places);
void wh_half_destroy(struct wh_half *half); /* NULL is allowed */

/* The kick bit of sessions without a place. */
static inline uint32_t wh_half_unplaced(const struct wh_half *half)
{
	return half->all_places;
}

#define WH_HALF_FULL UINT32_MAX

/*
 * A vacant place of this half, or WH_HALF_FULL. Places are offered in rotation, so that concurrent
 * offers are for different places.
 */
uint32_t wh_half_offer(struct wh_half *half);

/* A session takes the place, or has left it. */
void wh_half_occupy(struct wh_half *half, uint32_t place);
void wh_half_vacate(struct wh_half *half, uint32_t place);
bool wh_half_is_vacant(const struct wh_half *half, uint32_t place);

/* Any core: the place is to be polled. Everything written before is visible to the poll. */
static inline void wh_half_kick(struct wh_half *half, uint32_t place)
{
	atomic_fetch_or(&half->kick[place / 64], UINT64_C(1) << place % 64);
	atomic_store(&half->kicked, true);
}

/* The half's own core: the place is polled in this turn. */
void wh_half_activate(struct wh_half *half, uint32_t place);

/*
 * Begins a turn: activates places that were kicked or are due. True: wh_half_unplaced was kicked.
 */
bool wh_half_begin_turn(struct wh_half *half, uint64_t now_tsc);

/*
 * The i-th active place was polled and is due again at deadline_tsc. False: it rests until then,
 * and another place is now the i-th.
 */
bool wh_half_stays(struct wh_half *half, uint32_t i, uint64_t now_tsc, uint64_t deadline_tsc);

/* The soonest deadline of resting places; 0 after a kick. */
uint64_t wh_half_deadline(const struct wh_half *half);
