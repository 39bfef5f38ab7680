/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/share.h"

#include <math.h>

#include "unit.h"

const char wh_suite_name[] = "lambda_share";

#define HZ    1000000000
#define MS    UINT64_C(1000000)
#define UNIT  100000.0
#define CYCLE 30e-3

static struct wh_lambda_path path_of(double queue_s)
{
	return (struct wh_lambda_path){
		.hz = HZ,
		.least = {{.known = true, .rtt_tsc = 20 * MS}},
		.sample = {.queue_s = queue_s},
	};
}

/* Flows on one line, whose excess queues and whose lack drains the queue. */
struct line {
	uint32_t flows;
	struct wh_lambda_share share[30];
	double rate_pps[30];
	double queue_s, most_s;
};

static void pass(struct line *line, double time_s)
{
	line->most_s = 0.0;
	for (double now_s = 0.0; now_s < time_s; now_s += CYCLE) {
		struct wh_lambda_path path = path_of(line->queue_s);
		double sum_pps = 0.0;

		for (uint32_t i = 0; i < line->flows; i++) {
			line->rate_pps[i] = wh_lambda_share_rate(
				&line->share[i], &path, line->rate_pps[i], UNIT, CYCLE);
			sum_pps += line->rate_pps[i];
		}
		line->queue_s = fmax(line->queue_s + (sum_pps / UNIT - 1.0) * CYCLE, 0.0);
		line->most_s = fmax(line->most_s, line->queue_s);
	}
}

/* Two on one line, one with nine times as much, both of which were there before. */
static void test_equal(void)
{
	struct line line = {.flows = 2, .rate_pps = {0.9 * UNIT, 0.1 * UNIT}};

	pass(&line, 6.0);
	CU_ASSERT_TRUE(line.rate_pps[0] < 1.1 * line.rate_pps[1]);
	pass(&line, 10.0);
	WH_ASSERT_NEAR(line.rate_pps[0], UNIT / 2.0, 0.02 * UNIT);
	WH_ASSERT_NEAR(line.rate_pps[1], UNIT / 2.0, 0.02 * UNIT);
	CU_ASSERT_TRUE(line.most_s < 1e-3);
}

/* Thirty, of which each believes in another price: they agree on that of thirty. */
static void test_agree(void)
{
	struct line line = {.flows = 30};

	for (uint32_t i = 0; i < line.flows; i++) {
		line.rate_pps[i] = UNIT / 30.0;
		line.share[i] = (struct wh_lambda_share){.age_s = 1.0, .price = i / 6.0};
	}
	pass(&line, 10.0);
	for (uint32_t i = 0; i < line.flows; i++) {
		WH_ASSERT_NEAR(line.share[i].price, log(30.0), 0.1);
		WH_ASSERT_NEAR(line.rate_pps[i], UNIT / 30.0, 0.1 * UNIT / 30.0);
	}
}

/* A newcomer with a third of the line, to ten who share the rest. */
static void test_newcomer(void)
{
	struct line line = {.flows = 11};

	for (uint32_t i = 0; i < line.flows; i++) {
		line.rate_pps[i] = UNIT / 15.0;
		line.share[i] = (struct wh_lambda_share){.age_s = 10.0, .price = log(10.0)};
	}
	line.rate_pps[10] = UNIT / 3.0;
	line.share[10] = (struct wh_lambda_share){.joins = true};
	pass(&line, 5.0);
	for (uint32_t i = 0; i < line.flows; i++)
		WH_ASSERT_NEAR(line.rate_pps[i], UNIT / 11.0, 0.15 * UNIT / 11.0);
}

/* Who was there keeps its share at first, a newcomer is drawn to that of two. */
static void test_price(void)
{
	struct wh_lambda_share there = {0}, joins = {.joins = true};
	struct wh_lambda_path path = path_of(0.18e-3 + 0.015 * 20e-3 * log(2.0));

	there.queue_s = joins.queue_s = path.sample.queue_s;
	WH_ASSERT_NEAR(
		wh_lambda_share_rate(&there, &path, UNIT / 2.0, UNIT, CYCLE), UNIT / 2.0, 1e-3);
	WH_ASSERT_NEAR(there.price, log(2.0), 1e-9);
	WH_ASSERT_NEAR(
		wh_lambda_share_rate(&joins, &path, UNIT / 4.0, UNIT, CYCLE), 25394.63, 0.01);
	WH_ASSERT_NEAR(joins.price, 0.690098, 1e-6);
}

/* A whole product in the queue: no more than CUT_MOST, and the price rises by 3 in a second. */
static void test_cut(void)
{
	struct wh_lambda_share share = {.age_s = 10.0};
	struct wh_lambda_path path = path_of(20e-3);

	WH_ASSERT_NEAR(wh_lambda_share_rate(&share, &path, UNIT, UNIT, CYCLE), 40000.0, 1e-3);
	WH_ASSERT_NEAR(share.price, 3.0 * CYCLE, 1e-9);
}

static void test_contention(void)
{
	struct wh_lambda_share share = {0};
	struct wh_lambda_path queued = path_of(1e-3), empty = path_of(0.0);
	uint64_t now = HZ + 300 * MS;

	queued.sample.arrival_pps = 0.5 * UNIT;
	empty.sample.arrival_pps = 0.94 * UNIT;
	CU_ASSERT_FALSE(wh_lambda_share_contended(&share, &queued, HZ, 0.9 * UNIT, UNIT, 0.3));
	CU_ASSERT_FALSE(wh_lambda_share_contended(&share, &queued, HZ, 0.5 * UNIT, UNIT, 0.3));
	CU_ASSERT_FALSE(
		wh_lambda_share_contended(&share, &empty, HZ + 200 * MS, 0.5 * UNIT, UNIT, 0.3));
	CU_ASSERT_FALSE(wh_lambda_share_contended(&share, &queued, now, 0.5 * UNIT, UNIT, 0.4));
	CU_ASSERT_TRUE(wh_lambda_share_contended(&share, &queued, now, 0.5 * UNIT, UNIT, 0.3));
	empty.sample.arrival_pps = 0.92 * UNIT;
	CU_ASSERT_TRUE(
		wh_lambda_share_contended(&share, &empty, now + 151 * MS, 0.9 * UNIT, UNIT, 0.3));
	empty.sample.arrival_pps = 0.94 * UNIT;
	CU_ASSERT_TRUE(
		wh_lambda_share_contended(&share, &empty, now + 149 * MS, 0.9 * UNIT, UNIT, 0.3));
	CU_ASSERT_FALSE(
		wh_lambda_share_contended(&share, &empty, now + 151 * MS, 0.9 * UNIT, UNIT, 0.3));
	wh_lambda_share_begin(&share, 2 * now);
	CU_ASSERT_TRUE(wh_lambda_share_contended(&share, &empty, 2 * now, 0.0, UNIT, 0.3));
	CU_ASSERT_FALSE(share.joins);
	wh_lambda_share_join(&share, 2 * now);
	CU_ASSERT_TRUE(share.joins);
}

/* More is left of what arrives where a queue is seen, or who overflows it is long there. */
static void test_overflows(void)
{
	struct wh_lambda_share share = {.age_s = 2.9};
	struct wh_lambda_path path = path_of(5.9e-3);

	CU_ASSERT_EQUAL(wh_lambda_share_overflows(&share, &path, UNIT), UNIT);
	path.sample.arrival_pps = UNIT / 2.0;
	WH_ASSERT_NEAR(wh_lambda_share_overflows(&share, &path, UNIT), 0.25 * UNIT, 1e-6);
	CU_ASSERT_EQUAL(wh_lambda_share_overflows(&share, &path, UNIT / 10.0), UNIT / 10.0);
	path.sample.queue_s = 6.1e-3;
	WH_ASSERT_NEAR(wh_lambda_share_overflows(&share, &path, UNIT), 0.4 * UNIT, 1e-6);
	path.sample.queue_s = 5.9e-3;
	share.age_s = 3.1;
	WH_ASSERT_NEAR(wh_lambda_share_overflows(&share, &path, UNIT), 0.4 * UNIT, 1e-6);
}

/* When the others have gone, all of the line is taken within 14 turns. */
static void test_room(void)
{
	double rate_pps[2] = {UNIT / 10.0, UNIT / 20.0};

	for (int i = 0; i < 2; i++) {
		struct wh_lambda_share share = {
			.contended = true,
			.queued_tsc = HZ,
			.age_s = 10.0,
			.price = log(10.0),
			.capacity_pps = UNIT,
		};
		struct wh_lambda_path path = path_of(0.0);

		for (int sample = 1; sample <= 14; sample++) {
			path.moved_tsc = HZ + (uint64_t)(sample * CYCLE * HZ);
			rate_pps[i] = wh_lambda_share_rate(&share, &path, rate_pps[i], UNIT, CYCLE);
		}
	}
	CU_ASSERT_TRUE(rate_pps[0] > 0.99 * UNIT && rate_pps[0] < 1.1 * UNIT);
	CU_ASSERT_TRUE(rate_pps[1] > 0.6 * UNIT);
}

/* Who has lost packets at its start reduces its rate until the least delay falls no more. */
static void test_doubts(void)
{
	struct wh_lambda_share share = {.joins = true};
	struct wh_lambda_path path = path_of(0.0);
	double rate_pps = UNIT;

	path.seen_pkts = 32;
	path.delivered_pkts = 20;
	path.least[0].rtt_tsc = 40 * MS;
	for (int sample = 0; sample < 4; sample++) {
		double before_pps = rate_pps;

		path.least[0].rtt_tsc -= 4 * MS;
		path.sample.lost_pkts = sample == 0;
		rate_pps = wh_lambda_share_rate(&share, &path, rate_pps, UNIT, CYCLE);
		CU_ASSERT_TRUE(rate_pps <= 0.75 * before_pps);
	}
	rate_pps = wh_lambda_share_rate(&share, &path, rate_pps, UNIT, CYCLE);
	CU_ASSERT_EQUAL(share.doubts, 1);
	rate_pps = wh_lambda_share_rate(&share, &path, rate_pps, UNIT, CYCLE);
	CU_ASSERT_EQUAL(share.doubts, 0);
	CU_ASSERT_TRUE(wh_lambda_share_rate(&share, &path, rate_pps, UNIT, CYCLE) > rate_pps);
}

/* Whatever a peer says of times, a rate comes out that is more than nothing, and no flood. */
static void test_lies(void)
{
	static const double times_s[] = {0.0, 1e-9, 20e-3, 1e3, 1e9};

	for (size_t i = 0; i < 125; i++) {
		struct wh_lambda_share share = {.joins = i % 2 == 0};
		struct wh_lambda_path path = path_of(times_s[i % 5]);
		double cycle_s = fmax(times_s[i / 25], 1e-9), rate_pps = UNIT / 100.0;

		path.least[0].rtt_tsc = (uint64_t)(times_s[i / 5 % 5] * HZ);
		for (int sample = 0; sample < 10; sample++)
			rate_pps = wh_lambda_share_rate(&share, &path, rate_pps, UNIT, cycle_s);
		CU_ASSERT_TRUE(rate_pps > 0.0 && rate_pps <= 1024.0 * UNIT / 100.0);
		CU_ASSERT_TRUE(share.price >= -1.0 && share.price <= 7.0);
	}
}

CU_TestInfo wh_tests[] = {
	{"equal", test_equal},
	{"agree", test_agree},
	{"newcomer", test_newcomer},
	{"price", test_price},
	{"cut", test_cut},
	{"contention", test_contention},
	{"overflows", test_overflows},
	{"room", test_room},
	{"doubts", test_doubts},
	{"lies", test_lies},
	CU_TEST_INFO_NULL,
};
