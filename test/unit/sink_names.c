/* SPDX-License-Identifier: BSD-3-Clause */

/* Of lib/bundle/sink.c, too: when a file has its name, what belongs to it, and what gets in. */

#include <sys/statvfs.h>

#include "sink_rig.h"

const char wh_suite_name[] = "sink_names";

/*
 * Content, mode and time are there with the name: in memory long before the batch is due, on a disk
 * after it was synced, and never before.
 */
static void test_when_named(const char *base)
{
	bool at_once = names_at_once(base);
	struct rig *rig = rig_begin(base);
	struct stat status;

	rig_file(rig, 1, "file", 01751, "bytes", 5);
	rig_file(rig, 2, "folder/file", 0604, "more", 4);
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	CU_ASSERT(rig->answer_count == 0);
	CU_ASSERT(rig_holds(rig, "file", "bytes", 5) == at_once);
	CU_ASSERT(rig_looks(rig, "file", 01751) == at_once);
	CU_ASSERT(rig_looks(rig, "folder/file", 0604) == at_once);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->totals.files == 2 && rig->totals.bytes == 9 && rig->totals.failed == 0);
	CU_ASSERT(rig_holds(rig, "file", "bytes", 5) && rig_looks(rig, "file", 01751));
	CU_ASSERT(rig_holds(rig, "folder/file", "more", 4));
	CU_ASSERT(stat(rig_path(rig, "folder/file"), &status) == 0 && status.st_nlink == 1);
	CU_ASSERT(rig_looks(rig, "folder/file", 0604) && rig_count(rig->root) == 3);
	rig_free(rig);
}

/* The folder was empty when it was opened; what has the name since is replaced nevertheless. */
static void test_taken_meanwhile(const char *base)
{
	struct rig *rig = rig_begin(base);

	rig_text(rig, 1, "folder/first", "1");
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	rig_make_file(rig, "folder/second", "another's", 9);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "folder/third"), 0755) == 0);
	rig_text(rig, 2, "folder/second", "2");
	rig_text(rig, 3, "folder/third", "3");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_holds_text(rig, "folder/second", "2"));
	CU_ASSERT(rig_failed(rig, 3, EISDIR, WH_DOING_RENAMING));
	CU_ASSERT(rig->totals.files == 2 && rig->totals.failed == 1);
	CU_ASSERT(rig_count(rig->root) == 4);
	rig_free(rig);
}

static void fail_at_source(struct rig *rig, uint64_t id)
{
	rig_file_end(rig, id, NULL, EIO, WH_DOING_READING);
}

/* In memory nothing is reserved: files get in as long as all that did have room together. */
static void test_room_in_memory(void)
{
	struct rig *rig = rig_begin(rig_bases[0]);
	struct statvfs status;

	CU_ASSERT_FATAL(statvfs(rig->root, &status) == 0);

	uint64_t tenth = status.f_bavail * status.f_frsize / 10;

	rig_ask(rig, 1, "six", 0644, 6 * tenth);
	rig_await(rig, WH_RECORD_WANT, 1);
	rig_ask(rig, 2, "five", 0644, 5 * tenth);
	rig_await(rig, WH_RECORD_OUTCOME, 2);
	CU_ASSERT(rig_failed(rig, 2, ENOSPC, WH_DOING_RESERVING));
	rig_ask(rig, 3, "three", 0644, 3 * tenth);
	rig_await(rig, WH_RECORD_WANT, 3);
	fail_at_source(rig, 1);
	rig_ask(rig, 4, "five again", 0644, 5 * tenth);
	rig_await(rig, WH_RECORD_WANT, 4);
	rig_ask(rig, 5, "more than all", 0644, UINT64_C(1) << 60);
	rig_await(rig, WH_RECORD_OUTCOME, 5);
	CU_ASSERT(rig_failed(rig, 5, ENOSPC, WH_DOING_RESERVING));
	CU_ASSERT(statvfs(rig->root, &status) == 0);
	CU_ASSERT(status.f_bavail * status.f_frsize > 9 * tenth);
	fail_at_source(rig, 3);
	fail_at_source(rig, 4);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->totals.files == 0 && rig->totals.failed == 5);
	CU_ASSERT(rig_count(rig->root) == 0);
	rig_free(rig);
}

/* Modes are the source's, whatever the umask. */
static void test_umask(const char *base)
{
	static const uint16_t modes[] = {0644, 0644, 0666, 0, 0777, 0644, 0600, 0100, 0400};
	mode_t kept = umask(0077);
	struct rig *rig = rig_begin(base);
	char name[8];

	for (size_t i = 0; i < RIG_COUNT(modes); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		rig_file(rig, i + 1, name, modes[i], "x", 1);
	}
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	for (size_t i = 0; i < RIG_COUNT(modes); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		CU_ASSERT(rig_looks(rig, name, modes[i]));
	}
	umask(kept);
	rig_free(rig);
}

#define BOTH(test)                                                                                 \
	static void both_##test(void)                                                              \
	{                                                                                          \
		for (size_t i = 0; i < RIG_COUNT(rig_bases); i++)                                  \
			test_##test(rig_bases[i]);                                                 \
	}

BOTH(when_named)
BOTH(umask)
BOTH(taken_meanwhile)

CU_TestInfo wh_tests[] = {
	{"a name with all that belongs to it", both_when_named},
	{"umask", both_umask},
	{"taken meanwhile", both_taken_meanwhile},
	{"room in memory", test_room_in_memory},
	CU_TEST_INFO_NULL,
};
