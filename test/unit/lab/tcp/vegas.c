/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rig.h"

const char wh_suite_name[] = "sim_tcp_vegas";

static struct rig rig;

/*
 * 10 Mb/s and 20 ms each way: a segment of 1040 bytes takes 0.832 ms, an acknowledgement 0.032,
 * so the base RTT is 40.864 ms and a window of 49.1 segments keeps the line busy. Between alpha,
 * one, and beta, three, more wait in the queue.
 */
static void settles_between_alpha_and_beta(void)
{
	rig_open_path(&rig, WH_SIM_TCP_VEGAS, 10000000, 20 * MS_PS, 100);
	rig.config.segment_bytes = 1000;
	rig.config.window_pkts = 0;
	rig_connect(&rig);
	wh_sim_tcp_offer(rig.tcp, 0, UINT64_MAX);
	rig_run_to(&rig, 10 * WH_PS_PER_S);
	double cwnd = rig.tcp->cwnd;
	uint64_t before = wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes;

	CU_ASSERT_TRUE(cwnd >= 49.1);
	CU_ASSERT_TRUE(cwnd <= 53.1);
	rig_run_to(&rig, 20 * WH_PS_PER_S);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, cwnd);
	WH_ASSERT_NEAR(rig.tcp->vegas.base_rtt_ps, 40.864e9, 1e-9);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(rig.sim, rig.flow)->dropped_pkts, 0);
	/* All of the line: 1201.9 segments a second. */
	WH_ASSERT_NEAR(
		wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes - before, 12019000, 1e-3);
	rig_close(&rig);
}

/* Every second round only: 1, 1, 2, 2, ... and the initial window of 2 in between. */
static void slow_start_doubles_every_other_round(void)
{
	static const double cwnd[] = {1, 1, 3, 3, 6, 6, 12, 12, 24, 24};

	rig_open_path(&rig, WH_SIM_TCP_VEGAS, 1000000000, 50 * MS_PS, 0);
	rig.config.window_pkts = 0;
	rig_connect(&rig);
	wh_sim_tcp_offer(rig.tcp, 0, UINT64_MAX);
	for (unsigned int i = 0; i < sizeof(cwnd) / sizeof(cwnd[0]); i++) {
		rig_run_to(&rig, (100 * i + 60) * MS_PS);
		CU_ASSERT_EQUAL(rig.tcp->cwnd, cwnd[i]);
	}
	rig_close(&rig);
}

/* In avoidance: between 1 s and 2 s there are ten rounds. */
static void avoidance_adds_one_a_round(void)
{
	rig_open_path(&rig, WH_SIM_TCP_VEGAS, 1000000000, 50 * MS_PS, 0);
	rig.config.window_pkts = 0;
	rig.config.initial_ssthresh_pkts = 2;
	rig_connect(&rig);
	wh_sim_tcp_offer(rig.tcp, 0, UINT64_MAX);
	rig_run_to(&rig, 1060 * MS_PS);
	double before = rig.tcp->cwnd;

	rig_run_to(&rig, 2060 * MS_PS);
	CU_ASSERT_DOUBLE_EQUAL(rig.tcp->cwnd - before, 10, 1);
	rig_close(&rig);
}

/* Opens the window to 16 by hand, with 16 out. */
static void open_16(void)
{
	rig_open(&rig, WH_SIM_TCP_VEGAS);
	rig_start(&rig);
	rig_ack_each(&rig, 1, 2);
	rig.tcp->cwnd = 16;
	rig.tcp->ssthresh = 2;
	rig.tcp->vegas.growth_pkts = 0;
	rig.tcp->vegas.mark = 1000000;
	rig_ack(&rig, 3);
	CU_ASSERT_EQUAL_FATAL(rig.tcp->next, 19);
}

/* The third duplicate: a quarter goes, and what was lost goes again. */
static void three_duplicates_cost_a_quarter(void)
{
	open_16();
	rig.tcp->vegas.patience_ps = 10e12;
	uint32_t seen = rig.n_seen;

	rig_ack_times(&rig, 3, 2);
	CU_ASSERT_EQUAL(rig.n_seen, seen);
	rig_ack(&rig, 3);
	CU_ASSERT_EQUAL(rig.seen[seen].pn, 3);
	CU_ASSERT_EQUAL(rig.tcp->vegas.kept_cwnd_pkts, 12);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 15);
	CU_ASSERT_EQUAL(rig.tcp->rto.backoff, 2);
	rig_ack(&rig, 3);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 16);
	rig_ack(&rig, 19);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 12);
	CU_ASSERT_EQUAL(rig.tcp->ssthresh, 2);
	rig_close(&rig);
}

/* Its own time is up: the first duplicate is enough. */
static void one_duplicate_of_an_old_segment(void)
{
	open_16();
	CU_ASSERT_TRUE(rig.tcp->vegas.patience_ps < 100e9);
	rig_run_to(&rig, rig.now_ps + 100 * MS_PS);
	uint32_t seen = rig.n_seen;

	rig_ack(&rig, 3);
	CU_ASSERT_EQUAL(rig.n_seen, seen + 1);
	CU_ASSERT_EQUAL(rig.seen[seen].pn, 3);
	CU_ASSERT_EQUAL(rig.tcp->vegas.kept_cwnd_pkts, 12);
	CU_ASSERT_EQUAL(rig.tcp->duplicates, 3);

	/* The next hole is as old: found with the acknowledgement, its window is cut already. */
	rig_run_to(&rig, rig.now_ps + 100 * MS_PS);
	rig_ack(&rig, 7);
	CU_ASSERT_EQUAL(rig.seen[seen + 1].pn, 7);
	CU_ASSERT_EQUAL(rig.tcp->vegas.worried, 1);
	CU_ASSERT_EQUAL(rig.tcp->vegas.kept_cwnd_pkts, 12);
	rig_close(&rig);
}

/* The first segment of all, sent when the clock shows 0: it costs a quarter like any other. */
static void the_first_segment_is_lost_at_time_zero(void)
{
	rig_open(&rig, WH_SIM_TCP_VEGAS);
	rig.config.initial_cwnd_pkts = 16;
	rig_start(&rig);
	CU_ASSERT_EQUAL(rig.tcp->rack.sent.slot[0].sent_ps, 0);
	rig_ack_times(&rig, 0, 4);
	CU_ASSERT_EQUAL(rig.tcp->vegas.kept_cwnd_pkts, 12);
	rig_ack(&rig, 16);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 12);
	CU_ASSERT_EQUAL(rig.tcp->next, 28);
	rig_close(&rig);
}

/* What is acknowledged again with nothing on the way says nothing of the window. */
static void duplicates_of_an_idle_end(void)
{
	rig_open(&rig, WH_SIM_TCP_VEGAS);
	rig.config.initial_cwnd_pkts = 4;
	rig_connect(&rig);
	rig_become_idle(&rig);
	CU_ASSERT_EQUAL_FATAL(rig.tcp->una, rig.tcp->sent_end);

	double cwnd = rig.tcp->cwnd;

	rig_ack_times(&rig, 2, 5);
	wh_sim_tcp_offer(rig.tcp, rig.now_ps, UINT64_MAX);
	rig_step(&rig);
	rig_ack(&rig, 3);
	CU_ASSERT_TRUE(rig.tcp->cwnd >= cwnd);
	CU_ASSERT_TRUE(rig.tcp->next > 3);
	rig_close(&rig);
}

static void a_timeout_leaves_two(void)
{
	open_16();
	uint32_t seen = rig.n_seen;

	rig_run_to(&rig, rig.now_ps + 250 * MS_PS);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 1);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 2);
	CU_ASSERT_EQUAL(rig.tcp->ssthresh, 8);
	CU_ASSERT_EQUAL(rig.tcp->vegas.kept_cwnd_pkts, 2);
	CU_ASSERT_EQUAL(rig.n_seen, seen + 2);
	CU_ASSERT_EQUAL(rig.seen[seen].pn, 3);
	CU_ASSERT_EQUAL(rig.seen[seen + 1].pn, 4);
	rig_close(&rig);
}

/* Segments of more slots than at first keep their times. */
static void slots_grow(void)
{
	rig_open(&rig, WH_SIM_TCP_VEGAS);
	rig.config.initial_cwnd_pkts = 60;
	rig_start(&rig);
	CU_ASSERT_EQUAL(rig.tcp->rack.sent.slots, 64);
	rig.tcp->cwnd = 300;
	wh_sim_tcp_send_window(rig.tcp, rig.now_ps, 0);
	CU_ASSERT_EQUAL(rig.tcp->rack.sent.slots, 512);
	for (uint64_t s = 0; s < 300; s++) {
		CU_ASSERT_FALSE(rig.tcp->rack.sent.slot[s].twice);
		CU_ASSERT_EQUAL(rig.tcp->rack.sent.slot[s].sent_ps, s < 60 ? 0 : rig.now_ps);
	}
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"settles between alpha and beta", settles_between_alpha_and_beta},
	{"slow start doubles every other round", slow_start_doubles_every_other_round},
	{"avoidance adds one a round", avoidance_adds_one_a_round},
	{"three duplicates cost a quarter", three_duplicates_cost_a_quarter},
	{"one duplicate of an old segment", one_duplicate_of_an_old_segment},
	{"a timeout leaves two", a_timeout_leaves_two},
	{"slots grow", slots_grow},
	{"the first segment is lost at time zero", the_first_segment_is_lost_at_time_zero},
	{"duplicates of an idle end", duplicates_of_an_idle_end},
	CU_TEST_INFO_NULL,
};
