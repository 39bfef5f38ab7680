/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/nic_clock.h"

#include <stdlib.h>

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/port/nic_clock";

#define HZ     UINT64_C(2300000000)
#define US     (HZ / 1000000)
#define EVERY  (HZ / 1000 * WH_NIC_CLOCK_EVERY_MS)
#define START  (UINT64_C(1) << 50)
#define OFFSET (UINT64_MAX - 5000000000) /* wraps in the fifth second */

/* A NIC's clock: its frequency, and what it showed at START. */
struct nic {
	double hz;
	uint64_t offset;
};

static uint64_t ticks_at(const struct nic *nic, uint64_t tsc)
{
	return nic->offset + (uint64_t)((double)(tsc - START) / (double)HZ * nic->hz);
}

static uint64_t error_of(const struct wh_nic_clock *clock, const struct nic *nic, uint64_t tsc)
{
	uint64_t told = wh_nic_clock_tsc(clock, ticks_at(nic, tsc), tsc + HZ / 100);

	return told > tsc ? told - tsc : tsc - told;
}

/* Reads the clock for ten seconds, half a microsecond at the least before or after it says. */
static uint64_t worst_error(const struct nic *nic, struct wh_nic_clock *clock)
{
	struct wh_prng prng;
	uint64_t worst_tsc = 0;

	wh_prng_init(&prng, 7);
	wh_nic_clock_init(clock, HZ);
	for (uint64_t tsc = START; tsc < START + 10 * HZ; tsc += EVERY) {
		wh_nic_clock_note(clock, tsc - US / 2 - wh_prng_below(&prng, US),
			ticks_at(nic, tsc), tsc + US / 2);
		for (uint64_t later = tsc; clock->readings > 1 && later < tsc + EVERY;
			later += EVERY / 10) {
			uint64_t error_tsc = error_of(clock, nic, later);

			worst_tsc = error_tsc > worst_tsc ? error_tsc : worst_tsc;
		}
	}
	CU_ASSERT_TRUE(wh_nic_clock_is_known(clock));
	return worst_tsc;
}

static void test_clocks(void)
{
	static const struct nic nics[] = {
		{1e9, 0},                 /* nanoseconds, as mlx5 in real time */
		{1e9 * 1.0001, OFFSET},   /* drifts by 100 ppm */
		{78.125e6, 12345678},     /* ConnectX-4, free-running */
		{1e6, UINT64_C(1) << 60}, /* coarse */
	};

	for (size_t i = 0; i < sizeof(nics) / sizeof(nics[0]); i++) {
		struct wh_nic_clock clock;

		/* A reading's doubt at both ends of the first two, and a tick. */
		CU_ASSERT(worst_error(&nics[i], &clock) <=
			  2 * US + (uint64_t)((double)HZ / nics[i].hz));
	}
}

/* Before two readings; a core that was interrupted; a clock that stands. */
static void test_unknown(void)
{
	const struct nic nic = {1e9, 0};
	struct wh_nic_clock clock;

	wh_nic_clock_init(&clock, HZ);
	CU_ASSERT_FALSE(wh_nic_clock_is_known(&clock));
	wh_nic_clock_note(&clock, START, ticks_at(&nic, START), START + US);
	CU_ASSERT_FALSE(wh_nic_clock_is_known(&clock));
	CU_ASSERT_EQUAL(clock.next_tsc, START + US + EVERY);
	wh_nic_clock_note(
		&clock, START + EVERY, ticks_at(&nic, START + EVERY), START + EVERY + 21 * US);
	CU_ASSERT_FALSE(wh_nic_clock_is_known(&clock));
	CU_ASSERT_EQUAL(clock.next_tsc, START + US + EVERY);
	wh_nic_clock_note(&clock, START + EVERY, ticks_at(&nic, START), START + EVERY + US);
	CU_ASSERT_FALSE(wh_nic_clock_is_known(&clock));
}

/* A clock that is set, as by ptp4l, begins anew. */
static void test_set(void)
{
	struct nic nic = {1e9, 0};
	struct wh_nic_clock clock;
	uint64_t tsc = START + 10 * HZ;

	(void)worst_error(&nic, &clock);
	nic.offset += 1000000;
	wh_nic_clock_note(&clock, tsc, ticks_at(&nic, tsc), tsc);
	CU_ASSERT_FALSE(wh_nic_clock_is_known(&clock));
	tsc += EVERY;
	wh_nic_clock_note(&clock, tsc, ticks_at(&nic, tsc), tsc);
	CU_ASSERT_TRUE(wh_nic_clock_is_known(&clock));
	CU_ASSERT(error_of(&clock, &nic, tsc + EVERY / 2) <= 3);
}

/* Stamps of the future, and of long ago, are none. */
static void test_impossible(void)
{
	const struct nic nic = {1e9, 0};
	struct wh_nic_clock clock;
	uint64_t now_tsc = START + 10 * HZ;
	uint64_t oldest_tsc = HZ / 1000 * WH_NIC_CLOCK_OLDEST_MS;

	(void)worst_error(&nic, &clock);
	CU_ASSERT_EQUAL(
		wh_nic_clock_tsc(&clock, ticks_at(&nic, now_tsc + 10 * US), now_tsc), now_tsc);
	CU_ASSERT_NOT_EQUAL(
		wh_nic_clock_tsc(&clock, ticks_at(&nic, now_tsc - oldest_tsc + 10 * US), now_tsc),
		now_tsc);
	CU_ASSERT_EQUAL(
		wh_nic_clock_tsc(&clock, ticks_at(&nic, now_tsc - oldest_tsc - 10 * US), now_tsc),
		now_tsc);
	CU_ASSERT_EQUAL(wh_nic_clock_tsc(&clock, 0, now_tsc), now_tsc);
	CU_ASSERT_EQUAL(wh_nic_clock_tsc(&clock, UINT64_MAX, now_tsc), now_tsc);
}

CU_TestInfo wh_tests[] = {
	{"clocks of any rate and beginning", test_clocks},
	{"unknown before two readings", test_unknown},
	{"set by somebody", test_set},
	{"impossible stamps", test_impossible},
	CU_TEST_INFO_NULL,
};
