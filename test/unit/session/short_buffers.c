/* SPDX-License-Identifier: BSD-3-Clause */

/* Buffers of less than a round trip: what holds them up is told soon, and sent again in time. */

#define WINDOW 512
#include "../delivery_rig.h"

const char wh_suite_name[] = "short_buffers";

#define WAY_TSC (5 * MS)

static bool every_500th(uint64_t transmission)
{
	return transmission % 500 == 250;
}

static bool every_50th(uint64_t transmission)
{
	return transmission % 50 == 25;
}

static bool now_and_then(uint64_t transmission)
{
	return transmission % 5000 == 4000;
}

static uint64_t pkts_in(uint64_t span_tsc, struct pair *pair)
{
	uint64_t before = wh_session_stats(pair->ends.receiver).received_pkts;

	run_for(pair, span_tsc);
	return wh_session_stats(pair->ends.receiver).received_pkts - before;
}

/* A window goes in a round trip of 10 ms, and states wait for a sixty-fourth of one. */
static void test_told_soon(void)
{
	pace(10 * US);

	struct pair *pair = pair_open(WAY_TSC);

	run_for(pair, 100 * MS);

	uint64_t states = pair->reports;

	CU_ASSERT_TRUE(pkts_in(1000 * MS, pair) >= 95 * WINDOW);
	CU_ASSERT_TRUE(pair->reports - states <= 6500);
	pair_close(pair);
}

/* Where buffers hold two and a half round trips of data, states are as rare as with more. */
static void test_rare_with_room(void)
{
	pace(50 * US);

	struct pair *pair = pair_open(WAY_TSC);

	run_for(pair, 100 * MS);

	uint64_t states = pair->reports;

	CU_ASSERT_TRUE(pkts_in(1000 * MS, pair) >= 19900);
	CU_ASSERT_TRUE(pair->reports - states <= 410);
	pair_close(pair);
}

/*
 * Each window has a loss, and a few packets come 8 ms late. What holds up the window does not wait
 * for as long as those do.
 */
static void test_losses(void)
{
	pace(10 * US);

	struct pair *pair = pair_open(WAY_TSC);

	pair->there.lose = every_500th;
	pair->overtaken = now_and_then;
	pair->background.delay_tsc = WAY_TSC + 8 * MS;
	run_for(pair, 100 * MS);
	CU_ASSERT_TRUE(pkts_in(1000 * MS, pair) >= 66 * WINDOW);
	pair_close(pair);
}

/*
 * Packets come 3 ms late, and each window has ten of them. That is no loss, but what they hold up
 * for a third of a round trip may go again.
 */
static void test_overtaken(void)
{
	pace(10 * US);

	struct pair *pair = pair_open(WAY_TSC);

	pair->overtaken = every_50th;
	pair->background.delay_tsc = WAY_TSC + 3 * MS;
	run_for(pair, 100 * MS);
	CU_ASSERT_TRUE(pkts_in(1000 * MS, pair) >= 76 * WINDOW);
	CU_ASSERT_TRUE(wh_session_stats(pair->ends.sender).retransmitted_pkts <= 1100);
	pair_close(pair);
}

CU_TestInfo wh_tests[] = {
	{"told soon", test_told_soon},
	{"rare with room", test_rare_with_room},
	{"losses", test_losses},
	{"overtaken", test_overtaken},
	CU_TEST_INFO_NULL,
};
