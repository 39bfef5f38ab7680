/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * GCRA (ITU-T I.371), as virtual scheduling: an upper bound on what several sessions move together,
 * on any cores and in both directions.
 *
 * A session reserves bytes before they move, and each reservation has a time from which they may
 * move. Reservations follow each other at the rate. So no span of time has more bytes than the rate
 * allows, plus what was saved up while idle. Sessions that wait have one reservation each, so they
 * take turns.
 */

#include <stdatomic.h>
#include <stdint.h>

/* Most unused time that is saved up. */
#define WH_SHARED_RATE_SAVED_MS 10

/* All zeros: no bound. */
struct wh_shared_rate {
	_Atomic uint64_t bps;  /* on the wire; 0: no bound */
	_Atomic uint64_t next; /* when the next byte may move, in sixteenths of a cycle */
};

/* Any core; takes effect with the next reservation of each session. */
static inline void wh_shared_rate_set(struct wh_shared_rate *rate, uint64_t bps)
{
	atomic_store_explicit(&rate->bps, bps, memory_order_relaxed);
}

static inline uint64_t wh_shared_rate_bps(const struct wh_shared_rate *rate)
{
	return atomic_load_explicit(&rate->bps, memory_order_relaxed);
}

/* Any core: bytes (at most WH_RESERVED_BYTES_MAX) that may move from the returned time on. */
#define WH_RESERVED_BYTES_MAX (UINT64_C(1) << 18)
uint64_t wh_shared_rate_reserve(
	struct wh_shared_rate *rate, uint64_t hz, uint64_t now_tsc, uint64_t bytes);
