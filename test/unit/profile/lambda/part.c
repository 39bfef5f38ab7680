/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/lambda.h"

#include "profile/lambda/lambda_internal.h"
#include "unit.h"

const char wh_suite_name[] = "lambda_part";

#define HZ         UINT64_C(1000000000)
#define MS         UINT64_C(1000000)
#define WIRE_BYTES 1250 /* 100,000 packets a second are 1 Gb/s */
#define LINE_PPS   100000.0

struct rig {
	struct wh_control control;
	uint64_t now_tsc;
};

static struct wh_lambda *lambda_of(struct rig *rig)
{
	return wh_lambda_state_of(&rig->control);
}

static struct rig rig_of_line(void)
{
	struct wh_control_config config = {.hz = HZ,
		.syn_tsc = 10 * MS,
		.packet_bytes = 1200,
		.wire_bytes = WIRE_BYTES,
		.window_pkts_max = 1 << 20};
	struct rig rig = {.now_tsc = HZ};

	wh_profile_options_init(&config.options, &wh_profile_lambda);
	wh_control_init(&rig.control, &wh_profile_lambda, &config);
	lambda_of(&rig)->line_pps = LINE_PPS;
	lambda_of(&rig)->rate_pps = LINE_PPS;
	return rig;
}

/* Packets that arrived within `span_tsc` before now, of which the least waited so long. */
static void report(
	struct rig *rig, uint64_t after_tsc, uint32_t pkts, uint64_t span_tsc, double queue_s)
{
	const struct wh_delivery_event event = {.span_pkts = pkts, .span_tsc = span_tsc};

	rig->now_tsc += after_tsc;
	lambda_of(rig)->path.arrived_tsc = rig->now_tsc;
	lambda_of(rig)->path.delivered_pkts += pkts;
	lambda_of(rig)->path.queue_s = queue_s;
	wh_lambda_note_queue(&rig->control, &event);
}

/* 12 kB at 1 Gb/s; at an eighth of the rate half as much, which lasts four times as long. */
static void test_target(void)
{
	struct rig rig = rig_of_line();

	WH_ASSERT_NEAR(wh_lambda_target_s(&rig.control), 12000.0 / WIRE_BYTES / LINE_PPS, 1e-9);
	WH_ASSERT_NEAR(wh_lambda_most_s(&rig.control), 4 * 96e-6 + 200e-6, 1e-9);
	lambda_of(&rig)->line_pps = LINE_PPS / 8;
	WH_ASSERT_NEAR(wh_lambda_target_s(&rig.control), 4 * 96e-6, 1e-9);
	lambda_of(&rig)->line_pps = LINE_PPS;
	lambda_of(&rig)->path.jitter_s = 1e-3;
	WH_ASSERT_NEAR(wh_lambda_target_s(&rig.control), 2e-3, 1e-9);
	lambda_of(&rig)->short_s = 200e-6; /* half of what overflowed, whatever the jitter */
	WH_ASSERT_NEAR(wh_lambda_target_s(&rig.control), 100e-6, 1e-9);
}

/* While a queue stands half of the line arrives; before it, everything did. */
static void test_part(void)
{
	struct rig rig = rig_of_line();

	report(&rig, 10 * MS, 1000, 10 * MS, 0.0);
	CU_ASSERT_EQUAL(wh_lambda_stands_s(lambda_of(&rig)), 0.0);
	for (int i = 0; i < 4; i++)
		report(&rig, 10 * MS, 500, 10 * MS, 2e-3);
	WH_ASSERT_NEAR(wh_lambda_stands_s(lambda_of(&rig)), 40e-3, 1e-9);
	WH_ASSERT_NEAR(wh_lambda_part_pps(lambda_of(&rig)), LINE_PPS / 2, 1e-6);
	report(&rig, 10 * MS, 500, 10 * MS, 0.0);
	CU_ASSERT_EQUAL(wh_lambda_stands_s(lambda_of(&rig)), 0.0);
}

/* The path has become longer by 50 ms: nothing came, and then all that the line carries. */
static void test_pause(void)
{
	struct rig rig = rig_of_line();

	report(&rig, 10 * MS, 1000, 10 * MS, 0.0);
	report(&rig, 60 * MS, 1000, 10 * MS, 50e-3);
	report(&rig, 10 * MS, 1000, 10 * MS, 50e-3);
	WH_ASSERT_NEAR(wh_lambda_part_pps(lambda_of(&rig)), LINE_PPS, 1e-6);
}

/* A peer that tells of more, and of longer, than there was: no rate, and no assertion. */
static void test_lies(void)
{
	struct rig rig = rig_of_line();

	report(&rig, 10 * MS, 10, 10 * MS, 0.0);
	report(&rig, 10 * MS, 0, UINT64_MAX, 1.0);
	CU_ASSERT(wh_lambda_part_pps(lambda_of(&rig)) >= 0.0);
	CU_ASSERT(wh_lambda_likely_part_pps(lambda_of(&rig)) <= LINE_PPS);
	report(&rig, 0, UINT32_MAX, 0, 0.0);
	report(&rig, 10 * MS, UINT32_MAX, 1, 1.0);
	CU_ASSERT(wh_lambda_likely_part_pps(lambda_of(&rig)) <= LINE_PPS);
}

CU_TestInfo wh_tests[] = {
	{"target", test_target},
	{"part", test_part},
	{"pause", test_pause},
	{"lies", test_lies},
	CU_TEST_INFO_NULL,
};
