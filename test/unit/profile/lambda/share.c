/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/share.h"

#include "unit.h"

const char wh_suite_name[] = "lambda_share";

#define HZ    1000000000
#define MS    UINT64_C(1000000)
#define UNIT  100000.0
#define CYCLE 25e-3

static struct wh_lambda_path path_of(double queue_s)
{
	return (struct wh_lambda_path){
		.hz = HZ,
		.least = {{.known = true, .rtt_tsc = 20 * MS}},
		.sample = {.queue_s = queue_s},
	};
}

/* Two on one way, one with nine times as much; what is beyond its capacity queues once. */
static void test_equal(void)
{
	struct wh_lambda_share share[2] = {0};
	double rate_pps[2] = {0.9 * UNIT, 0.1 * UNIT}, queue_s = 0.0, most_s = 0.0;

	for (int cycle = 0; cycle < 1000; cycle++) {
		struct wh_lambda_path path = path_of(queue_s);
		double excess = (rate_pps[0] + rate_pps[1]) / UNIT - 1.0;

		for (int i = 0; i < 2; i++) {
			(void)wh_lambda_share_crowded(&share[i], &path, 1, 0.0, UNIT);
			rate_pps[i] =
				wh_lambda_share_rate(&share[i], &path, rate_pps[i], UNIT, CYCLE);
		}
		queue_s = excess > 0.0 ? excess * 20e-3 : 0.0;
		if (cycle > 200 && queue_s > most_s)
			most_s = queue_s;
	}
	CU_ASSERT_TRUE(rate_pps[0] < 1.1 * rate_pps[1]);
	CU_ASSERT_TRUE(rate_pps[0] + rate_pps[1] > 0.95 * UNIT);
	CU_ASSERT_TRUE(most_s < 2e-3);
}

/* The same for all, whatever each believes of the way. */
static void test_push(void)
{
	struct wh_lambda_share share = {.capacity_pps = UNIT / 2.0};
	struct wh_lambda_path path = path_of(0.0);

	WH_ASSERT_NEAR(
		wh_lambda_share_rate(&share, &path, UNIT / 4.0, UNIT, CYCLE), 26749.835, 1e-3);
}

/* Half a product in the queue takes more than half of the rate, but no more than CUT_MOST. */
static void test_cut(void)
{
	struct wh_lambda_share share = {0};
	struct wh_lambda_path path = path_of(20e-3);

	WH_ASSERT_NEAR(wh_lambda_share_rate(&share, &path, UNIT, UNIT, CYCLE), 40349.967, 1e-3);
}

/* Of two with cycles of half a second who is farther away cuts more. */
static void test_cut_far(void)
{
	struct wh_lambda_path path = path_of(20e-3);
	double cut[2];

	for (int far = 0; far < 2; far++) {
		struct wh_lambda_share share = {.settled_s = 100.0, .queue_s = 20e-3};

		path.least[0].rtt_tsc = (uint64_t)((far ? 0.37 : 0.185) * HZ);
		cut[far] = UNIT - wh_lambda_share_rate(&share, &path, UNIT, UNIT, 0.5);
	}
	CU_ASSERT_TRUE(cut[0] > 0.0);
	CU_ASSERT_TRUE(cut[1] > 3.0 * cut[0]);
}

static void test_crowd(void)
{
	struct wh_lambda_share share = {0};
	struct wh_lambda_path queued = path_of(1e-3), empty = path_of(0.0);
	uint64_t now = HZ + 1000 * MS;

	CU_ASSERT_FALSE(wh_lambda_share_crowded(&share, &queued, HZ, 0.9 * UNIT, UNIT));
	CU_ASSERT_FALSE(wh_lambda_share_crowded(&share, &queued, HZ, 0.5 * UNIT, UNIT));
	CU_ASSERT_FALSE(wh_lambda_share_crowded(&share, &empty, HZ + 900 * MS, 0.5 * UNIT, UNIT));
	CU_ASSERT_TRUE(wh_lambda_share_crowded(&share, &queued, now, 0.5 * UNIT, UNIT));
	CU_ASSERT_TRUE(wh_lambda_share_crowded(&share, &empty, now + 149 * MS, 0.9 * UNIT, UNIT));
	CU_ASSERT_FALSE(wh_lambda_share_crowded(&share, &empty, now + 151 * MS, 0.9 * UNIT, UNIT));
	wh_lambda_share_begin(&share, 2 * now);
	CU_ASSERT_TRUE(wh_lambda_share_crowded(&share, &empty, 2 * now, 0.0, UNIT));
}

/* Somebody brings a queue: all push again; not again while they still do so. */
static void test_comes(void)
{
	struct wh_lambda_share share = {.settled_s = 100.0};
	struct wh_lambda_path small = path_of(2.9e-3), large = path_of(3.1e-3);

	(void)wh_lambda_share_rate(&share, &small, UNIT, UNIT, CYCLE);
	WH_ASSERT_NEAR(share.settled_s, 100.0 + CYCLE, 1e-9);
	(void)wh_lambda_share_rate(&share, &large, UNIT, UNIT, CYCLE);
	CU_ASSERT_EQUAL(share.settled_s, 0.0);
	(void)wh_lambda_share_rate(&share, &large, UNIT, UNIT, CYCLE);
	WH_ASSERT_NEAR(share.settled_s, CYCLE, 1e-9);
}

static void test_overflows(void)
{
	struct wh_lambda_path path = path_of(0.0);

	CU_ASSERT_EQUAL(wh_lambda_share_overflows(&path, UNIT), UNIT);
	path.sample.arrival_pps = UNIT / 2.0;
	WH_ASSERT_NEAR(wh_lambda_share_overflows(&path, UNIT), 0.4 * UNIT, 1e-6);
	CU_ASSERT_EQUAL(wh_lambda_share_overflows(&path, UNIT / 10.0), UNIT / 10.0);
}

/* When the others have gone, the room is taken in some tens of samples. */
static void test_room(void)
{
	struct wh_lambda_share share = {.crowded = true, .queued_tsc = HZ};
	struct wh_lambda_path path = path_of(0.0);
	double rate_pps = UNIT / 10.0;

	for (int sample = 0; sample < 24; sample++) {
		(void)wh_lambda_share_crowded(&share, &path, HZ, rate_pps, UNIT);
		rate_pps = wh_lambda_share_rate(&share, &path, rate_pps, UNIT, CYCLE);
	}
	CU_ASSERT_TRUE(rate_pps > UNIT);
}

CU_TestInfo wh_tests[] = {
	{"equal", test_equal},
	{"push", test_push},
	{"cut", test_cut},
	{"cut far", test_cut_far},
	{"comes", test_comes},
	{"overflows", test_overflows},
	{"crowd", test_crowd},
	{"room", test_room},
	CU_TEST_INFO_NULL,
};
