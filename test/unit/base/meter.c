/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/meter.h"

#include "unit.h"

const char wh_suite_name[] = "meter";

static uint64_t counter;

static uint64_t read_counter(void)
{
	return counter;
}

static struct wh_meter begun(uint64_t now)
{
	struct wh_meter meter = {.read = read_counter};

	counter = now;
	wh_meter_begin(&meter, now);
	return meter;
}

/* `task` for so many cycles, then back. */
static void spend(struct wh_meter *meter, enum wh_meter_task task, uint64_t cycles)
{
	uint8_t before = wh_meter_enter(meter, task);

	counter += cycles;
	wh_meter_leave(meter, before);
}

static void test_off(void)
{
	struct wh_meter meter = {.read = read_counter};

	counter = 100;
	CU_ASSERT_EQUAL(wh_meter_enter(NULL, WH_METER_RCV), WH_METER_LOOP);
	wh_meter_leave(NULL, WH_METER_LOOP);
	spend(&meter, WH_METER_RCV, 50);
	CU_ASSERT_EQUAL(meter.turns, 0);
	for (uint32_t i = 0; i < WH_METER_TASKS; i++)
		CU_ASSERT_EQUAL(meter.cycles[i] + meter.turn_cycles[i], 0);
}

/* What a task asks of another within it is the other's. */
static void test_nested(void)
{
	struct wh_meter meter = begun(1000);

	counter += 3;
	CU_ASSERT_EQUAL(wh_meter_enter(&meter, WH_METER_DECODE), WH_METER_LOOP);
	counter += 10;
	CU_ASSERT_EQUAL(wh_meter_enter(&meter, WH_METER_RCV), WH_METER_DECODE);
	counter += 100;
	wh_meter_leave(&meter, WH_METER_DECODE);
	counter += 20;
	wh_meter_leave(&meter, WH_METER_LOOP);
	counter += 4;
	wh_meter_end(&meter, true);
	CU_ASSERT_EQUAL(meter.cycles[WH_METER_LOOP], 7);
	CU_ASSERT_EQUAL(meter.cycles[WH_METER_DECODE], 30);
	CU_ASSERT_EQUAL(meter.cycles[WH_METER_RCV], 100);
	CU_ASSERT_EQUAL(meter.turns, 1);
	CU_ASSERT_FALSE(meter.on);
}

static void test_turns_without_work(void)
{
	struct wh_meter meter = begun(0);

	spend(&meter, WH_METER_PORT_RECEIVE, 40);
	counter += 2;
	CU_ASSERT_EQUAL(meter.cycles[WH_METER_PORT_RECEIVE], 0);
	wh_meter_end(&meter, false);
	CU_ASSERT_EQUAL(meter.cycles[WH_METER_PORT_RECEIVE], 0);
	CU_ASSERT_EQUAL(meter.cycles[WH_METER_LOOP], 42);

	/* Nothing of it is left to the next one. */
	wh_meter_begin(&meter, counter);
	spend(&meter, WH_METER_PORT_RECEIVE, 5);
	wh_meter_end(&meter, true);
	CU_ASSERT_EQUAL(meter.cycles[WH_METER_PORT_RECEIVE], 5);
	CU_ASSERT_EQUAL(meter.cycles[WH_METER_LOOP], 42);
	CU_ASSERT_EQUAL(meter.turns, 2);
}

/* Between measured turns time passes that is nobody's, however large the counter. */
static void test_gaps_and_wrap(void)
{
	struct wh_meter meter = begun(UINT64_MAX - 9);

	spend(&meter, WH_METER_TRANS, 30);
	wh_meter_end(&meter, true);
	counter += 1000000;
	wh_meter_begin(&meter, counter);
	spend(&meter, WH_METER_TRANS, 1);
	wh_meter_end(&meter, true);
	CU_ASSERT_EQUAL(meter.cycles[WH_METER_TRANS], 31);
	CU_ASSERT_EQUAL(meter.cycles[WH_METER_LOOP], 0);
}

static void test_sum(void)
{
	const uint64_t cycles[WH_METER_TASKS] = {
		[WH_METER_LOOP] = 1000, [WH_METER_PORT_RECEIVE] = 3, [WH_METER_CODER] = 40};

	CU_ASSERT_EQUAL(wh_meter_sum(cycles), 43);
	CU_ASSERT_EQUAL(wh_meter_workers(cycles), 40);
}

static void test_names(void)
{
	CU_ASSERT_STRING_EQUAL(wh_meter_task_name(WH_METER_LOOP), "loop");
	CU_ASSERT_STRING_EQUAL(wh_meter_task_name(WH_METER_JOB), "job");
	CU_ASSERT_STRING_EQUAL(wh_meter_task_name(WH_METER_CODER), "coder");
	for (uint32_t i = 0; i < WH_METER_TASKS; i++)
		for (uint32_t j = 0; j < i; j++)
			CU_ASSERT_NOT_EQUAL(strcmp(wh_meter_task_name((enum wh_meter_task)i),
						    wh_meter_task_name((enum wh_meter_task)j)),
				0);
}

CU_TestInfo wh_tests[] = {
	{"off", test_off},
	{"nested", test_nested},
	{"turns without work", test_turns_without_work},
	{"gaps and wrap", test_gaps_and_wrap},
	{"sum without the loop", test_sum},
	{"names", test_names},
	CU_TEST_INFO_NULL,
};
