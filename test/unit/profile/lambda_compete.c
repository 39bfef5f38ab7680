/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda_compete.h"

#include "unit.h"

const char wh_suite_name[] = "lambda_compete";

#define HZ    1000000000
#define CLEAR 1e-3

struct rig {
	struct wh_lambda_compete compete;
	struct wh_lambda_path path;
	uint64_t sent_pkts;
};

static struct rig begun(double window_pkts)
{
	struct rig rig = {.path = {.hz = HZ, .seen_pkts = 1000, .delivered_pkts = 1000}};

	rig.sent_pkts = 1000 + (uint64_t)window_pkts;
	wh_lambda_compete_begin(&rig.compete, &rig.path, rig.sent_pkts, window_pkts);
	return rig;
}

/* A state that sees so many more, of which some are lost, behind so much of a queue. */
static void hear(struct rig *rig, uint64_t seen_pkts, uint64_t lost_pkts, double queue_s)
{
	rig->path.seen_pkts += seen_pkts;
	rig->path.delivered_pkts += seen_pkts - lost_pkts;
	rig->path.queue_s = queue_s;
	rig->sent_pkts += seen_pkts;
	wh_lambda_compete_hear(&rig->compete, &rig->path, rig->sent_pkts, 0.0, CLEAR);
}

/* Three quarters of a packet in a round trip. */
static void test_growth(void)
{
	struct rig rig = begun(100);

	hear(&rig, 50, 0, 20e-3);
	hear(&rig, 50, 0, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 100.0 + 0.375 + 0.375 * 100.0 / 100.375, 1e-9);
}

/* To 0.7 of it, once for all that went before the cut. */
static void test_cut(void)
{
	struct rig rig = begun(100);

	hear(&rig, 10, 1, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 70.0, 1e-9);
	hear(&rig, 50, 5, 20e-3);
	hear(&rig, 50, 5, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 70.0, 1e-9);
	hear(&rig, 10, 1, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 49.0, 0.1);
}

/* Without the queue that stood before, nothing has overflown. */
static void test_loss_without_queue(void)
{
	struct rig rig = begun(100);

	hear(&rig, 10, 0, 20e-3);
	hear(&rig, 10, 1, 1e-3);
	CU_ASSERT(rig.compete.window_pkts > 100.0);
}

static void test_least_window(void)
{
	struct rig rig = begun(3);

	for (int i = 0; i < 20; i++)
		hear(&rig, 10, 10, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 2.0, 1e-9);
}

/* Thirty round trips without a queue, and the others are gone; one with it, and they are not. */
static void test_end(void)
{
	struct rig rig = begun(100);

	for (int i = 0; i < 29; i++)
		hear(&rig, 200, 0, 0.5e-3);
	hear(&rig, 200, 0, 2e-3);
	hear(&rig, 200, 0, 2e-3);
	for (int i = 0; i < 29; i++)
		hear(&rig, 200, 0, 0.5e-3);
	CU_ASSERT_TRUE(rig.compete.on);
	hear(&rig, 200, 0, 0.5e-3);
	CU_ASSERT_FALSE(rig.compete.on);
}

/* A queue for as long as it takes is others'; one that goes in between begins anew. */
static void test_filled(void)
{
	struct wh_lambda_path path = {
		.hz = HZ,
		.least = {{.known = true, .rtt_tsc = HZ / 50}},
		.sample = {.queue_s = 20e-3},
	};
	struct wh_lambda_compete compete = {0};

	CU_ASSERT_FALSE(wh_lambda_compete_fills(&compete, &path, HZ, 500.0, 1e-4));
	CU_ASSERT_FALSE(wh_lambda_compete_fills(&compete, &path, HZ + HZ / 4, 100.0, 1e-4));
	path.sample.queue_s = 1e-3;
	CU_ASSERT_FALSE(wh_lambda_compete_fills(&compete, &path, HZ + HZ / 2, 100.0, 1e-4));
	path.sample.queue_s = 20e-3;
	CU_ASSERT_FALSE(wh_lambda_compete_fills(&compete, &path, 2 * (uint64_t)HZ, 90.0, 1e-4));
	CU_ASSERT_TRUE(wh_lambda_compete_fills(&compete, &path, (uint64_t)(2.6 * HZ), 50.0, 1e-4));
	CU_ASSERT_EQUAL(compete.full_pps, 90.0);
}

/* What seemed a longer way and falls was a queue; what stays is a longer way. */
static void test_disproved(void)
{
	struct wh_lambda_path path = {.hz = HZ, .least = {{.known = true, .rtt_tsc = HZ / 50}}};
	struct wh_lambda_compete compete = {0};

	wh_lambda_compete_doubt(&compete, &path, HZ);
	path.least[0].rtt_tsc = HZ / 25;
	CU_ASSERT_FALSE(wh_lambda_compete_disproves(&compete, &path, HZ + 1));
	path.least[0].rtt_tsc = HZ / 25 - HZ / 2500;
	CU_ASSERT_FALSE(wh_lambda_compete_disproves(&compete, &path, HZ + 2));
	path.least[0].rtt_tsc = HZ / 25 - HZ / 500;
	CU_ASSERT_TRUE(wh_lambda_compete_disproves(&compete, &path, HZ + 3));
	CU_ASSERT_EQUAL(path.least[0].rtt_tsc, HZ / 50);
	CU_ASSERT_FALSE(wh_lambda_compete_disproves(&compete, &path, HZ + 4));
}

CU_TestInfo wh_tests[] = {
	{"growth", test_growth},
	{"cut", test_cut},
	{"loss without queue", test_loss_without_queue},
	{"least window", test_least_window},
	{"end", test_end},
	{"filled", test_filled},
	{"disproved", test_disproved},
	CU_TEST_INFO_NULL,
};
