/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "tcp_rig.h"

const char wh_suite_name[] = "sim_tcp_bbr3_flow";

static struct rig rig;

/* Of 100 Mb/s over 100 ms, after the first two seconds. */
static double share_of_line(uint32_t queue_pkts)
{
	rig_open_path(&rig, WH_SIM_TCP_BBR3, 100000000, 50 * MS_PS, queue_pkts);
	rig.config.window_pkts = 0;
	rig_connect(&rig);
	wh_sim_tcp_offer(rig.tcp, 0, UINT64_MAX);
	rig_run_to(&rig, 2 * WH_PS_PER_S);
	uint64_t before = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes;

	rig_run_to(&rig, 20 * WH_PS_PER_S);
	uint64_t bytes = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes - before;

	return (double)bytes * 8 / 18 / (100e6 * 1460 / 1500);
}

static double lost_share(void)
{
	const struct wh_sim_link_stats *stats = wh_sim_link_stats(rig.sim, rig.link);

	return (double)stats->overflow_pkts / (double)stats->entered_pkts;
}

static void it_fills_a_line_without_losses(void)
{
	double share = share_of_line(4000);

	CU_ASSERT_TRUE(share >= 0.95 && share <= 1);
	CU_ASSERT_EQUAL(lost_share(), 0);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
	rig_close(&rig);
}

/* A tenth of a product: the first version loses thirty in a thousand there, this one eleven. */
static void it_minds_losses_in_a_short_queue(void)
{
	double share = share_of_line(83);

	CU_ASSERT_TRUE(share > 0.85);
	CU_ASSERT_TRUE(lost_share() < 0.015);
	CU_ASSERT_FALSE(isinf(rig.tcp->bbr.inflight_longterm_pkts));
	rig_close(&rig);
}

/* Nothing is lost for good, however small the window is. */
static void it_lives_with_a_window_of_one(void)
{
	rig_open_path(&rig, WH_SIM_TCP_BBR3, 10000000, 5 * MS_PS, 0);
	rig.config.window_pkts = 1;
	rig_connect(&rig);
	wh_sim_tcp_offer(rig.tcp, 0, UINT64_MAX);
	rig_run_to(&rig, 10 * WH_PS_PER_S);
	/* 1500 bytes take 1.2 ms, the way 10 ms, the acknowledgement 32 us. */
	WH_ASSERT_NEAR((double)wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes / 1460,
		10 / 0.011232, 20 * 0.011232 / 10);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"it fills a line without losses", it_fills_a_line_without_losses},
	{"it minds losses in a short queue", it_minds_losses_in_a_short_queue},
	{"it lives with a window of one", it_lives_with_a_window_of_one},
	CU_TEST_INFO_NULL,
};
