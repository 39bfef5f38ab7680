/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/aside.h"

#include <stdatomic.h>

#include "await_aside.h"
#include "unit.h"

const char wh_suite_name[] = "aside";

static _Atomic int goes_on, done;

static void wait_and_count(void *argument)
{
	while (atomic_load(&goes_on) == 0)
		sched_yield();
	atomic_fetch_add(&done, *(int *)argument);
}

static void test_errands(void)
{
	int weights[] = {1, 10, 100};

	for (int i = 0; i < 3; i++)
		CU_ASSERT(wh_aside(wait_and_count, &weights[i]) == 0);
	CU_ASSERT(wh_aside_count() == 3 && atomic_load(&done) == 0);
	atomic_store(&goes_on, 1);
	await_aside();
	CU_ASSERT(atomic_load(&done) == 111);
}

CU_TestInfo wh_tests[] = {
	{"errands", test_errands},
	CU_TEST_INFO_NULL,
};
