/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/model/bbr.h"

#include <math.h>
#include <string.h>

#include "lab/sim/event.h"
#include "unit.h"

const char wh_suite_name[] = "sim_tcp_bbr";

#define MS_PS (WH_PS_PER_S / 1000)
#define RTT   (100 * MS_PS)
#define HIGH  (739 / 256.0)

static struct wh_prng prng;
static struct wh_sim_bbr bbr;
static struct wh_sim_rate_sample now;

/* A path of 100 ms, known by the handshake; a thousand segments of 1000 bytes are 8 Mb/s. */
static void begin_seeded(uint64_t seed)
{
	wh_prng_init(&prng, seed);
	memset(&now, 0, sizeof(now));
	now.now_ps = WH_PS_PER_S;
	now.delivered_ps = now.now_ps;
	now.rtt_ps = RTT;
	now.srtt_ps = RTT;
	now.all_delivered_pkts = 1;
	wh_sim_bbr_init(&bbr, &wh_sim_bbr1, &prng, 1000, 10, &now);
}

static void begin(void)
{
	begin_seeded(1);
}

/* After `span_ps` `acked` segments arrive, the first of a round or not, at this rate. */
static void hear(uint64_t span_ps, bool round, uint64_t acked, double pps)
{
	now.now_ps += span_ps;
	now.delivered_ps = now.now_ps;
	now.all_delivered_pkts += acked;
	now.acked_pkts = acked;
	now.prior_delivered_pkts = round ? bbr.round_end_pkts : bbr.round_end_pkts - 1;
	now.delivered_pkts = (uint64_t)(pps / 10);
	now.interval_ps = RTT;
	now.valid = true;
	wh_sim_bbr_sample(&bbr, &now);
}

/* A round trip at this rate, in one acknowledgement. */
static void go_round(double pps)
{
	hear(RTT, true, (uint64_t)(pps / 10), pps);
}

static void lose(uint64_t pkts)
{
	now.lost_pkts = pkts;
	now.all_lost_pkts += pkts;
}

static void nothing_extra(void)
{
	wh_window_max_reset(&bbr.extra_pkts, bbr.rounds, 0);
	bbr.extra_acked_pkts = 0;
	bbr.extra_ps = now.now_ps;
}

static void fill_at(double pps)
{
	now.in_flight_pkts = now.prior_in_flight_pkts = (uint64_t)(pps / 5);
	for (int i = 0; i < 4; i++)
		go_round(pps);
}

/* The pipe holds 100 and was full; the cycle is in a phase of its own choice. */
static void probe_bw_at(double pps)
{
	begin();
	fill_at(pps);
	now.in_flight_pkts = now.prior_in_flight_pkts = (uint64_t)(pps / 10);
	go_round(pps);
	CU_ASSERT_EQUAL_FATAL(bbr.mode, WH_SIM_BBR_PROBE_BW);
}

static void in_phase(uint32_t phase)
{
	bbr.phase = phase;
	bbr.phase_ps = now.now_ps;
	bbr.pacing_gain = phase == 0 ? 1.25 : phase == 1 ? 0.75 : 1;
}

/* Ten in 100 ms, by 739 / 256, less one percent; without a round trip as if it were 1 ms. */
static void paces_from_the_first_round_trip(void)
{
	begin();
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_STARTUP);
	WH_ASSERT_NEAR(bbr.pace_pps, 100 * HIGH * 0.99, 1e-12);
	now.srtt_ps = 0;
	now.rtt_ps = WH_SIM_NO_RTT_PS;
	wh_sim_bbr_init(&bbr, &wh_sim_bbr1, &prng, 1000, 10, &now);
	WH_ASSERT_NEAR(bbr.pace_pps, 10000 * HIGH * 0.99, 1e-12);
	now.srtt_ps = now.rtt_ps = RTT;
	hear(RTT, true, 10, 100);
	WH_ASSERT_NEAR(bbr.pace_pps, 200 * HIGH * 0.99 / 2, 1e-12);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 20);
}

/* The pace rises with the rate and never falls; the window grows by all that arrives. */
static void startup_doubles(void)
{
	begin();
	go_round(100);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 20);
	go_round(200);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 40);
	WH_ASSERT_NEAR(bbr.pace_pps, 200 * HIGH * 0.99, 1e-12);
	go_round(150);
	WH_ASSERT_NEAR(bbr.pace_pps, 200 * HIGH * 0.99, 1e-12);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_STARTUP);
	CU_ASSERT_EQUAL(bbr.pacing_gain, HIGH);
}

/* 1.25 times more starts the count anew; the third round without it is the last. */
static void three_rounds_without_growth_mean_full(void)
{
	begin();
	go_round(1000);
	go_round(1240);
	go_round(1240);
	CU_ASSERT_EQUAL(bbr.full_rounds, 2);
	go_round(1250);
	CU_ASSERT_EQUAL(bbr.full_rounds, 0);
	CU_ASSERT_EQUAL(bbr.full_pps, 1250);
	now.in_flight_pkts = 1000;
	go_round(1250);
	go_round(1250);
	CU_ASSERT_FALSE(bbr.full);
	now.limited = true;
	go_round(1250);
	CU_ASSERT_FALSE(bbr.full);
	now.limited = false;
	hear(1, false, 1, 1250);
	CU_ASSERT_FALSE(bbr.full);
	go_round(1250);
	CU_ASSERT_TRUE(bbr.full);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_DRAIN);
	CU_ASSERT_EQUAL(bbr.pacing_gain, 88 / 256.0);
	WH_ASSERT_NEAR(bbr.pace_pps, 1250 * 88 / 256.0 * 0.99, 1e-12);
}

/* 1000 a second for 100 ms are 100; the burst is 2, and three of them make it 106. */
static void drains_to_the_product(void)
{
	begin();
	fill_at(1000);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_DRAIN);
	now.in_flight_pkts = 107;
	hear(RTT / 2, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_DRAIN);
	now.in_flight_pkts = 106;
	hear(RTT / 2, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_PROBE_BW);
}

static void the_cycle_begins_anywhere_but_with_the_low_gain(void)
{
	uint32_t seen = 0;

	for (uint64_t seed = 0; seed < 200; seed++) {
		begin_seeded(seed);
		fill_at(1000);
		now.in_flight_pkts = now.prior_in_flight_pkts = 100;
		hear(MS_PS, false, 1, 1000);
		CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_PROBE_BW);
		seen |= UINT32_C(1) << bbr.phase;
	}
	CU_ASSERT_EQUAL(seen, 0xfd);
}

static void the_gains_take_turns(void)
{
	static const double gains[] = {0.75, 1, 1, 1, 1, 1, 1, 1.25, 0.75};

	probe_bw_at(1000);
	in_phase(0);
	now.prior_in_flight_pkts = 140;
	for (unsigned int i = 0; i < 9; i++) {
		hear(RTT + 1, false, 1, 1000);
		CU_ASSERT_EQUAL(bbr.pacing_gain, gains[i]);
		WH_ASSERT_NEAR(bbr.pace_pps, 1000 * gains[i] * 0.99, 1e-12);
		hear(RTT, false, 1, 1000);
		CU_ASSERT_EQUAL(bbr.pacing_gain, gains[i]);
	}
}

/* 125 and 6 for three bursts, to the next even number, and 2 in this phase: 134. */
static void the_high_gain_lasts_until_it_has_filled(void)
{
	probe_bw_at(1000);
	in_phase(0);
	now.prior_in_flight_pkts = 131;
	hear(3 * RTT, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.phase, 0);
	now.prior_in_flight_pkts = 132; /* and a burst that goes */
	hear(1, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.phase, 1);
	in_phase(0);
	now.prior_in_flight_pkts = 100;
	hear(3 * RTT, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.phase, 0);
	lose(1);
	hear(1, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.phase, 1);
}

static void the_low_gain_ends_when_it_has_drained(void)
{
	probe_bw_at(1000);
	in_phase(1);
	now.prior_in_flight_pkts = 107;
	hear(RTT / 2, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.phase, 1);
	now.prior_in_flight_pkts = 106;
	hear(1, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.phase, 2);
	/* 10 ms from now ten of these will be gone, by the pace. */
	in_phase(1);
	now.prior_in_flight_pkts = 116;
	now.next_send_ps = now.now_ps + 1 + 10 * MS_PS;
	hear(1, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.phase, 2);
}

static void the_best_rate_of_ten_rounds_counts(void)
{
	probe_bw_at(1000);
	now.in_flight_pkts = now.prior_in_flight_pkts = 100;
	for (int i = 0; i < 10; i++) {
		go_round(600);
		CU_ASSERT_EQUAL(bbr.bw_pps, 1000);
	}
	go_round(600);
	CU_ASSERT_EQUAL(bbr.bw_pps, 600);
	/* What the user limits counts only where it is more. */
	now.limited = true;
	for (int i = 0; i < 20; i++)
		go_round(500);
	CU_ASSERT_EQUAL(bbr.bw_pps, 600);
	go_round(700);
	CU_ASSERT_EQUAL(bbr.bw_pps, 700);
}

/* Twice the product and three bursts; up to there by what is acknowledged. */
static void the_window_is_twice_the_product(void)
{
	probe_bw_at(1000);
	in_phase(3);
	nothing_extra();
	bbr.cwnd_pkts = 100;
	hear(5 * MS_PS, false, 5, 1000);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 105);
	nothing_extra();
	bbr.cwnd_pkts = 1000;
	hear(RTT / 2, false, 5, 1000);
	CU_ASSERT_EQUAL(wh_window_max_value(&bbr.extra_pkts), 5);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 200 + 6 + 6);
}

/* 100 Mb/s: 12.375 MB/s by 2^-10 are 12084 bytes, eight of 1460. */
static void bursts_are_a_millisecond_of_the_pace(void)
{
	begin();
	bbr.segment_bytes = 1460;
	bbr.pace_pps = 0.99 * 12500000 / 1460;
	CU_ASSERT_EQUAL(wh_sim_bbr_burst_pkts(&bbr), 8);
	bbr.pace_pps = 1.25e10 / 1460;
	CU_ASSERT_EQUAL(wh_sim_bbr_burst_pkts(&bbr), 44);
	bbr.pace_pps = 150001.0 / 1460;
	CU_ASSERT_EQUAL(wh_sim_bbr_burst_pkts(&bbr), 2);
	bbr.pace_pps = 149999.0 / 1460;
	CU_ASSERT_EQUAL(wh_sim_bbr_burst_pkts(&bbr), 1);
}

/* A thousand a second, and 60 at once after 10 ms: 50 more; for ten rounds. */
static void what_comes_at_once_widens_the_window(void)
{
	probe_bw_at(1000);
	in_phase(3);
	nothing_extra();
	bbr.extra_acked_pkts = 1;
	bbr.cwnd_pkts = 1000;
	hear(10 * MS_PS, false, 59, 1000);
	CU_ASSERT_EQUAL(wh_window_max_value(&bbr.extra_pkts), 59); /* 1 was too few: anew */
	hear(10 * MS_PS, false, 1, 1000);
	CU_ASSERT_EQUAL(wh_window_max_value(&bbr.extra_pkts), 59); /* 60, less 10 */
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 200 + 6 + 60);
	for (uint32_t i = 0; i <= 10; i++) {
		CU_ASSERT_EQUAL(wh_window_max_value(&bbr.extra_pkts), 59);
		go_round(400);
	}
	CU_ASSERT_EQUAL(wh_window_max_value(&bbr.extra_pkts), 40);
	go_round(1000);
	in_phase(3);
	wh_window_max_add(&bbr.extra_pkts, 10, bbr.rounds, 1e6);
	bbr.cwnd_pkts = 1e6;
	hear(MS_PS, false, 1, 1000);
	/* At most 100 ms of the rate. */
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 200 + 6 + 100);
}

static void asks_for_the_round_trip_every_ten_seconds(void)
{
	probe_bw_at(1000);
	bbr.cwnd_pkts = 212;
	now.rtt_ps = RTT + MS_PS;
	hear(9 * WH_PS_PER_S, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.min_rtt_ps, RTT);
	hear(WH_PS_PER_S, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_PROBE_RTT);
	CU_ASSERT_EQUAL(bbr.min_rtt_ps, RTT + MS_PS);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 4);
	CU_ASSERT_EQUAL(bbr.pacing_gain, 1);
	CU_ASSERT_TRUE(bbr.limited);

	double kept = bbr.kept_cwnd_pkts;

	/* 200 ms from when only four are under way, and a round of its own. */
	hear(RTT, true, 1, 1000);
	now.in_flight_pkts = 4;
	hear(RTT, true, 1, 40);
	now.in_flight_pkts = 3;
	hear(201 * MS_PS, false, 1, 40);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_PROBE_RTT);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 4);
	hear(1, true, 1, 40);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_PROBE_BW);
	CU_ASSERT_EQUAL(bbr.probe_rtt_min_at_ps, now.now_ps);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, fmin(kept + 1, 204 + 6 + 2 * (bbr.phase == 0) + kept));
	hear(1, false, 1, 40);
	CU_ASSERT_FALSE(bbr.limited);
}

/* A lower round trip is taken at once, and its time counts anew. */
static void a_lower_round_trip_needs_no_asking(void)
{
	probe_bw_at(1000);
	hear(9 * WH_PS_PER_S, false, 1, 1000);
	now.rtt_ps = RTT - MS_PS;
	hear(WH_PS_PER_S / 2, false, 1, 1000);
	now.rtt_ps = RTT;
	hear(9 * WH_PS_PER_S, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_PROBE_BW);
	CU_ASSERT_EQUAL(bbr.min_rtt_ps, RTT - MS_PS);
}

/* One in 100 ms, 20 lost of 100 that arrive: 19.5 % are 50 / 256. */
static void round_at_policer(double pps, uint64_t lost)
{
	lose(lost);
	go_round(pps);
}

static void knows_a_policer(void)
{
	probe_bw_at(1000);
	/* An interval begins with a loss, whose round is the first of four. */
	for (int i = 0; i < 3; i++)
		round_at_policer(400, 8);
	CU_ASSERT_EQUAL(bbr.policer.pps, 0);
	round_at_policer(400, 8);
	WH_ASSERT_NEAR(bbr.policer.pps, 400, 1e-12);
	CU_ASSERT_FALSE(bbr.policer.used);
	for (int i = 0; i < 3; i++)
		round_at_policer(440, 9);
	CU_ASSERT_FALSE(bbr.policer.used);
	round_at_policer(440, 9);
	CU_ASSERT_TRUE(bbr.policer.used);
	WH_ASSERT_NEAR(bbr.bw_pps, 420, 1e-12);
	CU_ASSERT_EQUAL(bbr.pacing_gain, 1);
	WH_ASSERT_NEAR(bbr.pace_pps, 420 * 0.99, 1e-12);
	/* For 48 rounds, whatever the cycle says. */
	for (int i = 0; i < 47; i++)
		round_at_policer(400, 0);
	CU_ASSERT_TRUE(bbr.policer.used);
	round_at_policer(400, 0);
	CU_ASSERT_FALSE(bbr.policer.used);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_PROBE_BW);
	CU_ASSERT_EQUAL(bbr.bw_pps, 400);
}

static void two_intervals_apart_are_no_policer(void)
{
	probe_bw_at(1000);
	for (int i = 0; i < 4; i++)
		round_at_policer(400, 8);
	for (int i = 0; i < 4; i++)
		round_at_policer(460, 10);
	CU_ASSERT_FALSE(bbr.policer.used);
	WH_ASSERT_NEAR(bbr.policer.pps, 460, 1e-12);
	/* 3 segments of 160 bytes are less than 500 bytes a second. */
	bbr.segment_bytes = 160;
	bbr.policer.pps = 13;
	for (int i = 0; i < 4; i++)
		round_at_policer(10, 1);
	CU_ASSERT_TRUE(bbr.policer.used);
}

static void little_loss_is_no_policer(void)
{
	probe_bw_at(1000);
	for (int i = 0; i < 15; i++)
		round_at_policer(1000, 19);
	CU_ASSERT_EQUAL(bbr.policer.pps, 0);
	CU_ASSERT_TRUE(bbr.policer.sampling);
	/* After sixteen rounds it gives up; and at once where the user limits. */
	for (int i = 0; i < 2; i++)
		round_at_policer(1000, 0);
	CU_ASSERT_FALSE(bbr.policer.sampling);
	round_at_policer(1000, 20);
	CU_ASSERT_TRUE(bbr.policer.sampling);
	now.limited = true;
	round_at_policer(1000, 20);
	CU_ASSERT_FALSE(bbr.policer.sampling);
}

/* For a round as many go as arrive; then it grows again; and all comes back at the end. */
static void conserves_packets_and_restores_the_window(void)
{
	probe_bw_at(1000);
	in_phase(3);
	bbr.cwnd_pkts = 200;
	wh_sim_bbr_keep_window(&bbr);
	now.state = WH_SIM_RACK_RECOVERY;
	now.in_flight_pkts = 150;
	lose(10);
	hear(MS_PS, false, 2, 1000);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 152);
	now.in_flight_pkts = 151;
	now.lost_pkts = 0;
	hear(MS_PS, false, 3, 1000);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 154);
	lose(5);
	now.in_flight_pkts = 140;
	hear(MS_PS, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 149);
	now.lost_pkts = 0;
	hear(RTT, true, 4, 1000);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 153);
	now.state = WH_SIM_RACK_OPEN;
	hear(MS_PS, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 201);
}

/* A window of one: what is lost does not take it away, and four is the least that it grows to. */
static void the_window_stays_above_nothing(void)
{
	begin();
	bbr.cwnd_pkts = 2;
	lose(100);
	now.state = WH_SIM_RACK_RECOVERY;
	bbr.before = WH_SIM_RACK_RECOVERY;
	bbr.conserving = true;
	now.in_flight_pkts = 0;
	hear(1, false, 1, 100);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 1);
	bbr.conserving = false;
	now.lost_pkts = 0;
	hear(1, false, 1, 100);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 4);
}

static void a_timeout_looks_for_the_rate_anew(void)
{
	begin();
	go_round(1000);
	go_round(1000);
	CU_ASSERT_EQUAL(bbr.full_rounds, 1);
	wh_sim_bbr_keep_window(&bbr);
	wh_sim_bbr_timeout(&bbr, &now, 1);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, 1);
	CU_ASSERT_EQUAL(bbr.full_pps, 0);
	CU_ASSERT_TRUE(bbr.policer.sampling);
	now.state = WH_SIM_RACK_LOSS;
	go_round(1000);
	CU_ASSERT_EQUAL(bbr.full_rounds, 0);
	now.state = WH_SIM_RACK_OPEN;
	hear(1, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.cwnd_pkts, bbr.kept_cwnd_pkts + 1);
	wh_sim_bbr_undo(&bbr, &now);
	CU_ASSERT_FALSE(bbr.policer.sampling);
}

static void starts_again_at_the_known_rate(void)
{
	probe_bw_at(1000);
	in_phase(0);
	wh_sim_bbr_restart(&bbr, &now);
	WH_ASSERT_NEAR(bbr.pace_pps, 990, 1e-12);
	/* No round trip is asked for by a pause. */
	hear(11 * WH_PS_PER_S, false, 1, 1000);
	CU_ASSERT_EQUAL(bbr.mode, WH_SIM_BBR_PROBE_BW);
}

CU_TestInfo wh_tests[] = {
	{"paces from the first round trip", paces_from_the_first_round_trip},
	{"startup doubles", startup_doubles},
	{"three rounds without growth mean full", three_rounds_without_growth_mean_full},
	{"drains to the product", drains_to_the_product},
	{"the cycle begins anywhere but with the low gain",
		the_cycle_begins_anywhere_but_with_the_low_gain},
	{"the gains take turns", the_gains_take_turns},
	{"the high gain lasts until it has filled", the_high_gain_lasts_until_it_has_filled},
	{"the low gain ends when it has drained", the_low_gain_ends_when_it_has_drained},
	{"the best rate of ten rounds counts", the_best_rate_of_ten_rounds_counts},
	{"the window is twice the product", the_window_is_twice_the_product},
	{"bursts are a millisecond of the pace", bursts_are_a_millisecond_of_the_pace},
	{"what comes at once widens the window", what_comes_at_once_widens_the_window},
	{"asks for the round trip every ten seconds", asks_for_the_round_trip_every_ten_seconds},
	{"a lower round trip needs no asking", a_lower_round_trip_needs_no_asking},
	{"knows a policer", knows_a_policer},
	{"two intervals apart are no policer", two_intervals_apart_are_no_policer},
	{"little loss is no policer", little_loss_is_no_policer},
	{"conserves packets and restores the window", conserves_packets_and_restores_the_window},
	{"the window stays above nothing", the_window_stays_above_nothing},
	{"a timeout looks for the rate anew", a_timeout_looks_for_the_rate_anew},
	{"starts again at the known rate", starts_again_at_the_known_rate},
	CU_TEST_INFO_NULL,
};
