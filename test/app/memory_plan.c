/* SPDX-License-Identifier: BSD-3-Clause */

/* What memory is for: named users and their sum, in large pages and in small ones. */

#include "host/memory_plan.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "app/memory_plan";

static void test_sum(void)
{
	struct wh_memory_plan plan = {0};

	wh_memory_plan_add(&plan, "sender's ", "buffers", 1000);
	wh_memory_plan_add(&plan, "", "tables", 24);
	CU_ASSERT_EQUAL(plan.users, 2);
	CU_ASSERT_STRING_EQUAL(plan.user[0].name, "sender's buffers");
	CU_ASSERT_STRING_EQUAL(plan.user[1].name, "tables");
	CU_ASSERT_EQUAL(plan.user[1].bytes, 24);
	CU_ASSERT_EQUAL(plan.bytes, 1024);
	CU_ASSERT_EQUAL(plan.small_pages_bytes, 1024);
}

/* An mbuf of 128 bytes, headroom and all in the room, and the mempool's own 64 before it. */
static void test_packets(void)
{
	static const struct {
		uint16_t room_bytes;
		uint64_t bytes;
		uint64_t small_pages_bytes;
	} cases[] = {
		{1728, 1984, 2048},  /* two in a page */
		{1856, 2112, 4096},  /* one, as the second would straddle */
		{3840, 4096, 4096},  /* a page */
		{9216, 9472, 12288}, /* three, begun anew */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_memory_plan plan = {0};

		wh_memory_plan_add_mbufs(&plan, "", "packets", 10, cases[i].room_bytes);
		CU_ASSERT_EQUAL(plan.bytes, 10 * cases[i].bytes);
		CU_ASSERT_EQUAL(plan.small_pages_bytes, 10 * cases[i].small_pages_bytes);
	}
}

static void test_print(void)
{
	struct wh_memory_plan plan = {0};
	char *text;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	wh_memory_plan_add(&plan, "receiver's ", "buffers", UINT64_C(3) << 20);
	wh_memory_plan_add(&plan, "lambda's ", "delay lines", UINT64_C(1) << 20);
	wh_memory_plan_print(&plan, to);
	fclose(to);
	CU_ASSERT_STRING_EQUAL(text, "memory: receiver's buffers       3.00 MiB\n"
				     "memory: lambda's delay lines     1.00 MiB\n"
				     "memory: all together             4.00 MiB\n");
	free(text);
}

CU_TestInfo wh_tests[] = {
	{"sum", test_sum},
	{"packets", test_packets},
	{"print", test_print},
	CU_TEST_INFO_NULL,
};
