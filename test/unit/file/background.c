/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/background.h"

#include <stdatomic.h>

#include "await_background.h"
#include "unit.h"

const char wh_suite_name[] = "background";

static _Atomic int goes_on, done;

static void wait_and_count(void *argument)
{
	while (atomic_load(&goes_on) == 0)
		sched_yield();
	atomic_fetch_add(&done, *(int *)argument);
}

static void test_count(void)
{
	int weights[] = {1, 10, 100};

	for (int i = 0; i < 3; i++)
		CU_ASSERT(wh_background(wait_and_count, &weights[i]) == 0);
	CU_ASSERT(wh_background_count() == 3 && atomic_load(&done) == 0);
	atomic_store(&goes_on, 1);
	await_background();
	CU_ASSERT(atomic_load(&done) == 111);
}

static struct shared {
	struct wh_background_shared shared;
	int found;
} one;

static _Atomic bool thread_frees;

static void find(void *argument)
{
	struct shared *shared = argument;

	while (atomic_load(&goes_on) == 0)
		sched_yield();
	shared->found = 7;
	atomic_store(&thread_frees, wh_background_finish(&shared->shared));
}

/* One of the two frees what they share, whoever is done with it first. */
static void test_shared(void)
{
	for (int owner_first = 0; owner_first < 2; owner_first++) {
		bool owner_frees = false;

		one = (struct shared){0};
		atomic_store(&goes_on, 0);
		CU_ASSERT(wh_background(find, &one) == 0);
		CU_ASSERT(!wh_background_is_over(&one.shared));
		if (owner_first)
			owner_frees = wh_background_leave(&one.shared);
		atomic_store(&goes_on, 1);
		await_background();
		CU_ASSERT(one.found == 7);
		CU_ASSERT(wh_background_is_over(&one.shared));
		if (!owner_first)
			owner_frees = wh_background_leave(&one.shared);
		CU_ASSERT(owner_frees == !owner_first);
		CU_ASSERT(atomic_load(&thread_frees) == owner_first);
	}
}

CU_TestInfo wh_tests[] = {
	{"count", test_count},
	{"shared", test_shared},
	CU_TEST_INFO_NULL,
};
