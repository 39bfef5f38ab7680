/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/straight.h"

#include <math.h>

#include "unit.h"

const char wh_suite_name[] = "straight";

#define HZ UINT64_C(1000000000)
#define US (HZ / 1000000)
#define MS (HZ / 1000)

/*
 * For 2 s of states of every 5 ms: `ppm` by the clocks, `pps` at first, after half a second less by
 * `less`, and a queue that is longer by `share` of what is sent too much, from `queue_us` on.
 */
static double slope_of(uint64_t origin_tsc, double ppm, double less, double share, double queue_us)
{
	struct wh_straight straight;
	double pkts = 0.0, queue = queue_us;

	wh_straight_init(&straight, HZ);
	for (uint64_t t = 0; t < 2 * HZ; t += 5 * MS) {
		double pace = t < HZ / 2 ? 1.0 : 1.0 - less;
		double delay_us = 5000.0 + queue + ppm * 1e-6 * (double)(t / US);

		pkts += 400.0 * pace;
		queue += share * (pace - 1.0) * 5000.0;
		queue = fmax(queue, 0.0);
		wh_straight_add(&straight, (struct wh_straight_point){
						   .at_tsc = origin_tsc + t,
						   .delay_tsc = (int64_t)(delay_us * (double)US),
						   .sent_pkts = (uint64_t)pkts,
						   .sent_tsc = origin_tsc + t - 5 * MS,
					   });
	}
	return straight.slope * 1e6;
}

/* It goes on as before while less goes: clocks. Those that shorten a way say nothing. */
static void test_clocks(void)
{
	static const double ppms[] = {20, 100, 200, 290};

	for (size_t i = 0; i < sizeof(ppms) / sizeof(ppms[0]); i++) {
		WH_ASSERT_NEAR(slope_of(0, ppms[i], 0.01, 0.0, 0.0), ppms[i], 0.1);
		WH_ASSERT_NEAR(slope_of(UINT64_MAX - HZ, ppms[i], 0.01, 0.0, 0.0), ppms[i], 0.1);
		CU_ASSERT_EQUAL(slope_of(0, -ppms[i], 0.01, 0.0, 0.0), 0.0);
	}
}

/* As much goes all the time, or more: it may be a queue. Nor are clocks as bad as that. */
static void test_nothing_told(void)
{
	CU_ASSERT_EQUAL(slope_of(0, 200, 0.0, 0.0, 0.0), 0.0);
	CU_ASSERT_EQUAL(slope_of(0, 200, 1e-5, 0.0, 0.0), 0.0);
	CU_ASSERT_EQUAL(slope_of(0, 200, -0.1, 0.0, 0.0), 0.0);
	CU_ASSERT_EQUAL(slope_of(0, 310, 0.01, 0.0, 0.0), 0.0);
}

/* A queue that is ours, or of which a twentieth is: the line bends. */
static void test_queue(void)
{
	static const double shares[] = {0.05, 0.3, 1};

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		for (double less = 1e-4; less < 0.5; less *= 3)
			CU_ASSERT_EQUAL(slope_of(0, 200, less, shares[i], 1e6), 0.0);
}

/* Whatever a liar says. */
static void test_liar(void)
{
	struct wh_straight straight;

	wh_straight_init(&straight, HZ);
	for (uint64_t i = 0; i < 1000; i++) {
		const struct wh_straight_point point = {
			.at_tsc = i * 77 * MS * (i % 5 == 0 ? UINT64_MAX : i),
			.delay_tsc = i % 2 == 0 ? INT64_MAX : INT64_MIN,
			.sent_pkts = i % 3 == 0 ? UINT64_MAX : i,
			.sent_tsc = i % 7 == 0 ? UINT64_MAX : i * MS,
		};

		wh_straight_add(&straight, point);
		CU_ASSERT_TRUE(straight.slope >= 0.0 && straight.slope <= 300e-6);
	}
}

CU_TestInfo wh_tests[] = {
	{"clocks", test_clocks},
	{"nothing told", test_nothing_told},
	{"queue", test_queue},
	{"liar", test_liar},
	CU_TEST_INFO_NULL,
};
