/* SPDX-License-Identifier: BSD-3-Clause */
#include "read_fault.h"
#include "source_rig.h"

const char wh_suite_name[] = "source_send";

/* Small files share chunks, and none waits in one for company. */
static void packing(void)
{
	struct rig rig;
	char name[32];

	rig_init(&rig, MEMORY, 1 << 20, 8, 8);
	tree_folder(&rig.tree, "t");
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "t/%04d", i);
		add_file(&rig, name, 962, (uint64_t)i);
	}
	rig_open(&rig, "t");
	rig_run(&rig, 0);
	expect_done(&rig, 1000, 0, 0);
	/*
	 * Records of 88 + 6 + 962 bytes, 8 in a poll: 31 polls are below 256 KiB,
	 * and 4 * 32 * 8 more than there are.
	 */
	CU_ASSERT_EQUAL(rig.packed_chunks, 4);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "t/%04d", i);
		CU_ASSERT(arrived(&rig, name, 962, (uint64_t)i));
	}
	rig_free(&rig);

	rig_init(&rig, MEMORY, 1 << 20, 8, 8);
	tree_folder(&rig.tree, "t");
	add_file(&rig, "t/1", 10, 1);
	add_file(&rig, "t/2", MIB, 2);
	rig.wants = false;
	rig_open(&rig, "t");
	rig_settle(&rig);
	CU_ASSERT_EQUAL(rig.entry_count, 3);
	CU_ASSERT_EQUAL(rig_state(&rig), WH_SOURCE_RUNNING);
	rig_free(&rig);
}

static void shrink_victim(void)
{
	CU_ASSERT_FATAL(truncate(victim, 10) == 0);
}

static void grow_victim_much(void)
{
	CU_ASSERT_FATAL(truncate(victim, 300 * KIB) == 0);
}

static void no_change(void)
{
}

/* A small file that changes while it is read gets a second chance, and no third. */
/*
 * A file of /sys has fewer bytes than its status says, and that does not change: what memory had
 * before is not sent as the rest.
 */
static void small_file_is_short(void)
{
	struct rig rig;

	rig_init(&rig, MEMORY, 1 << 20, 4, 4);
	add_file(&rig, "f", 1000, 1);
	rig_open(&rig, "f");
	read_fault.times = 100;
	read_fault.error = 0;
	read_fault.least = 5;
	read_fault.after = 0;
	rig_run(&rig, 0);
	read_fault.times = 0;
	read_fault.least = 0;
	expect_done(&rig, 0, 0, 1);
	CU_ASSERT_STRING_EQUAL(rig.faults, "f(16,reading (it changed meanwhile)) ");
	CU_ASSERT_EQUAL(rig.entry_count, 0);
	rig_free(&rig);
}

static void small_file_changes(void)
{
	static const struct {
		void (*change)(void);
		int times;
		int error;
		const char *faults;
		uint64_t bytes; /* that came, without a fault */
	} cases[] = {
		{no_change, 9, 0, "", 1000},
		{grow_victim, 1, 0, "", 1004},
		{shrink_victim, 1, 0, "", 10},
		{touch_victim, 1, 0, "", 1000},
		{grow_victim_much, 1, 0, "", 300 * KIB},
		{grow_victim, 9, 0, "f(16,reading (it changed meanwhile)) ", 0},
		{touch_victim, 9, 0, "f(16,reading (it changed meanwhile)) ", 0},
		{NULL, 1, EIO, "f(5,reading) ", 0},
		{NULL, 1, EINTR, "", 1000},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rig rig;
		bool fails = cases[i].faults[0] != '\0';

		rig_init(&rig, MEMORY, 1 << 20, 4, 4);
		add_file(&rig, "f", 1000, 1);
		victim = tree_path(&rig.tree, "f");
		rig_open(&rig, "f");
		read_fault.times = cases[i].times;
		read_fault.change = cases[i].change;
		read_fault.error = cases[i].error;
		read_fault.after = 0;
		rig_run(&rig, 0);
		read_fault.times = 0;
		expect_done(&rig, !fails, 0, fails);
		CU_ASSERT_STRING_EQUAL(rig.faults, cases[i].faults);
		CU_ASSERT_EQUAL(rig.entry_count, !fails);
		CU_ASSERT_EQUAL(rig.told_count, 1);
		if (!fails) {
			CU_ASSERT_EQUAL(rig.entries[0].entry.size_bytes, cases[i].bytes);
			CU_ASSERT_EQUAL(rig.entries[0].have_bytes, cases[i].bytes);
		}
		rig_free(&rig);
	}
}

static void faults(void)
{
	struct rig rig;
	const char *names[] = {"gone", "t", "t/fifo", NULL};
	char expected[4 * PATH_MAX];

	rig_init(&rig, MEMORY, 65536, 4, 4);
	tree_folder(&rig.tree, "t");
	add_file(&rig, "t/a", 5, 1);
	CU_ASSERT_FATAL(mkfifoat(rig.tree.fd, "t/fifo", 0644) == 0);
	rig_open_lane(&rig, names, 0, 1, false);
	rig_run(&rig, 0);
	snprintf(expected, sizeof(expected),
		"%s/gone(2,opening) t/fifo(95,passing it over) "
		"%s/t/fifo(95,looking at its kind) ",
		rig.tree.root, rig.tree.root);
	CU_ASSERT_STRING_EQUAL(rig.faults, expected);
	snprintf(expected, sizeof(expected),
		"-%s/gone(2,opening,here) -t/fifo(95,passing it over,here) "
		"-%s/t/fifo(95,looking at its kind,here) +t/a ",
		rig.tree.root, rig.tree.root);
	CU_ASSERT_STRING_EQUAL(rig.told, expected);
	expect_done(&rig, 1, 0, 2);
	CU_ASSERT_EQUAL(wh_source_progress(rig.source)->totals.passed_over, 1);
	rig_free(&rig);
}

static void vanishing_file(void)
{
	struct rig rig;
	char name[32];

	rig_init(&rig, MEMORY, 65536, 4, 4);
	tree_folder(&rig.tree, "t");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "t/%02d", i);
		add_file(&rig, name, 10, (uint64_t)i);
	}
	rig_open(&rig, "t");
	while (wh_source_progress(rig.source)->files_found == 0)
		rig_poll(&rig);
	CU_ASSERT_FATAL(unlinkat(rig.tree.fd, "t/29", 0) == 0);
	rig_run(&rig, 0);
	CU_ASSERT_STRING_EQUAL(rig.faults, "t/29(2,opening) ");
	expect_done(&rig, 29, 0, 1);
	rig_free(&rig);
}

static void unreadable_file(void)
{
	struct rig rig;
	uid_t user = geteuid();

	/* Root reads everything. */
	CU_ASSERT_FATAL(user != 0 || seteuid(65534) == 0);
	rig_init(&rig, NULL, 65536, 4, 4);
	tree_folder(&rig.tree, "t");
	add_file(&rig, "t/no", 10, 1);
	add_file(&rig, "t/yes", 10, 2);
	CU_ASSERT_FATAL(fchmodat(rig.tree.fd, "t/no", 0, 0) == 0);
	rig_open(&rig, "t");
	rig_run(&rig, 0);
	CU_ASSERT_STRING_EQUAL(rig.faults, "t/no(13,opening) ");
	CU_ASSERT(arrived(&rig, "t/yes", 10, 2));
	expect_done(&rig, 1, 0, 1);
	rig_free(&rig);
	CU_ASSERT_FATAL(seteuid(user) == 0);
}

/* Every file is one lane's, everything else lane 0's; no lane has all. */
static void lanes(void)
{
	enum { FILES = 200 };

	for (uint32_t count = 2; count <= 3; count++) {
		struct rig rig;
		const char *names[] = {"t", "x", "y", NULL};
		char name[32];
		uint8_t seen[FILES] = {0};
		uint32_t given = 0, share[3] = {0};

		rig_init(&rig, MEMORY, 65536, 4, 4);
		tree_folder(&rig.tree, "t");
		add_file(&rig, "x", 3, 1);
		add_file(&rig, "y", 3, 1);
		CU_ASSERT_FATAL(mkfifoat(rig.tree.fd, "t/fifo", 0644) == 0);
		for (int i = 0; i < FILES; i++) {
			snprintf(name, sizeof(name), "t/%03d", i);
			add_file(&rig, name, 10, (uint64_t)i);
		}
		for (uint32_t lane = 0; lane < count; lane++) {
			rig_open_lane(&rig, names, lane, count, false);
			rig_run(&rig, 0);
			CU_ASSERT_EQUAL(rig_state(&rig), WH_SOURCE_DONE);
			CU_ASSERT_EQUAL(rig.faults[0] != '\0', lane == 0);
			CU_ASSERT_EQUAL(rig_find(&rig, "t") != NULL, lane == 0);
			for (uint32_t i = 0; i < rig.entry_count; i++) {
				const char *path = rig.entries[i].path;

				given += path[1] == '\0' && path[0] != 't';
				if (path[1] == '\0')
					continue;
				seen[atoi(path + 2)]++;
				share[lane]++;
			}
			wh_source_close(rig.source);
			rig.source = NULL;
			rig_forget_entries(&rig);
			rig.faults[0] = '\0';
			rig.has_finish = rig.has_end = false;
			rig.next_chunk = RIG_FIRST;
			rig.next_answer = RIG_FIRST_REPLY;
			XXH3_128bits_reset(rig.packed);
			XXH3_128bits_reset(rig.answered);
			while (wh_fifo_pop(&rig.free) != NULL)
				;
			for (int i = 0; i < 4; i++)
				wh_fifo_push(&rig.free, &rig.chunks[i]);
		}
		CU_ASSERT_EQUAL(given, 2);
		for (int i = 0; i < FILES; i++)
			CU_ASSERT_EQUAL(seen[i], 1);
		for (uint32_t lane = 0; lane < count; lane++)
			CU_ASSERT(share[lane] > FILES / count / 2);
		rig_free(&rig);
	}
}

CU_TestInfo wh_tests[] = {
	{"packing", packing},
	{"small file is short", small_file_is_short},
	{"small file changes", small_file_changes},
	{"faults", faults},
	{"vanishing file", vanishing_file},
	{"unreadable file", unreadable_file},
	{"lanes", lanes},
	CU_TEST_INFO_NULL,
};
