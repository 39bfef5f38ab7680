/* SPDX-License-Identifier: BSD-3-Clause */

/* What is moved is removed, except where several given paths have one name. */

#include "source_rig.h"

const char wh_suite_name[] = "source_contested";

static bool is_there(const struct rig *rig, const char *name)
{
	return faccessat(rig->tree.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void plant(struct rig *rig)
{
	rig_init(rig, MEMORY, 1 << 20, 8, 8);
	for (const char *folder = "abc"; *folder != '\0'; folder++) {
		char name[32] = {*folder};

		tree_folder(&rig->tree, name);
		strcpy(name + 1, "/r");
		tree_folder(&rig->tree, name);
		snprintf(name, sizeof(name), "%c/same", *folder);
		add_file(rig, name, 10, 1);
		snprintf(name, sizeof(name), "%c/r/%c", *folder, *folder);
		add_file(rig, name, 20, 2);
	}
}

static void move(struct rig *rig, uint32_t wishes, const char *one, const char *other)
{
	const char *names[] = {one, other, NULL};

	plant(rig);
	rig->wishes = WH_CHOICE_MOVE | wishes;
	rig_open_lane(rig, names, 0, 1, false);
	rig_run(rig, 0);
	CU_ASSERT_EQUAL(rig_state(rig), WH_SOURCE_DONE);
}

static bool tells(const struct rig *rig, const char *path)
{
	char words[128];

	snprintf(words, sizeof(words), "-%s(%d,%s,here) ", path, EEXIST,
		wh_doing_name(WH_DOING_SHARING));
	return strstr(rig->told, words) != NULL;
}

/* The rig takes whatever comes, as a sink that had forgotten would. */
static void one_name(void)
{
	struct rig rig;

	move(&rig, 0, "a/same", "b/same");
	CU_ASSERT(is_there(&rig, "a/same") && is_there(&rig, "b/same") && tells(&rig, "same"));
	CU_ASSERT_EQUAL(wh_source_progress(rig.source)->totals.failed, 2);
	rig_free(&rig);

	move(&rig, 0, "a/r", "b/r"); /* trees that would become one */
	CU_ASSERT(is_there(&rig, "a/r/a") && is_there(&rig, "b/r/b"));
	CU_ASSERT(tells(&rig, "r/a") && tells(&rig, "r/b"));
	rig_free(&rig);

	move(&rig, 0, "a/.", "b/same"); /* by contents */
	CU_ASSERT(is_there(&rig, "a/same") && is_there(&rig, "b/same"));
	CU_ASSERT(!is_there(&rig, "a/r/a") && tells(&rig, "same") && !tells(&rig, "r/a"));
	rig_free(&rig);

	move(&rig, WH_CHOICE_RELATIVE, "a/./r", "b/./r/b"); /* in a folder that is given, too */
	CU_ASSERT(is_there(&rig, "b/r/b"));
	rig_free(&rig);
}

static void other_names(void)
{
	struct rig rig;

	move(&rig, 0, "a/same", "b/r");
	CU_ASSERT(!is_there(&rig, "a/same") && !is_there(&rig, "b/r/b"));
	expect_done(&rig, 2, 0, 0);
	rig_free(&rig);

	move(&rig, WH_CHOICE_RELATIVE, "a/same", "b/same");
	CU_ASSERT(!is_there(&rig, "a/same") && !is_there(&rig, "b/same"));
	expect_done(&rig, 2, 0, 0);
	rig_free(&rig);

	/* What is only looked at is not told. */
	move(&rig, WH_CHOICE_DRY, "a/same", "b/same");
	CU_ASSERT(is_there(&rig, "a/same") && !tells(&rig, "same"));
	rig_free(&rig);
}

CU_TestInfo wh_tests[] = {
	{"one name", one_name},
	{"other names", other_names},
	CU_TEST_INFO_NULL,
};
