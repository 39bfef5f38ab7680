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
	CU_ASSERT_TRUE(rate_pps[0] < 1.05 * rate_pps[1]);
	CU_ASSERT_TRUE(rate_pps[0] + rate_pps[1] > 0.95 * UNIT);
	CU_ASSERT_TRUE(most_s < 2e-3);
}

/* The same for all, whatever each believes of the way. */
static void test_push(void)
{
	struct wh_lambda_share share = {.capacity_pps = UNIT / 2.0};
	struct wh_lambda_path path = path_of(0.0);

	WH_ASSERT_NEAR(wh_lambda_share_rate(&share, &path, UNIT / 4.0, UNIT, CYCLE), 25500.0, 1e-6);
}

/* Half a product in the queue takes more than half of the rate, but no more than CUT_MOST. */
static void test_cut(void)
{
	struct wh_lambda_share share = {0};
	struct wh_lambda_path path = path_of(20e-3);

	WH_ASSERT_NEAR(wh_lambda_share_rate(&share, &path, UNIT, UNIT, CYCLE), 40050.0, 1e-6);
}

static void test_crowd(void)
{
	struct wh_lambda_share share = {0};
	struct wh_lambda_path queued = path_of(1e-3), empty = path_of(0.0);
	uint64_t now = HZ + 1600 * MS;

	CU_ASSERT_FALSE(wh_lambda_share_crowded(&share, &queued, HZ, 0.9 * UNIT, UNIT));
	CU_ASSERT_FALSE(wh_lambda_share_crowded(&share, &queued, HZ, 0.5 * UNIT, UNIT));
	CU_ASSERT_FALSE(wh_lambda_share_crowded(&share, &empty, HZ + HZ, 0.5 * UNIT, UNIT));
	CU_ASSERT_TRUE(wh_lambda_share_crowded(&share, &queued, now, 0.5 * UNIT, UNIT));
	CU_ASSERT_TRUE(wh_lambda_share_crowded(&share, &empty, now + 499 * MS, 0.9 * UNIT, UNIT));
	CU_ASSERT_FALSE(wh_lambda_share_crowded(&share, &empty, now + 501 * MS, 0.9 * UNIT, UNIT));
	wh_lambda_share_begin(&share, 2 * now);
	CU_ASSERT_TRUE(wh_lambda_share_crowded(&share, &empty, 2 * now, 0.0, UNIT));
}

/* When the others have gone, the room is taken in some tens of samples. */
static void test_room(void)
{
	struct wh_lambda_share share = {.crowded = true, .queued_tsc = HZ};
	struct wh_lambda_path path = path_of(0.0);
	double rate_pps = UNIT / 10.0;

	for (int sample = 0; sample < 16; sample++) {
		(void)wh_lambda_share_crowded(&share, &path, HZ, rate_pps, UNIT);
		rate_pps = wh_lambda_share_rate(&share, &path, rate_pps, UNIT, CYCLE);
	}
	CU_ASSERT_TRUE(rate_pps > UNIT);
}

CU_TestInfo wh_tests[] = {
	{"equal", test_equal},
	{"push", test_push},
	{"cut", test_cut},
	{"crowd", test_crowd},
	{"room", test_room},
	CU_TEST_INFO_NULL,
};
