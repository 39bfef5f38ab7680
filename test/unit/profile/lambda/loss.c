/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/loss.h"

#include "unit.h"

const char wh_suite_name[] = "lambda_loss";

#define RTT_S 0.05
#define PKTS  10000

struct rig {
	struct wh_lambda_loss loss;
	double now_s, rate_pps;
};

/* A sample at the rate of now, of which so many were lost, so many in a row in the mean. */
static void judge_runs(struct rig *rig, uint64_t lost_pkts, uint64_t length)
{
	const struct wh_lambda_sample sample = {
		.seen_pkts = PKTS,
		.lost_pkts = lost_pkts,
		.lost_runs = (lost_pkts + length - 1) / length,
		.arrival_pps = rig->rate_pps * (double)(PKTS - lost_pkts) / PKTS,
	};

	rig->now_s += RTT_S;
	rig->rate_pps = wh_lambda_loss_judge(
		&rig->loss, &sample, rig->now_s, RTT_S, rig->rate_pps, rig->rate_pps);
}

static void judge(struct rig *rig, uint64_t lost_pkts)
{
	judge_runs(rig, lost_pkts, 1);
}

/* As much is lost at the lower rate: the rate comes back, and no more is made of it. */
static void test_noise(void)
{
	struct rig rig = {.rate_pps = 1000};

	judge(&rig, 0);
	judge(&rig, 100);
	CU_ASSERT_EQUAL(rig.loss.trial, WH_LAMBDA_LOWER);
	WH_ASSERT_NEAR(rig.rate_pps, 950, 1e-9);
	judge(&rig, 97);
	CU_ASSERT_EQUAL(rig.rate_pps, 1000);
	WH_ASSERT_NEAR(wh_lambda_loss_noise(&rig.loss), 197.0 / (20000 + 1000), 1e-9);
	judge(&rig, 110);
	CU_ASSERT_EQUAL(rig.loss.trial, WH_LAMBDA_NO_TRIAL);
	CU_ASSERT_EQUAL(rig.rate_pps, 1000);
	CU_ASSERT_EQUAL(rig.loss.ceiling_pps, 0.0);
}

/* Losses go at the lower rate and come back with the first one: a ceiling, tried more rarely. */
static void test_ceiling(void)
{
	struct rig rig = {.rate_pps = 1000};

	judge(&rig, 1000);
	WH_ASSERT_NEAR(rig.rate_pps, 882, 1e-9);
	judge(&rig, 0);
	CU_ASSERT_EQUAL(rig.loss.trial, WH_LAMBDA_AGAIN);
	CU_ASSERT_EQUAL(rig.rate_pps, 1000);
	judge(&rig, 1000);
	WH_ASSERT_NEAR(rig.rate_pps, 891, 1e-9);
	WH_ASSERT_NEAR(wh_lambda_loss_most_pps(&rig.loss, rig.now_s), 891, 1e-9);
	CU_ASSERT(wh_lambda_loss_most_pps(&rig.loss, rig.now_s + 1.1) > 1e9);

	rig.now_s += 1.1;
	rig.rate_pps = 900;
	judge(&rig, 50);
	WH_ASSERT_NEAR(rig.rate_pps, 891, 1e-9);
	WH_ASSERT_NEAR(wh_lambda_loss_most_pps(&rig.loss, rig.now_s + 1.9), 891, 1e-9);

	rig.now_s += 2.1;
	rig.rate_pps = 990;
	judge(&rig, 0);
	CU_ASSERT_EQUAL(rig.loss.ceiling_pps, 0.0);
	CU_ASSERT_EQUAL(wh_lambda_loss_noise(&rig.loss), 0.0);
}

/* A policer's bucket had filled: it seems to be gone, and is found where it was. */
static void test_ceiling_again(void)
{
	struct rig rig = {.rate_pps = 1000};

	for (int i = 0; i < 3; i++) {
		rig.rate_pps = 1000;
		judge(&rig, 1000);
		judge(&rig, 0);
		judge(&rig, 1000);
		WH_ASSERT_NEAR(rig.rate_pps, 891, 1e-9);
		CU_ASSERT(wh_lambda_loss_most_pps(&rig.loss, rig.now_s + 0.9 * (1 << i)) < 892);
		rig.now_s += 1.1 * (1 << i);
		CU_ASSERT(wh_lambda_loss_most_pps(&rig.loss, rig.now_s) > 1e9);
		rig.rate_pps = 990;
		judge(&rig, 0);
		CU_ASSERT_EQUAL(rig.loss.ceiling_pps, 0.0);
	}
}

/* Losses in bursts have a wider spread: that of their runs. */
static void test_spread(void)
{
	struct rig rig = {.rate_pps = 1000};

	for (unsigned int i = 0; i < 40; i++)
		judge_runs(&rig, i % 4 == 0 ? 20 : 0, 4);
	/* 4.3 expected, a variance of 7 times that: 3 sigmas are 16.5, and two bursts 14. */
	CU_ASSERT_TRUE(wh_lambda_loss_bearable(&rig.loss, PKTS, 34));
	CU_ASSERT_FALSE(wh_lambda_loss_bearable(&rig.loss, PKTS, 35));
}

/* Four bursts are chance, whatever they took; six may be tested. */
static void test_few(void)
{
	struct rig rig = {.rate_pps = 1000};

	judge_runs(&rig, 80, 20);
	CU_ASSERT_EQUAL(rig.loss.trial, WH_LAMBDA_NO_TRIAL);
	judge_runs(&rig, 40, 20);
	CU_ASSERT_EQUAL(rig.loss.trial, WH_LAMBDA_LOWER);
}

/* One burst instead of six at the lower rate is chance, too: more is sent at it until it shows. */
static void test_chance(void)
{
	struct rig rig = {.rate_pps = 1000};

	judge_runs(&rig, 120, 20);
	CU_ASSERT_EQUAL(wh_lambda_loss_sample_pkts(&rig.loss), 200);
	judge_runs(&rig, 20, 20);
	CU_ASSERT_EQUAL(rig.loss.trial, WH_LAMBDA_LOWER);
	WH_ASSERT_NEAR(rig.rate_pps, 950, 1e-9);
	judge_runs(&rig, 120, 20);
	CU_ASSERT_EQUAL(rig.loss.trial, WH_LAMBDA_NO_TRIAL);
	CU_ASSERT_EQUAL(rig.rate_pps, 1000);
	WH_ASSERT_NEAR(wh_lambda_loss_noise(&rig.loss), 260.0 / (30000 + 1000), 1e-9);
	/* From now on the runs tell how widely losses vary: 39 times their mean. */
	CU_ASSERT_TRUE(wh_lambda_loss_bearable(&rig.loss, PKTS, 300));
	CU_ASSERT_FALSE(wh_lambda_loss_bearable(&rig.loss, PKTS, 400));
	/* None of as many: that is no chance. */
	rig = (struct rig){.rate_pps = 1000};
	judge_runs(&rig, 160, 20);
	judge_runs(&rig, 0, 20);
	CU_ASSERT_EQUAL(rig.loss.trial, WH_LAMBDA_AGAIN);
}

/* A ceiling below which as much is lost as above it is none. */
static void test_disproved(void)
{
	struct rig rig = {.rate_pps = 1000};

	judge_runs(&rig, 160, 20);
	judge_runs(&rig, 0, 20);
	judge_runs(&rig, 160, 20);
	CU_ASSERT_TRUE(rig.loss.ceiling_pps > 0.0);
	judge_runs(&rig, 160, 20);
	CU_ASSERT_EQUAL(rig.loss.trial, WH_LAMBDA_LOWER);
	judge_runs(&rig, 60, 20);
	CU_ASSERT_TRUE(rig.loss.ceiling_pps > 0.0);
	judge_runs(&rig, 200, 20);
	CU_ASSERT_EQUAL(rig.loss.trial, WH_LAMBDA_NO_TRIAL);
	CU_ASSERT_EQUAL(rig.loss.ceiling_pps, 0.0);
}

CU_TestInfo wh_tests[] = {
	{"noise", test_noise},
	{"ceiling", test_ceiling},
	{"a ceiling that seemed to be gone", test_ceiling_again},
	{"spread", test_spread},
	{"few", test_few},
	{"chance", test_chance},
	{"disproved", test_disproved},
	CU_TEST_INFO_NULL,
};
