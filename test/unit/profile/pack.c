/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/pack.h"
#include "unit.h"

const char wh_suite_name[] = "pack";

#define HZ UINT64_C(1000000000)

static struct wh_control_config config_at(double timeout_ns)
{
	struct wh_control_config config = {
		.hz = HZ,
		.syn_tsc = HZ / 100,
		.packet_bytes = 1500,
		.wire_bytes = 1538,
		.rate_bps = 1000000000,
		.window_pkts_max = 1 << 16,
	};

	wh_profile_options_init(&config.options, &wh_profile_pack);
	CU_ASSERT_EQUAL(
		wh_profile_options_put(&config.options, &wh_profile_pack, "timeout", timeout_ns),
		0);
	return config;
}

/* Two round trips, 10 ms or more; until one is known, 200 ms. A minute at most. */
static void test_timeout(void)
{
	static const struct {
		double timeout_ns;
		uint64_t rtt_us;
		uint32_t timeout_us;
	} cases[] = {
		{0, 0, 200000},
		{0, 4000, 10000},
		{0, 20000, 40000},
		{30e6, 20000, 30000},
		{0, 3600000000, 60000000},
		{60e9, 1, 60000000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_control_config config = config_at(cases[i].timeout_ns);
		const struct wh_feedback_event event = {.rtt_tsc = cases[i].rtt_us * 1000};
		struct wh_control control;

		wh_control_init(&control, &wh_profile_pack, &config);
		WH_CONTROL_TELL(&control, on_feedback, &event);
		CU_ASSERT_EQUAL(
			control.profile->decide(&control).resend_after, cases[i].timeout_us);
	}
}

static void test_decision(void)
{
	struct wh_control_config config = config_at(0);
	struct wh_control control;
	struct wh_decision decision;

	wh_profile_options_put(&config.options, &wh_profile_pack, "window", 128);
	wh_control_init(&control, &wh_profile_pack, &config);
	decision = control.profile->decide(&control);
	CU_ASSERT_EQUAL(decision.interval_fp, UINT64_C(12304) << 20);
	CU_ASSERT_EQUAL(decision.window_pkts, 1 << 16);
	CU_ASSERT_EQUAL(decision.span_pkts, 128);
	CU_ASSERT_TRUE(wh_profile_pack.feedback.ack_each);
	CU_ASSERT_EQUAL(wh_profile_pack.feedback.resend, WH_RESEND_TIMED);
}

CU_TestInfo wh_tests[] = {
	{"timeout", test_timeout},
	{"decision", test_decision},
	CU_TEST_INFO_NULL,
};
