/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "rate/control.h"
#include "unit.h"

const char wh_suite_name[] = "fixed";

static struct wh_control_config config_at(uint64_t rate_bps)
{
	struct wh_control_config config;

	wh_control_config_init(&config);
	config.hz = 1000000000;
	config.syn_tsc = 10000000;
	config.packet_bytes = 1500;
	config.wire_bytes = 1538;
	config.rate_bps = rate_bps;
	return config;
}

static void test_registry(void)
{
	CU_ASSERT_PTR_EQUAL(wh_control_at(0), &wh_control_fixed);
	CU_ASSERT_PTR_EQUAL(wh_control_at(1), &wh_control_udt);
	CU_ASSERT_PTR_EQUAL(wh_control_at(2), &wh_control_ttp);
	CU_ASSERT_PTR_NULL(wh_control_at(3));
	CU_ASSERT_PTR_NULL(wh_control_at(UINT32_MAX));
	for (uint32_t i = 0; wh_control_at(i) != NULL; i++) {
		CU_ASSERT_PTR_EQUAL(wh_control_find(wh_control_at(i)->name), wh_control_at(i));
		CU_ASSERT(strlen(wh_control_at(i)->summary) > 0);
	}
	CU_ASSERT_PTR_EQUAL(wh_control_find("fixed"), &wh_control_fixed);
	CU_ASSERT_PTR_EQUAL(wh_control_find("udt"), &wh_control_udt);
	CU_ASSERT_PTR_EQUAL(wh_control_find("ttp"), &wh_control_ttp);
	CU_ASSERT_PTR_NULL(wh_control_find("fix"));
	CU_ASSERT_PTR_NULL(wh_control_find(""));
}

static void test_config_defaults(void)
{
	struct wh_control_config config;

	memset(&config, 0xff, sizeof(config));
	wh_control_config_init(&config);
	CU_ASSERT_EQUAL(config.rate_bps, 0);
	CU_ASSERT_EQUAL(config.window_pkts_max, UINT32_MAX);
	CU_ASSERT_TRUE(config.udt.use_formula_3);
	CU_ASSERT_TRUE(config.udt.use_delay_warning);
	CU_ASSERT_FALSE(config.udt.spare_single_loss);
	CU_ASSERT_FALSE(config.udt.bandwidth_in_bytes);
	CU_ASSERT_EQUAL(config.udt.beta, 1.5e-6);
	CU_ASSERT_EQUAL(config.udt.loss_threshold, 0.01);
}

/* 1538 bytes at 10 Gb/s: 1230.4 cycles of 1 GHz, times 2^20 = 1290167910.4 */
static void test_rate(void)
{
	struct wh_control_config config = config_at(UINT64_C(10000000000));
	struct wh_control control;

	config.window_pkts_max = 777;
	wh_control_init(&control, &wh_control_fixed, &config);

	struct wh_decision decision = control.ops->decide(&control);

	CU_ASSERT_EQUAL(decision.interval_fp, 1290167910);
	CU_ASSERT_EQUAL(decision.window_pkts, 777);
	CU_ASSERT_EQUAL(decision.freeze_until_tsc, 0);
}

/* Another rate is what the pacer is told next. */
static void test_another_rate(void)
{
	struct wh_control_config config = config_at(UINT64_C(1000000000));
	struct wh_control control;

	wh_control_init(&control, &wh_control_fixed, &config);
	wh_control_set_rate(&control, UINT64_C(10000000000));
	CU_ASSERT_EQUAL(control.ops->decide(&control).interval_fp, 1290167910);
}

static void test_no_rate(void)
{
	struct wh_control_config config = config_at(0);
	struct wh_control control;

	wh_control_init(&control, &wh_control_fixed, &config);
	CU_ASSERT_EQUAL(control.ops->decide(&control).interval_fp, 0);
	CU_ASSERT_EQUAL(control.ops->decide(&control).window_pkts, WH_WINDOW_UNLIMITED);
}

static void test_deaf(void)
{
	struct wh_control_config config = config_at(1000000000);
	struct wh_control control;

	wh_control_init(&control, &wh_control_fixed, &config);

	struct wh_decision before = control.ops->decide(&control);
	struct wh_feedback_event feedback = {.now_tsc = 1,
		.acked_pkts = 5,
		.acked_pkts_total = 5,
		.arrival_pps = 10,
		.capacity_pps = 20,
		.rtt_tsc = 30};
	struct wh_loss_event loss = {
		.now_tsc = 2, .lost_pkts = 9, .last_lost_serial = 8, .sent_end = 10};
	struct wh_delay_event delay = {.now_tsc = 3, .sent_end = 10};
	struct wh_bitmap_event bitmap = {.now_tsc = 4, .finding = WH_BITMAP_CONGESTED};
	struct wh_tick_event tick = {.now_tsc = 4, .sent_pkts_total = 10};

	control.ops->on_feedback(&control, &feedback);
	control.ops->on_loss(&control, &loss);
	control.ops->on_delay(&control, &delay);
	control.ops->on_bitmap(&control, &bitmap);
	control.ops->on_tick(&control, &tick);

	struct wh_decision after = control.ops->decide(&control);

	CU_ASSERT_EQUAL(after.interval_fp, UINT64_C(12304) << 20);
	CU_ASSERT_EQUAL(after.interval_fp, before.interval_fp);
	CU_ASSERT_EQUAL(after.window_pkts, before.window_pkts);
	CU_ASSERT_EQUAL(after.freeze_until_tsc, 0);
}

static void test_no_udt_view(void)
{
	struct wh_control_config config = config_at(1000000000);
	struct wh_control control;

	wh_control_init(&control, &wh_control_fixed, &config);

	struct wh_udt_view view = wh_udt_view(&control);

	CU_ASSERT_FALSE(view.slow_start);
	CU_ASSERT_EQUAL(view.rate_pps, 0.0);
	CU_ASSERT_EQUAL(view.e, 0);
}

CU_TestInfo wh_tests[] = {
	{"registry", test_registry},
	{"defaults of the configuration", test_config_defaults},
	{"interval of a rate", test_rate},
	{"another rate", test_another_rate},
	{"no rate", test_no_rate},
	{"deaf to all events", test_deaf},
	{"no UDT view", test_no_udt_view},
	CU_TEST_INFO_NULL,
};
