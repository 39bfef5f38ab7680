/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/yield.h"

#include "unit.h"

const char wh_suite_name[] = "lambda_yield";

#define HZ    1000000000
#define OWN_S 1e-3

/* More in the queue than is ours, at least or for a moment, and losses that are no noise. */
static void test_signs(void)
{
	const struct {
		double queue_s, peak_s;
		uint64_t lost_pkts;
		bool others;
	} cases[] = {
		{1.4e-3, 2.9e-3, 1, false},
		{1.6e-3, 2.9e-3, 1, true},
		{1.4e-3, 3.1e-3, 1, true},
		{1.4e-3, 2.9e-3, 5, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_lambda_yield yield = {0};
		struct wh_lambda_path path = {
			.hz = HZ,
			.least = {{.known = true, .rtt_tsc = HZ / 50}},
			.sample = {.queue_s = cases[i].queue_s,
				.peak_s = cases[i].peak_s,
				.seen_pkts = 100,
				.lost_pkts = cases[i].lost_pkts},
		};

		CU_ASSERT_EQUAL(
			wh_lambda_yield_begins(&yield, &path, HZ, OWN_S, 0.01), cases[i].others);
		CU_ASSERT_EQUAL(
			wh_lambda_yield_holds(&yield, &path, HZ + HZ / 10), cases[i].others);
		CU_ASSERT_FALSE(wh_lambda_yield_holds(&yield, &path, HZ + HZ / 5));
	}
}

static void test_left(void)
{
	WH_ASSERT_NEAR(wh_lambda_yield_pps(1000.0, 1000.0), 250.0, 1e-9);
	WH_ASSERT_NEAR(wh_lambda_yield_pps(20.0, 1000.0), 10.0, 1e-9);
}

CU_TestInfo wh_tests[] = {
	{"signs", test_signs},
	{"left", test_left},
	CU_TEST_INFO_NULL,
};
