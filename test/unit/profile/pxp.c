/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/pxp.h"
#include "unit.h"

const char wh_suite_name[] = "pxp";

#define HZ UINT64_C(1000000000)
#define MS UINT64_C(1000000)

static struct wh_control_config config_at(uint64_t rate_bps)
{
	struct wh_control_config config = {
		.hz = HZ,
		.syn_tsc = 5 * MS,
		.packet_bytes = 1500,
		.wire_bytes = 1538,
		.rate_bps = rate_bps,
		.window_pkts_max = 1 << 16,
	};

	wh_profile_options_init(&config.options, &wh_profile_pxp);
	return config;
}

static void set(struct wh_control_config *config, const char *name, double value)
{
	CU_ASSERT_EQUAL(wh_profile_options_put(&config->options, &wh_profile_pxp, name, value), 0);
}

static uint32_t resend_after(const struct wh_control_config *config, uint64_t rtt_tsc)
{
	struct wh_control control;
	const struct wh_feedback_event event = {.rtt_tsc = rtt_tsc};

	wh_control_init(&control, &wh_profile_pxp, config);
	WH_CONTROL_TELL(&control, on_feedback, &event);
	return control.profile->decide(&control).resend_after;
}

/* A round trip of R: ceil(1.5 R / 5 ms) + 2; until one is known, 100 ms. */
static void test_count(void)
{
	static const struct {
		double timeout_ms; /* 0: auto */
		uint64_t rtt_us;
		uint32_t states;
	} cases[] = {
		{0, 0, 32},
		{0, 10, 3},
		{0, 20000, 8},
		{0, 20001, 9},
		{0, 200000, 62},
		{30, 0, 6},
		{30, 20000, 6},
		{31, 0, 7},
		{5, 0, 1},
		{1, 0, 1},
		{60000, 0, 12000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_control_config config = config_at(0);

		set(&config, "timeout", 0.0 + cases[i].timeout_ms * 1e6);
		CU_ASSERT_EQUAL(resend_after(&config, cases[i].rtt_us * 1000), cases[i].states);
	}
}

static void test_rate_and_window(void)
{
	struct wh_control_config config = config_at(1000000000);
	struct wh_control control;
	struct wh_decision decision;

	wh_control_init(&control, &wh_profile_pxp, &config);
	decision = control.profile->decide(&control);
	CU_ASSERT_EQUAL(decision.interval_fp, UINT64_C(12304) << 20);
	CU_ASSERT_EQUAL(decision.window_pkts, 1 << 16);
	CU_ASSERT_EQUAL(decision.span_pkts, 0);
	wh_control_set_rate(&control, 500000000);
	CU_ASSERT_EQUAL(control.profile->decide(&control).interval_fp, UINT64_C(24608) << 20);
	set(&config, "window", 64);
	wh_control_init(&control, &wh_profile_pxp, &config);
	CU_ASSERT_EQUAL(control.profile->decide(&control).span_pkts, 64);
}

/* The receiver goes by what OPEN tells: period, processing, load, skip. */
static void test_told(void)
{
	struct wh_control_config config = config_at(0);
	struct wh_feedback preset = wh_profile_feedback(&wh_profile_pxp, &config.options);

	CU_ASSERT_EQUAL(preset.resend, WH_RESEND_COUNTED);
	CU_ASSERT_TRUE(preset.no_ack2);
	CU_ASSERT_EQUAL(preset.nak_packets_max, 0);
	CU_ASSERT_EQUAL(preset.period_us, 5000);
	CU_ASSERT_EQUAL(preset.interval.processing_ns, 1000);
	CU_ASSERT_EQUAL(preset.interval.load, 1.0);
	CU_ASSERT_EQUAL(preset.interval.skip, 2);
	set(&config, "period", 20e6);
	set(&config, "processing", 80e3);
	set(&config, "load", 0);
	set(&config, "skip", 1);
	set(&config, "timeout", 30e6);

	struct wh_open_option told[WH_OPEN_OPTIONS_MAX];
	struct wh_profile_options heard;
	uint32_t n_told = wh_profile_options_tell(&config.options, &wh_profile_pxp, told);

	CU_ASSERT_EQUAL(n_told, 4); /* the timeout is the transmitter's */
	CU_ASSERT_TRUE(wh_profile_options_hear(&heard, &wh_profile_pxp, told, n_told));

	struct wh_feedback feedback = wh_profile_feedback(&wh_profile_pxp, &heard);

	CU_ASSERT_EQUAL(feedback.period_us, 20000);
	CU_ASSERT_EQUAL(feedback.interval.processing_ns, 80000);
	CU_ASSERT_EQUAL(feedback.interval.load, 0.0);
	CU_ASSERT_EQUAL(feedback.interval.skip, 1);
}

CU_TestInfo wh_tests[] = {
	{"reports until a packet goes again", test_count},
	{"rate and window", test_rate_and_window},
	{"what is told", test_told},
	CU_TEST_INFO_NULL,
};
