/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/params.h"

#include <math.h>
#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "lambda_params";

#define COUNT (sizeof(params) / sizeof(double))

/* Whoever adds one says so here, too. */
static void test_count(void)
{
	CU_ASSERT_EQUAL(COUNT, 153);
}

/* A field that the table forgets would be 0. */
static void test_each_has_a_value(void)
{
	double value[COUNT];

	memcpy(value, &params, sizeof(value));
	for (size_t i = 0; i < COUNT; i++)
		CU_ASSERT(isfinite(value[i]) && value[i] > 0.0);
}

CU_TestInfo wh_tests[] = {
	{"count", test_count},
	{"each has a value", test_each_has_a_value},
	CU_TEST_INFO_NULL,
};
