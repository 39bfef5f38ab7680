/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include "base/clock.h"

const char wh_suite_name[] = "clock";

static void muldiv_is_exact_and_saturates(void)
{
	static const struct {
		uint64_t value;
		uint64_t multiplier;
		uint64_t divisor;
		uint64_t result;
	} cases[] = {
		{0, UINT64_MAX, 1, 0},
		{UINT64_MAX, 0, 1, 0},
		{7, 3, 2, 10}, /* 21 / 2, cut off */
		{UINT64_MAX, 1, 1, UINT64_MAX},
		{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
		{UINT64_MAX, 2, 4, UINT64_MAX / 2},
		{UINT64_C(1) << 63, 2, 1, UINT64_MAX}, /* 2^64 */
		{UINT64_C(1) << 63, 2, 2, UINT64_C(1) << 63},
		{UINT64_MAX, 3, 3, UINT64_MAX},
		{UINT64_MAX, 3, 2, UINT64_MAX},
		{UINT64_C(6074000999), UINT64_C(6074000999), UINT64_C(6074000999),
			UINT64_C(6074000999)},
		{1, 1, UINT64_MAX, 0},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(
			wh_muldiv_u64(cases[i].value, cases[i].multiplier, cases[i].divisor),
			cases[i].result);
}

static void spans_convert_both_ways(void)
{
	const uint64_t hz = UINT64_C(2300000000);

	CU_ASSERT_EQUAL(wh_ns_to_tsc(hz, 10), 23);
	CU_ASSERT_EQUAL(wh_ns_to_tsc(hz, 1), 2); /* 2.3, cut off */
	CU_ASSERT_EQUAL(wh_tsc_to_ns(hz, 23), 10);
	CU_ASSERT_EQUAL(wh_tsc_to_ns(hz, 22), 9); /* 9.57 */
	CU_ASSERT_EQUAL(wh_us_to_tsc(hz, 1000), 2300000);
	CU_ASSERT_EQUAL(wh_tsc_to_us(hz, 2300000), 1000);
	CU_ASSERT_EQUAL(wh_tsc_to_us(hz, 2299999), 999);

	/* At 1 GHz a cycle is a nanosecond, up to the largest. */
	CU_ASSERT_EQUAL(wh_ns_to_tsc(WH_NS_PER_S, UINT64_MAX), UINT64_MAX);
	CU_ASSERT_EQUAL(wh_tsc_to_ns(WH_NS_PER_S, UINT64_MAX), UINT64_MAX);
}

static void long_spans_do_not_overflow_in_between(void)
{
	const uint64_t hz = UINT64_C(2300000000);
	const uint64_t year_ns = UINT64_C(31536000) * WH_NS_PER_S;

	CU_ASSERT_EQUAL(wh_ns_to_tsc(hz, year_ns), UINT64_C(31536000) * hz);
	CU_ASSERT_EQUAL(wh_tsc_to_ns(hz, UINT64_C(31536000) * hz), year_ns);
	CU_ASSERT_EQUAL(wh_ns_to_tsc(hz, UINT64_MAX), UINT64_MAX);
	CU_ASSERT_EQUAL(wh_us_to_tsc(hz, UINT64_MAX), UINT64_MAX);
}

static void never_is_kept_by_sums(void)
{
	CU_ASSERT_EQUAL(wh_add_u64(1, 2), 3);
	CU_ASSERT_EQUAL(wh_add_u64(WH_TSC_NEVER, 0), WH_TSC_NEVER);
	CU_ASSERT_EQUAL(wh_add_u64(WH_TSC_NEVER, 1), WH_TSC_NEVER);
	CU_ASSERT_EQUAL(wh_add_u64(1, WH_TSC_NEVER), WH_TSC_NEVER);
	CU_ASSERT_EQUAL(wh_add_u64(WH_TSC_NEVER - 1, 1), WH_TSC_NEVER);
	CU_ASSERT_EQUAL(wh_add_u64(WH_TSC_NEVER - 2, 1), WH_TSC_NEVER - 1);
	CU_ASSERT_EQUAL(wh_add_u64(WH_TSC_NEVER, WH_TSC_NEVER), WH_TSC_NEVER);
}

static void smaller_and_larger(void)
{
	CU_ASSERT_EQUAL(wh_min_u64(1, 2), 1);
	CU_ASSERT_EQUAL(wh_min_u64(2, 1), 1);
	CU_ASSERT_EQUAL(wh_max_u64(1, 2), 2);
	CU_ASSERT_EQUAL(wh_max_u64(2, 1), 2);
	/* Not as signed numbers. */
	CU_ASSERT_EQUAL(wh_min_u64(WH_TSC_NEVER, 0), 0);
	CU_ASSERT_EQUAL(wh_max_u64(WH_TSC_NEVER, 0), WH_TSC_NEVER);
}

CU_TestInfo wh_tests[] = {
	{"muldiv is exact and saturates", muldiv_is_exact_and_saturates},
	{"spans convert both ways", spans_convert_both_ways},
	{"long spans do not overflow in between", long_spans_do_not_overflow_in_between},
	{"never is kept by sums", never_is_kept_by_sums},
	{"smaller and larger", smaller_and_larger},
	CU_TEST_INFO_NULL,
};
