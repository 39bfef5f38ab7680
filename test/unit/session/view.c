/* SPDX-License-Identifier: BSD-3-Clause */

/* Counters of several sessions together. */

#include <stddef.h>
#include <string.h>

#include "session/session.h"
#include "unit.h"

const char wh_suite_name[] = "view";

/* Each counter is in the sum, whichever a report shows; the two moments are the sum's own. */
static void test_sum(void)
{
	enum { FIELDS = sizeof(struct wh_session_stats) / sizeof(uint64_t) };
	struct wh_session_stats one, sum = {.first_sent_tsc = 3, .outcome_tsc = 4};
	uint64_t field[FIELDS];

	for (uint64_t i = 0; i < FIELDS; i++)
		field[i] = 1000 + i;
	memcpy(&one, field, sizeof(one));
	wh_session_stats_add(&sum, &one);
	wh_session_stats_add(&sum, &one);
	CU_ASSERT_EQUAL(sum.first_sent_tsc, 3);
	CU_ASSERT_EQUAL(sum.outcome_tsc, 4);
	memcpy(field, &sum, sizeof(sum));
	for (uint64_t i = 0; i < FIELDS - 2; i++)
		CU_ASSERT_EQUAL(field[i], 2 * (1000 + i));
	CU_ASSERT_EQUAL(sum.limit_tsc[WH_LIMITS - 1], 2 * one.limit_tsc[WH_LIMITS - 1]);
	CU_ASSERT_EQUAL(sum.replayed_pkts, 2 * one.replayed_pkts);
}

CU_TestInfo wh_tests[] = {
	{"sum", test_sum},
	CU_TEST_INFO_NULL,
};
