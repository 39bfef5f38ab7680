/* SPDX-License-Identifier: BSD-3-Clause */

/* Who asks for room before he removes loses no line of the audit. */

#include <CUnit/CUnit.h>

#include "history/removals.h"
#include "job/jobs.h"
#include "unit.h"

const char wh_suite_name[] = "app/removals";

static struct wh_removals removals;
static struct wh_removal taken[WH_REMOVALS_MAX];

static void test_room(void)
{
	static char path[] = "in/";
	static char *paths[] = {path};
	static struct wh_job job = {.records.paths = paths};
	uint64_t lost = 0;
	uint32_t added = 0;

	while (wh_removals_have_room(&removals))
		CU_ASSERT_EQUAL(wh_removals_add(&removals, 1, &job, "old"), ++added);
	/* All workers may have asked at once. */
	for (uint32_t i = 0; i < WH_WORKERS_MAX - 1; i++)
		wh_removals_add(&removals, 1, &job, "old");
	CU_ASSERT_EQUAL(wh_removals_take(&removals, taken, &lost), WH_REMOVALS_MAX);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT(wh_removals_have_room(&removals));
	for (uint32_t i = 0; i < WH_REMOVALS_MAX; i++) {
		CU_ASSERT_STRING_EQUAL(taken[i].file, "old");
		wh_removal_free(&taken[i]);
	}
}

CU_TestInfo wh_tests[] = {
	{"room", test_room},
	CU_TEST_INFO_NULL,
};
