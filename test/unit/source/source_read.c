/* SPDX-License-Identifier: BSD-3-Clause */
#include "read_fault.h"
#include "ring_fault.h"
#include "source_rig.h"

const char wh_suite_name[] = "source_read";

/* Answers in any order decide on the order of the files' bytes. */
static void answers_out_of_order(void)
{
	struct rig rig;
	uint64_t ids[3];

	rig_init(&rig, MEMORY, 65536, 4, 4);
	tree_folder(&rig.tree, "t");
	add_file(&rig, "t/a", 300 * KIB, 1);
	add_file(&rig, "t/b", 400 * KIB, 2);
	add_file(&rig, "t/c", 500 * KIB, 3);
	rig.wants = false;
	rig_open(&rig, "t");
	rig_run(&rig, 4);
	for (int i = 0; i < 3; i++)
		ids[i] = rig.entries[i + 1].id;
	rig_settle(&rig);
	CU_ASSERT_EQUAL(rig_state(&rig), WH_SOURCE_RUNNING);
	rig_want(&rig, ids[2]);
	rig_settle(&rig);
	CU_ASSERT(arrived(&rig, "t/c", 500 * KIB, 3) && !rig.entries[1].has_end);
	rig_want(&rig, ids[1]);
	rig_want(&rig, ids[0]);
	rig_run(&rig, 0);
	expect_done(&rig, 3, 0, 0);
	CU_ASSERT(arrived(&rig, "t/a", 300 * KIB, 1) && arrived(&rig, "t/b", 400 * KIB, 2));
	CU_ASSERT_STRING_EQUAL(rig.told, "+t/a +t/b +t/c ");
	rig_free(&rig);
}

static void have_and_same(const char *parent, uint32_t chunks)
{
	struct rig rig;
	uint8_t *content = content_of(3 * MIB + 5, 1);

	rig_init(&rig, parent, 65536, chunks, 4);
	tree_folder(&rig.tree, "t");
	add_file(&rig, "t/other", 3 * MIB + 4, 2);
	add_file(&rig, "t/same", 3 * MIB + 5, 1);
	rig.wants = rig.commits = false;
	rig_open(&rig, "t");
	rig_run(&rig, 3);
	rig_have(&rig, rig.entries[1].id, digest_of(content, 3 * MIB + 5));
	rig_have(&rig, rig.entries[2].id, digest_of(content, 3 * MIB + 5));
	free(content);
	rig_settle(&rig);
	CU_ASSERT(arrived(&rig, "t/other", 3 * MIB + 4, 2) && !rig.entries[1].is_same);
	CU_ASSERT(rig.entries[2].is_same && !rig.entries[2].has_end);
	CU_ASSERT_EQUAL(rig.entries[2].have_bytes, 0);
	CU_ASSERT_EQUAL(rig.told_count, 0);
	CU_ASSERT_EQUAL(wh_source_progress(rig.source)->bytes_read, 3 * MIB + 4);
	CU_ASSERT(wh_source_progress(rig.source)->digest_known);
	CU_ASSERT_EQUAL(memcmp(&wh_source_progress(rig.source)->digest, &rig.entries[1].digest,
				sizeof(struct wh_digest)),
		0);
	rig_free(&rig);
}

static void haves(void)
{
	have_and_same(MEMORY, 1);
	have_and_same(MEMORY, 2);
	have_and_same(MEMORY, 16);
	have_and_same(NULL, 1);
	have_and_same(NULL, 2);
	have_and_same(NULL, 16);
}

/* More than one extent; the second is announced when the first is through. */
static void more_extents(uint32_t chunks)
{
	struct rig rig;
	uint64_t bytes = 128 * MIB + 5;

	rig_init(&rig, MEMORY, 3 << 20, chunks, 4);
	tree_file(&rig.tree, "f", "begin", 5);
	CU_ASSERT_FATAL(truncate(tree_path(&rig.tree, "f"), (off_t)bytes) == 0);
	rig_open(&rig, "f");
	rig_run(&rig, 0);
	expect_done(&rig, 1, 0, 0);
	CU_ASSERT_EQUAL(rig.entries[0].extents, 8); /* 3, 6, 12, 4 of 24 MiB, the rest */
	CU_ASSERT_EQUAL(rig.entries[0].have_bytes, bytes);
	CU_ASSERT_EQUAL(memcmp(rig.entries[0].bytes, "begin\0", 6), 0);
	rig_free(&rig);
}

static void extents(void)
{
	more_extents(1);
	more_extents(4);
}

/* So many files are asked for ahead, and one more for each that is answered. */
static void asks_ahead(void)
{
	struct rig rig;
	char name[32];
	int before = open_files();

	rig_init(&rig, MEMORY, 65536, 8, 8);
	tree_folder(&rig.tree, "t");
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "t/%03d", i);
		tree_file(&rig.tree, name, "", 0);
		CU_ASSERT_FATAL(truncate(tree_path(&rig.tree, name), 300 * KIB) == 0);
	}
	rig.wants = false;
	rig_open(&rig, "t");
	rig_settle(&rig);
	CU_ASSERT_EQUAL(rig.entry_count, 1 + WH_SOURCE_ASKED);
	rig_want(&rig, 7);
	rig_settle(&rig);
	CU_ASSERT_EQUAL(rig.entry_count, 2 + WH_SOURCE_ASKED);
	CU_ASSERT_EQUAL(rig.entries[7].have_bytes, 300 * KIB);
	for (uint64_t id = 1; id <= 300; id++) {
		if (id != 7)
			rig_want(&rig, id);
		rig_settle(&rig);
	}
	rig_run(&rig, 0);
	expect_done(&rig, 300, 0, 0);
	rig_free(&rig);
	CU_ASSERT_EQUAL(open_files(), before);
}

static void shrink_large(void)
{
	CU_ASSERT_FATAL(truncate(victim, MIB + 3) == 0);
}

static void replace_large(void)
{
	int fd = open(victim, O_WRONLY);

	CU_ASSERT_FATAL(fd >= 0 && pwrite(fd, "other", 5, MIB) == 5 && close(fd) == 0);
	touch_victim();
}

/* Between polls, after its first bytes went out, while little is read ahead. */
static void large_file_changes(void)
{
	void (*const changes[])(void) = {grow_victim, shrink_large, replace_large, touch_victim};

	for (size_t i = 0; i < 2 * COUNT(changes); i++) {
		struct rig rig;
		struct rig_entry *entry;

		rig_init(&rig, i % 2 == 0 ? MEMORY : NULL, 65536, 3, 3);
		tree_folder(&rig.tree, "t");
		add_file(&rig, "t/f", 2 * MIB, 1);
		add_file(&rig, "t/g", 2 * MIB, 2);
		victim = tree_path(&rig.tree, "t/f");
		rig_open(&rig, "t");
		rig_run(&rig, 3);
		entry = rig_find(&rig, "t/f");
		for (int p = 0; p < RIG_POLLS_MAX && entry->have_bytes == 0; p++)
			rig_poll(&rig);
		changes[i / 2]();
		rig_run(&rig, 0);
		/* The announced bytes come, whatever they are, and after a short read no more. */
		CU_ASSERT(changes[i / 2] == shrink_large
				  ? rte_is_power_of_2(entry->have_bytes / 65536 + 1)
				  : entry->have_bytes == 2 * MIB);
		CU_ASSERT(entry->has_end && entry->error == EBUSY);
		CU_ASSERT_EQUAL(entry->doing, WH_DOING_CHANGED);
		CU_ASSERT(arrived(&rig, "t/g", 2 * MIB, 2));
		CU_ASSERT_STRING_EQUAL(
			rig.told, "-t/f(16,reading (it changed meanwhile),here) +t/g ");
		expect_done(&rig, 1, 0, 1);
		rig_free(&rig);
	}
}

/* A file that changes while it is compared is not the same as what the sink has. */
static void compared_file_changes(void)
{
	struct rig rig;
	uint8_t *content = content_of(2 * MIB, 1);

	rig_init(&rig, MEMORY, 65536, 3, 3);
	add_file(&rig, "f", 2 * MIB, 1);
	victim = tree_path(&rig.tree, "f");
	rig.wants = false;
	rig_open(&rig, "f");
	rig_run(&rig, 1);
	rig_have(&rig, 0, digest_of(content, 2 * MIB));
	read_fault.after = 20;
	read_fault.times = 1;
	read_fault.error = 0;
	read_fault.change = touch_victim;
	rig_run(&rig, 0);
	CU_ASSERT_EQUAL(read_fault.times, 0);
	CU_ASSERT(!rig.entries[0].is_same && rig.entries[0].has_end);
	CU_ASSERT_EQUAL(rig.entries[0].error, EBUSY);
	CU_ASSERT_EQUAL(rig.entries[0].extents, 0);
	expect_done(&rig, 0, 0, 1);
	rig_free(&rig);
	free(content);
}

/* The rest of what was announced is zeros. */
static void large_file_cannot_be_read(bool in_memory)
{
	struct rig rig;
	uint8_t *content = content_of(2 * MIB, 1);
	struct rig_entry *entry;

	rig_init(&rig, in_memory ? MEMORY : NULL, 65536, 4, 4);
	tree_folder(&rig.tree, "t");
	add_file(&rig, "t/f", 2 * MIB, 1);
	add_file(&rig, "t/g", 2 * MIB, 2);
	if (in_memory) {
		read_fault.after = 10;
		read_fault.error = EIO;
		read_fault.times = 1;
	} else {
		ring_fault.after = 10;
		ring_fault.at_most = 0;
		ring_fault.result = -EIO;
		ring_fault.times = 1;
	}
	rig_open(&rig, "t");
	rig_run(&rig, 0);
	CU_ASSERT(read_fault.times == 0 && ring_fault.times == 0);
	entry = rig_find(&rig, "t/f");
	CU_ASSERT_EQUAL(entry->have_bytes, (1 + 2 + 4 + 8) * 65536);
	CU_ASSERT(entry->has_end && entry->error == EIO);
	CU_ASSERT_EQUAL(entry->doing, WH_DOING_READING);
	CU_ASSERT_EQUAL(memcmp(entry->bytes, content, 4 * 65536), 0);
	for (uint64_t at = 12 * 65536; at < entry->have_bytes; at++)
		CU_ASSERT_EQUAL_FATAL(entry->bytes[at], 0);
	CU_ASSERT(arrived(&rig, "t/g", 2 * MIB, 2));
	CU_ASSERT_STRING_EQUAL(rig.told, "-t/f(5,reading,here) +t/g ");
	expect_done(&rig, 1, 0, 1);
	rig_free(&rig);
	free(content);
}

static void read_errors(void)
{
	large_file_cannot_be_read(true);
	large_file_cannot_be_read(false);
}

CU_TestInfo wh_tests[] = {
	{"answers out of order", answers_out_of_order},
	{"HAVE and SAME", haves},
	{"extents", extents},
	{"asks ahead", asks_ahead},
	{"large file changes", large_file_changes},
	{"compared file changes", compared_file_changes},
	{"read errors", read_errors},
	CU_TEST_INFO_NULL,
};
