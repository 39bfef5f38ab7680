/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/demo_plan.h"

#include "doctor/checks.h"
#include "host/eal.h"
#include "unit.h"

const char wh_suite_name[] = "demo_plan";

/* What `wavehaul doctor` asks of a machine is what the demo takes, within 2 %. */
static void doctor_knows_its_memory(void)
{
	char verb[] = "demo";
	char *argv[] = {verb, NULL};
	static struct wh_demo_options options;
	static struct wh_demo_plan plan;

	CU_ASSERT_FATAL(wh_demo_options_parse(1, argv, &options) < 0);
	options.settings.buffer_bytes = UINT64_MAX;
	CU_ASSERT_EQUAL_FATAL(wh_demo_plan_make(&options, &plan), 0);
	CU_ASSERT_FALSE(plan.limited);

	uint64_t bytes = plan.memory.bytes + WH_EAL_OWN_BYTES;

	CU_ASSERT(bytes <= WH_DOCTOR_DEMO_POOL_BYTES);
	CU_ASSERT(bytes >= WH_DOCTOR_DEMO_POOL_BYTES / 50 * 49);
}

CU_TestInfo wh_tests[] = {
	{"the doctor knows its memory", doctor_knows_its_memory},
	CU_TEST_INFO_NULL,
};
