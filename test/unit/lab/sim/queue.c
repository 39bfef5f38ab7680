/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include "sim_queue_rig.h"

const char wh_suite_name[] = "sim_queue";

#define RATE_BPS 1000000

static void names_are_what_scenarios_say(void)
{
	CU_ASSERT_STRING_EQUAL(wh_sim_discipline_name(WH_SIM_DROPTAIL), "droptail");
	CU_ASSERT_STRING_EQUAL(wh_sim_discipline_name(WH_SIM_RED), "red");
	CU_ASSERT_STRING_EQUAL(wh_sim_discipline_name(WH_SIM_CODEL), "codel");
}

/* One more is on the line: so many wait, the rest overflows. CoDel's limit is the same. */
static void droptail_holds_less_than_its_limits(void)
{
	static const struct {
		uint32_t limit_pkts;
		uint64_t limit_bytes;
		unsigned int held; /* of ten of 1000 bytes */
	} cases[] = {
		{0, 0, 10},
		{1, 0, 1},
		{2, 0, 1},
		{3, 0, 2},
		{10, 0, 9},
		{11, 0, 10},
		{UINT32_MAX, 0, 10},
		{0, 1, 1},
		{0, 1000, 1},
		{0, 2000, 1},
		{0, 2001, 2},
		{0, 3000, 2},
		{0, 10000, 9},
		{0, 10001, 10},
		{0, UINT64_MAX, 10},
		{5, 3001, 3},
		{3, 9000, 2},
	};
	static const enum wh_sim_discipline disciplines[] = {WH_SIM_DROPTAIL, WH_SIM_CODEL};

	for (unsigned int i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_sim_queue_config config = {
			.discipline = disciplines[i % 2],
			.limit_pkts = cases[i / 2].limit_pkts,
			.limit_bytes = cases[i / 2].limit_bytes,
		};
		struct queue_rig rig;

		rig_init(&rig, &config, RATE_BPS, 1);
		for (unsigned int n = 0; n < 10; n++)
			rig_put(&rig, n, 1000);
		CU_ASSERT_EQUAL(rig.queue.fifo.count_pkts, cases[i / 2].held);
		CU_ASSERT_EQUAL(rig.overflow, 10 - cases[i / 2].held);
		CU_ASSERT_EQUAL(rig.early, 0);
		for (uint64_t n = 0; n < cases[i / 2].held; n++)
			CU_ASSERT_EQUAL(rig_take(&rig, 10), n);
		CU_ASSERT_EQUAL(rig_take(&rig, 10), UINT64_MAX);
		rig_free(&rig);
	}
}

/* Of sizes 900, 200, 100, ... into 1100 bytes: what fits goes in behind what did not. */
static void small_packets_fit_where_large_ones_do_not(void)
{
	struct wh_sim_queue_config config = {.limit_bytes = 1101};
	struct queue_rig rig;

	rig_init(&rig, &config, RATE_BPS, 1);
	rig_put(&rig, 0, 900);
	rig_put(&rig, 0, 201);
	CU_ASSERT_EQUAL(rig.dropped_number, 1);
	rig_put(&rig, 0, 100);
	rig_put(&rig, 0, 101);
	CU_ASSERT_EQUAL(rig.dropped_number, 3);
	rig_put(&rig, 0, 100);
	CU_ASSERT_EQUAL(rig.overflow, 2);
	CU_ASSERT_EQUAL(rig.queue.fifo.count_bytes, 1100);
	CU_ASSERT_EQUAL(rig_take(&rig, 1), 0);
	CU_ASSERT_EQUAL(rig_take(&rig, 1), 2);
	CU_ASSERT_EQUAL(rig_take(&rig, 1), 4);
	rig_free(&rig);
}

static void packets_remember_when_they_came(void)
{
	struct wh_sim_queue_config config = {0};
	struct queue_rig rig;

	rig_init(&rig, &config, RATE_BPS, 1);
	rig_put(&rig, 4711, 1000);
	CU_ASSERT_EQUAL(rig.queue.fifo.first->moment_ps, 4711);
	rig_free(&rig);
}

CU_TestInfo wh_tests[] = {
	{"names are what scenarios say", names_are_what_scenarios_say},
	{"DropTail holds less than its limits", droptail_holds_less_than_its_limits},
	{"small packets fit where large ones do not", small_packets_fit_where_large_ones_do_not},
	{"packets remember when they came", packets_remember_when_they_came},
	CU_TEST_INFO_NULL,
};
