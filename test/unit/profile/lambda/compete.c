/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/compete.h"

#include "unit.h"

const char wh_suite_name[] = "lambda_compete";

#define HZ    1000000000
#define CLEAR 1e-3

#define RTT  (HZ / 50)
#define LINE 10000.0 /* packets in a second */

struct rig {
	struct wh_lambda_compete compete;
	struct wh_lambda_path path;
	uint64_t now_tsc, sent_pkts;
	bool gone; /* the others */
};

/* With so many packets under way, all of which are seen. */
static struct rig begun(double window_pkts)
{
	struct rig rig = {
		.path = {.hz = HZ,
			.seen_pkts = 1000,
			.delivered_pkts = 1000,
			.least = {{.known = true, .rtt_tsc = RTT}}},
		.now_tsc = HZ,
		.sent_pkts = 1000,
	};

	wh_lambda_compete_begin(&rig.compete, &rig.path, rig.now_tsc, rig.sent_pkts, LINE);
	rig.compete.window_pkts = rig.compete.cut_from_pkts = window_pkts;
	rig.compete.cut_pkts = 1000;
	rig.sent_pkts += (uint64_t)window_pkts;
	return rig;
}

/* A state that sees so many more, of which some are lost, behind so much of a queue. */
static void hear(struct rig *rig, uint64_t seen_pkts, uint64_t lost_pkts, double queue_s)
{
	rig->path.seen_pkts += seen_pkts;
	rig->path.delivered_pkts += seen_pkts - lost_pkts;
	rig->path.queue_s = queue_s;
	rig->sent_pkts += seen_pkts;
	rig->now_tsc += RTT / 4;
	rig->gone = wh_lambda_compete_hear(
		&rig->compete, &rig->path, rig->now_tsc, rig->sent_pkts, 0.0, CLEAR);
}

/* A part of the line, whatever went before. */
static void test_first(void)
{
	struct wh_lambda_path path = {.hz = HZ, .least = {{.known = true, .rtt_tsc = RTT}}};
	struct wh_lambda_compete compete = {0};

	path.queue_s = 20e-3;
	wh_lambda_compete_begin(&compete, &path, HZ, 100, LINE);
	WH_ASSERT_NEAR(compete.window_pkts, 0.31 * LINE * 40e-3, 1e-6);
}

/* Three quarters of a packet in a round trip, where CUBIC's window is not back yet. */
static void test_growth(void)
{
	struct rig rig = begun(100);

	hear(&rig, 50, 0, 20e-3);
	hear(&rig, 50, 0, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 100.0 + 0.375 + 0.375 * 100.0 / 100.375, 1e-9);
}

/* As CUBIC: 9.1 s after a cut from 1000 by 0.3, when it is there again, ... */
static void test_growth_of_cubic(void)
{
	struct rig rig = begun(1000);

	rig.compete.window_pkts = 700.0;
	rig.now_tsc += HZ;
	hear(&rig, 70, 0, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts - 700.0, 9.2, 0.1); /* to 792 then */
	rig.now_tsc += 20 * (uint64_t)HZ;
	hear(&rig, 70, 0, 20e-3);
	WH_ASSERT_NEAR(
		rig.compete.window_pkts - 709.2, 35.0, 0.1); /* ... and by no more than half */
}

/* What is sent and seen in each round trip is such a part of the window. */
static void send_part(struct rig *rig, double part, uint64_t lost_pkts, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		double seen_pkts = (double)(rig->sent_pkts - rig->path.seen_pkts);

		rig->path.seen_pkts = rig->sent_pkts;
		rig->path.delivered_pkts += (uint64_t)seen_pkts - lost_pkts;
		rig->path.arrived_tsc = rig->now_tsc += RTT;
		rig->sent_pkts += (uint64_t)(part * rig->compete.window_pkts) + 1;
		wh_lambda_compete_hear(
			&rig->compete, &rig->path, rig->now_tsc, rig->sent_pkts, 0.0, CLEAR);
	}
}

/* A host that is away for half of the time sends twice as fast, unless the stream had no more. */
static void test_pace(void)
{
	const struct {
		double part;
		bool held_up;
		double least, most;
	} cases[] = {{1.0, false, 1.1, 1.1}, {0.5, false, 1.25 * 1.25 * 1.1, 4.0},
		{0.5, true, 1.1, 1.1}};

	for (size_t i = 0; i < 3; i++) {
		struct rig rig = begun(100);

		rig.path.sample.held_up = cases[i].held_up;
		send_part(&rig, cases[i].part, 0, 5);
		CU_ASSERT(rig.compete.pace >= cases[i].least - 1e-9);
		CU_ASSERT(rig.compete.pace <= cases[i].most + 1e-9);
	}
}

/* A queue that grows again from nothing is nobody's cut, nor is one of a few packets. */
static void test_others_grow(void)
{
	const double queue_s[] = {20e-3, 0.5e-3};

	for (size_t i = 0; i < 2; i++) {
		struct rig rig = begun(100);

		if (i > 0)
			hear(&rig, 10, 0, queue_s[i]);
		hear(&rig, 10, 0, 0.0);
		hear(&rig, 10, 0, queue_s[i]);
		CU_ASSERT(rig.compete.window_pkts > 100.0);
	}
}

/* A stream that had no more says nothing of what the way bears. */
static void test_held_up(void)
{
	struct rig rig = begun(100);

	rig.path.sample.held_up = true;
	hear(&rig, 50, 0, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 100.0, 1e-9);
}

/* To 0.7 of it, once for all that went before the cut. */
static void test_cut(void)
{
	struct rig rig = begun(100);

	hear(&rig, 10, 1, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 70.0, 1e-9);
	hear(&rig, 50, 5, 20e-3);
	hear(&rig, 50, 5, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 70.0, 1e-9);
	hear(&rig, 10, 1, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 49.0, 0.1);
}

/* Losses are an overflow if the queue was long in the round, even if the latest report saw none. */
static void test_loss_without_queue(void)
{
	struct rig rig = begun(100);

	hear(&rig, 10, 0, 20e-3); /* ends a round */
	hear(&rig, 10, 0, 20e-3);
	hear(&rig, 10, 1, 1e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 70.0, 1.0 / 70.0);

	rig = begun(100);
	hear(&rig, 10, 0, 20e-3);
	hear(&rig, 200, 0, 1e-3);
	hear(&rig, 10, 5, 1e-3);
	CU_ASSERT(rig.compete.window_pkts > 100.0);
	hear(&rig, 10, 1, 11e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 70.0, 2.0 / 70.0);
}

/* Some ignore losses, and take more than half when they begin: a tenth of the line is kept. */
static void test_floor(void)
{
	struct rig rig = begun(1000);

	for (int i = 0; i < 400; i++)
		hear(&rig, 40, i < 40 ? 24 : 16, 20e-3);
	CU_ASSERT(rig.compete.window_pkts >= 0.1 * LINE * 40e-3 - 1e-9);
	CU_ASSERT(rig.compete.window_pkts < 0.11 * LINE * 40e-3);
}

/* Of a line that is a tenth of what it was, no tenth of that is kept. */
static void test_narrower_line(void)
{
	struct rig rig = begun(1000);

	rig.compete.line_pps = 10.0 * LINE;
	for (int i = 0; i < 400; i++)
		hear(&rig, 40, rig.compete.window_pkts > 40.0 ? 36 : 4, 20e-3);
	CU_ASSERT(rig.compete.window_pkts < 45.0);
}

static void test_least_window(void)
{
	struct rig rig = begun(3);

	rig.compete.line_pps = 100.0;
	for (int i = 0; i < 40; i++)
		hear(&rig, 10, 10, 20e-3);
	WH_ASSERT_NEAR(rig.compete.window_pkts, 2.0, 1e-9);
}

static void hear_until_gone(struct rig *rig)
{
	if (!rig->gone)
		hear(rig, 200, 0, 0.5e-3);
}

/* Six seconds without a queue, and the others are gone; a moment with it, and they are not. */
static void test_end(void)
{
	struct rig rig = begun(100);

	for (int i = 0; i < 1250; i++)
		hear(&rig, 200, 0, 0.5e-3);
	hear(&rig, 200, 0, 2e-3);
	hear(&rig, 200, 0, 2e-3);
	for (int i = 0; i < 1250; i++)
		hear(&rig, 200, 0, 0.5e-3);
	CU_ASSERT_FALSE(rig.gone);
	for (int i = 0; i < 40; i++)
		hear_until_gone(&rig);
	CU_ASSERT_TRUE(rig.gone);
}

CU_TestInfo wh_tests[] = {
	{"first", test_first},
	{"growth", test_growth},
	{"growth of CUBIC", test_growth_of_cubic},
	{"pace", test_pace},
	{"others grow", test_others_grow},
	{"held up", test_held_up},
	{"cut", test_cut},
	{"loss without queue", test_loss_without_queue},
	{"floor", test_floor},
	{"narrower line", test_narrower_line},
	{"least window", test_least_window},
	{"end", test_end},
	CU_TEST_INFO_NULL,
};
