/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts that come together: who may have one, and who fails the file. */
#include "sink/assembly.h"
#include "unit.h"

const char wh_suite_name[] = "assembly";

#define MIB (UINT64_C(1) << 20)

/* What lanes that do not agree may say: they are told so, and nothing is kept of it. */
static void test_disagreement(void)
{
	static struct wh_assemblies all;
	struct wh_assembly *head, *part;

	wh_assemblies_init(&all, 3);
	head = wh_assembly_join(&all, 0, 7, 4 * MIB, true);
	CU_ASSERT_FATAL(head != NULL);
	CU_ASSERT(wh_assembly_join(&all, 0, 7, 4 * MIB, false) == NULL);
	CU_ASSERT(wh_assembly_join(&all, 1, 7, 4 * MIB, true) == NULL);
	CU_ASSERT(wh_assembly_join(&all, 1, 7, 5 * MIB, false) == NULL);
	part = wh_assembly_join(&all, 1, 7, 4 * MIB, false);
	CU_ASSERT(part == head);
	for (uint32_t split = 8; split < 7 + WH_SPLITS_MAX; split++)
		CU_ASSERT(wh_assembly_join(&all, 2, split, 4 * MIB, false) != NULL);
	CU_ASSERT(wh_assembly_join(&all, 2, 1000, 4 * MIB, false) == NULL);
	CU_ASSERT(wh_assembly_join(&all, 2, 7, 4 * MIB, false) == head);

	/* One that ends without its part fails it; the place is free when the last has left. */
	wh_assembly_put_down(head, 0);
	wh_assembly_put_down(head, 1);
	CU_ASSERT(!wh_assembly_is_whole(&all, head));
	wh_assembly_leave(&all, head, 1);
	CU_ASSERT(wh_assembly_verdict(head) == WH_VERDICT_NONE);
	wh_assemblies_gone(&all, 2);
	CU_ASSERT(wh_assembly_verdict(head) == WH_VERDICT_FAILED);
	wh_assembly_leave(&all, head, 2);
	CU_ASSERT(head->split == 7);
	wh_assembly_leave(&all, head, 0);
	CU_ASSERT(head->split == 0);
	wh_assemblies_free(&all);
}

/* The first word stays, but a file that was staged may still fail. */
static void test_verdicts(void)
{
	static struct wh_assemblies all;
	struct wh_assembly *one, *other;
	int lock_fd;

	wh_assemblies_init(&all, 2);
	one = wh_assembly_join(&all, 0, 1, 4 * MIB, true);
	other = wh_assembly_join(&all, 0, 2, 4 * MIB, true);
	CU_ASSERT_FATAL(one != NULL && other != NULL && one != other);
	wh_assembly_skip(&all, one);
	wh_assembly_fail(&all, one, -5, WH_DOING_WRITING);
	CU_ASSERT(wh_assembly_verdict(one) == WH_VERDICT_SKIP);
	wh_assembly_fail(&all, other, -5, WH_DOING_WRITING);
	wh_assembly_fail(&all, other, -6, WH_DOING_READING);
	wh_assembly_skip(&all, other);
	CU_ASSERT(wh_assembly_verdict(other) == WH_VERDICT_FAILED);
	CU_ASSERT(other->error == -5 && other->doing == WH_DOING_WRITING);
	CU_ASSERT(wh_assembly_open(&all, one, &lock_fd) < 0);
	CU_ASSERT(wh_assembly_open(&all, other, &lock_fd) < 0);
	wh_assemblies_gone(&all, 1);
	wh_assembly_leave(&all, one, 0);
	wh_assembly_leave(&all, other, 0);
	CU_ASSERT(one->split == 0 && other->split == 0);
	wh_assemblies_free(&all);
}

CU_TestInfo wh_tests[] = {
	{"lanes that do not agree", test_disagreement},
	{"verdicts", test_verdicts},
	CU_TEST_INFO_NULL,
};
