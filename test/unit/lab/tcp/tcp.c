/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/tcp.h"

#include "tcp_rig.h"

const char wh_suite_name[] = "sim_tcp";

static struct rig rig;

static const enum wh_sim_tcp_variety by_loss[] = {WH_SIM_TCP_RENO, WH_SIM_TCP_NEWRENO,
	WH_SIM_TCP_SACK, WH_SIM_TCP_HIGHSPEED, WH_SIM_TCP_CUBIC};

#define BY_LOSS (sizeof(by_loss) / sizeof(by_loss[0]))

static void names_and_defaults(void)
{
	static const char *const names[] = {"reno", "newreno", "sack", "vegas", "highspeed",
		"cubic", "bbr", "bbr3", "sttp_agent"};
	struct wh_sim_tcp_config config;

	for (unsigned int v = 0; v < WH_SIM_TCP_VARIETIES; v++)
		CU_ASSERT_STRING_EQUAL(wh_sim_tcp_variety_name(v), names[v]);
	wh_sim_tcp_config_init(&config, WH_SIM_TCP_VEGAS);
	CU_ASSERT_EQUAL(config.variety, WH_SIM_TCP_VEGAS);
	CU_ASSERT_EQUAL(config.segment_bytes + config.head_bytes, 1500);
	CU_ASSERT_EQUAL(config.window_pkts, 20);
	CU_ASSERT_EQUAL(config.tick_ps, 10 * MS_PS);
	CU_ASSERT_EQUAL(config.initial_rto_ps, 3 * WH_PS_PER_S);
	CU_ASSERT_EQUAL(config.min_rto_ps, 200 * MS_PS);
	CU_ASSERT_EQUAL(config.max_rto_ps, 60 * WH_PS_PER_S);
}

static void slow_start_doubles(void)
{
	for (unsigned int v = 0; v < BY_LOSS; v++) {
		rig_open(&rig, by_loss[v]);
		rig_start(&rig);
		uint64_t acked = 0;

		for (uint32_t round_pkts = 2; round_pkts <= 256; round_pkts *= 2) {
			CU_ASSERT_EQUAL(rig.n_seen - acked, round_pkts);
			CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp), round_pkts);
			rig_ack_each(&rig, acked + 1, acked + round_pkts);
			acked += round_pkts;
		}
		CU_ASSERT_EQUAL(wh_sim_tcp_acked_pkts(rig.tcp), 510);
		CU_ASSERT_EQUAL(wh_sim_tcp_next_pn(rig.tcp), 510 + 512);
		CU_ASSERT_EQUAL(rig.seen[1021].pn, 1021);
		rig_close(&rig);
	}
}

/* From the threshold on by 1/w each: a window of 4 becomes 5 only with the fifth. */
static void avoidance_adds_one_a_round(void)
{
	rig_open(&rig, WH_SIM_TCP_RENO);
	rig.config.initial_ssthresh_pkts = 4;
	rig_start(&rig);
	rig_ack_each(&rig, 1, 2);
	CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp), 4);
	CU_ASSERT_EQUAL(rig.tcp->ssthresh, 4);
	rig_ack(&rig, 3);
	WH_ASSERT_NEAR(wh_sim_tcp_cwnd_pkts(rig.tcp), 4.25, 1e-12);
	rig_ack(&rig, 4);
	WH_ASSERT_NEAR(wh_sim_tcp_cwnd_pkts(rig.tcp), 4.25 + 1 / 4.25, 1e-12);
	CU_ASSERT_EQUAL(rig.n_seen, 8);
	rig_ack_each(&rig, 5, 7);
	CU_ASSERT_TRUE(wh_sim_tcp_cwnd_pkts(rig.tcp) > 5);
	CU_ASSERT_EQUAL(rig.n_seen, 12);
	rig_close(&rig);
}

static void the_window_is_a_limit(void)
{
	rig_open(&rig, WH_SIM_TCP_SACK);
	rig.config.window_pkts = 5;
	rig_start(&rig);
	rig_ack_each(&rig, 1, 20);
	CU_ASSERT_EQUAL(rig.n_seen, 25);
	rig_close(&rig);
}

/* A head first, alone, and the initial window after its acknowledgement. */
static void the_handshake_goes_alone(void)
{
	rig_open(&rig, WH_SIM_TCP_NEWRENO);
	rig.config.handshake = true;
	rig.config.initial_cwnd_pkts = 3;
	rig_start(&rig);
	CU_ASSERT_EQUAL(rig.n_seen, 1);
	CU_ASSERT_EQUAL(wh_sim_link_stats(rig.sim, rig.link)->left_bytes, 40);
	CU_ASSERT_EQUAL(wh_sim_tcp_next_pn(rig.tcp), 0);
	rig_ack(&rig, 1);
	CU_ASSERT_EQUAL(rig.n_seen, 4);
	CU_ASSERT_EQUAL(wh_sim_tcp_acked_pkts(rig.tcp), 0);
	CU_ASSERT_EQUAL(wh_sim_tcp_next_pn(rig.tcp), 3);
	CU_ASSERT_EQUAL(wh_sim_link_stats(rig.sim, rig.link)->left_bytes, 40 + 3 * 1500);
	rig_ack(&rig, 2);
	CU_ASSERT_EQUAL(wh_sim_tcp_acked_pkts(rig.tcp), 1);
	rig_close(&rig);
}

/* Sixteen out, numbers 14 to 29; 14 is lost. */
static void lose_one_of_sixteen(enum wh_sim_tcp_variety variety)
{
	rig_open(&rig, variety);
	rig_start(&rig);
	rig_ack_each(&rig, 1, 14);
	CU_ASSERT_EQUAL_FATAL(rig.n_seen, 30);
	CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp), 16);
}

static void three_duplicates_and_no_fewer(void)
{
	static const enum wh_sim_tcp_variety plain[] = {WH_SIM_TCP_RENO, WH_SIM_TCP_NEWRENO};

	for (unsigned int v = 0; v < 2; v++) {
		lose_one_of_sixteen(plain[v]);
		rig_ack_times(&rig, 14, 2);
		CU_ASSERT_EQUAL(rig.n_seen, 30);
		rig_ack(&rig, 14);
		CU_ASSERT_EQUAL(rig.n_seen, 31);
		CU_ASSERT_EQUAL(rig.seen[30].pn, 14);
		CU_ASSERT_TRUE(rig.seen[30].retransmission);
		CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp), 8);
		CU_ASSERT_EQUAL(rig.tcp->ssthresh, 8);
		/* Eight and inflation by 13 duplicates: 14 + 21 = 35 from the ninth on. */
		rig_ack_times(&rig, 14, 5);
		CU_ASSERT_EQUAL(rig.n_seen, 31);
		rig_ack_times(&rig, 14, 5);
		CU_ASSERT_EQUAL(rig.n_seen, 36);
		CU_ASSERT_EQUAL(rig.seen[35].pn, 34);
		/* Deflated: 30 to 34 are out, of a window of 8 and 1/8. */
		rig_ack(&rig, 30);
		WH_ASSERT_NEAR(wh_sim_tcp_cwnd_pkts(rig.tcp), 8.125, 1e-12);
		CU_ASSERT_EQUAL(rig.n_seen, 39);
		CU_ASSERT_EQUAL(rig.seen[38].pn, 37);
		CU_ASSERT_EQUAL(wh_sim_flow_stats(rig.sim, rig.flow)->retransmitted_pkts, 1);
		CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
		rig_close(&rig);
	}
}

/* RFC 3042: one new segment for each of the first two. */
static void limited_transmit(void)
{
	rig_open(&rig, WH_SIM_TCP_RENO);
	rig.config.limited_transmit = true;
	rig_start(&rig);
	rig_ack_each(&rig, 1, 6);
	CU_ASSERT_EQUAL(rig.n_seen, 14);
	rig_ack(&rig, 6);
	CU_ASSERT_EQUAL(rig.n_seen, 15);
	CU_ASSERT_EQUAL(rig.seen[14].pn, 14);
	rig_ack(&rig, 6);
	CU_ASSERT_EQUAL(rig.n_seen, 16);
	CU_ASSERT_EQUAL(rig.seen[15].pn, 15);
	rig_ack(&rig, 6);
	CU_ASSERT_EQUAL(rig.n_seen, 17);
	CU_ASSERT_EQUAL(rig.seen[16].pn, 6);
	rig_close(&rig);
}

/* 14 and 17 are lost: Reno repairs one and waits for the timer with the other. */
static void reno_repairs_one_a_window(void)
{
	lose_one_of_sixteen(WH_SIM_TCP_RENO);
	rig_ack_times(&rig, 14, 14);
	uint32_t seen = rig.n_seen;

	CU_ASSERT_EQUAL(rig.seen[30].pn, 14);
	rig_ack(&rig, 17);
	rig_ack_times(&rig, 17, 8);
	for (uint32_t i = seen; i < rig.n_seen; i++)
		CU_ASSERT_NOT_EQUAL(rig.seen[i].pn, 17);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
	rig_run_to(&rig, rig.now_ps + 300 * MS_PS);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 1);
	CU_ASSERT_EQUAL(rig.seen[rig.n_seen - 1].pn, 17);
	CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp), 1);
	rig_close(&rig);
}

static void newreno_repairs_by_partial_acks(void)
{
	lose_one_of_sixteen(WH_SIM_TCP_NEWRENO);
	rig_ack_times(&rig, 14, 14);
	/* 8 and 3 + 11 duplicates: up to 35. */
	CU_ASSERT_EQUAL(rig.n_seen, 37);
	rig_ack(&rig, 17);
	/* 17 goes at once; of 14 for duplicates 3 - 1 went, so 12: up to 36. */
	CU_ASSERT_EQUAL(rig.seen[37].pn, 17);
	CU_ASSERT_EQUAL(rig.n_seen, 39);
	CU_ASSERT_EQUAL(rig.seen[38].pn, 36);
	CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp), 8);
	/* 29 is the last of those outstanding at the loss: with 30 it is over. */
	rig_ack(&rig, 29);
	CU_ASSERT_EQUAL(rig.seen[39].pn, 29);
	CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp), 8);
	rig_ack(&rig, 36);
	WH_ASSERT_NEAR(wh_sim_tcp_cwnd_pkts(rig.tcp), 8.125, 1e-12);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(rig.sim, rig.flow)->retransmitted_pkts, 3);
	rig_close(&rig);
}

/* Without acknowledgements: 3 s, doubled up to 60 s, the first segment each time. */
static void timeouts_double(void)
{
	static const uint64_t at_s[] = {0, 3, 9, 21, 45, 93, 153, 213};

	for (unsigned int v = 0; v < WH_SIM_TCP_TCPS; v++) {
		rig_open(&rig, (enum wh_sim_tcp_variety)v);
		rig.config.initial_cwnd_pkts = 1;
		rig.config.initial_rto_ps = 3 * WH_PS_PER_S;
		rig.config.handshake = true;
		rig_start(&rig);
		rig_run_to(&rig, 250 * WH_PS_PER_S);
		/* Vegas has a window of two after one, and sends the second, too. */
		unsigned int each = v == WH_SIM_TCP_VEGAS ? 2 : 1;

		CU_ASSERT_EQUAL_FATAL(rig.n_seen, 1 + 7 * each);
		for (unsigned int i = 0; i < rig.n_seen; i++) {
			unsigned int time = (i + each - 1) / each;

			CU_ASSERT_EQUAL(rig.seen[i].pn, i > 0 ? (i - 1) % each : 0);
			CU_ASSERT_EQUAL(rig.seen_ps[i] / MS_PS, 1000 * at_s[time]);
		}
		CU_ASSERT_EQUAL(rig.tcp->timeouts, 7);
		rig_close(&rig);
	}
}

/* Sixteen out and silence: from the first of them on again, in slow start up to half. */
static void a_timeout_goes_back(void)
{
	for (unsigned int v = 0; v < BY_LOSS; v++) {
		lose_one_of_sixteen(by_loss[v]);
		rig_run_to(&rig, rig.now_ps + 300 * MS_PS);
		CU_ASSERT_EQUAL(rig.tcp->timeouts, 1);
		CU_ASSERT_EQUAL(rig.n_seen, 31);
		CU_ASSERT_EQUAL(rig.seen[30].pn, 14);
		/* CUBIC keeps 0.7 of it. */
		CU_ASSERT_EQUAL(rig.tcp->ssthresh, by_loss[v] == WH_SIM_TCP_CUBIC ? 11 : 8);
		rig_ack(&rig, 15);
		CU_ASSERT_EQUAL(rig.n_seen, 33);
		CU_ASSERT_EQUAL(rig.seen[31].pn, 15);
		CU_ASSERT_EQUAL(rig.seen[32].pn, 16);
		/* All others had arrived: what follows is new. */
		rig_ack(&rig, 30);
		CU_ASSERT_EQUAL(rig.n_seen, 36);
		CU_ASSERT_EQUAL(rig.seen[33].pn, 30);
		rig_close(&rig);
	}
}

/* The handshake's loss: no initial window of 2 after that. */
static void a_lost_handshake_begins_with_one(void)
{
	rig_open(&rig, WH_SIM_TCP_RENO);
	rig.config.handshake = true;
	rig_start(&rig);
	rig_run_to(&rig, 3100 * MS_PS);
	CU_ASSERT_EQUAL(rig.n_seen, 2);
	rig_ack(&rig, 1);
	CU_ASSERT_EQUAL(rig.n_seen, 3);
	CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp), 1);
	rig_close(&rig);
}

/* RFC 3742 with 10: 10 by 1 each, then by 1/K, K = int(w / 5), until a loss ends it. */
static void limited_slow_start(void)
{
	static const struct {
		double cwnd, step;
	} cases[] = {{2, 1}, {9, 1}, {10, 0.5}, {14.5, 0.5}, {15, 1.0 / 3}, {20, 0.25}, {25, 0.2},
		{103, 0.05}};

	rig_open(&rig, WH_SIM_TCP_RENO);
	rig.config.max_ssthresh_pkts = 10;
	rig_start(&rig);
	CU_ASSERT_EQUAL(rig.tcp->ssthresh, 10);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig.tcp->cwnd = cases[i].cwnd;
		wh_sim_tcp_grow_reno(rig.tcp, 0);
		WH_ASSERT_NEAR(rig.tcp->cwnd, cases[i].cwnd + cases[i].step, 1e-12);
	}
	rig.tcp->cut = WH_SIM_CUT_REPAIRED;
	rig.tcp->cwnd = 20;
	wh_sim_tcp_grow_reno(rig.tcp, 0);
	WH_ASSERT_NEAR(rig.tcp->cwnd, 20.05, 1e-12);
	rig_close(&rig);
}

/* Of two segments, both acknowledged: duplicates mean nothing, and no third one goes. */
static void duplicates_of_nothing(void)
{
	for (unsigned int v = 0; v < WH_SIM_TCP_TCPS; v++) {
		rig_open(&rig, (enum wh_sim_tcp_variety)v);
		rig_connect(&rig);
		rig_become_idle(&rig);
		double cwnd = rig.tcp->cwnd;

		for (uint64_t end = 4; end < 10; end++)
			rig_ack_ranges(&rig, 2, (struct wh_sim_sack[]){{3, end}, {0, 0}});
		CU_ASSERT_EQUAL(rig.n_seen, 2);
		CU_ASSERT_TRUE(v == WH_SIM_TCP_VEGAS || rig.tcp->cwnd == cwnd);
		rig_close(&rig);
	}
}

static unsigned int times_done;
static uint64_t done_ps;

static void note_done(void *context, uint64_t now_ps)
{
	(void)context;
	times_done++;
	done_ps = now_ps;
}

/* 10 Mb/s and 5 ms: 100 segments of 1000 + 40 bytes. */
static void a_sized_transfer_ends(void)
{
	times_done = 0;
	rig_open_path(&rig, WH_SIM_TCP_SACK, 10000000, 5 * MS_PS, 50);
	rig.config.segment_bytes = 1000;
	rig_connect(&rig);
	wh_sim_tcp_on_done(rig.tcp, note_done, NULL);
	wh_sim_tcp_offer(rig.tcp, 0, 60);
	wh_sim_tcp_offer(rig.tcp, 0, 40);
	rig_run_to(&rig, 5 * WH_PS_PER_S);

	const struct wh_sim_flow_stats *stats = wh_sim_flow_stats(rig.sim, rig.flow);

	CU_ASSERT_EQUAL(stats->goodput_bytes, 100000);
	CU_ASSERT_EQUAL(stats->sent_pkts, 101);
	CU_ASSERT_EQUAL(stats->retransmitted_pkts, 0);
	CU_ASSERT_EQUAL(stats->first_sent_ps, 0);
	CU_ASSERT_EQUAL(wh_sim_tcp_acked_pkts(rig.tcp), 100);
	CU_ASSERT_EQUAL(times_done, 1);
	CU_ASSERT_EQUAL(stats->finished_ps, done_ps);
	CU_ASSERT_TRUE(done_ps > 100 * MS_PS && done_ps < 150 * MS_PS);

	/* Idle for longer than a timeout it starts again, and without a loss. */
	CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp), 1);
	CU_ASSERT_EQUAL(rig.tcp->timeouts, 0);
	wh_sim_tcp_offer(rig.tcp, rig.now_ps, 5);
	CU_ASSERT_EQUAL(stats->finished_ps, WH_SIM_NEVER_PS);
	rig_run_to(&rig, 6 * WH_PS_PER_S);
	CU_ASSERT_EQUAL(stats->goodput_bytes, 105000);
	CU_ASSERT_EQUAL(times_done, 2);
	rig_close(&rig);
}

/* 300 segments over a path that loses up to a fifth both ways, by seed: all arrive, once. */
static void bad_paths_are_finished(void)
{
	for (uint64_t seed = 0; seed < 1200; seed++) {
		struct wh_prng prng;

		wh_prng_init(&prng, seed);
		times_done = 0;
		rig_open_lossy(&rig, (enum wh_sim_tcp_variety)(seed % WH_SIM_TCP_TCPS), seed,
			0.2 * wh_prng_unit(&prng), (uint32_t)wh_prng_below(&prng, 20));
		rig.config.window_pkts = (uint32_t)wh_prng_below(&prng, 100);
		rig.config.handshake = wh_prng_below(&prng, 2) == 0;
		rig.config.limited_transmit = wh_prng_below(&prng, 2) == 0;
		rig.config.delayed_ack = wh_prng_below(&prng, 2) == 0;
		rig.config.max_ssthresh_pkts = (double)wh_prng_below(&prng, 30);
		rig_connect(&rig);
		wh_sim_tcp_on_done(rig.tcp, note_done, NULL);
		wh_sim_tcp_offer(rig.tcp, 0, 300);
		rig_run_to(&rig, 10000 * WH_PS_PER_S);
		CU_ASSERT_EQUAL_FATAL(times_done, 1);
		CU_ASSERT_EQUAL(wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes, 300 * 1460);
		CU_ASSERT_EQUAL(wh_sim_tcp_acked_pkts(rig.tcp), 300);
		rig_close(&rig);
	}
}

/* A stopped one still repairs: all that was sent arrives. */
static void a_stopped_one_repairs(void)
{
	for (unsigned int v = 0; v < WH_SIM_TCP_TCPS; v++) {
		rig_open_path(&rig, (enum wh_sim_tcp_variety)v, 10000000, 5 * MS_PS, 5);
		rig.config.window_pkts = 0;
		rig_connect(&rig);
		wh_sim_tcp_offer(rig.tcp, 0, UINT64_MAX);
		rig_run_to(&rig, 2 * WH_PS_PER_S);
		wh_sim_tcp_stop(rig.tcp);
		uint64_t sent = rig.tcp->sent_end - 1;

		rig_run_to(&rig, 200 * WH_PS_PER_S);
		CU_ASSERT_EQUAL(wh_sim_tcp_acked_pkts(rig.tcp), sent);
		CU_ASSERT_EQUAL(wh_sim_flow_stats(rig.sim, rig.flow)->goodput_bytes, 1460 * sent);
		/* Queue and path hold some 13 at once, and the window has no limit. */
		CU_ASSERT_TRUE(wh_sim_link_stats(rig.sim, rig.link)->overflow_pkts > 0);
		CU_ASSERT_TRUE(sent * 1500 * 8 > 2 * 0.6 * 10000000);
		rig_close(&rig);
	}
}

/*
 * 1000 bytes take 8 us; acknowledgements come at once and for many, so that a burst meets a device
 * of ten: the eleventh and the one on the line have gone, and no more.
 */
static void a_full_device_cuts_once(void)
{
	rig_open_path(&rig, WH_SIM_TCP_SACK, UINT64_C(1000000000), 1000, 0);
	rig.config.segment_bytes = 960;
	rig.config.window_pkts = 1000;
	rig.config.handshake = rig.config.limited_transmit = false;
	rig.config.device_queue_pkts = 10;
	rig.config.initial_cwnd_pkts = 40;
	rig_start(&rig);
	CU_ASSERT_EQUAL(rig.n_seen, 11); /* nothing is lost: the others wait for news */
	CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp), 20);
	CU_ASSERT_EQUAL(rig.tcp->ssthresh, 20);

	/* What was under way then does not cut again. */
	rig_ack(&rig, 5);
	CU_ASSERT_EQUAL(rig.n_seen, 22);
	WH_ASSERT_NEAR(wh_sim_tcp_cwnd_pkts(rig.tcp), 20.05, 1e-9);
	rig_ack(&rig, 11);
	CU_ASSERT(rig.n_seen <= 33);
	CU_ASSERT(wh_sim_tcp_cwnd_pkts(rig.tcp) > 20);
	rig_ack(&rig, rig.n_seen);
	CU_ASSERT_EQUAL(wh_sim_tcp_cwnd_pkts(rig.tcp) < 20, rig.tcp->device_end > 11);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(rig.sim, rig.flow)->retransmitted_pkts, 0);
	CU_ASSERT_EQUAL(wh_sim_flow_stats(rig.sim, rig.flow)->dropped_pkts, 0);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"names and defaults", names_and_defaults},
	{"slow start doubles", slow_start_doubles},
	{"avoidance adds one a round", avoidance_adds_one_a_round},
	{"the window is a limit", the_window_is_a_limit},
	{"the handshake goes alone", the_handshake_goes_alone},
	{"three duplicates and no fewer", three_duplicates_and_no_fewer},
	{"limited transmit", limited_transmit},
	{"reno repairs one a window", reno_repairs_one_a_window},
	{"newreno repairs by partial acks", newreno_repairs_by_partial_acks},
	{"timeouts double", timeouts_double},
	{"a timeout goes back", a_timeout_goes_back},
	{"a lost handshake begins with one", a_lost_handshake_begins_with_one},
	{"limited slow start", limited_slow_start},
	{"duplicates of nothing", duplicates_of_nothing},
	{"a sized transfer ends", a_sized_transfer_ends},
	{"bad paths are finished", bad_paths_are_finished},
	{"a stopped one repairs", a_stopped_one_repairs},
	{"a full device cuts once", a_full_device_cuts_once},
	CU_TEST_INFO_NULL,
};
