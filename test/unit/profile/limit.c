/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/limit.h"

#include "unit.h"

const char wh_suite_name[] = "limit";

static void test_names(void)
{
	for (enum wh_limit i = 0; i <= WH_LIMIT_NONE; i++)
		for (enum wh_limit k = 0; k < i; k++)
			CU_ASSERT_STRING_NOT_EQUAL(wh_limit_name(i), wh_limit_name(k));
	CU_ASSERT_STRING_EQUAL(wh_limit_name(WH_LIMIT_START), "start");
	CU_ASSERT_STRING_EQUAL(wh_limit_name(WH_LIMIT_DISK), "disk");
	CU_ASSERT_STRING_EQUAL(wh_limit_name(WH_LIMIT_PEER_DISK), "peer_disk");
	CU_ASSERT_STRING_EQUAL(wh_limit_name(WH_LIMIT_NONE), "none");
}

/* Times in permille. */
static void test_the_word(void)
{
	static const struct {
		uint64_t limit_tsc[WH_LIMITS];
		enum wh_limit word;
	} cases[] = {
		{{0}, WH_LIMIT_START},
		{{[WH_LIMIT_START] = 1000}, WH_LIMIT_START},
		{{[WH_LIMIT_LINE] = 900, [WH_LIMIT_DISK] = 100}, WH_LIMIT_LINE},
		{{[WH_LIMIT_LINE] = 899, [WH_LIMIT_DISK] = 101}, WH_LIMIT_DISK},
		{{[WH_LIMIT_RATE] = 899, [WH_LIMIT_CPU] = 101}, WH_LIMIT_CPU},
		{{[WH_LIMIT_RATE] = 500, [WH_LIMIT_LINE] = 499}, WH_LIMIT_RATE},
		{{[WH_LIMIT_RATE] = 499, [WH_LIMIT_LINE] = 500}, WH_LIMIT_LINE},
		/* Many small ones do not make one. */
		{{[WH_LIMIT_RATE] = 800,
			 [WH_LIMIT_DISK] = 50,
			 [WH_LIMIT_CPU] = 50,
			 [WH_LIMIT_LOSS] = 50,
			 [WH_LIMIT_PEER] = 50},
			WH_LIMIT_RATE},
		{{[WH_LIMIT_START] = 400, [WH_LIMIT_DISK] = 300, [WH_LIMIT_LINE] = 300},
			WH_LIMIT_START},
		{{[WH_LIMIT_LOSS] = 400, [WH_LIMIT_OTHERS] = 600}, WH_LIMIT_OTHERS},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(wh_limit_of(cases[i].limit_tsc), cases[i].word);
}

static void test_the_line(void)
{
	uint64_t limit_tsc[WH_LIMITS] = {
		[WH_LIMIT_LOSS] = 600, [WH_LIMIT_LINE] = 100, [WH_LIMIT_CPU] = 50};

	wh_limit_is_line(limit_tsc, WH_LIMIT_LOSS);
	CU_ASSERT_EQUAL(limit_tsc[WH_LIMIT_LINE], 700);
	CU_ASSERT_EQUAL(limit_tsc[WH_LIMIT_LOSS], 0);
	CU_ASSERT_EQUAL(limit_tsc[WH_LIMIT_CPU], 50);
	CU_ASSERT_EQUAL(wh_limit_of(limit_tsc), WH_LIMIT_LINE);
}

CU_TestInfo wh_tests[] = {
	{"a name for each", test_names},
	{"the word", test_the_word},
	{"what is the line's", test_the_line},
	CU_TEST_INFO_NULL,
};
