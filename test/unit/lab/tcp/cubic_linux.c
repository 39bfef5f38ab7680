/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rig.h"

const char wh_suite_name[] = "sim_tcp_cubic_linux";

static struct rig rig;

static void open_linux(void)
{
	rig_open(&rig, WH_SIM_TCP_CUBIC);
	wh_sim_tcp_config_as_linux(&rig.config);
}

static void start(void)
{
	open_linux();
	rig_start(&rig);
	CU_ASSERT_EQUAL(rig.n_seen, 10);
	rig.tcp->cubic.min_rtt_ps = 100 * MS_PS;
	rig.tcp->ssthresh = 2;
}

static double grow_at(double t_s, uint64_t acked)
{
	rig.tcp->acked_pkts = acked;
	rig.tcp->ops->grow(rig.tcp, (uint64_t)(t_s * 1e12));
	return rig.tcp->cwnd;
}

/* 1000 * 717 / 1024 = 700.195; K = cbrt(299.805 * 1024 / 410) = 9.08068 s. */
static void follows_the_cubic_of_the_least_round_trip(void)
{
	start();
	rig.tcp->cwnd = rig.tcp->ops->keep(rig.tcp, 1000, WH_SIM_CUT_BY_DUPLICATES);
	WH_ASSERT_NEAR(rig.tcp->cwnd, 700.1953125, 1e-12);
	/* 100 ms on: 1000 - 0.400390625 * 8.98068^3 = 709.9924; a 700.2nd of the way. */
	WH_ASSERT_NEAR(grow_at(1, 1), 700.1953125 + 9.7971 / 700.1953, 1e-7);
	WH_ASSERT_NEAR(rig.tcp->cubic.k_s, 9.08068, 1e-6);
	/* 4 s on: 1000 - 0.400390625 * 4.98068^3 = 950.5294. */
	rig.tcp->cwnd = 945;
	rig.tcp->cubic.w_est_pkts = 0;
	WH_ASSERT_NEAR(grow_at(5, 2), 945 + 2 * 5.5294 / 945, 1e-7);
	/* Not more than half a segment for each. */
	rig.tcp->cwnd = 100;
	WH_ASSERT_NEAR(grow_at(5, 1), 100.5, 1e-12);
	/* As good as nothing above it. */
	rig.tcp->cwnd = 990;
	WH_ASSERT_NEAR(grow_at(5, 1), 990 + 1 / 99000.0, 1e-9);
	rig_close(&rig);
}

/* 8 / 15 of a segment a round: 14 by 14 acknowledgements. */
static void is_reno_where_reno_is_faster(void)
{
	start();
	rig.tcp->cubic.min_rtt_ps = MS_PS;
	rig.tcp->cubic.w_max_pkts = 20;
	rig.tcp->cwnd = 14;
	grow_at(1, 1);
	rig.tcp->cwnd = 14;
	rig.tcp->cubic.w_est_pkts = 14 + 0.5 - 8 / 15.0;
	WH_ASSERT_NEAR(grow_at(1.001, 14), 14.5, 1e-9);
	rig_close(&rig);
}

/* No loss yet: one for twenty; and HyStart's end is no loss. */
static void grows_a_twentieth_before_the_first_loss(void)
{
	start();
	rig.tcp->cwnd = 1000;
	WH_ASSERT_NEAR(grow_at(1, 2), 1000.1, 1e-9);
	rig_close(&rig);
}

static void converges_fast(void)
{
	start();
	rig.tcp->ops->keep(rig.tcp, 1000, WH_SIM_CUT_BY_DUPLICATES);
	WH_ASSERT_NEAR(rig.tcp->ops->keep(rig.tcp, 800, WH_SIM_CUT_BY_DUPLICATES), 560.15625, 1e-9);
	WH_ASSERT_NEAR(rig.tcp->cubic.w_max_pkts, 800 * 1741 / 2048.0, 1e-12);
	rig.tcp->ops->keep(rig.tcp, 700, WH_SIM_CUT_BY_TIMEOUT);
	CU_ASSERT_EQUAL(rig.tcp->cubic.w_max_pkts, 0);
	CU_ASSERT_EQUAL(rig.tcp->cubic.min_rtt_ps, 0);
	rig_close(&rig);
}

/* By what is acknowledged, however many acknowledgements say it; and no further than that. */
static void slow_start_counts_segments(void)
{
	start();
	rig.tcp->ssthresh = 15;
	rig.tcp->cubic.w_max_pkts = 100;
	rig.tcp->cwnd = 10;
	CU_ASSERT_EQUAL(grow_at(1, 4), 14);
	double grown = grow_at(1, 4);

	CU_ASSERT_TRUE(grown > 15 && grown <= 16.5);
	rig_close(&rig);
}

/* A round of late ones: slow start is over, and nothing was lost. */
static void hystart_ends_slow_start(void)
{
	open_linux();
	rig.config.initial_cwnd_pkts = 20;
	rig_start(&rig);
	rig_ack(&rig, 1);
	CU_ASSERT_TRUE(rig.tcp->ssthresh > 100);
	WH_ASSERT_NEAR(rig.tcp->cubic.min_rtt_ps, MS_PS, 1e-4);
	for (uint64_t next = 2; next <= 31; next++) {
		rig_run_to(&rig, rig.now_ps + 3 * MS_PS);
		rig_ack(&rig, next);
	}
	CU_ASSERT_TRUE(rig.tcp->ssthresh <= rig.tcp->cwnd);
	CU_ASSERT_EQUAL(rig.tcp->cut, WH_SIM_CUT_NEVER);
	rig_close(&rig);
}

static uint64_t lost_in_slow_start(bool hystart)
{
	uint64_t lost;

	rig_open_path(&rig, WH_SIM_TCP_CUBIC, 100000000, 50 * MS_PS, 416);
	wh_sim_tcp_config_as_linux(&rig.config);
	rig.config.window_pkts = 5000;
	rig.config.hystart = hystart;
	rig_connect(&rig);
	wh_sim_tcp_offer(rig.tcp, 0, UINT64_MAX);
	rig_run_to(&rig, 2 * WH_PS_PER_S);
	lost = wh_sim_link_stats(rig.sim, rig.link)->overflow_pkts;
	rig_run_to(&rig, 20 * WH_PS_PER_S);
	uint64_t before = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes;

	rig_run_to(&rig, 60 * WH_PS_PER_S);
	uint64_t bytes = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes - before;

	CU_ASSERT_TRUE((double)bytes * 8 / 40 > 0.95 * 100e6 * 1460 / 1500);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
	rig_close(&rig);
	return lost;
}

/* 833 on the way and 416 in the queue; HyStart sees the queue, if a little late. */
static void fills_a_long_path(void)
{
	CU_ASSERT_TRUE(lost_in_slow_start(false) > 400);
	CU_ASSERT_TRUE(lost_in_slow_start(true) < 30);
}

/* 300 segments over a path that loses up to a fifth both ways, by seed: all arrive, once. */
static void bad_paths_are_finished(void)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct wh_prng prng;

		wh_prng_init(&prng, seed);
		rig_open_lossy(&rig, WH_SIM_TCP_CUBIC, seed, 0.2 * wh_prng_unit(&prng),
			(uint32_t)wh_prng_below(&prng, 20));
		wh_sim_tcp_config_as_linux(&rig.config);
		rig.config.window_pkts = (uint32_t)wh_prng_below(&prng, 100);
		rig.config.handshake = wh_prng_below(&prng, 2) == 0;
		rig.config.delayed_ack = wh_prng_below(&prng, 2) == 0;
		rig_connect(&rig);
		wh_sim_tcp_offer(rig.tcp, 0, 300);
		rig_run_to(&rig, 10000 * WH_PS_PER_S);
		CU_ASSERT_EQUAL_FATAL(wh_sim_tcp_acked_pkts(rig.tcp), 300);
		CU_ASSERT_EQUAL(wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes, 300 * 1460);
		rig_close(&rig);
	}
}

CU_TestInfo wh_tests[] = {
	{"follows the cubic of the least round trip", follows_the_cubic_of_the_least_round_trip},
	{"is Reno where Reno is faster", is_reno_where_reno_is_faster},
	{"grows a twentieth before the first loss", grows_a_twentieth_before_the_first_loss},
	{"converges fast", converges_fast},
	{"slow start counts segments", slow_start_counts_segments},
	{"HyStart ends slow start", hystart_ends_slow_start},
	{"fills a long path", fills_a_long_path},
	{"bad paths are finished", bad_paths_are_finished},
	CU_TEST_INFO_NULL,
};
