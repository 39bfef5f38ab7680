/* SPDX-License-Identifier: BSD-3-Clause */
#include "source_rig.h"

const char wh_suite_name[] = "source_links";

static void add_name(struct rig *rig, const char *name, const char *another)
{
	CU_ASSERT_FATAL(linkat(rig->tree.fd, name, rig->tree.fd, another, 0) == 0);
}

static void make(struct rig *rig)
{
	tree_folder(&rig->tree, "t");
	add_file(rig, "t/b", 10, 1);
	add_file(rig, "t/c", MIB, 2);
	add_name(rig, "t/b", "t/a");
	add_name(rig, "t/c", "t/e");
	add_name(rig, "t/c", "t/d");
}

static void expect_name(struct rig *rig, const char *path, const char *first)
{
	const struct rig_entry *entry = rig_find(rig, path);

	CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
	CU_ASSERT_EQUAL(entry->entry.kind, WH_ENTRY_HARD);
	CU_ASSERT_STRING_EQUAL(entry->link, first);
}

/* Bytes go once, under the first name of the walk; the others come last. */
static void names(void)
{
	struct rig rig;

	rig_init(&rig, MEMORY, 1 << 20, 8, 8);
	make(&rig);
	rig.wishes = WH_CHOICE_HARD_LINKS;
	rig_open(&rig, "t");
	rig_run(&rig, 0);
	CU_ASSERT_EQUAL(rig_state(&rig), WH_SOURCE_DONE);
	CU_ASSERT_EQUAL_FATAL(rig.entry_count, 6);
	CU_ASSERT(arrived(&rig, "t/a", 10, 1) && arrived(&rig, "t/c", MIB, 2));
	expect_name(&rig, "t/b", "t/a");
	expect_name(&rig, "t/d", "t/c");
	expect_name(&rig, "t/e", "t/c");
	CU_ASSERT_EQUAL(rig.entries[5].entry.kind, WH_ENTRY_HARD);
	CU_ASSERT_EQUAL(wh_source_progress(rig.source)->totals.left_out.hard_links, 0);
	rig_free(&rig);
}

static void nobody_asked(void)
{
	struct rig rig;

	rig_init(&rig, MEMORY, 1 << 20, 8, 8);
	make(&rig);
	rig_open(&rig, "t");
	rig_run(&rig, 0);
	expect_done(&rig, 5, 0, 0);
	CU_ASSERT(arrived(&rig, "t/b", 10, 1) && arrived(&rig, "t/e", MIB, 2));
	CU_ASSERT_EQUAL(wh_source_progress(rig.source)->totals.left_out.hard_links, 5);
	rig_free(&rig);
}

CU_TestInfo wh_tests[] = {
	{"names", names},
	{"nobody asked", nobody_asked},
	CU_TEST_INFO_NULL,
};
