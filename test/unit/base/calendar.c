/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/calendar.h"

#include "unit.h"

const char wh_suite_name[] = "calendar";

#define YEAR_S (INT64_C(365) * 86400)
#define DAY_S  INT64_C(1800000000)

static void test_settles(void)
{
	static const int64_t steps[] = {61, -61, YEAR_S, -20 * YEAR_S};
	struct wh_calendar calendar = {0};

	for (int64_t s = 0; s < WH_CALENDAR_SETTLES_S; s += 60)
		CU_ASSERT_FALSE(wh_calendar_is_settled(&calendar, DAY_S + s, s));
	CU_ASSERT_TRUE(wh_calendar_is_settled(
		&calendar, DAY_S + WH_CALENDAR_SETTLES_S, WH_CALENDAR_SETTLES_S));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int64_t at_s = (int64_t)(i + 1) * 100000;
		int64_t day_s = DAY_S + at_s;

		(void)wh_calendar_is_settled(&calendar, day_s, at_s);
		CU_ASSERT_TRUE(wh_calendar_is_settled(&calendar, day_s + 5000, at_s + 5000));
		CU_ASSERT_FALSE(
			wh_calendar_is_settled(&calendar, day_s + 5001 + steps[i], at_s + 5001));
		/* And back. */
		CU_ASSERT_FALSE(wh_calendar_is_settled(&calendar, day_s + 5002, at_s + 5002));
		CU_ASSERT_FALSE(wh_calendar_is_settled(&calendar, day_s + 8601, at_s + 8601));
		CU_ASSERT_TRUE(wh_calendar_is_settled(&calendar, day_s + 8602, at_s + 8602));
	}
}

/* A clock that is slewed goes on. */
static void test_slewed(void)
{
	struct wh_calendar calendar = {0};

	for (int64_t s = 0; s < 100000; s += 50)
		(void)wh_calendar_is_settled(&calendar, DAY_S + 2 * s, s);
	CU_ASSERT_TRUE(wh_calendar_is_settled(&calendar, DAY_S + 2 * 100000, 100000));
}

CU_TestInfo wh_tests[] = {
	{"nothing is old soon after a step", test_settles},
	{"a clock that is slewed", test_slewed},
	CU_TEST_INFO_NULL,
};
