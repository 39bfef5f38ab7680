/* SPDX-License-Identifier: BSD-3-Clause */

/* Names that are there in another case, on a file system that ignores it. */

#include "../../rig/folding_disk.h"
#include "sink_rig.h"

const char wh_suite_name[] = "sink_spelling";

/* In the root there is A/x, and beside it one name of each kind. */
static struct rig *begin(enum wh_case_clash clash)
{
	struct rig *rig = rig_new("/tmp");
	struct wh_sink_config config = rig_config(rig, "");
	enum wh_doing doing;

	config.rules.case_clash = clash;
	strcpy(folding_root, rig->root);
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "A"), 0755) == 0);
	rig_make_file(rig, "A/x", "there", 5);
	rig_make_file(rig, "Small", "there", 5);
	CU_ASSERT_FATAL(symlink("there", rig_path(rig, "Link")) == 0);
	return rig;
}

static void end(struct rig *rig)
{
	folding_root[0] = '\0';
	rig_free(rig);
}

static void test_refused(void)
{
	struct rig *rig = begin(WH_CASE_BY_TARGET);

	rig_text(rig, 1, "small", "other");
	rig_text(rig, 2, "small2", "new");
	rig_text(rig, 3, "link", "other");
	rig_folder(rig, 4, "a", 0755);
	rig_text(rig, 5, "a/x", "other");
	rig_text(rig, 6, "a/new", "new");
	rig_text(rig, 7, "A/x", "newer");
	rig_text(rig, 8, "made/by/us", "1");
	rig_text(rig, 9, "made/by/Us", "2");
	rig_text(rig, 10, "Made/by/them", "3");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	for (uint64_t id = 1; id <= 10; id++)
		CU_ASSERT_EQUAL(rig_failed(rig, id, EEXIST, WH_DOING_FOLDING),
			id != 2 && id != 7 && id != 8);
	CU_ASSERT(rig->totals.files == 3 && rig->totals.failed == 7);
	CU_ASSERT(rig_holds_text(rig, "Small", "there") && rig_holds_text(rig, "A/x", "newer"));
	CU_ASSERT(rig_holds_text(rig, "made/by/us", "1") && rig_holds_text(rig, "small2", "new"));
	CU_ASSERT_EQUAL(rig_count(rig->root), 8);
	end(rig);
}

/* The same bytes under another name are no reason to skip: --delete would remove them then. */
static void test_equal(void)
{
	struct rig *rig = begin(WH_CASE_BY_TARGET);

	rig_text(rig, 1, "small", "there");
	rig_text(rig, 2, "Small", "there");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, EEXIST, WH_DOING_FOLDING));
	CU_ASSERT(rig->totals.skipped == 1 && rig->totals.failed == 1);
	end(rig);
}

static void test_allowed(void)
{
	struct rig *rig = begin(WH_CASE_ALLOW);

	rig_text(rig, 1, "small", "other");
	rig_text(rig, 2, "a/x", "other");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_holds_text(rig, "Small", "other") && rig_holds_text(rig, "A/x", "other"));
	CU_ASSERT(rig->totals.files == 2 && rig->totals.failed == 0);
	end(rig);
}

/* More folders than are listed again: what the job has made itself is known without. */
static void test_many(void)
{
	struct rig *rig = begin(WH_CASE_BY_TARGET);
	char path[32];

	rig_text(rig, 1, "Small", "newer");
	for (uint64_t id = 2; id < 1002; id++) {
		snprintf(
			path, sizeof(path), "made%u/%s", (unsigned int)id, id % 2 == 0 ? "a" : "b");
		if (id % 4 == 0)
			rig_folder(rig, id, strtok(path, "/"), 0755);
		else
			rig_text(rig, id, path, "new");
	}
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT_EQUAL(rig->totals.failed, 0);
	CU_ASSERT_EQUAL(rig->totals.files, 751);
	end(rig);
}

CU_TestInfo wh_tests[] = {
	{"refused", test_refused},
	{"equal bytes", test_equal},
	{"allowed", test_allowed},
	{"many folders", test_many},
	CU_TEST_INFO_NULL,
};
