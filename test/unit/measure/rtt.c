/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/rtt.h"

#include "base/clock.h"
#include "unit.h"

const char wh_suite_name[] = "rtt";

static void test_initial(void)
{
	struct wh_rtt rtt;

	wh_rtt_init(&rtt, 1001);
	CU_ASSERT_EQUAL(wh_rtt_get(&rtt), 1001);
	CU_ASSERT_EQUAL(rtt.var_tsc, 500);
	CU_ASSERT_EQUAL(rtt.min_tsc, WH_TSC_NEVER);
	CU_ASSERT_EQUAL(rtt.samples, 0);
}

static void test_averages(void)
{
	static const struct {
		uint64_t sample, smoothed, var, min;
	} cases[] = {
		{800, 800, 400, 800},  /* the first replaces the initial value; half of it */
		{1600, 900, 500, 800}, /* (5600 + 1600) / 8; (3 * 400 + |1600 - 800|) / 4 */
		{900, 900, 375, 800},  /* (6300 + 900) / 8; (3 * 500 + 0) / 4 */
		{100, 800, 481, 100},  /* (6300 + 100) / 8; (3 * 375 + 800) / 4 = 481.25 */
		{804, 801, 362, 100},  /* 6404 / 8 = 800.5, up; (3 * 481 + 4) / 4 = 361.75, up */
	};
	struct wh_rtt rtt;

	wh_rtt_init(&rtt, 5);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wh_rtt_add(&rtt, cases[i].sample);
		CU_ASSERT_EQUAL(wh_rtt_get(&rtt), cases[i].smoothed);
		CU_ASSERT_EQUAL(rtt.var_tsc, cases[i].var);
		CU_ASSERT_EQUAL(rtt.min_tsc, cases[i].min);
		CU_ASSERT_EQUAL(rtt.samples, i + 1);
	}
}

/* 100 steps of 7/8 leave 1.6e-6 of the distance; rounding to nearest stops within 4 cycles. */
static void test_converges_from_both_sides(void)
{
	struct wh_rtt rtt;

	wh_rtt_init(&rtt, 1);
	wh_rtt_add(&rtt, 1000000);
	for (int i = 0; i < 200; i++)
		wh_rtt_add(&rtt, 2000000);
	CU_ASSERT(wh_rtt_get(&rtt) >= 1999996 && wh_rtt_get(&rtt) <= 2000000);
	for (int i = 0; i < 200; i++)
		wh_rtt_add(&rtt, 1000000);
	CU_ASSERT(wh_rtt_get(&rtt) >= 1000000 && wh_rtt_get(&rtt) <= 1000004);
}

static void test_extremes(void)
{
	struct wh_rtt rtt;
	uint64_t day_tsc = UINT64_C(4000000000) * 86400;

	wh_rtt_init(&rtt, 100);
	for (int i = 0; i < 100; i++)
		wh_rtt_add(&rtt, 0);
	CU_ASSERT_EQUAL(wh_rtt_get(&rtt), 1); /* 0 would mean unknown */
	CU_ASSERT_EQUAL(rtt.min_tsc, 1);

	wh_rtt_init(&rtt, 100);
	wh_rtt_add(&rtt, day_tsc);
	wh_rtt_add(&rtt, day_tsc);
	CU_ASSERT_EQUAL(wh_rtt_get(&rtt), day_tsc);
	CU_ASSERT_EQUAL(rtt.var_tsc, day_tsc / 8 * 3);
}

CU_TestInfo wh_tests[] = {
	{"initial value until the first sample", test_initial},
	{"averages by hand", test_averages},
	{"converges from both sides", test_converges_from_both_sides},
	{"no delay, a day's delay", test_extremes},
	CU_TEST_INFO_NULL,
};
