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

/* Two dips of 200 ms that are ten seconds apart tell, for two and a half of such times. */
static void test_dips(void)
{
	struct rig rig = rig_of();

	stand(&rig, 3.0, 20e-3);
	stand(&rig, 0.2, 0.0);
	stand(&rig, 10.0, 20e-3);
	CU_ASSERT_FALSE(about(&rig));
	stand(&rig, 0.2, 0.0);
	stand(&rig, 0.01, 20e-3);
	CU_ASSERT_TRUE(about(&rig));
	stand(&rig, 24.0, 20e-3);
	CU_ASSERT_TRUE(about(&rig));
	stand(&rig, 2.0, 20e-3);
	CU_ASSERT_FALSE(about(&rig));
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

/* Who is sure by two dips overlooks one that does not fit, but not that the queue stays empty. */
static void test_sure(void)
{
	for (int gone = 0; gone < 2; gone++) {
		struct rig rig = rig_of();

		for (int dip = 0; dip < 2; dip++) {
			stand(&rig, 10.0, 20e-3);
			stand(&rig, 0.2, 0.0);
		}
		stand(&rig, 5.0, 20e-3);
		CU_ASSERT_TRUE(about(&rig));
		stand(&rig, gone ? 1.9 : 1.8, 0.0); /* four times 0.46 s */
		CU_ASSERT_EQUAL(about(&rig), !gone);
		stand(&rig, 1.0, 20e-3);
		CU_ASSERT_EQUAL(about(&rig), !gone);
	}
}

/* A queue that stands only for a part of a cycle, both in round trips; the number of cycles. */
static void pulse(struct rig *rig, int cycles, double apart, double wide, double high)
{
	const double rtt_s = 20e-3;

	for (int cycle = 0; cycle < cycles; cycle++)
		for (double at = 0.0; at < apart; at += STATE_S / rtt_s) {
			rig->path.queue_s = at < wide ? high * rtt_s : 0.05 * high * rtt_s;
			wh_lambda_bbr_watch_pulses(
				&rig->bbr, &rig->path, (uint64_t)(rig->now_s * HZ));
			rig->now_s += STATE_S;
		}
}

/* One in eight round trips, four times after the first; one that is overlooked does no harm. */
static void test_pulses(void)
{
	struct rig rig = rig_of();

	pulse(&rig, 2, 8.0, 2.0, 0.25);
	pulse(&rig, 1, 16.0, 2.0, 0.25);
	pulse(&rig, 2, 9.25, 2.0, 0.25);
	CU_ASSERT_FALSE(about(&rig));
	pulse(&rig, 1, 8.0, 2.0, 0.25);
	CU_ASSERT_TRUE(about(&rig));
}

/* Too soon, too late, too long, too high and hardly seen. */
static void test_no_pulses(void)
{
	const struct {
		double apart, wide, high;
	} cases[] = {{6.0, 1.5, 0.25}, {11.0, 2.0, 0.25}, {8.0, 3.0, 0.25}, {8.0, 2.0, 0.45},
		{8.0, 2.0, 0.025}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig = rig_of();

		pulse(&rig, 20, cases[i].apart, cases[i].wide, cases[i].high);
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
	{"no dips", test_no_dips},
	{"sure", test_sure},
	{"pulses", test_pulses},
	{"no pulses", test_no_pulses},
	{"rate", test_rate},
	{"parts", test_parts},
	CU_TEST_INFO_NULL,
};
