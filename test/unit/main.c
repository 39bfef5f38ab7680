/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <CUnit/Basic.h>
#include <math.h>

void wh_assert_near(double actual, double expected, double share, const char *file, int line)
{
	bool near_enough = share < 1.0 && fabs(actual - expected) <= share * fabs(expected);
	char condition[128];

	snprintf(
		condition, sizeof(condition), "%.9g is within %g of %.9g", actual, share, expected);
	CU_assertImplementation(near_enough, (unsigned int)line, condition, file, "", CU_FALSE);
}

int main(void)
{
	CU_SuiteInfo suites[] = {
		{wh_suite_name, NULL, NULL, wh_set_up, wh_take_down, wh_tests},
		CU_SUITE_INFO_NULL,
	};

	if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS) {
		fprintf(stderr, "%s\n", CU_get_error_msg());
		return EXIT_FAILURE;
	}
	CU_basic_set_mode(CU_BRM_NORMAL);
	CU_basic_run_tests();

	unsigned int failures = CU_get_number_of_failures();

	CU_cleanup_registry();
	return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
