/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <math.h>

#include "sim_queue_rig.h"

const char wh_suite_name[] = "sim_queue_red";

#define MS     UINT64_C(1000000000)
#define DROPS  20000
#define FROZEN 1e-300 /* a weight with which no average moves */

static const struct wh_sim_queue_config red = {.discipline = WH_SIM_RED};

/* A line with these in place of what its speed would make of them. */
static void begin(struct queue_rig *rig, uint64_t rate_bps, double threshold, double weight)
{
	rig_init(rig, &red, rate_bps, 17);
	rig->queue.red.threshold = threshold;
	rig->queue.red.max_threshold = 3 * threshold;
	rig->queue.red.weight = weight;
}

/* By hand: rate / 4000 packets of 500 bytes a second. */
static void defaults_are_ns2s(void)
{
	static const struct {
		uint64_t rate_bps;
		uint64_t delay_ps;
		double threshold;
		double weight;
	} cases[] = {
		{1000000, 10 * MS, 5.0, 3.992010656e-3},    /* 250: 1 - exp(-1 / 250) */
		{10000000, 10 * MS, 6.25, 3.999200107e-4},  /* 2500, of which 2.5 ms hold 6.25 */
		{100000000, 33 * MS, 62.5, 3.999920001e-5}, /* 25000; an RTT of 99.12 ms is short */
		{10000000, 1000 * MS, 6.25, 1.332791e-5},   /* 10 RTTs of 3.0012 s: 75030 packets */
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_sim_queue queue;

		wh_sim_queue_init(&queue, &red, cases[i].rate_bps, cases[i].delay_ps);
		CU_ASSERT_EQUAL(queue.red.threshold, cases[i].threshold);
		CU_ASSERT_EQUAL(queue.red.max_threshold, 3.0 * cases[i].threshold);
		WH_ASSERT_NEAR(queue.red.weight, cases[i].weight, 1e-6);
		CU_ASSERT_EQUAL(queue.red.average, 0.0);
	}
}

/* 1 Pb/s and 1000 s: 10 RTTs are 7.5e15 packets, and 1 - 1 / that is nearly 1. */
static void no_line_is_too_long_for_a_weight(void)
{
	struct wh_sim_queue queue;

	wh_sim_queue_init(&queue, &red, UINT64_C(1000000000000000), 1000000 * MS);
	WH_ASSERT_NEAR(queue.red.weight, 1 / 7.5e15, 1e-9);
}

/* Each arrival sees 0, 1, 2, 3 packets before it. */
static void the_average_is_of_what_arrivals_meet(void)
{
	static const double averages[] = {0.0, 0.5, 1.25, 2.125};

	struct queue_rig rig;

	begin(&rig, 1000000, 50, 0.5);
	for (unsigned int n = 0; n < 4; n++) {
		rig_put(&rig, 0, 700);
		CU_ASSERT_EQUAL(rig.queue.red.average, averages[n]);
	}
	rig_free(&rig);
}

/* 4 Mb/s send a mean packet in a millisecond: as many as it could have sent count as arrivals. */
static void the_average_falls_while_the_line_is_idle(void)
{
	static const struct {
		uint64_t idle_ps;
		double average; /* from 2.125 */
	} cases[] = {
		{0, 1.0625},
		{MS - 1, 1.0625},
		{MS, 0.53125},
		{3 * MS + MS / 2, 0.1328125},
		{4 * MS, 0.06640625},
		{3600000 * MS, 0.0},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct queue_rig rig;

		begin(&rig, 4000000, 50, 0.5);
		for (unsigned int n = 0; n < 4; n++)
			rig_put(&rig, 0, 1500);
		for (unsigned int n = 0; n < 4; n++)
			rig_take(&rig, 5 * MS);
		/* Empty, but with a packet on the line: not idle before that has left. */
		CU_ASSERT_EQUAL(rig_take(&rig, 10 * MS), UINT64_MAX);
		rig_put(&rig, 10 * MS + cases[i].idle_ps, 1500);
		CU_ASSERT_EQUAL(rig.queue.red.average, cases[i].average);
		rig_free(&rig);
	}
}

static void a_busy_line_with_an_empty_queue_is_not_idle(void)
{
	struct queue_rig rig;

	begin(&rig, 4000000, 50, 0.5);
	for (unsigned int n = 0; n < 3; n++)
		rig_put(&rig, 0, 1500);
	for (unsigned int n = 0; n < 3; n++)
		rig_take(&rig, n * MS);
	rig_put(&rig, 100 * MS, 1500);
	CU_ASSERT_EQUAL(rig.queue.red.average, 0.625);
	rig_free(&rig);
}

/* Arrivals from one early drop to the next, at an average that stands still. */
struct gaps {
	unsigned int least;
	unsigned int most;
	double mean;
	double sigma;
};

static struct gaps measure_gaps(double average)
{
	struct gaps gaps = {.least = UINT32_MAX};
	struct queue_rig rig;
	double sum = 0.0;
	double squares = 0.0;
	unsigned int gap = 0;

	begin(&rig, 1000000, 5, FROZEN);
	rig.queue.red.average = average;
	rig.queue.red.above = true;
	rig.queue.red.idle = false;
	for (unsigned int n = 0; n < 2; n++)
		wh_sim_fifo_push(&rig.queue.fifo, wh_sim_packet_get(&rig.pool));
	rig.queue.fifo.count_bytes = 2000;
	rig.queue.fifo.first->bytes = 1000;
	rig.queue.fifo.last->bytes = 1000;

	while (rig.early < DROPS) {
		unsigned int before = rig.early;

		rig_put(&rig, 0, 1000);
		gap++;
		if (rig.early == before) {
			rig_take(&rig, 0);
			continue;
		}
		gaps.least = gap < gaps.least ? gap : gaps.least;
		gaps.most = gap > gaps.most ? gap : gaps.most;
		sum += gap;
		squares += (double)gap * gap;
		gap = 0;
	}
	gaps.mean = sum / DROPS;
	gaps.sigma = sqrt(fmax(0.0, squares / DROPS - gaps.mean * gaps.mean));
	CU_ASSERT_EQUAL(rig.overflow, 0);
	rig_free(&rig);
	return gaps;
}

/*
 * The gap is uniform over 1/p ... 2/p - 1. With n values its standard deviation is
 * sqrt((n^2 - 1) / 12), and 4 of those / sqrt(20000) the tolerance. Between 15 and 30, p rises from
 * 0.1 to 1: at 20 it is 0.4, and the third packet is dropped as often as the fourth.
 */
static void the_drop_probability_is_red_s(void)
{
	static const struct {
		double average;
		struct gaps gaps;
	} cases[] = {
		{10.0, {20, 39, 29.5, 5.766}},   /* 0.05 */
		{5.5, {200, 399, 299.5, 57.73}}, /* 0.005 */
		{20.0, {3, 4, 3.5, 0.5}},
		{30.0, {1, 1, 1.0, 0.0}},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct gaps *right = &cases[i].gaps;
		struct gaps gaps = measure_gaps(cases[i].average);

		CU_ASSERT_EQUAL(gaps.least, right->least);
		CU_ASSERT_TRUE(gaps.most == right->most || gaps.most == right->most + 1);
		CU_ASSERT_TRUE(fabs(gaps.mean - right->mean) <= 4.0 * right->sigma / sqrt(DROPS));
		WH_ASSERT_NEAR(gaps.sigma, right->sigma, 0.02);
	}
}

/* Nothing is early about a queue of one, nor about the first arrival above the threshold. */
static void counts_from_the_first_arrival_above_the_threshold(void)
{
	struct queue_rig rig;

	begin(&rig, 1000000, 5, FROZEN);
	rig.queue.red.average = 40.0;
	rig.queue.red.idle = false;
	rig_put(&rig, 0, 1000);
	rig_put(&rig, 0, 1000);
	CU_ASSERT_FALSE(rig.queue.red.above);
	CU_ASSERT_EQUAL(rig.queue.red.count, 2);

	rig_put(&rig, 0, 1000);
	CU_ASSERT_EQUAL(rig.early, 0);
	CU_ASSERT_TRUE(rig.queue.red.above);
	CU_ASSERT_EQUAL(rig.queue.red.count, 1);

	rig_put(&rig, 0, 1000);
	CU_ASSERT_EQUAL(rig.early, 1);
	CU_ASSERT_EQUAL(rig.dropped_number, 3);
	CU_ASSERT_EQUAL(rig.queue.red.count, 0);

	/* Below again, and the counting begins anew. */
	rig.queue.red.average = 4.0;
	rig_put(&rig, 0, 1000);
	CU_ASSERT_FALSE(rig.queue.red.above);
	rig_free(&rig);
}

static void no_more_than_the_limit_waits(void)
{
	static const struct {
		uint32_t limit_pkts;
		uint64_t limit_bytes;
		unsigned int held; /* of ten of 1000 bytes */
	} cases[] = {
		{0, 0, 10},
		{1, 0, 1},
		{3, 0, 3},
		{10, 0, 10},
		{0, 1, 1},
		{0, 3000, 3},
		{0, 3001, 4},
		{2, 3001, 2},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_sim_queue_config config = red;
		struct queue_rig rig;

		config.limit_pkts = cases[i].limit_pkts;
		config.limit_bytes = cases[i].limit_bytes;
		rig_init(&rig, &config, 1000000, 1);
		rig.queue.red.threshold = 100;
		for (unsigned int n = 0; n < 10; n++)
			rig_put(&rig, 0, 1000);
		CU_ASSERT_EQUAL(rig.queue.fifo.count_pkts, cases[i].held);
		CU_ASSERT_EQUAL(rig.overflow, 10 - cases[i].held);
		CU_ASSERT_EQUAL(rig.early, 0);
		for (uint64_t n = 0; n < cases[i].held; n++)
			CU_ASSERT_EQUAL(rig_take(&rig, 10), n);
		rig_free(&rig);
	}
}

CU_TestInfo wh_tests[] = {
	{"defaults are ns-2's", defaults_are_ns2s},
	{"no line is too long for a weight", no_line_is_too_long_for_a_weight},
	{"the average is of what arrivals meet", the_average_is_of_what_arrivals_meet},
	{"the average falls while the line is idle", the_average_falls_while_the_line_is_idle},
	{"a busy line with an empty queue is not idle",
		a_busy_line_with_an_empty_queue_is_not_idle},
	{"the drop probability is RED's", the_drop_probability_is_red_s},
	{"counts from the first arrival above the threshold",
		counts_from_the_first_arrival_above_the_threshold},
	{"no more than the limit waits", no_more_than_the_limit_waits},
	CU_TEST_INFO_NULL,
};
