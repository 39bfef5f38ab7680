/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/arrival.h"

#include "unit.h"

const char wh_suite_name[] = "arrival";

#define HZ UINT64_C(1000000000)

struct run {
	uint32_t count;
	uint64_t interval_tsc;
};

/* A first packet, then one after each of the intervals. */
static uint32_t speed_of(const struct run *runs, uint32_t run_count)
{
	struct wh_arrival arrival;
	uint64_t now_tsc = 12345;

	wh_arrival_init(&arrival, HZ);
	wh_arrival_add(&arrival, now_tsc);
	for (uint32_t r = 0; r < run_count; r++)
		for (uint32_t i = 0; i < runs[r].count; i++)
			wh_arrival_add(&arrival, now_tsc += runs[r].interval_tsc);
	return wh_arrival_get(&arrival);
}

static void test_filter(void)
{
	static const struct {
		struct run runs[4];
		uint32_t pps;
	} cases[] = {
		/* 1500 bytes at 1 Gb/s: 10^9 / 12000 = 83333.3 */
		{{{16, 12000}}, 83333},
		{{{15, 12000}}, 0},
		{{{0, 0}}, 0},
		/* The mean and not the median: 16 * 10^9 / 24000 = 666666.7 */
		{{{8, 1000}, {8, 2000}}, 666666},
		/* M = 1000: 9000 is beyond 8 M; nine are left, more than half */
		{{{9, 1000}, {7, 9000}}, 1000000},
		/* M = 9000, the greater of the middle two: 1000 < M / 8; eight are not enough */
		{{{8, 1000}, {8, 9000}}, 0},
		/* M = 4000, not the 1000 below it: only 300 goes; 15 * 10^9 / 151000 = 99337.7 */
		{{{1, 300}, {7, 1000}, {1, 4000}, {7, 20000}}, 99337},
		/* M = 800, both bounds belong: 16 * 10^9 / (14 * 800 + 6400 + 100) = 903954.8 */
		{{{14, 800}, {1, 6400}, {1, 100}}, 903954},
		/* one cycle beyond, both go: 10^9 / 800 */
		{{{14, 800}, {1, 6401}, {1, 99}}, 1250000},
		/* M = 12001 is no multiple of 8: 1500 * 8 is below it, 1501 * 8 is not */
		{{{15, 12001}, {1, 1500}}, 83326},
		{{{15, 12001}, {1, 1501}}, 88146}, /* 16 * 10^9 / 181516 = 88146.5 */
		/* Packets of one burst share a timestamp */
		{{{16, 0}}, 0},
		{{{9, 0}, {7, 1000}}, 0},
		{{{8, 0}, {8, 1000}}, 0},
		{{{7, 0}, {9, 1000}}, 1000000},
		/* One probing pair and one pause of a second in the window */
		{{{14, 12000}, {1, 1200}, {1, HZ}}, 83333},
		/* Only the last 16 count */
		{{{40, 12000}, {16, 1200}}, 833333},
		{{{16, 1200}, {40, 12000}}, 83333},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(speed_of(cases[i].runs, 4), cases[i].pps);
}

static void test_order_does_not_matter(void)
{
	struct wh_arrival arrival;
	uint64_t now_tsc = 0;

	wh_arrival_init(&arrival, HZ);
	wh_arrival_add(&arrival, 0);
	for (int i = 0; i < 8; i++) {
		wh_arrival_add(&arrival, now_tsc += 2000);
		wh_arrival_add(&arrival, now_tsc += 1000);
	}
	CU_ASSERT_EQUAL(wh_arrival_get(&arrival), 666666);
}

static void test_saturates(void)
{
	struct wh_arrival arrival;

	wh_arrival_init(&arrival, UINT64_C(1) << 33);
	for (uint64_t t = 0; t < 17; t++)
		wh_arrival_add(&arrival, t);
	CU_ASSERT_EQUAL(wh_arrival_get(&arrival), UINT32_MAX);
}

CU_TestInfo wh_tests[] = {
	{"median filter by hand", test_filter},
	{"order does not matter", test_order_does_not_matter},
	{"saturates", test_saturates},
	CU_TEST_INFO_NULL,
};
