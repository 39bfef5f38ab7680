/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/purse.h"
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

#define FOLDERS 12
#define PAIRS   50

/* Names of 200 bytes, few in each folder: the walk needs no memory for them. */
static void make_many(struct rig *rig)
{
	char one[300], other[300];

	tree_folder(&rig->tree, "t");
	for (int i = 0; i < FOLDERS; i++) {
		snprintf(one, sizeof(one), "t/%02d", i);
		tree_folder(&rig->tree, one);
		for (int k = 0; k < PAIRS; k++) {
			snprintf(one, sizeof(one), "t/%02d/a%0199d", i, k);
			snprintf(other, sizeof(other), "t/%02d/b%0199d", i, k);
			tree_file(&rig->tree, one, "x", 1);
			add_name(rig, one, other);
		}
	}
}

/* How many names came as such. */
static int run_many(struct purse *purse)
{
	struct rig rig;
	int names = 0;

	rig_init(&rig, MEMORY, 1 << 20, 8, 8);
	make_many(&rig);
	rig.wishes = WH_CHOICE_HARD_LINKS;
	rig.account = purse_account(purse);
	rig_open(&rig, "t");
	rig_run(&rig, 0);
	CU_ASSERT_EQUAL(rig_state(&rig), WH_SOURCE_DONE);
	CU_ASSERT_EQUAL_FATAL(rig.entry_count, 1 + FOLDERS + 2 * FOLDERS * PAIRS);
	for (uint32_t i = 0; i < rig.entry_count; i++)
		names += rig.entries[i].entry.kind == WH_ENTRY_HARD;
	CU_ASSERT_EQUAL(wh_source_progress(rig.source)->totals.failed, 0);
	CU_ASSERT(names == FOLDERS * PAIRS ||
		  wh_source_progress(rig.source)->totals.left_out.hard_links > 0);
	rig_free(&rig);
	CU_ASSERT_EQUAL(purse->now, 0);
	return names;
}

/* Names are in the peer's memory; without it files go once per name. */
static void charged(void)
{
	struct purse purse = {.most = UINT64_MAX};
	int names = run_many(&purse);

	CU_ASSERT_EQUAL(names, FOLDERS * PAIRS);
	CU_ASSERT(purse.peak > 2 * FOLDERS * PAIRS * 200);
	purse = (struct purse){.most = 100 << 10};
	names = run_many(&purse);
	CU_ASSERT(names > 100 && names < FOLDERS * PAIRS / 2 + 100);
	purse = (struct purse){.most = 0};
	names = run_many(&purse);
	CU_ASSERT(names > 20 && names < 200);
}

CU_TestInfo wh_tests[] = {
	{"charged", charged},
	{"names", names},
	{"nobody asked", nobody_asked},
	CU_TEST_INFO_NULL,
};
