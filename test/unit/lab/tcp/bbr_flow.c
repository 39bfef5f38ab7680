/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rig.h"

const char wh_suite_name[] = "sim_tcp_bbr_flow";

static struct rig rig;

static double share_of_line(double seconds, double from_s, double line_bps)
{
	rig_connect(&rig);
	wh_sim_tcp_offer(rig.tcp, 0, UINT64_MAX);
	rig_run_to(&rig, (uint64_t)(from_s * (double)WH_PS_PER_S));
	uint64_t before = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes;

	rig_run_to(&rig, (uint64_t)(seconds * (double)WH_PS_PER_S));
	uint64_t bytes = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes - before;

	return (double)bytes * 8 / (seconds - from_s) / (line_bps * 1460 / 1500);
}

/* BBR itself: 2 % of 10 Mb/s are lost, and what is left is used. */
static void bbr_minds_no_loss(void)
{
	rig_open_lossy(&rig, WH_SIM_TCP_BBR, 1, 0.02, 50);
	rig.config.window_pkts = 0;

	double share = share_of_line(20, 2, 10e6);

	CU_ASSERT_TRUE(share > 0.9 && share < 0.98);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
	rig_close(&rig);
}

static void bbr_fills_a_path_without_a_queue(void)
{
	rig_open_path(&rig, WH_SIM_TCP_BBR, 100000000, 50 * MS_PS, 0);
	rig.config.window_pkts = 0;

	double share = share_of_line(20, 2, 100e6);

	CU_ASSERT_TRUE(share > 0.95);
	CU_ASSERT_TRUE(wh_sim_link_stats(rig.sim, rig.link)->queue_max_pkts < 2000);
	rig_close(&rig);
}

/* A window of one segment: one in each round trip, for ever. */
static void bbr_lives_with_a_window_of_one(void)
{
	rig_open_path(&rig, WH_SIM_TCP_BBR, 10000000, 5 * MS_PS, 0);
	rig.config.window_pkts = 1;

	double share = share_of_line(20, 1, 10e6);

	/* 1500 bytes take 1.2 ms, the way 10 ms, the acknowledgement 32 us. */
	WH_ASSERT_NEAR(share, 1.2 / 11.232, 0.02);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
	rig_close(&rig);
}

static void open_path_with(struct wh_sim_link_config link)
{
	link.rate_bps = 100000000;
	link.queue.limit_pkts = 400;
	rig_open_links(&rig, WH_SIM_TCP_BBR, 1, link);
	rig.config.window_pkts = 0;
}

/* Three in a hundred come a millisecond late: none goes again but for what the queue dropped. */
static void bbr_waits_for_what_is_only_late(void)
{
	open_path_with((struct wh_sim_link_config){
		.delay_ps = 10 * MS_PS, .reorder = 0.03, .reorder_delay_ps = MS_PS});
	CU_ASSERT_TRUE(share_of_line(10, 2, 100e6) > 0.97);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(rig.sim, rig.flow)->retransmitted_pkts,
		wh_sim_link_stats(rig.sim, rig.link)->overflow_pkts);
	rig_close(&rig);
}

/* A round trip ten times as long from one moment on: twice the old product, for ten seconds. */
static void bbr_learns_a_longer_way(void)
{
	open_path_with((struct wh_sim_link_config){.delay_ps = 20 * MS_PS,
		.delay_steps = {.count = 1, .step = {{5 * WH_PS_PER_S, 200 * MS_PS}}}});
	CU_ASSERT_TRUE(share_of_line(10, 6, 100e6) < 0.4);
	CU_ASSERT_TRUE(rig.tcp->bbr.min_rtt_ps < 50 * MS_PS);
	rig_run_to(&rig, 15 * WH_PS_PER_S);
	CU_ASSERT_TRUE(rig.tcp->bbr.min_rtt_ps >= 400 * MS_PS);
	uint64_t before = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes;

	rig_run_to(&rig, 20 * WH_PS_PER_S);
	uint64_t bytes = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes - before;

	CU_ASSERT_TRUE((double)bytes * 8 / 5 > 0.9 * 100e6 * 1460 / 1500);
	rig_close(&rig);
}

/* Everything is lost for three seconds: it goes on where it was, with what it knew. */
static void bbr_outlives_an_outage(void)
{
	open_path_with((struct wh_sim_link_config){.delay_ps = 10 * MS_PS,
		.loss.outage = {{.start_ns = 3000000000, .length_ns = 3000000000}},
		.loss.n_outages = 1});
	CU_ASSERT_TRUE(share_of_line(12, 8, 100e6) > 0.9);
	CU_ASSERT_TRUE(rig.tcp->timeouts >= 2 && rig.tcp->timeouts <= 6);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"BBR minds no loss", bbr_minds_no_loss},
	{"BBR fills a path without a queue", bbr_fills_a_path_without_a_queue},
	{"BBR lives with a window of one", bbr_lives_with_a_window_of_one},
	{"BBR waits for what is only late", bbr_waits_for_what_is_only_late},
	{"BBR learns a longer way", bbr_learns_a_longer_way},
	{"BBR outlives an outage", bbr_outlives_an_outage},
	CU_TEST_INFO_NULL,
};
