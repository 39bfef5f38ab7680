/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Arrival times of the kernel (SO_TIMESTAMPNS), which count wall-clock time, in cycles of the TSC.
 * After each receiving call the wall clock is read, and what lies between a stamp and that reading
 * is subtracted from the TSC. If the wall clock was set meanwhile, which its distance to the
 * monotonic clock tells, the stamps of that call are not used.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* A stamp older than this comes from a clock that was set, or from a process that was stopped. */
#define WH_STAMPS_AGE_MAX_NS WH_NS_PER_S

/* The wall clock is slewed by at most 500 ppm: so far it does not get between two calls. */
#define WH_STAMPS_STEP_NS UINT64_C(1000000)

struct wh_stamps {
	uint64_t hz;
	int64_t distance_ns; /* wall clock minus monotonic clock, at the last call */
	/* At the last call: */
	uint64_t now_tsc;
	uint64_t now_ns; /* wall clock */
	bool trusted;
	uint64_t last_tsc; /* the latest arrival */
};

/* The three clocks, read after a call that received something. */
static inline void wh_stamps_read(
	struct wh_stamps *stamps, uint64_t now_tsc, uint64_t wall_ns, uint64_t monotonic_ns)
{
	int64_t distance_ns = (int64_t)(wall_ns - monotonic_ns);
	int64_t step_ns = distance_ns - stamps->distance_ns;

	stamps->trusted =
		step_ns < (int64_t)WH_STAMPS_STEP_NS && step_ns > -(int64_t)WH_STAMPS_STEP_NS;
	stamps->distance_ns = distance_ns;
	stamps->now_tsc = now_tsc;
	stamps->now_ns = wall_ns;
}

/* Of one message by itself; 0: there is no stamp. */
static inline uint64_t wh_stamps_of(const struct wh_stamps *stamps, uint64_t stamp_ns)
{
	uint64_t age_ns = stamps->now_ns - stamp_ns;

	if (!stamps->trusted || stamp_ns == 0 || stamp_ns > stamps->now_ns ||
		age_ns > WH_STAMPS_AGE_MAX_NS)
		return stamps->now_tsc;

	uint64_t age_tsc = wh_ns_to_tsc(stamps->hz, age_ns);

	return age_tsc < stamps->now_tsc ? stamps->now_tsc - age_tsc : stamps->now_tsc;
}

/*
 * The arrival time of the next message, never later than the reading. It is not before the previous
 * one either, which readings of two clocks alone do not ensure: the CPU may be lost in between.
 */
static inline uint64_t wh_stamps_tsc(struct wh_stamps *stamps, uint64_t stamp_ns)
{
	stamps->last_tsc = wh_min_u64(
		stamps->now_tsc, wh_max_u64(stamps->last_tsc, wh_stamps_of(stamps, stamp_ns)));
	return stamps->last_tsc;
}
