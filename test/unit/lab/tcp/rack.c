/* SPDX-License-Identifier: BSD-3-Clause */
#include "rack_rig.h"

const char wh_suite_name[] = "sim_tcp_rack";

/* Four go at 0; two are acknowledged 1 ms later, and two more 1 ms after that. */
static void samples_the_delivery_rate(void)
{
	rack_start(4);
	rig_ack(&rig, 2);
	CU_ASSERT_TRUE(latest.valid);
	CU_ASSERT_EQUAL(latest.delivered_pkts, 2);
	WH_ASSERT_NEAR(latest.interval_ps, MS_PS, 1e-4);
	WH_ASSERT_NEAR(latest.rtt_ps, MS_PS, 1e-4);
	CU_ASSERT_EQUAL(latest.prior_delivered_pkts, 0);
	CU_ASSERT_EQUAL(latest.prior_in_flight_pkts, 4);
	CU_ASSERT_EQUAL(latest.in_flight_pkts, 2);
	CU_ASSERT_EQUAL(latest.acked_pkts, 2);
	CU_ASSERT_EQUAL(rig.n_seen, 6);
	rig_ack(&rig, 4);
	CU_ASSERT_EQUAL(latest.delivered_pkts, 4);
	WH_ASSERT_NEAR(latest.interval_ps, 2 * MS_PS, 1e-4);
	/* Those that went at 1 ms, when two had been delivered; 1 ms of delivery. */
	rack_sack(4, 5, 6);
	CU_ASSERT_EQUAL(latest.prior_delivered_pkts, 2);
	CU_ASSERT_EQUAL(latest.delivered_pkts, 3);
	WH_ASSERT_NEAR(latest.interval_ps, 2 * MS_PS, 1e-4);
	CU_ASSERT_EQUAL(latest.all_delivered_pkts, 5);
	rig_close(&rig);
}

/* Three beyond a hole, and it is lost; what goes instead of it is found lost by the next round. */
static void finds_what_is_lost_twice_without_the_timer(void)
{
	rack_start(8);
	rig.tcp->cwnd = 6;
	rack_sack(0, 1, 3);
	CU_ASSERT_EQUAL(rig.tcp->rack.state, WH_SIM_RACK_DISORDER);
	rack_sack(0, 1, 4);
	CU_ASSERT_EQUAL(rig.tcp->rack.state, WH_SIM_RACK_RECOVERY);
	CU_ASSERT_EQUAL(events[1], WH_SIM_RACK_RECOVERS);
	CU_ASSERT_EQUAL(latest.lost_pkts, 1);
	CU_ASSERT_EQUAL(rig.seen[8].pn, 0);
	CU_ASSERT_TRUE(rig.seen[8].retransmission);
	rack_sack(0, 1, 8);
	CU_ASSERT_EQUAL(latest.lost_pkts, 0);
	/* 8 to 12 went with and after it; the first that arrived went later than it. */
	uint32_t before = rig.n_seen;

	CU_ASSERT_EQUAL(rack_last_seen(), 12);
	rack_sack(0, 1, 12);
	CU_ASSERT_EQUAL(latest.lost_pkts, 1);
	CU_ASSERT_EQUAL(rig.seen[before].pn, 0);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
	rig_ack(&rig, 13);
	CU_ASSERT_EQUAL(rig.tcp->rack.state, WH_SIM_RACK_OPEN);
	CU_ASSERT_EQUAL(latest.rtt_ps, WH_SIM_NO_RTT_PS); /* one of these went twice */
	rig_close(&rig);
}

/* A hole that fills by itself: from then on a quarter of the least round trip is waited for. */
static void waits_where_it_saw_reordering(void)
{
	rack_start(8);
	rig_run_to(&rig, 40 * MS_PS);
	rack_sack(0, 1, 3);
	rig_ack(&rig, 3);
	CU_ASSERT_TRUE(rig.tcp->rack.reorders);
	CU_ASSERT_EQUAL(n_events, 1);
	WH_ASSERT_NEAR(rig.tcp->rack.min_rtt_ps, 40 * MS_PS, 1e-4);
	uint32_t before = rig.n_seen;

	rack_sack(3, 4, 8);
	CU_ASSERT_EQUAL(rig.tcp->rack.state, WH_SIM_RACK_DISORDER);
	CU_ASSERT_EQUAL(rig.tcp->rack.patience, WH_SIM_RACK_FOR_ORDER);
	CU_ASSERT_EQUAL(rig.n_seen, before + 4);
	/* 10 ms and two of a timer from when that arrived, a millisecond ago. */
	rig_run_to(&rig, rig.now_ps + 10 * MS_PS);
	CU_ASSERT_EQUAL(rig.n_seen, before + 4);
	rig_run_to(&rig, rig.now_ps + 2 * MS_PS);
	CU_ASSERT_EQUAL(rig.seen[before + 4].pn, 3);
	CU_ASSERT_EQUAL(rig.tcp->rack.state, WH_SIM_RACK_RECOVERY);
	rig_close(&rig);
}

/* A round trip that has become longer than the timeout: what went first arrives after all. */
static void undoes_a_timeout_that_came_too_early(void)
{
	rack_start(8);
	rig_ack(&rig, 4);
	while (rig.tcp->timeouts == 0)
		rig_step(&rig);
	uint32_t before = rig.n_seen;

	CU_ASSERT_TRUE(rig.tcp->rack.sent.lost_pkts > 0);
	rig_ack(&rig, 5); /* this one may be of the one that went again */
	CU_ASSERT_EQUAL(rig.tcp->rack.state, WH_SIM_RACK_LOSS);
	rig_ack(&rig, 6);
	CU_ASSERT_EQUAL(rig.tcp->rack.state, WH_SIM_RACK_LOSS); /* it went again by that one */
	rig_ack(&rig, 8);
	CU_ASSERT_EQUAL(rig.tcp->rack.state, WH_SIM_RACK_OPEN);
	CU_ASSERT_EQUAL(rig.tcp->rack.sent.lost_pkts, 0);
	CU_ASSERT_EQUAL(events[n_events - 1], WH_SIM_RACK_UNDONE);
	CU_ASSERT_TRUE(rig.n_seen > before);
	rig_close(&rig);
}

/* Within the least round trip: it is the first one's answer, and tells nothing of the second. */
static void an_answer_that_is_too_soon_counts_for_nothing(void)
{
	rack_start(8);
	rig_run_to(&rig, 40 * MS_PS);
	rack_sack(0, 1, 4);
	CU_ASSERT_EQUAL(rack_last_seen(), 10);
	CU_ASSERT_EQUAL(rig.tcp->rack.latest_ps, 0);
	rig_ack(&rig, 4);
	CU_ASSERT_EQUAL(rig.tcp->rack.latest_ps, 0);
	WH_ASSERT_NEAR(rig.tcp->rack.latest_rtt_ps, 40 * MS_PS, 1e-4);
	rig_run_to(&rig, 90 * MS_PS);
	rack_sack(4, 9, 10);
	CU_ASSERT_TRUE(rig.tcp->rack.latest_ps >= 40 * MS_PS);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"samples the delivery rate", samples_the_delivery_rate},
	{"finds what is lost twice without the timer", finds_what_is_lost_twice_without_the_timer},
	{"waits where it saw reordering", waits_where_it_saw_reordering},
	{"undoes a timeout that came too early", undoes_a_timeout_that_came_too_early},
	{"an answer that is too soon counts for nothing",
		an_answer_that_is_too_soon_counts_for_nothing},
	CU_TEST_INFO_NULL,
};
