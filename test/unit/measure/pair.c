/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/pair.h"

#include "unit.h"

const char wh_suite_name[] = "pair";

#define HZ UINT64_C(1000000000)

static void add(struct wh_pair *pair, uint32_t count, uint64_t interval_tsc)
{
	for (uint32_t i = 0; i < count; i++)
		wh_pair_add(pair, interval_tsc);
}

static void test_few(void)
{
	struct wh_pair pair;

	wh_pair_init(&pair, HZ);
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 0);
	add(&pair, 1, 1000);
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 1000000);
	add(&pair, 1, 3000); /* of two the longer */
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 333333);
	add(&pair, 1, 2000); /* 1000 2000 3000 */
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 500000);
	add(&pair, 1, 1500); /* 1000 1500 2000 3000 */
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 500000);
}

static void test_full_window(void)
{
	struct wh_pair pair;

	wh_pair_init(&pair, HZ);
	add(&pair, 8, 3000);
	add(&pair, 8, 1000);
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 333333);
	add(&pair, 1, 1000); /* takes the place of the oldest, a 3000: 9 of 1000 */
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 1000000);
	add(&pair, 9, 12000); /* six of 3000 and 1000 each were older, seven are left */
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 83333);
}

static void test_zero_is_unknown(void)
{
	struct wh_pair pair;

	wh_pair_init(&pair, HZ);
	add(&pair, 1, 0);
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 0);
	add(&pair, 1, 500);
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 2000000);
	add(&pair, 8, 0);
	CU_ASSERT_EQUAL(wh_pair_get(&pair), 0);
}

/* 1500 bytes back to back, in cycles: 12000 bits * hz / rate. */
static void test_link_speeds(void)
{
	static const struct {
		uint64_t hz, interval_tsc;
		uint32_t pps;
	} cases[] = {
		{HZ, 12000, 83333},                   /* 1 Gb/s */
		{HZ, 1200, 833333},                   /* 10 Gb/s */
		{UINT64_C(2600000000), 312, 8333333}, /* 100 Gb/s */
		{UINT64_C(1) << 33, 1, UINT32_MAX},   /* saturates */
		{UINT64_C(1) << 33, 2, UINT32_MAX},   /* 2^32 does not fit */
		{UINT64_C(1) << 33, 3, 2863311530},   /* 2^33 / 3 */
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_pair pair;

		wh_pair_init(&pair, cases[i].hz);
		add(&pair, 16, cases[i].interval_tsc);
		CU_ASSERT_EQUAL(wh_pair_get(&pair), cases[i].pps);
	}
}

CU_TestInfo wh_tests[] = {
	{"fewer pairs than the window", test_few},
	{"full window", test_full_window},
	{"zero is unknown", test_zero_is_unknown},
	{"link speeds", test_link_speeds},
	CU_TEST_INFO_NULL,
};
