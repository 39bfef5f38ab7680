/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/train.h"

#include "unit.h"

const char wh_suite_name[] = "train";

static struct wh_train train;

static uint64_t arrival(uint32_t index, uint32_t at_ns)
{
	return (uint64_t)at_ns << 32 | index;
}

static void in_order(void)
{
	uint64_t arrivals[100];

	for (uint32_t i = 0; i < 100; i++)
		arrivals[i] = arrival(i, i * 12304);
	CU_ASSERT(wh_train_read(&train, arrivals, 100, 100, 1538));
	CU_ASSERT_EQUAL(train.arrived, 100);
	CU_ASSERT_EQUAL(train.first_lost, 100);
	CU_ASSERT_EQUAL(train.overtaken, 0);
	CU_ASSERT_EQUAL(train.span_ns, 99 * 12304);
	WH_ASSERT_NEAR(train.arrival_bps, 1e9, 1e-9);
	CU_ASSERT_EQUAL(wh_train_overflow(&train, 0.4), 100);
}

static void what_happened(void)
{
	/* Of ten: 3, 6 and 7 are lost, 2 comes after 4 and 5, 8 twice. */
	static const uint32_t order[] = {0, 1, 4, 5, 2, 8, 8, 9};
	uint64_t arrivals[8];

	for (uint32_t i = 0; i < 8; i++)
		arrivals[i] = arrival(order[i], i);
	CU_ASSERT(wh_train_read(&train, arrivals, 8, 10, 100));
	CU_ASSERT_EQUAL(train.arrived, 7);
	CU_ASSERT_EQUAL(train.duplicates, 1);
	CU_ASSERT_EQUAL(train.overtaken, 1);
	CU_ASSERT_EQUAL(train.overtaken_by, 3);
	CU_ASSERT_EQUAL(train.first_lost, 3);
	CU_ASSERT_EQUAL(train.lost_runs, 2);
	CU_ASSERT_EQUAL(train.longest_run, 2);
	WH_ASSERT_NEAR(wh_train_lost_share(&train, 5, 10), 0.4, 1e-9);
	CU_ASSERT_EQUAL(wh_train_lost_share(&train, 10, 10), 0);
}

/* Chance takes two, long before every third has no room. */
static void overflow_and_chance(void)
{
	static uint64_t arrivals[1000];
	uint32_t count = 0;

	for (uint32_t i = 0; i < 1000; i++)
		if (i != 100 && i != 101 && (i < 600 || i % 3 != 0))
			arrivals[count++] = arrival(i, i);
	CU_ASSERT(wh_train_read(&train, arrivals, count, 1000, 100));
	CU_ASSERT_EQUAL(train.first_lost, 100);
	CU_ASSERT_EQUAL(wh_train_overflow(&train, 1.0 / 3), 600);
	/* What drops nearly all would have taken far more from 100 or 600 on. */
	CU_ASSERT_EQUAL(wh_train_overflow(&train, 0.9), 1000);
	/* No queue that runs over drops so few. */
	CU_ASSERT_EQUAL(wh_train_overflow(&train, 0.001), 1000);
}

static void lies(void)
{
	const uint64_t beyond[] = {arrival(0, 0), arrival(4, 1)};
	const uint64_t backwards[] = {arrival(0, 5), arrival(1, 4)};
	const uint64_t at_once[] = {arrival(0, 5), arrival(1, 5)};
	const uint64_t far[] = {arrival(UINT32_MAX, 5)};

	CU_ASSERT_FALSE(wh_train_read(&train, beyond, 2, 4, 100));
	CU_ASSERT_FALSE(wh_train_read(&train, far, 1, WH_PROBE_PKTS_MAX, 100));
	CU_ASSERT_FALSE(wh_train_read(&train, backwards, 2, 4, 100));
	CU_ASSERT(wh_train_read(&train, at_once, 2, 4, 100));
	CU_ASSERT_EQUAL(train.arrival_bps, 0);
	CU_ASSERT(wh_train_read(&train, NULL, 0, 4, 100));
	CU_ASSERT_EQUAL(train.first_lost, 0);
	CU_ASSERT_EQUAL(train.longest_run, 4);
}

static void pairs(void)
{
	/* The second pair lost its first, the third came in the wrong order, the last far apart. */
	const uint64_t at[] = {arrival(0, 0), arrival(1, 800), arrival(3, 5000), arrival(5, 9000),
		arrival(4, 9100), arrival(6, 20000), arrival(7, 20800), arrival(8, 30000),
		arrival(9, 39000)};
	uint32_t count;

	CU_ASSERT(wh_train_read(&train, at, 9, 10, 1000));
	WH_ASSERT_NEAR(wh_train_pairs_bps(&train, at, 9, &count), 1e10, 1e-9);
	CU_ASSERT_EQUAL(count, 3);
	CU_ASSERT_EQUAL(wh_train_pairs_bps(&train, at, 1, &count), 0);
	CU_ASSERT_EQUAL(count, 0);
}

CU_TestInfo wh_tests[] = {
	{"in order", in_order},
	{"what happened", what_happened},
	{"overflow and chance", overflow_and_chance},
	{"lies", lies},
	{"pairs", pairs},
	CU_TEST_INFO_NULL,
};
