/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/hstcp.h"

#include <math.h>

#include "profile/interval.h"
#include "unit.h"

const char wh_suite_name[] = "hstcp";

/* A clock of 1 GHz; a round trip of 100 ms; 1500 bytes, 12 us at 1 Gb/s. */
#define HZ         UINT64_C(1000000000)
#define RTT_TSC    UINT64_C(100000000)
#define WIRE_BYTES 1500
#define WINDOW_MAX 100000
#define FP         ((double)(UINT64_C(1) << WH_INTERVAL_FRACTION_BITS))

struct rig {
	struct wh_control control;
	uint64_t now_tsc;
	uint64_t acked_pkts;
	uint64_t sent_end;
};

static struct wh_control_config config_at(uint64_t rate_bps)
{
	struct wh_control_config config = {
		.hz = HZ,
		.syn_tsc = 10000000,
		.packet_bytes = WIRE_BYTES,
		.wire_bytes = WIRE_BYTES,
		.rate_bps = rate_bps,
		.window_pkts_max = WINDOW_MAX,
	};

	wh_profile_options_init(&config.options, &wh_profile_hstcp);
	return config;
}

static void set(struct wh_control_config *config, const char *option, double value)
{
	CU_ASSERT_EQUAL(
		wh_profile_options_put(&config->options, &wh_profile_hstcp, option, value), 0);
}

static struct rig rig_of(const struct wh_control_config *config)
{
	struct rig rig = {.now_tsc = HZ};

	wh_control_init(&rig.control, &wh_profile_hstcp, config);
	return rig;
}

static const struct wh_hstcp *hstcp_of(const struct rig *rig)
{
	return (const struct wh_hstcp *)rig->control.state;
}

static double window(const struct rig *rig)
{
	return hstcp_of(rig)->window_pkts;
}

static bool in_slow_start(const struct rig *rig)
{
	struct wh_decision decision = wh_profile_hstcp.decide(&rig->control);

	return decision.limit == WH_LIMIT_START;
}

/* So many packets are acknowledged at once. */
static void ack(struct rig *rig, uint64_t pkts)
{
	rig->acked_pkts += pkts;

	struct wh_feedback_event event = {.now_tsc = rig->now_tsc,
		.acked_pkts = pkts,
		.acked_pkts_total = rig->acked_pkts,
		.rtt_tsc = RTT_TSC};

	WH_CONTROL_TELL(&rig->control, on_feedback, &event);
}

/* A round trip in which all of the window is acknowledged, one by one. */
static void round_trip(struct rig *rig)
{
	uint64_t pkts = (uint64_t)window(rig);

	for (uint64_t i = 0; i < pkts; i++) {
		rig->now_tsc += RTT_TSC / pkts;
		ack(rig, 1);
	}
	rig->sent_end = rig->acked_pkts + (uint64_t)window(rig);
}

static void lose(struct rig *rig, uint64_t pn)
{
	struct wh_loss_event event = {.now_tsc = rig->now_tsc,
		.lost_pkts = 1,
		.last_lost_pn = pn,
		.sent_end = rig->sent_end};

	WH_CONTROL_TELL(&rig->control, on_loss, &event);
}

/* Fig. 5: 512 packets leave after 8 round trips, from 2; Fig. 9: after 9, from 1. */
static void test_slow_start(void)
{
	struct wh_control_config config = config_at(0);
	struct rig rig;

	set(&config, "max_ssthresh", 0);
	rig = rig_of(&config);
	CU_ASSERT_EQUAL(window(&rig), 2);
	for (unsigned int i = 0; i < 8; i++)
		round_trip(&rig);
	CU_ASSERT_EQUAL(window(&rig), 512);
	set(&config, "initial_window", 1);
	rig = rig_of(&config);
	for (unsigned int i = 0; i < 9; i++)
		round_trip(&rig);
	CU_ASSERT_EQUAL(window(&rig), 512);
	round_trip(&rig);
	CU_ASSERT_EQUAL(window(&rig), 1024);
	CU_ASSERT_TRUE(in_slow_start(&rig));
}

/* RFC 3742: up to 100 it doubles; then it adds 50 each round trip, or a little less. */
static void test_limited_slow_start(void)
{
	struct wh_control_config config = config_at(0);
	struct rig rig = rig_of(&config);
	double before;

	for (unsigned int i = 0; i < 6; i++)
		round_trip(&rig);
	CU_ASSERT(window(&rig) >= 100 && window(&rig) <= 128);
	for (unsigned int i = 0; i < 30; i++) {
		before = window(&rig);
		round_trip(&rig);
		CU_ASSERT(window(&rig) - before <= 50 + 25 && window(&rig) - before >= 40);
	}
	/* 1 / K for K = int(w / 50), once */
	before = window(&rig);
	ack(&rig, 1);
	CU_ASSERT_DOUBLE_EQUAL(window(&rig) - before, 1.0 / floor(before / 50), 1e-9);
}

/* A cut in slow start keeps half; after that a(w) each round trip, and 1 - b(w). */
static void test_avoidance(void)
{
	struct wh_control_config config = config_at(0);
	struct rig rig;

	set(&config, "max_ssthresh", 0);
	rig = rig_of(&config);
	for (unsigned int i = 0; i < 10; i++)
		round_trip(&rig);
	CU_ASSERT_EQUAL(window(&rig), 2048);
	lose(&rig, rig.sent_end - 1);
	CU_ASSERT_EQUAL(window(&rig), 1024);
	CU_ASSERT_FALSE(in_slow_start(&rig));

	/* 1024^2 p(1024) 2b / (2 - b) with b = 0.3292: 8.15, where the RFC has 8 at 1058. */
	round_trip(&rig);
	CU_ASSERT_DOUBLE_EQUAL(window(&rig), 1024 + 8.15, 0.02);
	rig.sent_end += 10;
	lose(&rig, rig.sent_end - 1);
	/* b(1032) = 0.5 - 0.4 ln(1032 / 38) / ln(83000 / 38) */
	CU_ASSERT_DOUBLE_EQUAL(window(&rig), 1032.15 * (1 - 0.32824), 0.05);
	CU_ASSERT_EQUAL(hstcp_of(&rig)->cuts, 2);

	set(&config, "aimd", 0);
	rig = rig_of(&config);
	for (unsigned int i = 0; i < 10; i++)
		round_trip(&rig);
	lose(&rig, rig.sent_end - 1);
	CU_ASSERT_EQUAL(window(&rig), 1024);
	round_trip(&rig);
	CU_ASSERT_DOUBLE_EQUAL(window(&rig), 1025, 1e-3);
	rig.sent_end += 10;
	lose(&rig, rig.sent_end - 1);
	CU_ASSERT_DOUBLE_EQUAL(window(&rig), 512.5, 1e-3);
}

/* What was under way at a cut does not cut again, however often it is reported. */
static void test_one_cut_in_a_round_trip(void)
{
	struct wh_control_config config = config_at(0);
	struct rig rig = rig_of(&config);

	for (unsigned int i = 0; i < 6; i++)
		round_trip(&rig);
	lose(&rig, rig.acked_pkts);

	double kept = window(&rig);

	for (uint64_t pn = rig.acked_pkts; pn < rig.sent_end; pn++)
		lose(&rig, pn);
	CU_ASSERT_EQUAL(window(&rig), kept);
	rig.sent_end++;
	lose(&rig, rig.sent_end - 1);
	CU_ASSERT(window(&rig) < kept);
	for (unsigned int i = 0; i < 50; i++) {
		rig.sent_end++;
		lose(&rig, rig.sent_end - 1);
	}
	CU_ASSERT_EQUAL(window(&rig), 2);
}

static void test_silence(void)
{
	struct wh_control_config config = config_at(0);
	struct rig rig = rig_of(&config);

	for (unsigned int i = 0; i < 5; i++)
		round_trip(&rig);
	CU_ASSERT_EQUAL(window(&rig), 64);
	for (unsigned int i = 0; i < 3; i++) {
		struct wh_silence_event event = {.now_tsc = rig.now_tsc};

		WH_CONTROL_TELL(&rig.control, on_silence, &event);
		CU_ASSERT_EQUAL(window(&rig), 1);
		/* of the window, and then of half of it */
		CU_ASSERT_EQUAL(hstcp_of(&rig)->threshold_pkts, 32 >> i);
	}
	CU_ASSERT_EQUAL(hstcp_of(&rig)->timeouts, 3);
	round_trip(&rig);
	CU_ASSERT_EQUAL(window(&rig), 2);
	round_trip(&rig);
	CU_ASSERT_EQUAL(window(&rig), 4);
	round_trip(&rig);
	CU_ASSERT_EQUAL(window(&rig), 8);
	CU_ASSERT_FALSE(in_slow_start(&rig));
}

/* One report of thousands: slow start ends where it should, and a window unused does not grow. */
static void test_reports_of_many(void)
{
	struct wh_control_config config = config_at(0);
	struct rig rig = rig_of(&config);
	struct wh_silence_event silence = {.now_tsc = rig.now_tsc};

	ack(&rig,
		100000); /* a liar's: three times what is said to have come, and no limit beyond */
	CU_ASSERT(window(&rig) <= WINDOW_MAX);
	rig = rig_of(&config);
	for (unsigned int i = 0; i < 5; i++)
		round_trip(&rig);
	WH_CONTROL_TELL(&rig.control, on_silence, &silence);
	rig.now_tsc += RTT_TSC;
	ack(&rig, 1000);
	CU_ASSERT_EQUAL(window(&rig), 32);

	/* Ten packets in each round trip: by the operator's rate, or a source that has no more. */
	for (unsigned int i = 0; i < 1000; i++) {
		rig.now_tsc += RTT_TSC;
		ack(&rig, 10);
	}
	CU_ASSERT_DOUBLE_EQUAL(window(&rig), 32, 0.4); /* once ten of the thousand's round */
	rig = rig_of(&config);
	for (unsigned int i = 0; i < 1000; i++) {
		rig.now_tsc += RTT_TSC;
		ack(&rig, 10);
	}
	CU_ASSERT_EQUAL(window(&rig), 32); /* 3 * 10 + 2, while it may double */
	lose(&rig, rig.sent_end++);
	for (unsigned int i = 0; i < 1000; i++) {
		rig.now_tsc += RTT_TSC;
		ack(&rig, 10);
	}
	CU_ASSERT_EQUAL(window(&rig), 17); /* 1.5 * 10 + 2 */
}

static double interval_tsc(const struct rig *rig)
{
	return (double)rig->control.profile->decide(&rig->control).interval_fp / FP;
}

/* The window goes out in a round trip; in half of one while it doubles. */
static void test_pacing(void)
{
	struct wh_control_config config = config_at(0);
	struct rig rig = rig_of(&config);

	CU_ASSERT_EQUAL(interval_tsc(&rig), 0); /* no round trip is known */
	CU_ASSERT_EQUAL(rig.control.profile->decide(&rig.control).window_pkts, 2);
	round_trip(&rig);
	CU_ASSERT_EQUAL(window(&rig), 4);
	CU_ASSERT_DOUBLE_EQUAL(interval_tsc(&rig), RTT_TSC / 8.0, 1);
	for (unsigned int i = 0; i < 8; i++)
		round_trip(&rig);
	CU_ASSERT_DOUBLE_EQUAL(interval_tsc(&rig), RTT_TSC / window(&rig), 1);
	lose(&rig, rig.sent_end - 1);
	CU_ASSERT_DOUBLE_EQUAL(interval_tsc(&rig), RTT_TSC / window(&rig), 1);

	set(&config, "pace_gain", 1.25);
	rig = rig_of(&config);
	round_trip(&rig);
	CU_ASSERT_DOUBLE_EQUAL(interval_tsc(&rig), RTT_TSC / 10.0, 1);
	set(&config, "pace", 0);
	rig = rig_of(&config);
	round_trip(&rig);
	CU_ASSERT_EQUAL(interval_tsc(&rig), 0);
}

/* No interval is shorter than the operator's rate has it, paced or not. */
static void test_bound(void)
{
	struct wh_control_config config = config_at(HZ);
	struct rig rig = rig_of(&config);

	CU_ASSERT_DOUBLE_EQUAL(interval_tsc(&rig), 12000, 1e-3);
	round_trip(&rig);
	CU_ASSERT_DOUBLE_EQUAL(interval_tsc(&rig), RTT_TSC / 8.0, 1);
	for (unsigned int i = 0; i < 200; i++)
		round_trip(&rig);
	CU_ASSERT(window(&rig) > RTT_TSC / 12000.0);
	CU_ASSERT_DOUBLE_EQUAL(interval_tsc(&rig), 12000, 1e-3);
	wh_control_set_rate(&rig.control, HZ / 2);
	CU_ASSERT_DOUBLE_EQUAL(interval_tsc(&rig), 24000, 1e-3);
	set(&config, "pace", 0);
	rig = rig_of(&config);
	round_trip(&rig);
	CU_ASSERT_DOUBLE_EQUAL(interval_tsc(&rig), 12000, 1e-3);
}

/* A peer may say anything: a cycle is the least interval, and the window has its bound. */
static void test_liar(void)
{
	struct wh_control_config config = config_at(0);
	struct rig rig = rig_of(&config);
	struct wh_feedback_event event = {.acked_pkts = 1, .rtt_tsc = 1};

	for (unsigned int i = 0; i < 1000; i++) {
		event.now_tsc = rig.now_tsc += 10;
		event.acked_pkts *= 2 - (i > 30);
		event.acked_pkts_total += event.acked_pkts;
		WH_CONTROL_TELL(&rig.control, on_feedback, &event);
		CU_ASSERT(interval_tsc(&rig) >= 1.0);
		CU_ASSERT(window(&rig) >= 1 && window(&rig) <= WINDOW_MAX);
	}
	event.rtt_tsc = UINT64_C(1) << 62;
	WH_CONTROL_TELL(&rig.control, on_feedback, &event);
	CU_ASSERT(interval_tsc(&rig) * FP <= (double)WH_INTERVAL_MAX_FP);
	CU_ASSERT_EQUAL(interval_tsc(&rig) >= 1.0, true);
}

static void test_options(void)
{
	struct wh_profile_options set_options;
	const char *why = NULL;

	wh_profile_options_init(&set_options, &wh_profile_hstcp);
	CU_ASSERT_EQUAL(wh_profile_feedback(&wh_profile_hstcp, &set_options).report_bytes, 65536);
	CU_ASSERT_EQUAL(
		wh_profile_options_set(&set_options, &wh_profile_hstcp, "ack_bytes", "3000"), 0);
	CU_ASSERT_EQUAL(wh_profile_feedback(&wh_profile_hstcp, &set_options).report_bytes, 3000);
	CU_ASSERT_PTR_NULL(wh_profile_hstcp.contradiction(&set_options, &why));
	CU_ASSERT_EQUAL(
		wh_profile_options_set(&set_options, &wh_profile_hstcp, "high_window", "38"), 0);
	CU_ASSERT_PTR_NOT_NULL(wh_profile_hstcp.contradiction(&set_options, &why));
	CU_ASSERT_STRING_EQUAL(why, "is not above low_window");
}

CU_TestInfo wh_tests[] = {
	{"slow start: 512 after 8 round trips, or 9", test_slow_start},
	{"limited slow start", test_limited_slow_start},
	{"a(w) and b(w), or a packet and half", test_avoidance},
	{"one cut in a round trip", test_one_cut_in_a_round_trip},
	{"silence", test_silence},
	{"reports of many, windows unused", test_reports_of_many},
	{"a window in a round trip", test_pacing},
	{"the operator's bound", test_bound},
	{"a peer that lies", test_liar},
	{"options", test_options},
	CU_TEST_INFO_NULL,
};
