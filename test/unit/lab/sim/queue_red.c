/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <math.h>

#include "sim_queue_rig.h"

const char wh_suite_name[] = "sim_queue_red";

#define MS     UINT64_C(1000000000)
#define DROPS  20000
#define FROZEN 1e-300 /* a weight with which no average moves */

static struct wh_sim_queue_config red_config(struct wh_sim_red_config red)
{
	return (struct wh_sim_queue_config){.discipline = WH_SIM_RED, .red = red};
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
		struct wh_sim_queue_config config = red_config((struct wh_sim_red_config){0});
		struct wh_sim_queue queue;

		wh_sim_queue_init(&queue, &config, cases[i].rate_bps, cases[i].delay_ps);
		CU_ASSERT_EQUAL(queue.red.threshold, cases[i].threshold);
		CU_ASSERT_EQUAL(queue.red.max_threshold, 3.0 * cases[i].threshold);
		WH_ASSERT_NEAR(queue.red.config.weight, cases[i].weight, 1e-6);
		CU_ASSERT_EQUAL(queue.red.config.max_p, 0.1);
		CU_ASSERT_EQUAL(queue.red.config.mean_packet_bytes, 500);
		CU_ASSERT_EQUAL(queue.red.average, 0.0);
	}
}

/* 1 Pb/s of single bytes and 1000 s: 10 RTTs are 3.75e18 packets, and 1 - 1 / that is 1. */
static void no_line_is_too_long_for_a_weight(void)
{
	struct wh_sim_queue_config config =
		red_config((struct wh_sim_red_config){.mean_packet_bytes = 1});
	struct wh_sim_queue queue;

	wh_sim_queue_init(&queue, &config, UINT64_C(1000000000000000), 1000000 * MS);
	WH_ASSERT_NEAR(queue.red.config.weight, 1 / 3.75e18, 1e-9);
}

static void what_is_given_is_no_default(void)
{
	struct wh_sim_queue_config config = red_config((struct wh_sim_red_config){
		.threshold_pkts = 20,
		.max_threshold_pkts = 80,
		.weight = 0.002,
		.max_p = 0.02,
		.mean_packet_bytes = 1000,
		.in_bytes = true,
	});
	struct wh_sim_queue queue;

	wh_sim_queue_init(&queue, &config, 1000000, 0);
	CU_ASSERT_EQUAL(queue.red.threshold, 20000.0);
	CU_ASSERT_EQUAL(queue.red.max_threshold, 80000.0);
	CU_ASSERT_EQUAL(queue.red.config.weight, 0.002);
	CU_ASSERT_EQUAL(queue.red.config.max_p, 0.02);
}

/* Each arrival sees 0, 1, 2, 3 packets before it. */
static void the_average_is_of_what_arrivals_meet(void)
{
	static const double averages[] = {0.0, 0.5, 1.25, 2.125};

	for (unsigned int in_bytes = 0; in_bytes < 2; in_bytes++) {
		struct wh_sim_queue_config config = red_config((struct wh_sim_red_config){
			.threshold_pkts = 50, .weight = 0.5, .in_bytes = in_bytes});
		struct queue_rig rig;

		rig_init(&rig, &config, 1000000, 1);
		for (unsigned int n = 0; n < 4; n++) {
			rig_put(&rig, 0, 700);
			CU_ASSERT_EQUAL(
				rig.queue.red.average, averages[n] * (in_bytes ? 700.0 : 1.0));
		}
		rig_free(&rig);
	}
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
		struct wh_sim_queue_config config =
			red_config((struct wh_sim_red_config){.threshold_pkts = 50, .weight = 0.5});
		struct queue_rig rig;

		rig_init(&rig, &config, 4000000, 1);
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
	struct wh_sim_queue_config config =
		red_config((struct wh_sim_red_config){.threshold_pkts = 50, .weight = 0.5});
	struct queue_rig rig;

	rig_init(&rig, &config, 4000000, 1);
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

static struct gaps measure_gaps(const struct wh_sim_queue_config *config, double average,
	const uint32_t *bytes, unsigned int n_sizes)
{
	struct gaps gaps = {.least = UINT32_MAX};
	struct queue_rig rig;
	double sum = 0.0;
	double squares = 0.0;
	unsigned int gap = 0;

	rig_init(&rig, config, 1000000, 17);
	rig.queue.red.average = average;
	rig.queue.red.above = true;
	rig.queue.red.idle = false;
	for (unsigned int n = 0; n < 2; n++)
		wh_sim_fifo_push(&rig.queue.fifo, wh_sim_packet_get(&rig.pool));
	rig.queue.fifo.count_bytes = 2000;
	rig.queue.fifo.first->bytes = 1000;
	rig.queue.fifo.last->bytes = 1000;

	for (unsigned int arrival = 0; rig.early < DROPS; arrival++) {
		unsigned int before = rig.early;

		rig_put(&rig, 0, bytes[arrival % n_sizes]);
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
 * Waiting, the gap is uniform over 1/p ... 2/p - 1; not waiting, over 1 ... 1/p - 1. With n values
 * its standard deviation is sqrt((n^2 - 1) / 12), and 4 of those / sqrt(20000) the tolerance.
 * Between 15 and 30, p rises from 0.1 to 1: at 20 it is 0.4, and the third packet is dropped as
 * often as the fourth.
 */
static void the_drop_probability_is_red_s(void)
{
	static const struct {
		double average;
		bool not_gentle;
		bool no_wait;
		struct gaps gaps;
	} cases[] = {
		{10.0, false, false, {20, 39, 29.5, 5.766}}, /* 0.05 */
		{10.0, true, false, {20, 39, 29.5, 5.766}},
		{10.0, false, true, {1, 19, 10.0, 5.477}},
		{5.5, false, false, {200, 399, 299.5, 57.73}}, /* 0.005 */
		{5.5, false, true, {1, 199, 100.0, 57.45}},
		{20.0, false, false, {3, 4, 3.5, 0.5}},
		{20.0, false, true, {1, 2, 1.3333333, 0.4714}},
		{30.0, false, false, {1, 1, 1.0, 0.0}},
		{31.0, false, true, {1, 1, 1.0, 0.0}},
		{15.0, true, false, {1, 1, 1.0, 0.0}},
	};
	static const uint32_t bytes[] = {1000};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_sim_queue_config config = red_config((struct wh_sim_red_config){
			.weight = FROZEN,
			.not_gentle = cases[i].not_gentle,
			.no_wait = cases[i].no_wait,
		});
		const struct gaps *right = &cases[i].gaps;
		struct gaps gaps = measure_gaps(&config, cases[i].average, bytes, 1);

		CU_ASSERT_EQUAL(gaps.least, right->least);
		CU_ASSERT_TRUE(gaps.most == right->most || gaps.most == right->most + 1);
		CU_ASSERT_TRUE(fabs(gaps.mean - right->mean) <= 4.0 * right->sigma / sqrt(DROPS));
		WH_ASSERT_NEAR(gaps.sigma, right->sigma, 0.02);
	}
}

/*
 * In bytes, without waiting: the basic p is 0.05 of a mean packet, so packets of twice the mean
 * go with 2 * 0.05 / (1 - 0.05 * count), count = 2, 4, ... means: 1/9, 1/8, ... 1: uniform again.
 */
static void large_packets_are_likelier_to_go_in_bytes(void)
{
	static const uint32_t bytes[] = {1000};
	struct wh_sim_queue_config config = red_config(
		(struct wh_sim_red_config){.weight = FROZEN, .no_wait = true, .in_bytes = true});
	struct gaps gaps = measure_gaps(&config, 10.0 * 500.0, bytes, 1);

	CU_ASSERT_EQUAL(gaps.least, 1);
	CU_ASSERT_TRUE(gaps.most == 9 || gaps.most == 10);
	CU_ASSERT_TRUE(fabs(gaps.mean - 5.0) <= 4.0 * 2.582 / sqrt(DROPS));
}

/* Nothing is early about a queue of one, nor about the first arrival above the threshold. */
static void counts_from_the_first_arrival_above_the_threshold(void)
{
	struct wh_sim_queue_config config =
		red_config((struct wh_sim_red_config){.weight = FROZEN, .not_gentle = true});
	struct queue_rig rig;

	rig_init(&rig, &config, 1000000, 1);
	rig.queue.red.average = 20.0;
	rig.queue.red.idle = false;
	rig_put(&rig, 0, 1000);
	rig_put(&rig, 0, 1000);
	CU_ASSERT_FALSE(rig.queue.red.above);
	CU_ASSERT_EQUAL(rig.queue.red.count_pkts, 2);

	rig_put(&rig, 0, 1000);
	CU_ASSERT_EQUAL(rig.early, 0);
	CU_ASSERT_TRUE(rig.queue.red.above);
	CU_ASSERT_EQUAL(rig.queue.red.count_pkts, 1);
	CU_ASSERT_EQUAL(rig.queue.red.count_bytes, 1000);

	rig_put(&rig, 0, 1000);
	CU_ASSERT_EQUAL(rig.early, 1);
	CU_ASSERT_EQUAL(rig.dropped_number, 3);
	CU_ASSERT_EQUAL(rig.queue.red.count_pkts, 0);

	/* Below again, and the counting begins anew. */
	rig.queue.red.average = 4.0;
	rig_put(&rig, 0, 1000);
	CU_ASSERT_FALSE(rig.queue.red.above);
	rig_free(&rig);
}

/* A scenario may ask for that; there is nothing between them, then. */
static void thresholds_may_be_upside_down(void)
{
	static const uint32_t bytes[] = {1000};
	struct wh_sim_queue_config config = red_config((struct wh_sim_red_config){
		.threshold_pkts = 20, .max_threshold_pkts = 15, .weight = FROZEN});

	/* Gentle at 20 of 15 ... 30: 0.4, as above. */
	CU_ASSERT_EQUAL(measure_gaps(&config, 20.0, bytes, 1).least, 3);
	config.red.not_gentle = true;
	CU_ASSERT_EQUAL(measure_gaps(&config, 20.0, bytes, 1).most, 1);
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
		struct wh_sim_queue_config config =
			red_config((struct wh_sim_red_config){.threshold_pkts = 100});
		struct queue_rig rig;

		config.limit_pkts = cases[i].limit_pkts;
		config.limit_bytes = cases[i].limit_bytes;
		rig_init(&rig, &config, 1000000, 1);
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

/* Of three that wait and the one that comes, each as often; the others keep their order. */
static void a_random_one_makes_room(void)
{
	struct wh_sim_queue_config config = red_config(
		(struct wh_sim_red_config){.threshold_pkts = 100, .drop_tail_off = true});
	unsigned int victims[4] = {0};
	const unsigned int rounds = 4000;

	config.limit_pkts = 3;
	for (unsigned int round = 0; round < rounds; round++) {
		struct queue_rig rig;

		rig_init(&rig, &config, 1000000, round);
		for (unsigned int n = 0; n < 4; n++)
			rig_put(&rig, 0, 1000 + n);
		CU_ASSERT_EQUAL_FATAL(rig.overflow, 1);
		victims[rig.dropped_number]++;
		CU_ASSERT_EQUAL(rig.queue.fifo.count_bytes, 4006 - 1000 - rig.dropped_number);
		for (uint64_t n = 0; n < 4; n++) {
			if (n != rig.dropped_number)
				CU_ASSERT_EQUAL(rig_take(&rig, 1), n);
		}
		CU_ASSERT_EQUAL(rig_take(&rig, 1), UINT64_MAX);
		rig_free(&rig);
	}
	/* 4 standard deviations: sqrt(4000 * 0.25 * 0.75) = 27.4. */
	for (unsigned int n = 0; n < 4; n++)
		CU_ASSERT_TRUE(fabs(victims[n] - rounds / 4.0) <= 4 * 27.4);
}

CU_TestInfo wh_tests[] = {
	{"defaults are ns-2's", defaults_are_ns2s},
	{"no line is too long for a weight", no_line_is_too_long_for_a_weight},
	{"what is given is no default", what_is_given_is_no_default},
	{"the average is of what arrivals meet", the_average_is_of_what_arrivals_meet},
	{"the average falls while the line is idle", the_average_falls_while_the_line_is_idle},
	{"a busy line with an empty queue is not idle",
		a_busy_line_with_an_empty_queue_is_not_idle},
	{"the drop probability is RED's", the_drop_probability_is_red_s},
	{"large packets are likelier to go in bytes", large_packets_are_likelier_to_go_in_bytes},
	{"counts from the first arrival above the threshold",
		counts_from_the_first_arrival_above_the_threshold},
	{"thresholds may be upside down", thresholds_may_be_upside_down},
	{"no more than the limit waits", no_more_than_the_limit_waits},
	{"a random one makes room", a_random_one_makes_room},
	CU_TEST_INFO_NULL,
};
