/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/sttp.h"

#include "profile/interval.h"
#include "unit.h"

const char wh_suite_name[] = "sttp";

/* A clock of 1 GHz; packets of 1000 bytes on the wire. */
#define HZ    UINT64_C(1000000000)
#define MS    (HZ / 1000)
#define BYTES 1000

static struct wh_control control;
static uint64_t sent;
static uint64_t now;

static void set(struct wh_control_config *config, const char *option, double value)
{
	CU_ASSERT_EQUAL(
		wh_profile_options_put(&config->options, &wh_profile_sttp, option, value), 0);
}

static struct wh_control_config defaults(void)
{
	struct wh_control_config config = {
		.hz = HZ,
		.syn_tsc = 10 * MS,
		.packet_bytes = BYTES,
		.wire_bytes = BYTES,
		.window_pkts_max = 4096,
	};

	wh_profile_options_init(&config.options, &wh_profile_sttp);
	return config;
}

static void begin(const struct wh_control_config *config, uint64_t gap_tsc, uint64_t rtt_tsc)
{
	const struct wh_probe_event event = {
		.now_tsc = HZ, .gap_tsc = gap_tsc, .rtt_tsc = rtt_tsc, .bytes = 40};

	sent = 0;
	now = HZ;
	wh_control_init(&control, &wh_profile_sttp, config);
	CU_ASSERT_EQUAL(control.profile->decide(&control).tokens, 0);
	WH_CONTROL_TELL(&control, on_probe, &event);
}

static const struct wh_sttp *sttp(void)
{
	return (const struct wh_sttp *)control.state;
}

static uint64_t may_go(void)
{
	struct wh_decision decision = control.profile->decide(&control);

	CU_ASSERT_TRUE(decision.by_tokens);
	return decision.tokens - sent;
}

/* The second round trip is what the receiver has measured. */
static void state_of(uint64_t acked_pkts, uint64_t rtt_tsc, uint64_t smoothed_tsc)
{
	const struct wh_feedback_event event = {
		.now_tsc = now,
		.acked_pkts = acked_pkts,
		.sent_pkts_total = sent,
		.rtt_tsc = smoothed_tsc,
		.sample_rtt_tsc = rtt_tsc,
	};

	WH_CONTROL_TELL(&control, on_feedback, &event);
}

static void state(uint64_t acked_pkts, uint64_t rtt_tsc)
{
	state_of(acked_pkts, rtt_tsc, 0);
}

static void tick(uint64_t span_tsc)
{
	now += span_tsc;

	const struct wh_tick_event event = {.now_tsc = now, .sent_pkts_total = sent};

	WH_CONTROL_TELL(&control, on_tick, &event);
}

static void lose(uint64_t lost_pkts)
{
	const struct wh_loss_event event = {
		.now_tsc = now, .lost_pkts = lost_pkts, .sent_end = sent, .sent_pkts_total = sent};

	WH_CONTROL_TELL(&control, on_loss, &event);
}

/* 40 bytes in 5 ms are 64 kb/s, 8 packets a second; in 2.5 ms 16. The probe takes one. */
static void test_capacity(void)
{
	static const struct {
		uint64_t gap_us, sigma;
	} cases[] = {{5000, 8}, {2500, 16}, {320, 125}, {160, 250}, {320000, 1}};
	struct wh_control_config config = defaults();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&config, cases[i].gap_us * 1000, 29 * MS);
		CU_ASSERT_EQUAL(sttp()->bucket.capacity, cases[i].sigma);
		CU_ASSERT_EQUAL(may_go(), cases[i].sigma > 1 ? cases[i].sigma - 1 : 1);
	}
	set(&config, "probe_takes", 0);
	set(&config, "span", 2e9);
	begin(&config, 5 * MS, 29 * MS);
	CU_ASSERT_EQUAL(may_go(), 16);

	/* A gap below a cycle, or a bottleneck above the bound: the bound. */
	config.rate_bps = 800000;
	for (uint64_t gap_tsc = 0; gap_tsc < 3; gap_tsc++) {
		begin(&config, gap_tsc, 29 * MS);
		WH_ASSERT_NEAR(sttp()->capacity_pps, 100, 1e-12);
		CU_ASSERT_EQUAL(may_go(), 200);
	}
	CU_ASSERT_EQUAL(control.profile->decide(&control).interval_fp,
		wh_interval_fp(HZ, BYTES, config.rate_bps));
	wh_control_set_rate(&control, 400000);
	CU_ASSERT_EQUAL(
		control.profile->decide(&control).interval_fp, wh_interval_fp(HZ, BYTES, 400000));
}

/*
 * III B.1: seven of eight leave at 0.029 s, their acknowledgements come 264, 389, 514 and 639 ms
 * later. With weights of a half, rho scaled as well, and tokens scaled before and after they are
 * fed, the eighth leaves with the fourth of them, at 0.668 s; as preset it does with the second.
 */
static void test_the_burst(void)
{
	static const struct {
		double scales, twice, share;
		uint32_t acks;
	} cases[] = {{1, 1, 0, 4}, {0, 0, 1, 2}, {0, 0, 0, 2}};
	struct wh_control_config config = defaults();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t acks = 0;

		set(&config, "feed_scales", cases[i].scales);
		set(&config, "scale_twice", cases[i].twice);
		set(&config, "growth_by_share", cases[i].share);
		begin(&config, 5 * MS, 29 * MS);
		CU_ASSERT_EQUAL(may_go(), 7);
		sent = 7;
		while (may_go() == 0)
			state(1, (264 + 125 * acks++) * MS);
		CU_ASSERT_EQUAL(acks, cases[i].acks);
		CU_ASSERT_EQUAL(may_go(), 1);
	}
}

/* A round trip that stays the same brings for each acknowledgement a token. */
static void test_self_clocking(void)
{
	struct wh_control_config config = defaults();

	begin(&config, 5 * MS, 100 * MS);
	sent = may_go();
	for (int i = 0; i < 100; i++) {
		CU_ASSERT_EQUAL(may_go(), 0);
		state(1, 100 * MS);
		CU_ASSERT_EQUAL(may_go(), 1);
		sent++;
	}
	/* Nothing to send for a while: they are kept, and no more than sigma. */
	state(5, 100 * MS);
	CU_ASSERT_EQUAL(may_go(), 5);
	state(500, 100 * MS);
	CU_ASSERT_EQUAL(may_go(), 8);
	/* Scaled down they are taken back: (8 - 0) (0.5 + 0.5 / 2). */
	state(0, 200 * MS);
	CU_ASSERT_EQUAL(may_go(), 6);
}

/* By time it is 8 a second, whatever is acknowledged. */
static void test_timer(void)
{
	struct wh_control_config config = defaults();

	set(&config, "timer", 1);
	begin(&config, 5 * MS, 100 * MS);
	sent = may_go();
	state(7, 100 * MS);
	CU_ASSERT_EQUAL(may_go(), 0);
	tick(124 * MS);
	CU_ASSERT_EQUAL(may_go(), 0);
	tick(MS);
	CU_ASSERT_EQUAL(may_go(), 1);
	tick(HZ / 2);
	CU_ASSERT_EQUAL(may_go(), 5);
	tick(HZ);
	CU_ASSERT_EQUAL(may_go(), 8);
	/* rho is scaled with the rest: 8 to 6 a second. */
	sent += may_go();
	state(0, 200 * MS);
	tick(HZ);
	CU_ASSERT_EQUAL(may_go(), 6);
}

static void test_lost_tokens(void)
{
	struct wh_control_config config = defaults();

	begin(&config, 5 * MS, 100 * MS);
	sent = may_go();
	/* Nothing waits on the way: it was no queue. */
	lose(3);
	CU_ASSERT_EQUAL(may_go(), 3);
	sent += 3;
	state(0, 106 * MS);
	lose(3);
	CU_ASSERT_EQUAL(may_go(), 0);

	set(&config, "returns_clear", 0);
	begin(&config, 5 * MS, 100 * MS);
	sent = may_go();
	lose(3);
	CU_ASSERT_EQUAL(may_go(), 0);
	/* All is lost: one is made after four round trips, not before and not at once again. */
	tick(399 * MS);
	CU_ASSERT_EQUAL(may_go(), 0);
	tick(2 * MS);
	CU_ASSERT_EQUAL(may_go(), 1);
	sent++;
	tick(399 * MS);
	CU_ASSERT_EQUAL(may_go(), 0);

	set(&config, "token_returns", 1);
	begin(&config, 5 * MS, 100 * MS);
	sent = may_go();
	lose(3);
	CU_ASSERT_EQUAL(may_go(), 3);
	lose(300);
	CU_ASSERT_EQUAL(may_go(), 8);
}

/* A second copy brings its token back, once, and a total that shrinks brings none. */
static void test_duplicates(void)
{
	static const struct {
		uint64_t total, tokens;
	} told[] = {{3, 3}, {3, 3}, {1, 3}, {4, 4}};
	struct wh_control_config config = defaults();

	begin(&config, 5 * MS, 100 * MS);
	sent = may_go();
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		const struct wh_feedback_event event = {.now_tsc = now,
			.sent_pkts_total = sent,
			.duplicate_pkts_total = told[i].total};

		WH_CONTROL_TELL(&control, on_feedback, &event);
		CU_ASSERT_EQUAL(may_go(), told[i].tokens);
	}
}

/* Before the probe is back nothing counts. */
static void test_before_the_probe(void)
{
	struct wh_control_config config = defaults();

	sent = 0;
	now = HZ;
	wh_control_init(&control, &wh_profile_sttp, &config);
	state(100, 5 * MS);
	lose(10);
	tick(100 * HZ);
	CU_ASSERT_EQUAL(may_go(), 0);
	CU_ASSERT_FALSE(sttp()->probed);
}

/*
 * A packet that repair brought back was acknowledged 12 s after it went, over a path of 75 ms. What
 * is lost next waits for four of these, and not for four times 12 s, in which a stream has stalled.
 */
static void test_starved(void)
{
	struct wh_control_config config = defaults();

	begin(&config, MS, 75 * MS);
	sent += may_go();
	now += 12 * HZ;
	state_of(1, 12 * HZ, 75 * MS);
	sent += may_go();
	tick(290 * MS);
	CU_ASSERT_EQUAL(may_go(), 0);
	tick(10 * MS);
	CU_ASSERT_EQUAL(may_go(), 1);
	sent++;
	tick(290 * MS);
	CU_ASSERT_EQUAL(may_go(), 0);
	tick(10 * MS);
	CU_ASSERT_EQUAL(may_go(), 1);
}

CU_TestInfo wh_tests[] = {
	{"capacity", test_capacity},
	{"the burst", test_the_burst},
	{"self-clocking", test_self_clocking},
	{"timer", test_timer},
	{"lost tokens", test_lost_tokens},
	{"duplicates", test_duplicates},
	{"before the probe", test_before_the_probe},
	{"starved", test_starved},
	CU_TEST_INFO_NULL,
};
