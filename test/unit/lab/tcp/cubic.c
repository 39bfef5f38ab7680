/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rig.h"

const char wh_suite_name[] = "sim_tcp_cubic";

static struct rig rig;

static double grow_at(double t_s, double rtt_s)
{
	rig.tcp->rto.sample_ps = (uint64_t)(rtt_s * 1e12);
	rig.tcp->acked_pkts = 1;
	rig.tcp->ops->grow(rig.tcp, (uint64_t)(t_s * 1e12));
	return rig.tcp->cwnd;
}

/* A loss at `window` outside slow start, then an epoch that begins at 1 s. */
static void lose_at(double window)
{
	rig_open(&rig, WH_SIM_TCP_CUBIC);
	rig_start(&rig);
	rig.tcp->cwnd = window;
	rig.tcp->ssthresh = 2;
	rig.tcp->cwnd = rig.tcp->ops->keep(rig.tcp, window, WH_SIM_CUT_BY_DUPLICATES);
	rig.tcp->ssthresh = rig.tcp->cwnd;
}

/* W_max = 1000: 700 are left, K is the cube root of 300 / 0.4; W_cubic by equation (1). */
static void follows_the_cubic(void)
{
	lose_at(1000);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 700);
	grow_at(1.0, 0.1);
	WH_ASSERT_NEAR(rig.tcp->cubic.k_s, 9.0856, 1e-5);
	WH_ASSERT_NEAR(wh_sim_cubic_window(&rig.tcp->cubic, 0.4, 0), 700, 1e-9);
	WH_ASSERT_NEAR(wh_sim_cubic_window(&rig.tcp->cubic, 0.4, rig.tcp->cubic.k_s), 1000, 1e-12);
	WH_ASSERT_NEAR(
		wh_sim_cubic_window(&rig.tcp->cubic, 0.4, 2 * rig.tcp->cubic.k_s), 1300, 1e-9);
	WH_ASSERT_NEAR(wh_sim_cubic_window(&rig.tcp->cubic, 0.4, 4), 1000 - 0.4 * 131.5260, 1e-4);
	/* Of W(4 + 0.1), a part of the way: 1000 - 0.4 * 123.9135 = 950.4346. */
	rig.tcp->cwnd = 945;
	rig.tcp->cubic.w_est_pkts = 0;
	WH_ASSERT_NEAR(grow_at(5.0, 0.1), 945 + (950.4346 - 945) / 945, 1e-7);
	/* Never by more than half a window a round. */
	rig.tcp->cwnd = 100;
	rig.tcp->ssthresh = 2;
	WH_ASSERT_NEAR(grow_at(5.0, 0.1), 100.5, 1e-12);
	/* And never down. */
	rig.tcp->cwnd = 990;
	CU_ASSERT_EQUAL(grow_at(5.0, 0.1), 990);
	rig_close(&rig);
}

/* Small window, short path: alpha = 3 * 0.3 / 1.7 a round, and 1 from the window of before on. */
static void is_reno_where_reno_is_faster(void)
{
	lose_at(20);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 14);
	double w = 14 + 0.9 / 1.7 / 14;

	WH_ASSERT_NEAR(grow_at(1.0, 0.001), w, 1e-9);
	WH_ASSERT_NEAR(grow_at(1.001, 0.001), w + 0.9 / 1.7 / w, 1e-9);
	rig.tcp->cwnd = 25;
	rig.tcp->cubic.w_est_pkts = 25;
	WH_ASSERT_NEAR(grow_at(1.002, 0.001), 25.04, 1e-9);
	rig_close(&rig);
}

static void converges_fast(void)
{
	lose_at(1000);
	rig.tcp->cwnd = 800;
	CU_ASSERT_EQUAL(rig.tcp->ops->keep(rig.tcp, 800, WH_SIM_CUT_BY_DUPLICATES), 560);
	CU_ASSERT_EQUAL(rig.tcp->cubic.w_max_pkts, 680);
	CU_ASSERT_EQUAL(rig.tcp->cubic.prior_cwnd_pkts, 800);
	rig.tcp->ops->keep(rig.tcp, 900, WH_SIM_CUT_BY_DUPLICATES);
	CU_ASSERT_EQUAL(rig.tcp->cubic.w_max_pkts, 900);
	rig_close(&rig);
}

/* Section 4.8: the first avoidance after a timeout begins flat, at its own window. */
static void begins_flat_after_a_timeout(void)
{
	lose_at(1000);
	WH_ASSERT_NEAR(rig.tcp->ops->keep(rig.tcp, 800, WH_SIM_CUT_BY_TIMEOUT), 560, 1e-12);
	rig.tcp->cwnd = 560;
	rig.tcp->ssthresh = 560;
	grow_at(7.0, 0.01);
	CU_ASSERT_EQUAL(rig.tcp->cubic.k_s, 0);
	CU_ASSERT_EQUAL(rig.tcp->cubic.origin_pkts, 560);
	WH_ASSERT_NEAR(wh_sim_cubic_window(&rig.tcp->cubic, 0.4, 10), 960, 1e-12);
	rig_close(&rig);
}

/* RFC 3742 with 10: by 1/K, K = int(w / 5), and CUBIC's own way after the first loss. */
static void limits_slow_start(void)
{
	rig_open(&rig, WH_SIM_TCP_CUBIC);
	rig.config.max_ssthresh_pkts = 10;
	rig_start(&rig);
	rig.tcp->cwnd = 20;
	WH_ASSERT_NEAR(grow_at(1.0, 0.1), 20.25, 1e-12);
	WH_ASSERT_NEAR(grow_at(9.0, 0.1), 20.5, 1e-12);
	rig.tcp->cut = WH_SIM_CUT_REPAIRED;
	WH_ASSERT_NEAR(grow_at(10.0, 0.1), 20.5 + 1 / 20.5, 1e-12);
	rig_close(&rig);
}

/* Alone on 100 Mb/s and 100 ms with a queue of half the product: nearly full, few losses. */
static void fills_a_long_path(void)
{
	rig_open_path(&rig, WH_SIM_TCP_CUBIC, 100000000, 50 * MS_PS, 416);
	rig.config.window_pkts = 5000;
	rig_connect(&rig);
	wh_sim_tcp_offer(rig.tcp, 0, UINT64_MAX);
	rig_run_to(&rig, 20 * WH_PS_PER_S);
	uint64_t before = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes;

	rig_run_to(&rig, 60 * WH_PS_PER_S);
	uint64_t bytes = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes - before;

	CU_ASSERT_TRUE((double)bytes * 8 / 40 > 0.95 * 100e6 * 1460 / 1500);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"follows the cubic", follows_the_cubic},
	{"is Reno where Reno is faster", is_reno_where_reno_is_faster},
	{"converges fast", converges_fast},
	{"begins flat after a timeout", begins_flat_after_a_timeout},
	{"limits slow start", limits_slow_start},
	{"fills a long path", fills_a_long_path},
	CU_TEST_INFO_NULL,
};
