/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/bbr.h"

#include "unit.h"

const char wh_suite_name[] = "lambda_bbr";

#define HZ      1000000000
#define STATE_S 5e-3
#define WAY     50000.0

struct rig {
	struct wh_lambda_bbr bbr;
	struct wh_lambda_path path;
	double now_s;
};

static struct rig rig_of(void)
{
	return (struct rig){
		.path = {.hz = HZ, .least = {{.known = true, .rtt_tsc = HZ / 50}}},
		.now_s = 1.0,
	};
}

/* States for so long behind so much of a queue. */
static void stand(struct rig *rig, double for_s, double queue_s)
{
	for (double end_s = rig->now_s + for_s; rig->now_s < end_s; rig->now_s += STATE_S) {
		rig->path.queue_s = queue_s;
		wh_lambda_bbr_watch(&rig->bbr, &rig->path, (uint64_t)(rig->now_s * HZ));
	}
}

static bool about(const struct rig *rig)
{
	return wh_lambda_bbr_about(&rig->bbr, &rig->path, (uint64_t)(rig->now_s * HZ));
}

/* A dip of 200 ms tells until another is due, two that are ten seconds apart for longer. */
static void test_dips(void)
{
	struct rig rig = rig_of();

	stand(&rig, 3.0, 20e-3);
	CU_ASSERT_FALSE(about(&rig));
	stand(&rig, 0.2, 0.0);
	stand(&rig, 10.0, 20e-3);
	CU_ASSERT_TRUE(about(&rig));
	CU_ASSERT_FALSE(rig.bbr.twice);
	stand(&rig, 0.2, 0.0);
	stand(&rig, 0.01, 20e-3);
	CU_ASSERT_TRUE(about(&rig));
	CU_ASSERT_TRUE(rig.bbr.twice);
	stand(&rig, 24.0, 20e-3);
	CU_ASSERT_TRUE(about(&rig));
	stand(&rig, 2.0, 20e-3);
	CU_ASSERT_FALSE(about(&rig));
}

/* Without another when it is due the first dip was of others. */
static void test_one_dip(void)
{
	struct rig rig = rig_of();

	stand(&rig, 3.0, 20e-3);
	stand(&rig, 0.2, 0.0);
	stand(&rig, 11.9, 20e-3);
	CU_ASSERT_TRUE(about(&rig));
	stand(&rig, 0.2, 20e-3);
	CU_ASSERT_FALSE(about(&rig));
}

/* A dip within a second after losses is that of flows that heed them. */
static void test_dip_after_losses(void)
{
	for (int soon = 0; soon < 2; soon++) {
		struct rig rig = rig_of();

		stand(&rig, 1.0, 20e-3);
		rig.bbr.lost_tsc = (uint64_t)(rig.now_s * HZ);
		stand(&rig, soon ? 0.9 : 1.1, 20e-3);
		stand(&rig, 0.2, 0.0);
		stand(&rig, 0.01, 20e-3);
		CU_ASSERT_EQUAL(about(&rig), !soon);
	}
}

/* Dips that come at other times, or are longer, are those of flows that heed losses. */
static void test_no_dips(void)
{
	const struct {
		double dip_s, apart_s, between_s;
	} cases[] = {{0.2, 8.0, 0.0}, {0.2, 14.0, 0.0}, {0.6, 10.0, 0.0}, {0.2, 10.0, 0.15},
		{0.05, 10.0, 0.0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig = rig_of();

		for (int dip = 0; dip < 3; dip++) {
			stand(&rig, cases[i].apart_s / 2.0, 20e-3);
			stand(&rig, cases[i].between_s, 0.0);
			stand(&rig, cases[i].apart_s / 2.0, 20e-3);
			stand(&rig, cases[i].dip_s, 0.0);
		}
		stand(&rig, 0.01, 20e-3);
		CU_ASSERT_FALSE(about(&rig));
	}
}

/* The most of ten rounds; a quarter more in one of eight, and a quarter less after it. */
static void test_rate(void)
{
	struct rig rig = rig_of();
	double sum_pps = 0.0;

	wh_lambda_bbr_end_round(&rig.bbr, &rig.path, 1000.0, WAY);
	for (int round = 0; round < 8; round++) {
		wh_lambda_bbr_end_round(&rig.bbr, &rig.path, 500.0, WAY);
		sum_pps += wh_lambda_bbr_pps(&rig.bbr);
		WH_ASSERT_NEAR(wh_lambda_bbr_window_pkts(&rig.bbr, &rig.path), 40.0, 1e-9);
	}
	WH_ASSERT_NEAR(sum_pps, 8000.0, 1e-9);
	for (int round = 0; round < 2; round++)
		wh_lambda_bbr_end_round(&rig.bbr, &rig.path, 500.0, WAY);
	WH_ASSERT_NEAR(wh_lambda_bbr_window_pkts(&rig.bbr, &rig.path), 20.0, 1e-9);
}

/* What arrives in half a round trip counts, but none that others leave for 200 ms. */
static void test_parts(void)
{
	struct rig rig = rig_of();

	rig.path.arrived_tsc = HZ;
	wh_lambda_bbr_end_round(&rig.bbr, &rig.path, 100.0, WAY);
	rig.path.arrived_tsc += HZ / 100;
	wh_lambda_bbr_arrived(&rig.bbr, &rig.path, 10.0, WAY);
	WH_ASSERT_NEAR(wh_lambda_bbr_window_pkts(&rig.bbr, &rig.path), 40.0, 1e-9);
	rig.path.arrived_tsc += HZ / 100;
	wh_lambda_bbr_arrived(&rig.bbr, &rig.path, 30.0, 2000.0);
	WH_ASSERT_NEAR(wh_lambda_bbr_window_pkts(&rig.bbr, &rig.path), 80.0, 1e-9);
	rig.bbr.low = true;
	rig.path.arrived_tsc += HZ / 100;
	wh_lambda_bbr_arrived(&rig.bbr, &rig.path, 100.0, WAY);
	WH_ASSERT_NEAR(wh_lambda_bbr_window_pkts(&rig.bbr, &rig.path), 80.0, 1e-9);
}

CU_TestInfo wh_tests[] = {
	{"dips", test_dips},
	{"one dip", test_one_dip},
	{"dip after losses", test_dip_after_losses},
	{"no dips", test_no_dips},
	{"rate", test_rate},
	{"parts", test_parts},
	CU_TEST_INFO_NULL,
};
