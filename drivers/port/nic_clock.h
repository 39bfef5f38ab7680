/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A NIC's clock, by which it stamps what arrives, in cycles of the TSC. It may run free and from
 * any number on: it is read now and then, and the readings of the last two seconds give its rate.
 *
 * One core reads the clock, any core translates. A core that is away in the middle of a
 * translation, for longer than the clock is read twice, gets a wrong one; so stamps that are later
 * than now or too old are refused.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_NIC_CLOCK_READINGS 8
#define WH_NIC_CLOCK_EVERY_MS 250

/* A packet does not wait longer than that in a port's ring, unless its core was away for long. */
#define WH_NIC_CLOCK_OLDEST_MS 100

struct wh_nic_reading {
	uint64_t tsc;
	uint64_t ticks;
};

/* tsc = at.tsc + (ticks - at.ticks) * tsc_per_tick; 0: unknown. */
struct wh_nic_rate {
	struct wh_nic_reading at;
	double tsc_per_tick;
};

struct wh_nic_clock {
	uint64_t hz;
	uint64_t next_tsc;
	struct wh_nic_reading reading[WH_NIC_CLOCK_READINGS]; /* [readings - 1] is the last */
	uint32_t readings;
	struct wh_nic_rate rate[2];
	uint32_t current; /* of the rates; the other is being written */
};

/*
 * Whether rte_eth_read_clock shows the clock by which this driver stamps. Others show the
 * system's (igc, later versions of ice), or have stamps and no clock to read (ice, ena).
 */
bool wh_nic_clock_is_readable(uint16_t ethdev, const char *driver);

/* hz: of the TSC. */
void wh_nic_clock_init(struct wh_nic_clock *clock, uint64_t hz);

/*
 * The clock showed `ticks` between two readings of the TSC. One that does not continue the previous
 * ones (it was set) begins anew: nothing is translated until the next.
 */
void wh_nic_clock_note(
	struct wh_nic_clock *clock, uint64_t before_tsc, uint64_t ticks, uint64_t after_tsc);

/* Reads the clock of the ethdev if it is time to. */
void wh_nic_clock_watch(struct wh_nic_clock *clock, uint16_t ethdev);

static inline bool wh_nic_clock_is_known(const struct wh_nic_clock *clock)
{
	uint32_t current = __atomic_load_n(&clock->current, __ATOMIC_ACQUIRE);

	return clock->rate[current].tsc_per_tick > 0;
}

/* The time of a stamp, or now_tsc if that cannot be. */
static inline uint64_t wh_nic_clock_tsc(
	const struct wh_nic_clock *clock, uint64_t ticks, uint64_t now_tsc)
{
	const struct wh_nic_rate *rate =
		&clock->rate[__atomic_load_n(&clock->current, __ATOMIC_ACQUIRE)];
	int64_t since_ticks = (int64_t)(ticks - rate->at.ticks);
	uint64_t tsc = rate->at.tsc + (uint64_t)(int64_t)((double)since_ticks * rate->tsc_per_tick);

	return now_tsc - tsc < clock->hz / 1000 * WH_NIC_CLOCK_OLDEST_MS ? tsc : now_tsc;
}
