/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/server.h"
#include "unit.h"

const char wh_suite_name[] = "sim_server";

#define US UINT64_C(1000000)

struct rig {
	struct wh_sim_events events;
	struct wh_sim_server server;
	uint32_t left[2]; /* jobs of each duty */
	uint32_t log[16]; /* which duty's ended */
	uint64_t at_ps[16];
	uint32_t ended;
};

static bool begin(struct rig *rig, uint32_t duty)
{
	if (rig->left[duty] == 0)
		return false;
	rig->left[duty]--;
	return true;
}

static void end(struct rig *rig, uint32_t duty, uint64_t now_ps)
{
	rig->log[rig->ended] = duty;
	rig->at_ps[rig->ended++] = now_ps;
}

static bool begin_first(void *context, uint64_t now_ps)
{
	(void)now_ps;
	return begin(context, 0);
}

static bool begin_second(void *context, uint64_t now_ps)
{
	(void)now_ps;
	return begin(context, 1);
}

static void end_first(void *context, uint64_t now_ps)
{
	end(context, 0, now_ps);
}

static void end_second(void *context, uint64_t now_ps)
{
	end(context, 1, now_ps);
}

static void rig_open(struct rig *rig)
{
	*rig = (struct rig){0};
	wh_sim_events_init(&rig->events);
	wh_sim_server_init(&rig->server, &rig->events, rig);
	wh_sim_server_add(&rig->server, &(struct wh_sim_duty){begin_first, end_first, 80 * US});
	wh_sim_server_add(&rig->server, &(struct wh_sim_duty){begin_second, end_second, 100 * US});
}

static void rig_close(struct rig *rig)
{
	wh_sim_server_stop(&rig->server);
	wh_sim_events_free(&rig->events);
}

/* Three jobs of 80 us and two of 100, in turns: 80, 180, 260, 360, 440. */
static void test_turns(void)
{
	static const uint32_t duties[] = {0, 1, 0, 1, 0};
	static const uint64_t at_us[] = {80, 180, 260, 360, 440};
	struct rig rig;

	rig_open(&rig);
	rig.left[0] = 3;
	rig.left[1] = 2;
	wh_sim_server_ask(&rig.server, 0);
	wh_sim_server_ask(&rig.server, 0); /* it is busy */
	wh_sim_events_run(&rig.events, 1000 * US);
	CU_ASSERT_EQUAL_FATAL(rig.ended, 5);
	for (uint32_t i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(rig.log[i], duties[i]);
		CU_ASSERT_EQUAL(rig.at_ps[i], at_us[i] * US);
	}
	CU_ASSERT_EQUAL(rig.server.jobs, 5);
	CU_ASSERT_EQUAL(rig.server.busy_ps, 440 * US);
	rig_close(&rig);
}

/* Nothing to do, and then something: it begins when it is asked. */
static void test_idle(void)
{
	struct rig rig;

	rig_open(&rig);
	wh_sim_server_ask(&rig.server, 0);
	wh_sim_events_run(&rig.events, 50 * US);
	CU_ASSERT_FALSE(rig.server.busy);
	rig.left[1] = 1;
	wh_sim_server_ask(&rig.server, 50 * US);
	wh_sim_events_run(&rig.events, 149 * US);
	CU_ASSERT_EQUAL(rig.ended, 0);
	wh_sim_events_run(&rig.events, 150 * US);
	CU_ASSERT_EQUAL(rig.ended, 1);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"turns", test_turns},
	{"idle", test_idle},
	CU_TEST_INFO_NULL,
};
