/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/interval.h"

#include "unit.h"

const char wh_suite_name[] = "interval";

#define GIGA      UINT64_C(1000000000)
#define ONE_CYCLE WH_INTERVAL_MIN_FP

static void test_interval(void)
{
	static const struct {
		uint64_t hz;
		uint32_t bytes;
		uint64_t bps, interval_fp;
	} cases[] = {
		{GIGA, 1500, GIGA, UINT64_C(12000) << 20},
		{GIGA, 1538, 10 * GIGA, 1290167910},       /* 1230.4 * 2^20 = ...910.4 */
		{2600000000, 1538, 100 * GIGA, 335443657}, /* 319.904 * 2^20 = ...656.7: nearest */
		{GIGA, 125, GIGA * 1000, ONE_CYCLE},
		{GIGA, 124, GIGA * 1000, ONE_CYCLE}, /* 0.992 cycles */
		{GIGA, 84, UINT64_MAX, ONE_CYCLE}, {2600000000, 9038, 1, WH_INTERVAL_MAX_FP},
		{UINT64_C(1) << 39, UINT32_MAX, 1, WH_INTERVAL_MAX_FP},
		{GIGA, 1538, 12304, GIGA << 20}, /* one packet per second */
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(wh_interval_fp(cases[i].hz, cases[i].bytes, cases[i].bps),
			cases[i].interval_fp);
}

CU_TestInfo wh_tests[] = {
	{"interval of a rate", test_interval},
	CU_TEST_INFO_NULL,
};
