/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/yield.h"

#include <math.h>

#include "unit.h"

const char wh_suite_name[] = "lambda_yield";

#define HZ       1000000000
#define RTT      (HZ / 50)
#define PERIOD   (RTT / 4) /* of states */
#define OWN_S    1e-3
#define CAPACITY 1e6

/* A way, and a scavenger that is told of it. */
struct way {
	struct wh_lambda_path path;
	struct wh_lambda_yield yield;
	uint64_t now_tsc, sent_pkts;
	double rate_pps;
};

static struct way way_at(double rate_pps)
{
	return (struct way){
		.path = {.hz = HZ, .least = {{.known = true, .rtt_tsc = RTT}}},
		.now_tsc = HZ,
		.sent_pkts = 30000,
		.rate_pps = rate_pps,
	};
}

/* A state a quarter of a round trip later; what it sees went a round trip before. */
static void hear(struct way *way, uint64_t lost_pkts)
{
	uint64_t pkts = (uint64_t)(way->rate_pps * PERIOD / HZ);

	way->now_tsc += PERIOD;
	way->sent_pkts += pkts;
	way->path.seen_pkts = way->sent_pkts > 4 * pkts ? way->sent_pkts - 4 * pkts : 0;
	way->path.delivered_pkts = way->path.seen_pkts - lost_pkts;

	const struct wh_delivery_event event = {
		.now_tsc = way->now_tsc, .sent_pkts = way->sent_pkts};

	way->rate_pps = wh_lambda_yield_hear(
		&way->yield, &way->path, &event, OWN_S, way->rate_pps, CAPACITY);
}

static void hear_for(struct way *way, double s)
{
	for (uint64_t end_tsc = way->now_tsc + (uint64_t)(s * HZ); way->now_tsc < end_tsc;)
		hear(way, 0);
}

/*
 * A queue that stands, one packet that has waited, and a loss; hosts that sway are no sign, nor
 * packets that went at once because we were late.
 */
static void test_signs(void)
{
	const struct {
		double queue_s, latest_s, jitter_s;
		uint64_t lost_pkts;
		bool others;
		double late_pkts;
	} cases[] = {
		{0.0, 0.24e-3, 0.0, 0, false, 0.0},
		{0.0, 0.26e-3, 0.0, 0, true, 0.0},
		{0.0, 0.6e-3, 0.1e-3, 0, false, 0.0},
		{1.4e-3, 0.0, 0.0, 0, false, 0.0},
		{1.6e-3, 0.0, 0.0, 0, true, 0.0},
		{0.0, 0.0, 0.0, 1, true, 0.0},
		{0.0, 0.64e-3, 0.0, 0, false, 400.0},
		{0.0, 0.66e-3, 0.0, 0, true, 400.0},
		{1.8e-3, 0.0, 0.0, 0, false, 400.0},
		{2.0e-3, 0.0, 0.0, 0, true, 400.0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct way way = way_at(0.5 * CAPACITY);

		hear(&way, 0);
		hear(&way, 0);
		way.path.queue_s = cases[i].queue_s;
		way.path.latest_s = cases[i].latest_s;
		way.path.jitter_s = cases[i].jitter_s;
		way.path.late_pkts = cases[i].late_pkts;
		hear(&way, cases[i].lost_pkts);
		if (cases[i].others)
			WH_ASSERT_NEAR(way.rate_pps, 0.01 * CAPACITY, 1e-6);
		else
			CU_ASSERT_TRUE(way.rate_pps > 0.5 * CAPACITY);
	}
}

/* Not for six round trips, and then all but what stays free in two seconds. */
static void test_return(void)
{
	struct way way = way_at(0.5 * CAPACITY);

	hear(&way, 0);
	way.path.queue_s = way.path.latest_s = 2e-3;
	hear(&way, 0);
	way.path.latest_s = 3e-3;
	hear(&way, 0);
	way.path.queue_s = way.path.latest_s = 0.0;
	hear_for(&way, 0.1);
	WH_ASSERT_NEAR(way.rate_pps, 0.01 * CAPACITY, 1e-6);
	hear_for(&way, 1.0);
	WH_ASSERT_NEAR(way.rate_pps / CAPACITY, 0.5, 0.03);
	hear_for(&way, 1.2);
	WH_ASSERT_NEAR(way.rate_pps, 0.965 * CAPACITY, 1e-6);
}

/*
 * A wait that does not grow, unless with the next report: all is taken again after a round trip,
 * and such a wait says no more. One that grows later is that of others.
 */
static void test_single(void)
{
	struct way way = way_at(0.5 * CAPACITY);

	way.path.gap_s = (double)PERIOD / HZ;
	hear(&way, 0);
	way.path.latest_s = 1.5e-3;
	hear(&way, 0);
	way.path.latest_s = 2e-3;
	hear(&way, 0);
	way.path.latest_s = 0.0;
	hear_for(&way, 0.01);
	WH_ASSERT_NEAR(way.rate_pps, 0.01 * CAPACITY, 1e-6);
	hear_for(&way, 0.02);
	CU_ASSERT_TRUE(way.rate_pps > 0.5 * CAPACITY);
	WH_ASSERT_NEAR(way.yield.spike_s, 1.25 * 1.5e-3, 1e-2);
	hear_for(&way, 1.0);
	way.path.latest_s = 1.5e-3;
	hear(&way, 0);
	CU_ASSERT_TRUE(way.rate_pps > 0.5 * CAPACITY);
	way.path.latest_s = 3e-3;
	hear(&way, 0);
	WH_ASSERT_NEAR(way.rate_pps, 0.01 * CAPACITY, 1e-6);
	hear(&way, 0);
	way.path.latest_s = 4e-3;
	hear(&way, 0);
	way.path.latest_s = 0.0;
	hear_for(&way, 0.06);
	CU_ASSERT_TRUE(way.rate_pps < 0.02 * CAPACITY);
}

/* A report whose latest packet arrived so much earlier than a period after the previous one's. */
static void hear_early(struct way *way, double waited_s, double early_s)
{
	way->path.latest_s = waited_s;
	way->path.arrived_tsc += PERIOD - (uint64_t)(early_s * HZ);
	hear(way, 0);
}

/*
 * A packet that waited 2 ms, and 4.8 ms of packets within the 3 ms after it: no queue empties so
 * fast, a host was late. The rate is taken again with that report, and such a wait says no more.
 * After a queue that empties by what is left free nothing is taken.
 */
static void test_spike(void)
{
	for (int host = 0; host < 2; host++) {
		struct way way = way_at(0.96 * CAPACITY);

		way.path.arrived_tsc = HZ;
		hear_early(&way, 0.0, 0.0);
		hear_early(&way, 0.0, 0.0);
		hear_early(&way, 2e-3, -2e-3);
		WH_ASSERT_NEAR(way.rate_pps, 0.01 * CAPACITY, 1e-6);
		way.rate_pps = 0.96 * CAPACITY; /* what was sent before is still arriving */
		way.path.delivered_pkts += 4800;
		hear_early(&way, 0.0, host ? 2e-3 : 0.2e-3);
		if (!host) {
			CU_ASSERT_EQUAL(way.yield.spike_s, 0.0);
			continue;
		}
		WH_ASSERT_NEAR(way.yield.spike_s, 2.5e-3, 1e-5);
		WH_ASSERT_NEAR(way.yield.held_pps, 0.0, 1e-6);
		hear_early(&way, 2e-3, -2e-3);
		CU_ASSERT_TRUE(way.rate_pps > 0.9 * CAPACITY);
		hear_early(&way, 3e-3, -1e-3);
		CU_ASSERT_TRUE(way.rate_pps < 0.02 * CAPACITY);
	}
}

/* Without a train the rate doubles with each round trip. */
static void test_blind(void)
{
	struct way way = way_at(0.01 * CAPACITY);

	wh_lambda_yield_begin_blind(&way.yield);
	hear_for(&way, 0.16);
	CU_ASSERT_TRUE(way.rate_pps > 0.3 * CAPACITY);
}

/* More than a train has found is found by looks, and a look that is felt costs only itself. */
static void test_looks(void)
{
	struct way way = way_at(0.5 * CAPACITY);
	double most_pps = 0.0;

	for (uint64_t end_tsc = way.now_tsc + 20 * (uint64_t)HZ; way.now_tsc < end_tsc;) {
		way.path.queue_s = way.rate_pps > 2.0 * CAPACITY ? 2e-3 : 0.0;
		hear(&way, 0);
		most_pps = fmax(most_pps, way.rate_pps);
	}
	CU_ASSERT_TRUE(most_pps > 2.0 * CAPACITY);
	CU_ASSERT_TRUE(way.rate_pps > 1.3 * CAPACITY && way.rate_pps < 2.0 * CAPACITY);
}

/* What a look has left in the queue drains for a round trip; what stands then is that of others. */
static void test_look_drains(void)
{
	for (int others = 0; others < 2; others++) {
		struct way way = way_at(0.9 * CAPACITY);

		for (int state = 0; state < 2000 && way.rate_pps < CAPACITY; state++)
			hear(&way, 0);
		way.path.queue_s = way.path.latest_s = 2e-3;
		for (int state = 0; state < 8 && way.rate_pps > CAPACITY; state++)
			hear(&way, 0);
		for (int state = 0; state < 8; state++) {
			WH_ASSERT_NEAR(way.rate_pps, 0.9 * CAPACITY, 1e-6);
			hear(&way, 0);
		}
		way.path.queue_s = way.path.latest_s = others ? 2e-3 : 0.0;
		hear(&way, 0);
		hear(&way, 0);
		CU_ASSERT_EQUAL(way.rate_pps < 0.1 * CAPACITY, others);
		CU_ASSERT_EQUAL(way.rate_pps > 0.9 * CAPACITY, !others);
	}
}

/* Nor is it others' where what arrives during the look tells that there is no more. */
static void test_look_in_vain(void)
{
	struct way way = way_at(0.9 * CAPACITY);

	way.path.arrived_tsc = HZ;
	way.yield.spike_s = 10e-3; /* hosts have been late: a queue says little for 286 ms */
	for (int state = 0; state < 2000; state++) {
		bool looks = way.rate_pps > CAPACITY;

		way.path.arrived_tsc += (uint64_t)(PERIOD * way.rate_pps / (0.97 * CAPACITY));
		way.path.queue_s = way.path.latest_s = looks ? 1.6e-3 : 0.0;
		hear(&way, 0);
		if (looks && way.rate_pps < CAPACITY)
			break;
	}
	WH_ASSERT_NEAR(way.yield.capacity_pps, 0.97 * CAPACITY, 0.01);
	WH_ASSERT_NEAR(way.rate_pps, 0.9 * way.yield.capacity_pps, 1e-6);
	CU_ASSERT_TRUE(way.yield.heed_pkts > way.sent_pkts);
}

CU_TestInfo wh_tests[] = {
	{"signs", test_signs},
	{"return", test_return},
	{"single", test_single},
	{"spike", test_spike},
	{"blind", test_blind},
	{"looks", test_looks},
	{"look_drains", test_look_drains},
	{"look_in_vain", test_look_in_vain},
	CU_TEST_INFO_NULL,
};
