/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/model/bbr.h"

#include <math.h>
#include <string.h>

#include "lab/sim/event.h"
#include "unit.h"

const char wh_suite_name[] = "sim_tcp_bbr3";

#define MS_PS (WH_PS_PER_S / 1000)
#define RTT   (100 * MS_PS)

static struct wh_prng prng;
static struct wh_sim_bbr bbr;
static struct wh_sim_rate_sample now;

/* A path of 100 ms, known by the handshake; a thousand segments a second are a hundred in it. */
static void begin(uint64_t seed)
{
	wh_prng_init(&prng, seed);
	memset(&now, 0, sizeof(now));
	now.now_ps = WH_PS_PER_S;
	now.rtt_ps = RTT;
	now.srtt_ps = RTT;
	now.all_delivered_pkts = 1;
	wh_sim_bbr_init(&bbr, &wh_sim_bbr3, &prng, 1000, 10, &now);
}

/* A round trip at this rate, in one acknowledgement. */
static void go_round(double pps)
{
	now.now_ps += RTT;
	now.acked_pkts = now.delivered_pkts = (uint64_t)(pps / 10);
	now.prior_delivered_pkts = now.all_delivered_pkts;
	now.all_delivered_pkts += now.acked_pkts;
	now.interval_ps = RTT;
	now.valid = true;
	wh_sim_bbr_sample(&bbr, &now);
}

static void lose(uint64_t pn, uint64_t in_flight_pkts, uint64_t lost_pkts)
{
	wh_sim_bbr3.lose(&bbr, &(struct wh_sim_rate_loss){
				       .now_ps = now.now_ps,
				       .pn = pn,
				       .sent_in_flight_pkts = in_flight_pkts,
				       .lost_since_pkts = lost_pkts,
				       .all_delivered_pkts = now.all_delivered_pkts,
			       });
}

/* Until the pipe is full; what is in flight is twice the product. */
static void fill(double pps)
{
	now.in_flight_pkts = (uint64_t)(pps / 5);
	for (int i = 0; i < 4; i++)
		go_round(pps);
	CU_ASSERT_EQUAL_FATAL(bbr.mode, WH_SIM_BBR_DRAIN);
}

/* For as long as it stays in this state, at most 200 rounds. */
static void stay(enum wh_sim_bbr_mode mode, double pps)
{
	int rounds = 0;

	while (bbr.mode == mode && rounds++ < 200)
		go_round(pps);
	CU_ASSERT_TRUE(rounds <= 200);
}

static void cruise(double pps)
{
	fill(pps);
	now.in_flight_pkts = (uint64_t)(pps / 10);
	go_round(pps);
	CU_ASSERT_EQUAL_FATAL(bbr.mode, WH_SIM_BBR_CRUISE);
}

static void go_up(double pps)
{
	cruise(pps);
	for (int i = 0; i < 40 && bbr.mode != WH_SIM_BBR_UP; i++)
		go_round(pps);
	CU_ASSERT_EQUAL_FATAL(bbr.mode, WH_SIM_BBR_UP);
}

static void startup_doubles_and_drain_halves(void)
{
	begin(1);
	WH_ASSERT_NEAR(bbr.pace_pps, 2.77 * 10 / 0.1, 1e-9);
	go_round(1000);
	WH_ASSERT_NEAR(bbr.pace_pps, 2.77 * 0.99 * 1000, 1e-9);
	go_round(1250);
	go_round(1300);
	go_round(1300);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_STARTUP);
	now.in_flight_pkts = 260;
	go_round(1300);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_DRAIN);
	WH_ASSERT_NEAR(bbr.pace_pps, 0.5 * 0.99 * 1300, 1e-9);
	now.in_flight_pkts = 130; /* the queue is empty, so there is nothing to go down for */
	go_round(1300);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_CRUISE);
	WH_ASSERT_NEAR(bbr.pace_pps, 0.99 * 1300, 1e-9);
}

/* What was too much for three more rounds: the rate was somebody else's. */
static void drain_ends_by_itself(void)
{
	begin(1);
	fill(1000);
	for (int i = 0; i < 3; i++) {
		go_round(1000);
		CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_DRAIN);
	}
	go_round(1000);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_DOWN);
	WH_ASSERT_NEAR(bbr.pace_pps, 0.9 * 0.99 * 1000, 1e-9);
}

/* Two to three seconds after the last probe, by chance; a round of refilling, then 1.25. */
static void it_probes_every_two_to_three_seconds(void)
{
	double least_s = 9, most_s = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		begin(seed);
		cruise(1000);
		WH_ASSERT_NEAR(bbr.pace_pps, 0.99 * 1000, 1e-9);
		stay(WH_SIM_BBR_CRUISE, 1000);
		CU_ASSERT_EQUAL_FATAL(bbr.mode, WH_SIM_BBR_REFILL);
		double waited_s = (double)(now.now_ps - bbr.cycle_ps) / (double)WH_PS_PER_S;

		least_s = fmin(least_s, waited_s);
		most_s = fmax(most_s, waited_s);
		go_round(1000);
		CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_UP);
		WH_ASSERT_NEAR(bbr.pace_pps, 1.25 * 0.99 * 1000, 1e-9);
	}
	CU_ASSERT_TRUE(least_s >= 2 && least_s < 2.3);
	CU_ASSERT_TRUE(most_s <= 3.1 && most_s > 2.8);
}

/* Ten segments fill the path: a Reno of that window would probe after ten rounds. */
static void a_small_window_probes_as_reno_would(void)
{
	begin(1);
	cruise(100);
	CU_ASSERT_TRUE(bbr.cwnd_pkts >= 10);
	stay(WH_SIM_BBR_CRUISE, 100);
	CU_ASSERT_EQUAL(bbr.rounds_since_up, 10);
}

static void a_probe_ends_where_rates_grow_no_more(void)
{
	begin(1);
	go_up(1000);
	go_round(1200);
	go_round(1200);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_UP);
	go_round(1200);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_DOWN);
	WH_ASSERT_NEAR(bbr.bw_pps, 1200, 1e-9);
	/* The next cycle still knows it, that after the next does not. */
	for (int cycle = 0; cycle < 2; cycle++) {
		WH_ASSERT_NEAR(bbr.bw_pps, 1200, 1e-9);
		now.rtt_ps -= MS_PS; /* so that it need not look for the least round trip */
		for (int i = 0; i < 100 && bbr.mode != WH_SIM_BBR_UP; i++)
			go_round(1000);
		stay(WH_SIM_BBR_UP, 1000);
	}
	go_round(1000);
	WH_ASSERT_NEAR(bbr.bw_pps, 1000, 1e-9);
}

/* Two of a hundred in flight are allowed; the third shows where it was too much. */
static void two_in_a_hundred_may_be_lost(void)
{
	begin(1);
	go_up(1000);
	now.in_flight_pkts = 130;
	lose(500, 130, 1);
	lose(501, 130, 2);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_UP);
	CU_ASSERT_TRUE(isinf(bbr.inflight_longterm_pkts));
	lose(502, 130, 3);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_DOWN);
	WH_ASSERT_NEAR(bbr.inflight_longterm_pkts, 129 + (0.02 * 129 - 2) / 0.98, 1e-9);
	/* The same probe is answered once, and cruising leaves room for others. */
	lose(503, 90, 4);
	WH_ASSERT_NEAR(bbr.inflight_longterm_pkts, 129 + (0.02 * 129 - 2) / 0.98, 1e-9);
	now.in_flight_pkts = 90;
	go_round(1000);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_CRUISE);
	CU_ASSERT_TRUE(bbr.cwnd_pkts <= 0.85 * bbr.inflight_longterm_pkts + 1e-9);
}

/* No volume below 0.7 of what it wants in flight. */
static void a_loss_takes_three_tenths_at_most(void)
{
	begin(1);
	go_up(1000);
	lose(500, 20, 5);
	WH_ASSERT_NEAR(bbr.inflight_longterm_pkts, 0.7 * 100, 1e-9);
}

static void losses_while_cruising_lower_the_rate_for_a_while(void)
{
	begin(1);
	cruise(1000);
	go_round(1000);
	lose(500, 100, 1);
	go_round(900);
	go_round(900);
	WH_ASSERT_NEAR(bbr.bw_pps, 1000, 1e-9); /* of this round 1000 was the best */
	lose(700, 100, 1);
	go_round(600);
	go_round(600);
	WH_ASSERT_NEAR(bbr.bw_pps, 900, 1e-9);
	lose(800, 100, 1);
	go_round(100);
	go_round(100);
	WH_ASSERT_NEAR(bbr.bw_pps, 0.7 * 900, 1e-9);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_CRUISE);
	stay(WH_SIM_BBR_CRUISE, 600);
	WH_ASSERT_NEAR(bbr.bw_pps, 1000, 1e-9);
}

/* After five seconds without a lower round trip half a product, for 200 ms. */
static void it_looks_for_the_least_round_trip(void)
{
	uint64_t began_ps;

	begin(1);
	now.rtt_ps = RTT + MS_PS;
	cruise(1000);
	while (bbr.mode != WH_SIM_BBR_PROBE_RTT && now.now_ps < 20 * WH_PS_PER_S)
		go_round(1000);
	WH_ASSERT_NEAR((double)(now.now_ps - WH_PS_PER_S) / (double)WH_PS_PER_S, 5.1, 0.01);
	WH_ASSERT_NEAR(bbr.cwnd_pkts, 50, 1e-9);
	CU_ASSERT_TRUE(bbr.limited);
	now.in_flight_pkts = 50;
	go_round(500);
	began_ps = now.now_ps;
	now.in_flight_pkts = 50;
	stay(WH_SIM_BBR_PROBE_RTT, 500);
	WH_ASSERT_NEAR((double)(now.now_ps - began_ps) / (double)MS_PS, 300, 1.0 / 300.0);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_CRUISE);
	CU_ASSERT_TRUE(bbr.cwnd_pkts > 100);
}

/* Six gaps in a round of recovery, and more than 2 %: full, whatever the rates say. */
static void startup_ends_by_losses(void)
{
	for (uint64_t gaps = 5; gaps <= 6; gaps++) {
		begin(1);
		go_round(1000);
		now.state = WH_SIM_RACK_RECOVERY;
		for (uint64_t i = 0; i < gaps; i++)
			lose(100 + 2 * i, 200, i + 1);
		now.sent_in_flight_pkts = 200;
		now.lost_since_pkts = gaps;
		now.in_flight_pkts = 200;
		go_round(1300);
		CU_ASSERT_EQUAL(bbr.mode, gaps == 6 ? WH_SIM_BBR_DRAIN : WH_SIM_BBR_STARTUP);
		CU_ASSERT_EQUAL(isinf(bbr.inflight_longterm_pkts) != 0, gaps != 6);
	}
	WH_ASSERT_NEAR(bbr.inflight_longterm_pkts, 130, 1e-9);
}

static void what_was_no_loss_is_taken_back(void)
{
	begin(1);
	go_up(1000);
	lose(500, 20, 5);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_DOWN);
	wh_sim_bbr_undo(&bbr, &now);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_REFILL);
	CU_ASSERT_TRUE(isinf(bbr.inflight_longterm_pkts));
}

CU_TestInfo wh_tests[] = {
	{"startup doubles and drain halves", startup_doubles_and_drain_halves},
	{"drain ends by itself", drain_ends_by_itself},
	{"it probes every two to three seconds", it_probes_every_two_to_three_seconds},
	{"a small window probes as Reno would", a_small_window_probes_as_reno_would},
	{"a probe ends where rates grow no more", a_probe_ends_where_rates_grow_no_more},
	{"two in a hundred may be lost", two_in_a_hundred_may_be_lost},
	{"a loss takes three tenths at most", a_loss_takes_three_tenths_at_most},
	{"losses while cruising lower the rate for a while",
		losses_while_cruising_lower_the_rate_for_a_while},
	{"it looks for the least round trip", it_looks_for_the_least_round_trip},
	{"startup ends by losses", startup_ends_by_losses},
	{"what was no loss is taken back", what_was_no_loss_is_taken_back},
	CU_TEST_INFO_NULL,
};
