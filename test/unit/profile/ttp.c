/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stddef.h>

#include "measure/bitmap_loss.h"
#include "profile/ttp.h"
#include "session/pacer.h"
#include "unit.h"

const char wh_suite_name[] = "ttp";

/*
 * A clock of 1 GHz and 1250 bytes on the wire, 10^4 bits: at r Mb/s a packet takes 10^7 / r cycles.
 */
#define HZ         UINT64_C(1000000000)
#define WIRE_BYTES 1250
#define MBPS       UINT64_C(1000000)

/* The paper's long-fat paths: 8 to 100 Mb/s. */
static double get(const struct wh_control_config *config, const char *option)
{
	return wh_profile_options_get(&config->options, &wh_profile_ttp, option);
}

static void set(struct wh_control_config *config, const char *option, double value)
{
	CU_ASSERT_EQUAL(
		wh_profile_options_put(&config->options, &wh_profile_ttp, option, value), 0);
}

static struct wh_control_config config_at(uint64_t rate_bps)
{
	struct wh_control_config config;

	config = (struct wh_control_config){.window_pkts_max = WH_WINDOW_UNLIMITED};
	wh_profile_options_init(&config.options, &wh_profile_ttp);
	config.hz = HZ;
	config.syn_tsc = 10000000;
	config.packet_bytes = 1200;
	config.wire_bytes = WIRE_BYTES;
	config.rate_bps = rate_bps;
	return config;
}

static struct wh_control control_at(const struct wh_control_config *config)
{
	struct wh_control control;

	wh_control_init(&control, &wh_profile_ttp, config);
	return control;
}

/* Each of packets that were sent since the one before. */
static void say(struct wh_control *control, enum wh_bitmap_finding finding)
{
	static uint64_t first;
	struct wh_bitmap_event event = {
		.finding = finding, .first = first, .sent_end = first + 1024};

	first += 1024;
	WH_CONTROL_TELL(control, on_bitmap, &event);
}

static const struct wh_ttp *ttp_of(const struct wh_control *control)
{
	return (const struct wh_ttp *)control->state;
}

/* In use: a bound may be below what the controller wants. */
static uint64_t rate_of(const struct wh_control *control)
{
	return (uint64_t)fmin(ttp_of(control)->rate_bps, ttp_of(control)->max_bps);
}

static void test_defaults(void)
{
	struct wh_control_config config = config_at(100 * MBPS);

	CU_ASSERT_EQUAL(get(&config, "n"), 1024);
	CU_ASSERT_EQUAL(get(&config, "q"), 3);
	CU_ASSERT_EQUAL(get(&config, "stretch"), 2);
	CU_ASSERT_EQUAL(get(&config, "stretch_max"), 4);
	CU_ASSERT_EQUAL(get(&config, "initial_loss"), 0.5);
	CU_ASSERT_EQUAL(get(&config, "decrease"), 2.0);
	CU_ASSERT_EQUAL(get(&config, "bottleneck"), 0);

	struct wh_control control = control_at(&config);
	struct wh_decision decision = control.profile->decide(&control);

	/* 80 Mb/s: 125000 cycles a packet. */
	CU_ASSERT_EQUAL(rate_of(&control), 80 * MBPS);
	CU_ASSERT_EQUAL(decision.interval_fp, UINT64_C(125000) << WH_INTERVAL_FRACTION_BITS);
	CU_ASSERT_EQUAL(decision.window_pkts, WH_WINDOW_UNLIMITED);
	CU_ASSERT_EQUAL(decision.freeze_until_tsc, 0);
	CU_ASSERT_EQUAL(ttp_of(&control)->state, WH_TTP_STEADY);
	CU_ASSERT_EQUAL(ttp_of(&control)->bitmaps, 0);
}

#define CLEAN     WH_BITMAP_CLEAN
#define BEARABLE  WH_BITMAP_BEARABLE
#define CONGESTED WH_BITMAP_CONGESTED

/* From 80 Mb/s, between 8 and 100, with 2 more for a clean bitmap. */
static void test_reports(void)
{
	static const struct {
		enum wh_bitmap_finding finding;
		enum wh_ttp_state state;
		uint64_t rate_bps;
	} steps[] = {
		{BEARABLE, WH_TTP_STEADY, 80 * MBPS},
		{CLEAN, WH_TTP_NO_LOSS, 82 * MBPS},
		{BEARABLE, WH_TTP_NO_LOSS, 82 * MBPS},
		{CLEAN, WH_TTP_NO_LOSS, 84 * MBPS},
		{CONGESTED, WH_TTP_LOSS, 42 * MBPS},
		{BEARABLE, WH_TTP_LOSS, 42 * MBPS},
		{CONGESTED, WH_TTP_LOSS, 21 * MBPS},
		{CLEAN, WH_TTP_NO_LOSS, 23 * MBPS},
		{CONGESTED, WH_TTP_LOSS, 11500000},
		{CONGESTED, WH_TTP_LOSS, 8 * MBPS},
		{CONGESTED, WH_TTP_LOSS, 8 * MBPS},
		{CLEAN, WH_TTP_NO_LOSS, 10 * MBPS},
		{CONGESTED, WH_TTP_LOSS, 8 * MBPS},
	};
	struct wh_control_config config = config_at(100 * MBPS);
	struct wh_control control = control_at(&config);

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		say(&control, steps[i].finding);
		CU_ASSERT_EQUAL(ttp_of(&control)->state, steps[i].state);
		CU_ASSERT_EQUAL(rate_of(&control), steps[i].rate_bps);
		CU_ASSERT_EQUAL(control.profile->decide(&control).interval_fp,
			wh_interval_fp(HZ, WIRE_BYTES, steps[i].rate_bps));
	}
	/* 46 steps up from 8 to 100, and no further. */
	for (uint32_t i = 1; i <= 50; i++) {
		say(&control, CLEAN);
		CU_ASSERT_EQUAL(rate_of(&control), (i < 46 ? 8 + 2 * i : 100) * MBPS);
	}
	CU_ASSERT_EQUAL(ttp_of(&control)->bitmaps, 63);
	CU_ASSERT_EQUAL(ttp_of(&control)->decreases, 6);
	CU_ASSERT_EQUAL(ttp_of(&control)->increases, 54);
}

/* A bound that falls for a moment is gone by, and leaves no trace once it has risen again. */
static void test_bound_that_moves(void)
{
	struct wh_control_config config = config_at(100 * MBPS);
	struct wh_control control = control_at(&config);

	wh_control_set_rate(&control, 1 * MBPS);
	CU_ASSERT_EQUAL(rate_of(&control), 1 * MBPS);
	CU_ASSERT_EQUAL(control.profile->decide(&control).interval_fp,
		wh_interval_fp(HZ, WIRE_BYTES, 1 * MBPS));
	say(&control, CLEAN);
	CU_ASSERT_EQUAL(rate_of(&control), 1 * MBPS);
	wh_control_set_rate(&control, 100 * MBPS);
	CU_ASSERT_EQUAL(rate_of(&control), 80 * MBPS);
	say(&control, CLEAN);
	CU_ASSERT_EQUAL(rate_of(&control), 82 * MBPS);

	/* Congestion at the bound is below it, the least as well. */
	wh_control_set_rate(&control, 40 * MBPS);
	say(&control, CONGESTED);
	CU_ASSERT_EQUAL(rate_of(&control), 20 * MBPS);
	wh_control_set_rate(&control, 100 * MBPS);
	CU_ASSERT_EQUAL(rate_of(&control), 20 * MBPS);
	wh_control_set_rate(&control, 4 * MBPS);
	say(&control, CONGESTED);
	CU_ASSERT_EQUAL(rate_of(&control), 4 * MBPS);
	wh_control_set_rate(&control, 100 * MBPS);
	say(&control, CONGESTED);
	CU_ASSERT_EQUAL(rate_of(&control), 8 * MBPS);
}

/* Every rate is an option; the operator's --rate is never exceeded. */
static void test_options(void)
{
	static const struct {
		uint64_t rate, bottleneck, initial, min, max, increase; /* Mb/s */
		double decrease;
		uint64_t first, clean, clean_100, congested_100; /* Mb/s: then, after so many */
	} cases[] = {
		{100, 0, 0, 0, 0, 0, 2.0, 80, 82, 100, 8},
		{0, 100, 0, 0, 0, 0, 2.0, 80, 82, 100, 8},
		{0, 0, 0, 0, 0, 0, 2.0, 800, 820, 1000, 80},
		{1000, 100, 0, 0, 0, 0, 2.0, 80, 82, 100, 8},
		{50, 100, 0, 0, 0, 0, 2.0, 50, 50, 50, 8},
		{100, 0, 10, 0, 0, 0, 2.0, 10, 12, 100, 8},
		{100, 0, 10, 20, 0, 0, 2.0, 20, 22, 100, 20},
		{100, 0, 0, 20, 60, 0, 2.0, 60, 60, 60, 20},
		{100, 0, 0, 0, 200, 0, 2.0, 80, 82, 100, 8},
		{0, 100, 0, 0, 200, 0, 2.0, 80, 82, 200, 8},
		{100, 0, 0, 0, 0, 5, 2.0, 80, 85, 100, 8},
		{100, 0, 0, 300, 0, 0, 2.0, 100, 100, 100, 100},
		{100, 0, 0, 1, 0, 0, 10.0, 80, 82, 100, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_control_config config = config_at(cases[i].rate * MBPS);

		set(&config, "bottleneck", (double)(cases[i].bottleneck * MBPS));
		set(&config, "initial_rate", (double)(cases[i].initial * MBPS));
		set(&config, "min_rate", (double)(cases[i].min * MBPS));
		set(&config, "max_rate", (double)(cases[i].max * MBPS));
		set(&config, "increase", (double)(cases[i].increase * MBPS));
		set(&config, "decrease", (double)(cases[i].decrease));

		struct wh_control control = control_at(&config);

		CU_ASSERT_EQUAL(rate_of(&control), cases[i].first * MBPS);
		say(&control, CLEAN);
		CU_ASSERT_EQUAL(rate_of(&control), cases[i].clean * MBPS);
		for (uint32_t j = 1; j < 100; j++)
			say(&control, CLEAN);
		CU_ASSERT_EQUAL(rate_of(&control), cases[i].clean_100 * MBPS);
		say(&control, CONGESTED);
		CU_ASSERT_EQUAL(rate_of(&control),
			(uint64_t)fmax((double)cases[i].clean_100 * 1e6 / cases[i].decrease,
				(double)cases[i].congested_100 * 1e6));
		for (uint32_t j = 1; j < 100; j++)
			say(&control, CONGESTED);
		CU_ASSERT_EQUAL(rate_of(&control), cases[i].congested_100 * MBPS);
	}
}

/* The slowest that a pacer can be told: no rate is 0, which would be as fast as possible. */
static void test_crawl(void)
{
	struct wh_control_config config = config_at(1);
	struct wh_control control = control_at(&config);

	for (uint32_t i = 0; i < 10; i++)
		say(&control, CONGESTED);
	CU_ASSERT_EQUAL(
		control.profile->decide(&control).interval_fp, wh_interval_fp(HZ, WIRE_BYTES, 1));
	CU_ASSERT(control.profile->decide(&control).interval_fp > 0);
}

/* Bitmaps in, rates out: 64 bits each, q = 3, 50 % projected; from 80 Mb/s of 100. */
static void test_bitmaps(void)
{
	static const struct {
		uint64_t lost; /* bits */
		uint64_t rate_bps;
	} steps[] = {
		{0x0000000000000021, 80 * MBPS}, /* 2 / 62 is below 50 % */
		{0x0000000000000001, 80 * MBPS}, /* 1 / 63 = 1.6 % of 2 / 64 = 3.1 % */
		{0x0000000000000000, 82 * MBPS},
		{0x0000000000000011, 41 * MBPS}, /* 2 / 62 = 3.2 % of 3 / 192 = 1.6 % */
		{0x0000000000000010, 41 * MBPS}, /* 1 / 63 = 1.6 % of 5 / 256 = 2.0 % */
		{0x0000000000000700, 20500000},  /* 3 in a row */
		{0x0000000000000000, 22500000},  /* 9 / 384 = 2.3 % */
		{0x8000000000000001, 11250000},  /* 2 / 62 = 3.2 % of 9 / 448 = 2.0 % */
		{0xc000000000000000, 8 * MBPS},  /* 3.2 % of 11 / 512 = 2.1 % */
		{0x0000000000000000, 10 * MBPS},
	};
	struct wh_control_config config = config_at(100 * MBPS);
	struct wh_control control = control_at(&config);
	struct wh_bitmap_loss loss;

	wh_bitmap_loss_init(&loss, 7, (uint32_t)get(&config, "q"), get(&config, "initial_loss"));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t bits = ~steps[i].lost;

		say(&control, wh_bitmap_loss_add(&loss, 7 + 64 * i, 64, &bits));
		CU_ASSERT_EQUAL(rate_of(&control), steps[i].rate_bps);
	}
}

static void test_deaf(void)
{
	struct wh_control_config config = config_at(100 * MBPS);
	struct wh_control control = control_at(&config);
	struct wh_feedback_event feedback = {.acked_pkts = 5, .arrival_pps = 10, .rtt_tsc = 30};
	struct wh_loss_event loss = {.lost_pkts = 9, .last_lost_pn = 8, .sent_end = 10};
	struct wh_delay_event delay = {.now_tsc = 3, .sent_end = 10};
	struct wh_tick_event tick = {.now_tsc = 4, .sent_pkts_total = 10};

	WH_CONTROL_TELL(&control, on_feedback, &feedback);
	WH_CONTROL_TELL(&control, on_loss, &loss);
	WH_CONTROL_TELL(&control, on_delay, &delay);
	WH_CONTROL_TELL(&control, on_tick, &tick);
	CU_ASSERT_EQUAL(rate_of(&control), 80 * MBPS);
	CU_ASSERT_EQUAL(ttp_of(&control)->state, WH_TTP_STEADY);
}

/* Three tell of one congestion, each of 1024 packets and half of them told of before. */
static void test_a_congestion_divides_once(void)
{
	static const struct {
		uint64_t first;
		uint64_t sent_end;
		uint64_t once_bps;
		uint64_t each_bps;
	} steps[] = {
		{1000, 3000, 40 * MBPS, 40 * MBPS}, /* from 80 */
		{1512, 3300, 40 * MBPS, 20 * MBPS},
		{2024, 3600, 40 * MBPS, 10 * MBPS},
		{2999, 4100, 40 * MBPS, 8 * MBPS},
		{3000, 4200, 20 * MBPS, 8 * MBPS}, /* all of it sent at the rate of now */
		{4199, 5300, 20 * MBPS, 8 * MBPS},
		{4200, 5400, 10 * MBPS, 8 * MBPS},
	};

	for (int each = 0; each < 2; each++) {
		struct wh_control_config config = config_at(100 * MBPS);

		CU_ASSERT_EQUAL(wh_profile_options_put(
					&config.options, &wh_profile_ttp, "divide_each", each),
			0);

		struct wh_control control = control_at(&config);

		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			struct wh_bitmap_event event = {.finding = CONGESTED,
				.first = steps[i].first,
				.sent_end = steps[i].sent_end};

			WH_CONTROL_TELL(&control, on_bitmap, &event);
			CU_ASSERT_EQUAL(
				rate_of(&control), each ? steps[i].each_bps : steps[i].once_bps);
			CU_ASSERT_EQUAL(ttp_of(&control)->state, WH_TTP_LOSS);
		}
		CU_ASSERT_EQUAL(ttp_of(&control)->decreases, each ? 7 : 3);
	}
}

CU_TestInfo wh_tests[] = {
	{"defaults", test_defaults},
	{"states and rates", test_reports},
	{"a congestion divides once", test_a_congestion_divides_once},
	{"a congestion divides once", test_a_congestion_divides_once},
	{"a bound that moves", test_bound_that_moves},
	{"options", test_options},
	{"a crawl", test_crawl},
	{"bitmaps in, rates out", test_bitmaps},
	{"deaf to other events", test_deaf},
	CU_TEST_INFO_NULL,
};
