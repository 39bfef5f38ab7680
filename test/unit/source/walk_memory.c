/* SPDX-License-Identifier: BSD-3-Clause */

/* Names of folders are in a peer's memory, and nothing of it is kept when the walk is closed. */

#include "bundle_tree.h"
#include "file/purse.h"
#include "source/walk.h"

const char wh_suite_name[] = "walk_memory";

#define STEPS_MAX 10000000

/* What the walk finds next; false: it is at its end. */
static bool next_item(struct wh_walk *walk, struct wh_walk_item *item)
{
	do
		wh_walk_next(walk, item);
	while (item->found == WH_WALK_NOTHING);
	return item->found != WH_WALK_END;
}

/* A folder with that many files whose names have 200 bytes. */
static void make_wide(const struct tree *tree, const char *path, int names)
{
	char name[300];

	tree_folder(tree, path);
	for (int i = 0; i < names; i++) {
		snprintf(name, sizeof(name), "%s/%0200d", path, i);
		CU_ASSERT_FATAL(mknodat(tree->fd, name, S_IFREG | 0644, 0) == 0);
	}
}

/* All items, or the first ones; the last fault is in `fault`. The files found. */
static int walk_some(const char *path, struct purse *purse, int items, char *fault, int *faults)
{
	const struct wh_blocks_account account = purse_account(purse);
	struct wh_walk *walk;
	struct wh_walk_item item;
	int files = 0;

	*faults = 0;
	CU_ASSERT_EQUAL_FATAL(wh_walk_open(&walk, -1, &path, 1, true, &account), 0);
	for (int i = 0; i < items && next_item(walk, &item); i++) {
		files += item.found == WH_WALK_FILE;
		if (item.found != WH_WALK_FAULT)
			continue;
		++*faults;
		sprintf(fault, "%s(%d,%s)", item.path, item.error, wh_doing_name(item.doing));
	}
	wh_walk_close(walk);
	CU_ASSERT_EQUAL(purse->now, 0);
	return files;
}

static void names_are_charged(void)
{
	enum { NAMES = 6000 };
	struct purse purse = {.most = UINT64_MAX};
	struct tree tree;
	const char *path;
	char fault[PATH_MAX + 100] = "";
	int faults, files;

	tree_init(&tree, "/dev/shm");
	tree_folder(&tree, "d");
	tree_file(&tree, "d/a", "a", 1);
	make_wide(&tree, "d/big", NAMES);
	tree_folder(&tree, "d/c");
	tree_file(&tree, "d/c/x", "x", 1);
	tree_file(&tree, "d/z", "z", 1);
	path = tree_path(&tree, "d");
	CU_ASSERT_EQUAL(walk_some(path, &purse, STEPS_MAX, fault, &faults), NAMES + 3);
	CU_ASSERT_EQUAL(faults, 0);
	CU_ASSERT(purse.peak > NAMES * 200 && purse.peak < NAMES * 200 * 2);

	purse = (struct purse){.most = 256 << 10};
	files = walk_some(path, &purse, STEPS_MAX, fault, &faults);
	CU_ASSERT(files > 500 && files < NAMES / 2);
	CU_ASSERT_EQUAL(faults, 1);
	CU_ASSERT_STRING_EQUAL(fault, "d/big(12,listing the folder)");
	CU_ASSERT(purse.peak > 128 << 10);

	/* Left in the middle, at any place. */
	for (int items = 0; items < 20; items++)
		walk_some(path, &purse, items, fault, &faults);
	purse.most = 0;
	files = walk_some(path, &purse, STEPS_MAX, fault, &faults);
	CU_ASSERT(files > 100 && files < 500);
	CU_ASSERT_EQUAL(faults, 1);
	tree_free(&tree);
}

/* Whose memory is in use still sees what is of common size. */
static void some_names_are_free(void)
{
	struct purse purse = {.most = 0};
	struct tree tree;
	char name[32], fault[PATH_MAX + 100];
	int faults;

	tree_init(&tree, "/dev/shm");
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "n%05d", i);
		CU_ASSERT_FATAL(mknodat(tree.fd, name, S_IFREG | 0644, 0) == 0);
	}
	CU_ASSERT_EQUAL(walk_some(tree_path(&tree, "."), &purse, STEPS_MAX, fault, &faults), 2000);
	CU_ASSERT_EQUAL(faults, 0);
	tree_free(&tree);
}

/* Folders pass their memory on to others as deep, which is no reason to refuse one less deep. */
static void memory_passed_on(void)
{
	enum { NAMES = 3000 };
	struct purse purse = {.most = 5 << 18};
	struct tree tree;
	char fault[PATH_MAX + 100];
	int faults;

	tree_init(&tree, "/dev/shm");
	tree_folder(&tree, "d");
	tree_folder(&tree, "d/p");
	make_wide(&tree, "d/p/q", NAMES);
	make_wide(&tree, "d/r", NAMES);
	CU_ASSERT_EQUAL(
		walk_some(tree_path(&tree, "d"), &purse, STEPS_MAX, fault, &faults), 2 * NAMES);
	CU_ASSERT_EQUAL(faults, 0);
	tree_free(&tree);
}

/* A folder that nobody wants to see costs nothing, nor does the walk when it is closed in it. */
static void left_early(void)
{
	struct purse purse = {.most = UINT64_MAX};
	const struct wh_blocks_account account = purse_account(&purse);
	const char *paths[1];
	struct wh_walk *walk;
	struct wh_walk_item item;
	struct tree tree;

	tree_init(&tree, "/dev/shm");
	tree_folder(&tree, "d");
	make_wide(&tree, "d/big", 3000);
	make_wide(&tree, "d/huge", 3000);
	paths[0] = tree_path(&tree, "d");
	CU_ASSERT_EQUAL_FATAL(wh_walk_open(&walk, -1, paths, 1, true, &account), 0);
	CU_ASSERT(next_item(walk, &item) && next_item(walk, &item));
	CU_ASSERT_STRING_EQUAL(item.path, "d/big");
	wh_walk_leave(walk);
	CU_ASSERT_EQUAL(purse.peak, 0);
	CU_ASSERT(next_item(walk, &item) && strcmp(item.path, "d/huge") == 0);
	CU_ASSERT(next_item(walk, &item) && item.found == WH_WALK_FILE);
	CU_ASSERT(purse.now > 600000);
	wh_walk_close(walk);
	CU_ASSERT_EQUAL(purse.now, 0);
	tree_free(&tree);
}

CU_TestInfo wh_tests[] = {
	{"names are charged", names_are_charged},
	{"some names are free", some_names_are_free},
	{"memory passed on", memory_passed_on},
	{"left early", left_early},
	CU_TEST_INFO_NULL,
};
