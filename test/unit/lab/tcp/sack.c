/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_rig.h"

const char wh_suite_name[] = "sim_tcp_sack";

static struct rig rig;

/* 64 out, 62 to 125, none of them acknowledged. */
static void open_64(void)
{
	rig_open(&rig, WH_SIM_TCP_SACK);
	rig_start(&rig);
	rig_ack_each(&rig, 1, 62);
	CU_ASSERT_EQUAL_FATAL(rig.n_seen, 126);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 64);
}

/*
 * 62, 70, 71 and 90 are lost: 60 arrive and tell so. Pipe is 61 when the first goes again, and
 * below the window of 32 with the 30th of the 57 duplicates after that; then each sends one.
 */
static void repairs_several_holes_in_a_round(void)
{
	open_64();
	rig_sack_each(&rig, 62, 63, 63, 65);
	CU_ASSERT_EQUAL(rig.n_seen, 126);
	rig_ack_ranges(&rig, 62, (struct wh_sim_sack[]){{63, 66}, {0, 0}});
	CU_ASSERT_EQUAL(rig.n_seen, 127);
	CU_ASSERT_EQUAL(rig.seen[126].pn, 62);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 32);
	CU_ASSERT_EQUAL(rig.tcp->sacked.pipe_pkts, 61);

	for (uint64_t e = 67; e <= 70; e++)
		rig_ack_ranges(&rig, 62, (struct wh_sim_sack[]){{63, e}, {0, 0}});
	for (uint64_t e = 73; e <= 90; e++)
		rig_ack_ranges(&rig, 62, (struct wh_sim_sack[]){{72, e}, {63, 70}, {0, 0}});
	CU_ASSERT_EQUAL(rig.tcp->sacked.pipe_pkts, 39);
	for (uint64_t e = 92; e <= 98; e++)
		rig_ack_ranges(
			&rig, 62, (struct wh_sim_sack[]){{91, e}, {72, 90}, {63, 70}, {0, 0}});
	CU_ASSERT_EQUAL(rig.tcp->sacked.pipe_pkts, 32);
	CU_ASSERT_EQUAL(rig.n_seen, 127);
	for (uint64_t e = 99; e <= 126; e++)
		rig_ack_ranges(
			&rig, 62, (struct wh_sim_sack[]){{91, e}, {72, 90}, {63, 70}, {0, 0}});
	CU_ASSERT_EQUAL(rig.n_seen, 127 + 28);
	CU_ASSERT_EQUAL(rig.seen[127].pn, 70);
	CU_ASSERT_EQUAL(rig.seen[128].pn, 71);
	CU_ASSERT_EQUAL(rig.seen[129].pn, 90);
	CU_ASSERT_EQUAL(rig.seen[130].pn, 126);
	CU_ASSERT_EQUAL(rig.seen[154].pn, 150);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(rig.sim, rig.flow)->retransmitted_pkts, 4);

	/* All of what was outstanding at the loss is there: recovery is over, with half. */
	rig_ack(&rig, 126);
	CU_ASSERT_FALSE(rig.tcp->sacked.recovering);
	CU_ASSERT_EQUAL(rig.tcp->cwnd, 32);
	CU_ASSERT_EQUAL(rig.n_seen, 155 + 7);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
	rig_close(&rig);
}

/* A partial acknowledgement counts for two: what was lost and what went instead. */
static void a_partial_ack_opens_the_pipe(void)
{
	open_64();
	rig_sack_each(&rig, 62, 63, 63, 70);
	CU_ASSERT_EQUAL(rig.tcp->sacked.pipe_pkts, 57);
	rig_ack_ranges(&rig, 70, (struct wh_sim_sack[]){{71, 72}, {0, 0}});
	CU_ASSERT_EQUAL(rig.tcp->sacked.pipe_pkts, 55);
	CU_ASSERT_TRUE(rig.tcp->sacked.recovering);
	CU_ASSERT_EQUAL(rig.tcp->una, 70);
	rig_close(&rig);
}

/* Duplicates that tell nothing new are no sign of a loss. */
static void duplicates_need_news(void)
{
	open_64();
	for (unsigned int i = 0; i < 10; i++)
		rig_ack_ranges(&rig, 62, (struct wh_sim_sack[]){{63, 64}, {0, 0}});
	CU_ASSERT_EQUAL(rig.tcp->duplicates, 1);
	CU_ASSERT_EQUAL(rig.n_seen, 126);
	rig_ack_times(&rig, 62, 10);
	CU_ASSERT_EQUAL(rig.tcp->duplicates, 1);
	rig_close(&rig);
}

/* A hole that is lost again waits for the timer; the timer forgets the ranges. */
static void a_hole_goes_once(void)
{
	open_64();
	rig_sack_each(&rig, 62, 63, 63, 126);
	uint32_t times = 0;

	for (uint32_t i = 126; i < rig.n_seen; i++)
		times += rig.seen[i].pn == 62;
	CU_ASSERT_EQUAL(times, 1);
	uint32_t seen = rig.n_seen;

	rig_run_to(&rig, rig.now_ps + 300 * MS_PS);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 1);
	CU_ASSERT_EQUAL(rig.n_seen, seen + 1);
	CU_ASSERT_EQUAL(rig.seen[seen].pn, 62);
	CU_ASSERT_EQUAL(rig.tcp->sacked.ranges.count, 0);
	/* Until something new is acknowledged duplicates are of before the timeout. */
	rig_sack_each(&rig, 62, 63, 63, 70);
	CU_ASSERT_EQUAL(rig.n_seen, seen + 1);
	CU_ASSERT_EQUAL(rig.tcp->duplicates, 0);
	CU_ASSERT_EQUAL(rig.tcp->sacked.ranges.count, 0);
	rig_ack(&rig, 63);
	rig_sack_each(&rig, 63, 64, 64, 66);
	CU_ASSERT_EQUAL(rig.tcp->duplicates, 2);
	rig_close(&rig);
}

/* In recovery, too, no more is sent than the receiver's window has room for. */
static void the_window_is_a_limit_in_recovery(void)
{
	rig_open(&rig, WH_SIM_TCP_SACK);
	rig.config.window_pkts = 16;
	rig_start(&rig);
	rig_ack_each(&rig, 1, 30);
	CU_ASSERT_EQUAL(rig.n_seen, 46);
	rig_sack_each(&rig, 30, 31, 31, 46);
	CU_ASSERT_EQUAL(rig.n_seen, 47);
	CU_ASSERT_EQUAL(rig.seen[46].pn, 30);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"repairs several holes in a round", repairs_several_holes_in_a_round},
	{"a partial ack opens the pipe", a_partial_ack_opens_the_pipe},
	{"duplicates need news", duplicates_need_news},
	{"a hole goes once", a_hole_goes_once},
	{"the window is a limit in recovery", the_window_is_a_limit_in_recovery},
	CU_TEST_INFO_NULL,
};
