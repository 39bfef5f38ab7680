/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/timetable.h"

#include <stdlib.h>

#include "cli/settings.h"
#include "queue/when.h"
#include "unit.h"

const char wh_suite_name[] = "timetable";

#define G UINT64_C(1000000000)

static uint64_t at(const char *text, int day, int hour, int minute)
{
	const struct tm local = {.tm_wday = day, .tm_hour = hour, .tm_min = minute};
	struct wh_timetable table;
	const char *wrong = wh_timetable_parse(text, &table);

	CU_ASSERT_PTR_NULL_FATAL(wrong);
	return wh_timetable_bps(&table, &local);
}

static void test_hours(void)
{
	const char *text = "weekdays 8:00-18:00 2G, sat+sun 0:00-6:00 max, else 9.5G";

	CU_ASSERT_EQUAL(at(text, 1, 7, 59), 9500000000);
	CU_ASSERT_EQUAL(at(text, 1, 8, 0), 2 * G);
	CU_ASSERT_EQUAL(at(text, 5, 17, 59), 2 * G);
	CU_ASSERT_EQUAL(at(text, 5, 18, 0), 9500000000);
	CU_ASSERT_EQUAL(at(text, 6, 12, 0), 9500000000);
	CU_ASSERT_EQUAL(at(text, 0, 5, 59), WH_RATE_MAX);
	CU_ASSERT_EQUAL(at("3G", 3, 3, 3), 3 * G);
	CU_ASSERT_EQUAL(at("else max", 3, 3, 3), WH_RATE_MAX);
	CU_ASSERT_EQUAL(at("12:00-24:00 1G, 2G", 3, 23, 59), G);
	CU_ASSERT_EQUAL(at("mon 1G, 2G", 1, 0, 0), G);
}

/* Hours past midnight are of the day on which they began. */
static void test_nights(void)
{
	const char *text = "fri 22:00-6:00 1G, else 2G";

	CU_ASSERT_EQUAL(at(text, 5, 21, 59), 2 * G);
	CU_ASSERT_EQUAL(at(text, 5, 22, 0), G);
	CU_ASSERT_EQUAL(at(text, 6, 5, 59), G);
	CU_ASSERT_EQUAL(at(text, 6, 6, 0), 2 * G);
	CU_ASSERT_EQUAL(at(text, 5, 5, 0), 2 * G);
	CU_ASSERT_EQUAL(at("sat-mon 1G, 2G", 0, 0, 0), G);
	CU_ASSERT_EQUAL(at("sat-mon 1G, 2G", 2, 0, 0), 2 * G);
}

/* The hour that does not come in spring, and the one that comes twice in autumn. */
static void test_clock_that_is_set(void)
{
	struct wh_timetable table;
	const time_t spring[] = {1774745999, 1774746000}; /* 29 March 2026, 0:59:59 UTC and after */
	const time_t autumn[] = {1792886400, 1792890000}; /* 25 October 2026, 0:00 and 1:00 UTC */
	struct tm local;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	CU_ASSERT_PTR_NULL_FATAL(wh_timetable_parse("2:00-3:00 1G, else 2G", &table));
	for (int i = 0; i < 2; i++) {
		localtime_r(&spring[i], &local);
		CU_ASSERT_EQUAL(local.tm_hour, i == 0 ? 1 : 3);
		CU_ASSERT_EQUAL(wh_timetable_bps(&table, &local), 2 * G);
		localtime_r(&autumn[i], &local);
		CU_ASSERT_EQUAL(local.tm_hour, 2);
		CU_ASSERT_EQUAL(wh_timetable_bps(&table, &local), G);
	}
}

static void test_nonsense(void)
{
	static const char *const texts[] = {"", ",", "2", "2G,", "8:00-18:00 2G",
		"else 1G, else 2G", "weekdays 8-18 2G, 1G", "8:00-8:00 2G, 1G", "24:00-1:00 2G, 1G",
		"8:60-9:00 2G, 1G", "8:0-9:00 2G, 1G", "moon 2G, 1G", "mon- 2G, 1G", "+ 2G, 1G",
		"mon 8:00-9:00 2G 3G, 1G", "1k", "2000G", "0", "mon tue 1G, 1G",
		"-1:00-2:00 1G, 1G"};
	struct wh_timetable table;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CU_ASSERT_PTR_NOT_NULL(wh_timetable_parse(texts[i], &table));
}

/* From noon of Sunday, 2026-11-29. */
static int64_t day_at(int day, int hour, int minute)
{
	struct tm local = {.tm_year = 126,
		.tm_mon = 10,
		.tm_mday = day,
		.tm_hour = hour,
		.tm_min = minute,
		.tm_isdst = -1};

	return mktime(&local);
}

static void test_next_times(void)
{
	static const struct {
		const char *text;
		int day, hour, minute; /* of November, and on */
	} times[] = {{"12:01", 29, 12, 1}, {"12:00", 30, 12, 0}, {"Thu 08:00", 33, 8, 0},
		{"thursday 8:00", 33, 8, 0}, {"Sun 12:01", 29, 12, 1}, {"Sun 12:00", 36, 12, 0},
		{"Sat 23:59", 35, 23, 59}, {"2026-11-29 11:00", 29, 11, 0}, {"90m", 29, 13, 30}};
	static const char *const nonsense[] = {"", "Thu", "Moon 08:00", "Thu 25:00", "Thu 08:00 x"};
	int64_t when_s;

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		CU_ASSERT_TRUE_FATAL(wh_when_parse(times[i].text, day_at(29, 12, 0), &when_s));
		CU_ASSERT_EQUAL(when_s, day_at(times[i].day, times[i].hour, times[i].minute));
	}
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
		CU_ASSERT_FALSE(wh_when_parse(nonsense[i], day_at(29, 12, 0), &when_s));
}

CU_TestInfo wh_tests[] = {
	{"hours and days", test_hours},
	{"nights", test_nights},
	{"a clock that is set", test_clock_that_is_set},
	{"nonsense", test_nonsense},
	{"next times", test_next_times},
	CU_TEST_INFO_NULL,
};
