/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/fixed.h"
#include "unit.h"

const char wh_suite_name[] = "fixed";

static struct wh_control_config config_at(uint64_t rate_bps)
{
	struct wh_control_config config;

	config = (struct wh_control_config){.window_pkts_max = WH_WINDOW_UNLIMITED};
	wh_profile_options_init(&config.options, &wh_profile_fixed);
	config.hz = 1000000000;
	config.syn_tsc = 10000000;
	config.packet_bytes = 1500;
	config.wire_bytes = 1538;
	config.rate_bps = rate_bps;
	return config;
}

/* 1538 bytes at 10 Gb/s: 1230.4 cycles of 1 GHz, times 2^20 = 1290167910.4 */
static void test_rate(void)
{
	struct wh_control_config config = config_at(UINT64_C(10000000000));
	struct wh_control control;

	config.window_pkts_max = 777;
	wh_control_init(&control, &wh_profile_fixed, &config);

	struct wh_decision decision = control.profile->decide(&control);

	CU_ASSERT_EQUAL(decision.interval_fp, 1290167910);
	CU_ASSERT_EQUAL(decision.window_pkts, 777);
	CU_ASSERT_EQUAL(decision.freeze_until_tsc, 0);
}

/* Another rate is what the pacer is told next. */
static void test_another_rate(void)
{
	struct wh_control_config config = config_at(UINT64_C(1000000000));
	struct wh_control control;

	wh_control_init(&control, &wh_profile_fixed, &config);
	wh_control_set_rate(&control, UINT64_C(10000000000));
	CU_ASSERT_EQUAL(control.profile->decide(&control).interval_fp, 1290167910);
}

static void test_no_rate(void)
{
	struct wh_control_config config = config_at(0);
	struct wh_control control;

	wh_control_init(&control, &wh_profile_fixed, &config);
	CU_ASSERT_EQUAL(control.profile->decide(&control).interval_fp, 0);
	CU_ASSERT_EQUAL(control.profile->decide(&control).window_pkts, WH_WINDOW_UNLIMITED);
}

static void test_deaf(void)
{
	struct wh_control_config config = config_at(1000000000);
	struct wh_control control;

	wh_control_init(&control, &wh_profile_fixed, &config);

	struct wh_decision before = control.profile->decide(&control);
	struct wh_feedback_event feedback = {.now_tsc = 1,
		.acked_pkts = 5,
		.acked_pkts_total = 5,
		.arrival_pps = 10,
		.capacity_pps = 20,
		.rtt_tsc = 30};
	struct wh_loss_event loss = {
		.now_tsc = 2, .lost_pkts = 9, .last_lost_pn = 8, .sent_end = 10};
	struct wh_delay_event delay = {.now_tsc = 3, .sent_end = 10};
	struct wh_bitmap_event bitmap = {.now_tsc = 4, .finding = WH_BITMAP_CONGESTED};
	struct wh_tick_event tick = {.now_tsc = 4, .sent_pkts_total = 10};

	WH_CONTROL_TELL(&control, on_feedback, &feedback);
	WH_CONTROL_TELL(&control, on_loss, &loss);
	WH_CONTROL_TELL(&control, on_delay, &delay);
	WH_CONTROL_TELL(&control, on_bitmap, &bitmap);
	WH_CONTROL_TELL(&control, on_tick, &tick);

	struct wh_decision after = control.profile->decide(&control);

	CU_ASSERT_EQUAL(after.interval_fp, UINT64_C(12304) << 20);
	CU_ASSERT_EQUAL(after.interval_fp, before.interval_fp);
	CU_ASSERT_EQUAL(after.window_pkts, before.window_pkts);
	CU_ASSERT_EQUAL(after.freeze_until_tsc, 0);
}

CU_TestInfo wh_tests[] = {
	{"interval of a rate", test_rate},
	{"another rate", test_another_rate},
	{"no rate", test_no_rate},
	{"deaf to all events", test_deaf},
	CU_TEST_INFO_NULL,
};
