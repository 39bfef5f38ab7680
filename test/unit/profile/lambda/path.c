/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/path.h"

#include "unit.h"

const char wh_suite_name[] = "lambda_path";

#define HZ UINT64_C(1000000000)
#define MS UINT64_C(1000000)

#define RATE_PPS 20000.0

struct rig {
	struct wh_lambda_path path;
	struct wh_delivery_event event;
};

static struct rig rig_of(void)
{
	struct rig rig = {.event = {.sent_pkts = 1000000}};

	wh_lambda_path_init(&rig.path, HZ);
	return rig;
}

/* So long later, so many more were seen, of which so many came. */
static void hear(struct rig *rig, uint64_t after_tsc, uint64_t seen_pkts, uint64_t came_pkts,
	int64_t delay_tsc)
{
	struct wh_delivery_event *event = &rig->event;

	event->now_tsc += after_tsc;
	event->arrived_tsc += after_tsc;
	event->seen_pkts += seen_pkts;
	event->delivered_pkts += came_pkts;
	event->least_delay_tsc = event->delay_tsc = delay_tsc;
	event->rtt_tsc = 20 * MS;
	event->span_pkts = (uint32_t)came_pkts - 1;
	event->span_tsc = after_tsc;
	wh_lambda_path_hear(&rig->path, event, RATE_PPS);
}

/* The zero of delays is unknown, and may be anywhere. */
static void test_queue(void)
{
	struct rig rig = rig_of();

	hear(&rig, MS, 10, 10, -5 * (int64_t)MS);
	CU_ASSERT_EQUAL(rig.path.queue_s, 0.0);
	hear(&rig, MS, 10, 10, -3 * (int64_t)MS);
	WH_ASSERT_NEAR(rig.path.queue_s, 2e-3, 1e-9);
	WH_ASSERT_NEAR(wh_lambda_path_rtt_s(&rig.path), 20e-3, 1e-9);
	wh_lambda_path_forget(&rig.path);
	hear(&rig, MS, 10, 10, -3 * (int64_t)MS);
	CU_ASSERT_EQUAL(rig.path.queue_s, 0.0);
}

/* A sample is of what went after the mark. */
static void test_sample(void)
{
	struct rig rig = rig_of();

	hear(&rig, MS, 10, 10, MS);
	wh_lambda_path_mark(&rig.path, rig.event.now_tsc, 30);
	hear(&rig, MS, 20, 10, MS);
	CU_ASSERT_FALSE(rig.path.filling);
	hear(&rig, MS, 20, 20, 9 * MS);
	CU_ASSERT_TRUE(rig.path.filling);
	CU_ASSERT_FALSE(wh_lambda_path_full(&rig.path, &rig.event, 1, 0.0, 1.0));
	hear(&rig, MS, 20, 15, 3 * MS);
	hear(&rig, MS, 20, 20, 2 * MS);
	CU_ASSERT_FALSE(wh_lambda_path_full(&rig.path, &rig.event, 41, 0.0, 1.0));
	CU_ASSERT_FALSE(wh_lambda_path_full(&rig.path, &rig.event, 40, 2.1e-3, 1.0));
	CU_ASSERT_TRUE(wh_lambda_path_full(&rig.path, &rig.event, 40, 2e-3, 1.0));
	CU_ASSERT_EQUAL(rig.path.sample.seen_pkts, 40);
	CU_ASSERT_EQUAL(rig.path.sample.lost_pkts, 5);
	WH_ASSERT_NEAR(rig.path.sample.arrival_pps, 17500, 1e-9);
	WH_ASSERT_NEAR(rig.path.sample.queue_s, 1e-3, 1e-9);
	WH_ASSERT_NEAR(rig.path.sample.peak_s, 2e-3, 1e-9);
	CU_ASSERT_FALSE(rig.path.sample.starved);
}

/* A least delay is forgotten after the period that follows its own. */
static void test_least(void)
{
	struct rig rig = rig_of();

	hear(&rig, MS, 10, 10, MS);
	for (unsigned int i = 0; i < 19; i++)
		hear(&rig, 1000 * MS, 10, 10, 4 * MS);
	WH_ASSERT_NEAR(rig.path.queue_s, 3e-3, 1e-9);
	for (unsigned int i = 0; i < 4; i++)
		hear(&rig, 1000 * MS, 10, 10, 4 * MS);
	CU_ASSERT_EQUAL(rig.path.queue_s, 0.0);
}

/* What goes backwards, or was never sent, is no news. */
static void test_lies(void)
{
	struct rig rig = rig_of();

	hear(&rig, MS, 10, 10, INT64_MIN);
	hear(&rig, MS, 10, 10, INT64_MAX);
	CU_ASSERT_TRUE(rig.path.queue_s > 0.0);
	CU_ASSERT_EQUAL(rig.path.seen_pkts, 20);
	hear(&rig, MS, 0, 10, MS);
	CU_ASSERT_EQUAL(rig.path.delivered_pkts, 20);
	hear(&rig, MS, 1000000, 10, MS);
	CU_ASSERT_EQUAL(rig.path.seen_pkts, 20);
}

/* What counts of lateness is how many packets go at once: at a low rate few do. */
static void test_late(void)
{
	struct rig rig = rig_of();

	rig.event.late_tsc = 10 * MS;
	wh_lambda_path_hear(&rig.path, &rig.event, 1000.0);
	WH_ASSERT_NEAR(rig.path.late_pkts, 10.0, 1e-9);
	wh_lambda_path_hear(&rig.path, &rig.event, 100000.0);
	WH_ASSERT_NEAR(rig.path.late_pkts, 1000.0, 1e-9);
	rig.event.late_tsc = 0;
	wh_lambda_path_hear(&rig.path, &rig.event, 100000.0);
	CU_ASSERT(rig.path.late_pkts > 900.0 && rig.path.late_pkts < 1000.0);
}

/* A delay that is less by luck makes no queue of all others. */
static void test_floor(void)
{
	struct rig rig = rig_of();

	hear(&rig, MS, 10, 10, (int64_t)MS);
	hear(&rig, MS, 10, 10, (int64_t)MS - 60000);
	hear(&rig, MS, 10, 10, (int64_t)MS);
	CU_ASSERT(rig.path.queue_s < 1e-6);
	hear(&rig, MS, 10, 10, (int64_t)MS + 500000);
	WH_ASSERT_NEAR(rig.path.queue_s, 500e-6, 1e-3);
}

/* What the stream has of a train is none; a pause within one does not count. */
static void test_train(void)
{
	struct rig rig = rig_of();
	struct wh_lambda_train train = {0};
	bool over;

	rig.event.sent_pkts = 2;
	rig.event.held_up = true;
	hear(&rig, MS, 2, 2, 0);
	over = wh_lambda_train_hear(&train, &rig.path, &rig.event, 0, 32);
	CU_ASSERT_FALSE(over);
	CU_ASSERT_EQUAL(train.from_pkts, 2);

	/* The stream has more now, but none of it has gone. */
	rig.event.held_up = false;
	CU_ASSERT_FALSE(wh_lambda_train_hear(&train, &rig.path, &rig.event, 2, 32));

	rig.event.sent_pkts = 34;
	rig.event.held_up = false;
	hear(&rig, 10 * MS, 11, 11, 0);
	rig.event.span_tsc = MS / 10;
	over = wh_lambda_train_hear(&train, &rig.path, &rig.event, 2, 32);
	CU_ASSERT_FALSE(over);
	hear(&rig, 20 * MS, 21, 21, 0);
	rig.event.span_tsc = MS / 5;
	over = wh_lambda_train_hear(&train, &rig.path, &rig.event, 13, 32);
	CU_ASSERT_TRUE(over);
	CU_ASSERT_EQUAL(train.pkts, 30);
	WH_ASSERT_NEAR(wh_lambda_train_pps(&train, &rig.path, 0.0), 1e5, 1e-9);
}

/* On a slow line reports are more frequent than packets: those without news end no train soon. */
static void test_train_slow(void)
{
	struct rig rig = rig_of();
	struct wh_lambda_train train = {0};
	unsigned int reports = 0;

	rig.event.sent_pkts = 32;
	hear(&rig, MS, 1, 1, 0);
	CU_ASSERT_FALSE(wh_lambda_train_hear(&train, &rig.path, &rig.event, 0, 32));
	hear(&rig, 10 * MS, 1, 1, 0);
	CU_ASSERT_FALSE(wh_lambda_train_hear(&train, &rig.path, &rig.event, 1, 32));
	do
		hear(&rig, MS, 0, 0, 0);
	while (++reports < 100 && !wh_lambda_train_hear(&train, &rig.path, &rig.event, 2, 32));
	CU_ASSERT_EQUAL(reports, 22); /* two spacings, and what the first report spans */
}

/* All at once after a wait: the host had paused, and the wait was not the link's. */
static void test_train_paused(void)
{
	struct rig rig = rig_of();
	struct wh_lambda_train train = {0};

	rig.event.sent_pkts = 32;
	hear(&rig, MS, 11, 11, 0);
	(void)wh_lambda_train_hear(&train, &rig.path, &rig.event, 0, 32);
	hear(&rig, 100 * MS, 21, 21, 0);
	rig.event.span_tsc = MS;
	CU_ASSERT_TRUE(wh_lambda_train_hear(&train, &rig.path, &rig.event, 11, 32));
	CU_ASSERT_EQUAL(train.pkts, 30);
	WH_ASSERT_NEAR(train.s, 2e-3, 1e-9);
}

/* The path was down within the train: neither what came before nor after waited for the link. */
static void test_train_interrupted(void)
{
	struct rig rig = rig_of();
	struct wh_lambda_train train = {0};

	rig.event.sent_pkts = 32;
	hear(&rig, MS, 10, 10, 0);
	(void)wh_lambda_train_hear(&train, &rig.path, &rig.event, 0, 32);
	hear(&rig, MS, 1, 1, 0);
	(void)wh_lambda_train_hear(&train, &rig.path, &rig.event, 10, 32);
	CU_ASSERT_EQUAL(train.pkts, 10);
	wh_lambda_train_interrupted(&train);
	hear(&rig, 8000 * MS, 1, 1, 0);
	rig.event.span_tsc = 0;
	rig.event.span_pkts = 0;
	(void)wh_lambda_train_hear(&train, &rig.path, &rig.event, 11, 32);
	hear(&rig, MS, 1, 1, 0);
	(void)wh_lambda_train_hear(&train, &rig.path, &rig.event, 12, 32);
	CU_ASSERT_EQUAL(train.pkts, 11);
	CU_ASSERT(train.s < 10e-3);
}

/* A host that pauses is no stream that has too little. */
static void test_pauses(void)
{
	for (int paused = 0; paused < 2; paused++) {
		struct rig rig = rig_of();

		hear(&rig, MS, 10, 10, 0);
		wh_lambda_path_mark(&rig.path, rig.event.now_tsc, 10);
		rig.event.sent_pkts = 10 + 1200;
		hear(&rig, MS, 20, 20, 0);
		for (int i = 0; i < (paused != 0 ? 1 : 78); i++)
			hear(&rig, paused != 0 ? 78 * MS : MS, 10, 10, 0);
		hear(&rig, 21 * MS, 10, 10, 0);
		CU_ASSERT_TRUE(wh_lambda_path_full(&rig.path, &rig.event, 1, 0.0, RATE_PPS));
		CU_ASSERT_EQUAL(rig.path.sample.starved, paused == 0);
		WH_ASSERT_NEAR(wh_lambda_path_pause_s(&rig.path, RATE_PPS),
			paused != 0 ? 78e-3 * 0.98 : 21e-3, 1e-9);
		CU_ASSERT_EQUAL(wh_lambda_path_pause_s(&rig.path, 100.0), 0.0);
	}
}

/* A host that pauses all the time sends what it can: that is less than a rate it never used. */
static void test_pauses_always(void)
{
	struct rig rig = rig_of();

	rig.event.sent_pkts = 1000;
	hear(&rig, 30 * MS, 10, 10, MS);
	wh_lambda_path_mark(&rig.path, rig.event.now_tsc, 10);
	for (unsigned int i = 0; i < 4; i++)
		hear(&rig, 30 * MS, 10, 10, MS);
	rig.event.sent_pkts = 60;
	CU_ASSERT_TRUE(wh_lambda_path_full(&rig.path, &rig.event, 20, 0.0, 100.0 * RATE_PPS));
	CU_ASSERT_TRUE(rig.path.sample.starved);
}

/* What arrives at once behind a pause is no rate: the most that arrived counts 2 ms at least. */
static void test_arrived_most(void)
{
	struct rig rig = rig_of();

	for (unsigned int i = 0; i < 9; i++) {
		hear(&rig, 10 * MS, 100, 100, MS);
		hear(&rig, 100, 100, 100, MS);
	}
	WH_ASSERT_NEAR(rig.path.arrived_most_pps, 200.0 / 10e-3, 0.01);
}

CU_TestInfo wh_tests[] = {
	{"queue", test_queue},
	{"sample", test_sample},
	{"least", test_least},
	{"lies", test_lies},
	{"late", test_late},
	{"floor", test_floor},
	{"train", test_train},
	{"a train on a slow line", test_train_slow},
	{"a host pauses in a train", test_train_paused},
	{"the path is down in a train", test_train_interrupted},
	{"a host pauses", test_pauses},
	{"a host pauses always", test_pauses_always},
	{"the most that arrived", test_arrived_most},
	CU_TEST_INFO_NULL,
};
