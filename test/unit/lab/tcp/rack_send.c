/* SPDX-License-Identifier: BSD-3-Clause */
#include "rack_rig.h"

const char wh_suite_name[] = "sim_tcp_rack_send";

/* Two round trips and 2 ms after the last, a new one goes; the one before the last is missing. */
static void probes_the_tail(void)
{
	rack_start(4);
	rig_ack(&rig, 2);
	rig.tcp->cwnd = 1;
	rig_run_to(&rig, rig.now_ps + 2 * MS_PS);
	CU_ASSERT_EQUAL(rig.n_seen, 6);
	rig_run_to(&rig, rig.now_ps + 2 * MS_PS);
	CU_ASSERT_EQUAL(rig.n_seen, 7);
	CU_ASSERT_EQUAL(rack_last_seen(), 6);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
	/* One alone goes: the next waits for the timeout. */
	rig_run_to(&rig, rig.now_ps + 100 * MS_PS);
	CU_ASSERT_EQUAL(rig.n_seen, 7);
	wh_sim_tcp_stop(rig.tcp);
	/* It arrives: the others went long before it. */
	rack_sack(2, 6, 7);
	CU_ASSERT_EQUAL(latest.lost_pkts, 4);
	CU_ASSERT_EQUAL(rig.tcp->rack.state, WH_SIM_RACK_RECOVERY);
	rig_close(&rig);
}

/* The same with nothing new: the last goes again. */
static void probes_with_the_last_one(void)
{
	rack_start(4);
	rig_ack(&rig, 2);
	wh_sim_tcp_stop(rig.tcp);
	rig_run_to(&rig, rig.now_ps + 4 * MS_PS);
	CU_ASSERT_EQUAL(rig.n_seen, 7);
	CU_ASSERT_EQUAL(rack_last_seen(), 5);
	CU_ASSERT_TRUE(rig.seen[6].retransmission);
	rig_close(&rig);
}

/* Everything is lost, or the receiver stops: one at a time, each wait twice as long. */
static void a_silence_is_asked_ever_more_rarely(void)
{
	rack_start(8);
	rig_ack(&rig, 4);
	uint32_t before = rig.n_seen;
	uint64_t at_ps[3];

	for (int i = 0; i < 3; i++) {
		while (rig.tcp->timeouts == (uint64_t)i)
			rig_step(&rig);
		at_ps[i] = rig.now_ps;
		CU_ASSERT_EQUAL(rig.tcp->rack.state, WH_SIM_RACK_LOSS);
		CU_ASSERT_EQUAL(rig.tcp->cwnd, 1);
		CU_ASSERT_EQUAL(rack_last_seen(), 4);
		CU_ASSERT_EQUAL(wh_sim_sent_in_flight(&rig.tcp->rack.sent), 1);
	}
	CU_ASSERT_EQUAL(events[1], WH_SIM_RACK_RECOVERS);
	CU_ASSERT_EQUAL(events[2], WH_SIM_RACK_TIMES_OUT);
	WH_ASSERT_NEAR(at_ps[1] - at_ps[0], 2 * 201 * MS_PS, 0.02);
	WH_ASSERT_NEAR(at_ps[2] - at_ps[1], 4 * 201 * MS_PS, 0.02);
	CU_ASSERT_EQUAL(rig.n_seen, before + 4); /* with the probe of the tail */
	/* Back again: all others are found missing, and go. */
	rig.tcp->cwnd = 20;
	rig_ack(&rig, 5);
	CU_ASSERT_EQUAL(rig.tcp->rack.backoff, 8);
	CU_ASSERT_EQUAL(rig.seen[before + 4].pn, 5);
	CU_ASSERT_EQUAL(rig.seen[before + 11].pn, 12);
	CU_ASSERT_TRUE(rig.seen[before + 11].retransmission);
	rig_close(&rig);
}

/* Ten at once; then bursts of four, one in 4 ms. */
static void keeps_the_pace(void)
{
	rack_connect(100);
	rig.tcp->rack.pace_pps = 1000;
	rig.tcp->rack.burst_pkts = 4;
	wh_sim_tcp_offer(rig.tcp, 0, UINT64_MAX);
	rig_step(&rig);
	CU_ASSERT_EQUAL(rig.n_seen, 12); /* the burst that exceeds ten is the first to be paced */
	rig_run_to(&rig, 41 * MS_PS);
	CU_ASSERT_EQUAL(rig.n_seen, 12 + 4 * 10);
	for (uint32_t i = 12; i < rig.n_seen; i++)
		WH_ASSERT_NEAR(rig.seen_ps[i], (i - 12) / 4 * 4 * MS_PS + 4 * MS_PS, 1e-4);
	rig_close(&rig);
}

/* While the user has no more, samples say so, until what went before is delivered. */
static void knows_when_the_user_has_no_more(void)
{
	rack_connect(10);
	wh_sim_tcp_offer(rig.tcp, 0, 6);
	rig_step(&rig);
	CU_ASSERT_EQUAL(rig.n_seen, 6);
	rig_ack(&rig, 6);
	CU_ASSERT_FALSE(latest.limited); /* of a window that was not yet known to be too large */
	n_events = 0;
	wh_sim_tcp_offer(rig.tcp, rig.now_ps, 100);
	rig_step(&rig);
	CU_ASSERT_EQUAL(n_events, 1);
	CU_ASSERT_EQUAL(events[0], WH_SIM_RACK_RESTARTS);
	CU_ASSERT_EQUAL(rig.n_seen, 16);
	rig_ack(&rig, 7);
	CU_ASSERT_TRUE(latest.limited);
	rig_ack(&rig, 16);
	CU_ASSERT_TRUE(latest.limited);
	rig_ack(&rig, 26);
	CU_ASSERT_FALSE(latest.limited);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"probes the tail", probes_the_tail},
	{"probes with the last one", probes_with_the_last_one},
	{"a silence is asked ever more rarely", a_silence_is_asked_ever_more_rarely},
	{"keeps the pace", keeps_the_pace},
	{"knows when the user has no more", knows_when_the_user_has_no_more},
	CU_TEST_INFO_NULL,
};
