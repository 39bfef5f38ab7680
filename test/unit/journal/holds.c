/* SPDX-License-Identifier: BSD-3-Clause */
#include "journal/holds.h"

#include "unit.h"

const char wh_suite_name[] = "holds";

static void test_want(void)
{
	struct wh_holds holds;
	struct wh_hold one = {0}, other = {0};

	wh_holds_init(&holds);
	CU_ASSERT(!wh_holds_want(&holds, 7));
	wh_holds_add(&holds, &one, 7);
	wh_holds_add(&holds, &other, 8);
	CU_ASSERT(!wh_hold_is_wanted(&one) && !wh_hold_is_wanted(&other));
	CU_ASSERT(wh_holds_want(&holds, 7) && wh_hold_is_wanted(&one));
	CU_ASSERT(!wh_hold_is_wanted(&other) && !wh_holds_want(&holds, 9));
	wh_holds_remove(&holds, &one);
	CU_ASSERT(one.row == 0 && !wh_hold_is_wanted(&one) && !wh_holds_want(&holds, 7));
	wh_holds_remove(&holds, &one);
	/* What was wanted of it before is forgotten. */
	wh_holds_add(&holds, &one, 8);
	CU_ASSERT(!wh_hold_is_wanted(&one));
	CU_ASSERT(wh_holds_want(&holds, 8) && wh_hold_is_wanted(&one) && wh_hold_is_wanted(&other));
	wh_holds_remove(&holds, &other);
	wh_holds_remove(&holds, &one);
}

CU_TestInfo wh_tests[] = {
	{"want", test_want},
	CU_TEST_INFO_NULL,
};
