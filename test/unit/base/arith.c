/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/arith.h"

#include <math.h>

#include "unit.h"

const char wh_suite_name[] = "arith";

#define ULP 0x1.0p-52

static void values(void)
{
	CU_ASSERT_EQUAL(wh_exp(0.0), 1.0);
	WH_ASSERT_NEAR(wh_exp(1.0), 2.718281828459045, 2 * ULP);
	WH_ASSERT_NEAR(wh_exp(-1.0), 0.36787944117144233, 2 * ULP);
	WH_ASSERT_NEAR(wh_exp(10.0), 22026.465794806718, 20 * ULP);
	WH_ASSERT_NEAR(wh_exp(-40.0), 4.248354255291589e-18, 80 * ULP);

	CU_ASSERT_EQUAL(wh_expm1(0.0), 0.0);
	CU_ASSERT_EQUAL(wh_expm1(-1e-18), -1e-18);
	WH_ASSERT_NEAR(wh_expm1(-0x1.0p-20), -0x1.0p-20 + 0x1.0p-41 - 0x1.0p-60 / 6, 2 * ULP);
	WH_ASSERT_NEAR(wh_expm1(1.0), 1.718281828459045, 4 * ULP);

	CU_ASSERT_EQUAL(wh_log(1.0), 0.0);
	CU_ASSERT_EQUAL(wh_log(2.0), M_LN2);
	CU_ASSERT_EQUAL(wh_log(0x1.0p-1000), -1000 * M_LN2);
	WH_ASSERT_NEAR(wh_log(10.0), 2.302585092994046, 2 * ULP);
	WH_ASSERT_NEAR(wh_log(1e-7), -16.11809565095832, 2 * ULP);
	WH_ASSERT_NEAR(wh_log(1.0 + 0x1.0p-30), 0x1.0p-30 - 0x1.0p-61, 2 * ULP);

	CU_ASSERT_EQUAL(wh_cbrt(0.0), 0.0);
	CU_ASSERT_EQUAL(wh_cbrt(1.0), 1.0);
	CU_ASSERT_EQUAL(wh_cbrt(27.0), 3.0);
	WH_ASSERT_NEAR(wh_cbrt(750.0), 9.085602964160698, 2 * ULP);
	WH_ASSERT_NEAR(wh_cbrt(1e-15), 1e-5, 2 * ULP);
}

static void powers(void)
{
	static const struct {
		double base;
		uint64_t exponent;
		double power;
	} cases[] = {
		{0.0, 0, 1.0},
		{7.0, 0, 1.0},
		{0.0, 1, 0.0},
		{7.0, 1, 7.0},
		{3.0, 5, 243.0},
		{0.5, 1000, 0x1.0p-1000},
		{0.5, 1024, 0x1.0p-1024},
		{0.5, 1U << 20, 0.0},
		{1.0, UINT64_MAX, 1.0},
		{0.25, UINT64_MAX, 0.0},
		{-1.0, UINT64_MAX, -1.0},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(wh_power(cases[i].base, cases[i].exponent), cases[i].power);
	/* 1 / e, and each squaring doubles the error of the one before. */
	WH_ASSERT_NEAR(
		wh_power(1.0 - 0x1.0p-30, 1U << 30), 0.36787944117144233 * (1.0 - 0x1.0p-31), 1e-7);
}

static void agrees_with_libm(void)
{
	for (double x = -300.0; x < 300.0; x += 0.37) {
		double e = exp(x);

		WH_ASSERT_NEAR(wh_exp(x), e, (3 + fabs(x)) * ULP);
		WH_ASSERT_NEAR(wh_log(e), log(e), 4 * ULP);
		WH_ASSERT_NEAR(wh_cbrt(e), cbrt(e), 4 * ULP);
	}
	for (double x = 0.5; x < 2.0; x += 0.0037) {
		WH_ASSERT_NEAR(wh_log(x), log(x), 4 * ULP);
		WH_ASSERT_NEAR(wh_expm1(x - 1.0), expm1(x - 1.0), 8 * ULP);
	}
}

static uint64_t mix(uint64_t sum, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (sum ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
}

/* To the last bit: fused or reordered operations, and another libm, would show. */
static void is_the_same_in_any_build(void)
{
	uint64_t sum = 0;

	for (int n = 1; n <= 10000; n++) {
		sum = mix(sum, wh_exp(n / -100.0));
		sum = mix(sum, wh_expm1(n / -9000.0));
		sum = mix(sum, wh_log(n / 7.0));
		sum = mix(sum, wh_cbrt(n / 3.0));
		sum = mix(sum, wh_power(1.0 - 1.0 / (n + 1.0), (uint64_t)n));
		sum = mix(sum, wh_normal_tail(n / 250.0));
	}
	CU_ASSERT_EQUAL(sum, UINT64_C(0x3e54c87db2433a1f));
}

/* Both sides of where the one series ends and the other begins, and far out. */
static void normal_tail(void)
{
	static const struct {
		double x;
		double tail;
	} cases[] = {
		{1.0, 0.15865525393145705},
		{2.0, 0.022750131948179207},
		{3.0, 0.0013498980316300933},
		{5.0, 2.8665157187919391e-07},
		{10.0, 7.6198530241605261e-24},
		{-1.0, 0.84134474606854295},
	};

	CU_ASSERT_EQUAL(wh_normal_tail(0.0), 0.5);
	CU_ASSERT_EQUAL(wh_normal_tail(1e300), 0.0);
	CU_ASSERT_EQUAL(wh_normal_tail(-1e300), 1.0);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		WH_ASSERT_NEAR(wh_normal_tail(cases[i].x), cases[i].tail, 1e-12);
	for (double x = -8.0; x < 36.0; x += 1.0 / 64) {
		double tail = erfc(x * M_SQRT1_2) / 2.0;

		WH_ASSERT_NEAR(wh_normal_tail(x), tail, 1e-12);
	}
}

CU_TestInfo wh_tests[] = {
	{"values", values},
	{"powers", powers},
	{"normal tail", normal_tail},
	{"agrees with libm", agrees_with_libm},
	{"is the same in any build", is_the_same_in_any_build},
	CU_TEST_INFO_NULL,
};
