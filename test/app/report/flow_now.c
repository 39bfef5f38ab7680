/* SPDX-License-Identifier: BSD-3-Clause */

/* What limited a flow between two looks at it. */

#include "report/flow_now.h"

#include "unit.h"

const char wh_suite_name[] = "flow_now";

static void most_of_the_interval(void)
{
	struct wh_flow_now before = {.limit_ns = {[WH_LIMIT_LINE] = 900, [WH_LIMIT_DISK] = 5}};
	struct wh_flow_now now = before;

	/* The moment is not the interval. */
	now.limit = WH_LIMIT_PEER;
	now.limit_ns[WH_LIMIT_LINE] += 40;
	now.limit_ns[WH_LIMIT_DISK] += 60;
	CU_ASSERT_EQUAL(wh_flow_now_limit(&before, &now), WH_LIMIT_DISK);
	/* Nothing has been counted yet. */
	CU_ASSERT_EQUAL(wh_flow_now_limit(&now, &now), WH_LIMIT_PEER);
}

/* A retry counts from 0. */
static void another_session(void)
{
	struct wh_flow_now before = {.limit_ns = {[WH_LIMIT_DISK] = 900, [WH_LIMIT_CPU] = 900}};
	struct wh_flow_now now = {.limit_ns = {[WH_LIMIT_DISK] = 30, [WH_LIMIT_CPU] = 20}};

	CU_ASSERT_EQUAL(wh_flow_now_limit(&before, &now), WH_LIMIT_DISK);
}

/* Who waits for a port that is full does not lack a CPU, but a faster port. */
static void full_port(void)
{
	struct wh_flow_now before = {0};
	struct wh_flow_now now = {.limit_ns = {[WH_LIMIT_CPU] = 90, [WH_LIMIT_LINE] = 1}};

	CU_ASSERT_EQUAL(wh_flow_now_limit(&before, &now), WH_LIMIT_CPU);
	now.host.port_is_full = true;
	CU_ASSERT_EQUAL(wh_flow_now_limit(&before, &now), WH_LIMIT_LINE);
	now = (struct wh_flow_now){.limit_ns = {[WH_LIMIT_LOSS] = 90}, .host.nic_holds = true};
	CU_ASSERT_EQUAL(wh_flow_now_limit(&before, &now), WH_LIMIT_LINE);
}

CU_TestInfo wh_tests[] = {
	{"most of the interval", most_of_the_interval},
	{"another session", another_session},
	{"full port", full_port},
	CU_TEST_INFO_NULL,
};
