/* SPDX-License-Identifier: BSD-3-Clause */
#include "source_rig.h"

const char wh_suite_name[] = "source";

/* Every kind of entry, on a disk and in memory, with much room and with little. */
static void whole_tree(const char *parent, uint32_t chunk_bytes, uint32_t chunks, uint32_t ready)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} files[] = {
		{"t/empty", 0},
		{"t/one", 1},
		{"t/d/small", 4096},
		{"t/d/most", 256 * KIB},
		{"t/d/more", 256 * KIB + 1},
		{"t/d/e/big", 3 * MIB + 123},
		{"t/d/e/mib", MIB},
		{"t/name with\nnewline and \xc3\xa4", 77},
	};
	struct rig rig;
	struct rig_entry *entry;
	const struct timespec times[2] = {
		{.tv_sec = -5, .tv_nsec = 7}, {.tv_sec = -5, .tv_nsec = 7}};
	uint64_t bytes = 0;
	int before = open_files();

	rig_init(&rig, parent, chunk_bytes, chunks, ready);
	tree_folder(&rig.tree, "t");
	tree_folder(&rig.tree, "t/d");
	tree_folder(&rig.tree, "t/d/e");
	tree_folder(&rig.tree, "t/nothing");
	tree_link(&rig.tree, "t/link", "../no/where");
	for (size_t i = 0; i < COUNT(files); i++) {
		add_file(&rig, files[i].name, files[i].bytes, i);
		bytes += files[i].bytes;
	}
	CU_ASSERT_FATAL(fchmodat(rig.tree.fd, "t/one", 04751, 0) == 0);
	CU_ASSERT_FATAL(utimensat(rig.tree.fd, "t/one", times, 0) == 0);
	rig_open(&rig, "t");
	rig_run(&rig, 0);
	expect_done(&rig, COUNT(files), 0, 0);
	CU_ASSERT_EQUAL(rig.entry_count, COUNT(files) + 5);
	for (size_t i = 0; i < COUNT(files); i++)
		if (!arrived(&rig, files[i].name, files[i].bytes, i))
			CU_FAIL(files[i].name);
	CU_ASSERT_EQUAL(rig.told_count, COUNT(files));

	entry = rig_find(&rig, "t/one");
	CU_ASSERT_EQUAL(entry->entry.mode, 04751);
	CU_ASSERT_EQUAL(entry->entry.mtime_s, -5);
	CU_ASSERT_EQUAL(entry->entry.mtime_ns, 7);
	entry = rig_find(&rig, "t/link");
	CU_ASSERT_EQUAL(entry->entry.kind, WH_ENTRY_LINK);
	CU_ASSERT_STRING_EQUAL(entry->link, "../no/where");
	CU_ASSERT_EQUAL(rig_find(&rig, "t/nothing")->entry.kind, WH_ENTRY_FOLDER);
	CU_ASSERT_EQUAL(rig_find(&rig, "t")->entry.mode, 0755);
	CU_ASSERT_EQUAL(rig.entries[0].entry.kind, WH_ENTRY_FOLDER);
	CU_ASSERT_EQUAL(rig_find(&rig, "t/empty")->entry.content, WH_CONTENT_NONE);
	CU_ASSERT_EQUAL(rig_find(&rig, "t/d/more")->entry.content, WH_CONTENT_ASK);
	CU_ASSERT_EQUAL(rig_find(&rig, "t/d/most")->entry.content,
		chunk_bytes > 300 * KIB ? WH_CONTENT_INLINE : WH_CONTENT_ASK);

	const struct wh_source_progress *progress = wh_source_progress(rig.source);

	CU_ASSERT_EQUAL(progress->files_found, COUNT(files));
	CU_ASSERT_EQUAL(progress->bytes_found, bytes);
	CU_ASSERT_EQUAL(progress->bytes_read, bytes);
	CU_ASSERT_EQUAL(progress->totals.bytes, bytes);
	rig_free(&rig);
	CU_ASSERT_EQUAL(open_files(), before);
}

static void whole_trees(void)
{
	static const struct {
		uint32_t chunk_bytes;
		uint32_t chunks;
		uint32_t ready;
	} cases[] = {
		{1 << 20, 16, 16}, {1 << 20, 1, 1}, {1 << 20, 2, 1}, {65536, 1, 2}, {65536, 2, 1},
		{16384, 3, 2}, {16384, 32, 32}, {20480, 2, 16}, /* no power of two */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		whole_tree(MEMORY, cases[i].chunk_bytes, cases[i].chunks, cases[i].ready);
		whole_tree(NULL, cases[i].chunk_bytes, cases[i].chunks, cases[i].ready);
	}
}

static void many_files(void)
{
	enum { FILES = 10000 };
	struct rig rig;
	char name[32];
	uint32_t wrong = 0, told = 0;

	rig_init(&rig, MEMORY, 1 << 20, 8, 8);
	tree_folder(&rig.tree, "t");
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "t/%05d", i);
		add_file(&rig, name, (uint64_t)i % 50, (uint64_t)i);
	}
	rig.commits = false;
	rig_open(&rig, "t");
	for (int i = 0; i < RIG_POLLS_MAX && !rig.has_end; i++) {
		rig_poll(&rig);
		/* Batch by batch, as a sink does. */
		if (rig.entry_count >= told + 3000) {
			told += 3000;
			rig_commit(&rig, told);
		}
	}
	rig_settle(&rig);
	CU_ASSERT_EQUAL(rig.told_count, 8999); /* entry 0 is the folder */
	CU_ASSERT_EQUAL(rig_state(&rig), WH_SOURCE_SENT);
	rig_commit(&rig, FILES + 1);
	rig_totals(&rig);
	rig_end(&rig);
	rig_run(&rig, 0);
	expect_done(&rig, FILES, 0, 0);
	CU_ASSERT_EQUAL(rig.told_count, FILES);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "t/%05d", i);
		wrong += strcmp(rig.entries[i + 1].path, name) != 0;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	rig_free(&rig);
}

static void gate(void)
{
	struct rig rig;
	const char *names[] = {"f", NULL};

	rig_init(&rig, MEMORY, 65536, 4, 4);
	add_file(&rig, "f", 3, 1);
	rig_open_lane(&rig, names, 0, 1, true);
	rig_settle(&rig);
	CU_ASSERT_EQUAL(rig.entry_count, 1); /* does not wait */
	CU_ASSERT(!rig.has_finish);
	CU_ASSERT_EQUAL(rig_state(&rig), WH_SOURCE_RUNNING);
	CU_ASSERT(wh_source_progress(rig.source)->walked);
	atomic_store(&rig.gate, true);
	rig_run(&rig, 0);
	expect_done(&rig, 1, 0, 0);
	rig_free(&rig);
}

static void nothing_to_send(void)
{
	struct rig rig;
	const char *names[] = {NULL};

	rig_init(&rig, MEMORY, 65536, 2, 2);
	rig_open_lane(&rig, names, 0, 1, false);
	rig_run(&rig, 0);
	expect_done(&rig, 0, 0, 0);
	CU_ASSERT_EQUAL(rig.next_chunk, RIG_FIRST + 1);
	rig_free(&rig);
}

/* Waits for chunks and for room, without a word and without loss. */
static void back_pressure(void)
{
	struct rig rig;

	rig_init(&rig, MEMORY, 65536, 2, 1);
	tree_folder(&rig.tree, "t");
	for (int i = 0; i < 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "t/%02d", i);
		add_file(&rig, name, 3000, (uint64_t)i);
	}
	add_file(&rig, "t/large", MIB, 7);
	rig_open(&rig, "t");
	rig.holds_ready = true;
	for (int i = 0; i < 100; i++)
		rig_poll(&rig);
	CU_ASSERT_EQUAL(rig_poll(&rig), 0);
	CU_ASSERT_EQUAL(wh_fifo_count(&rig.ready), 1);
	for (int i = 0; i < RIG_POLLS_MAX && rig_state(&rig) < WH_SOURCE_DONE; i++) {
		rig_poll(&rig);
		if (i % 10 == 0)
			rig_take(&rig);
	}
	expect_done(&rig, 101, 0, 0);
	CU_ASSERT(arrived(&rig, "t/99", 3000, 99) && arrived(&rig, "t/large", MIB, 7));
	rig_free(&rig);
}

/* With chunks filled, requests in the air, files open. */
static void close_midway(void)
{
	int before = open_files();

	for (int polls = 0; polls < 24; polls++) {
		struct rig rig;

		rig_init(&rig, polls % 2 == 0 ? MEMORY : NULL, 1 << 20, 12, 4);
		tree_folder(&rig.tree, "t");
		add_file(&rig, "t/a", 10, 1);
		add_file(&rig, "t/b", 5 * MIB, 2);
		add_file(&rig, "t/c", 5 * MIB, 3);
		rig_open(&rig, "t");
		for (int i = 0; i < polls / 2; i++)
			rig_poll(&rig);
		rig_free(&rig);
	}
	CU_ASSERT_EQUAL(open_files(), before);
	wh_source_close(NULL);
}

CU_TestInfo wh_tests[] = {
	{"whole trees", whole_trees},
	{"many files", many_files},
	{"gate", gate},
	{"nothing to send", nothing_to_send},
	{"back-pressure", back_pressure},
	{"close midway", close_midway},
	CU_TEST_INFO_NULL,
};
