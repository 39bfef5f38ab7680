/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink_rig.h"

const char wh_suite_name[] = "a source that may not see";

#define LARGE_BYTES (5 * RIG_CHUNK_BYTES + 321)

/* What has the names of the bundle before it comes. */
enum before {
	NOTHING,
	EQUAL,
	OTHER,  /* of the same size */
	LONGER, /* beginning with the same bytes */
	WORLDS,
};

static const struct {
	const char *path;
	uint32_t bytes;
} files[] = {
	{"empty", 0},
	{"one", 1},
	{"page", 4096},
	{"largest", 60000},
	{"in/a/folder", 10},
	{"large", LARGE_BYTES},
	{"in/large", LARGE_BYTES},
};

#define LINK_ID   1000
#define FOLDER_ID 1001

static void make_file(struct rig *rig, const char *path, const uint8_t *bytes, size_t count)
{
	static const struct timespec times[] = {{.tv_sec = 1}, {.tv_sec = 1}};
	const char *slash = strrchr(path, '/');

	for (const char *at = path; slash != NULL && at <= slash; at++) {
		char above[64];

		snprintf(above, sizeof(above), "%.*s", (int)(at - path), path);
		if (*at == '/')
			(void)mkdir(rig_path(rig, above), 0755);
	}
	rig_make_file(rig, path, bytes, count);
	CU_ASSERT(utimensat(rig->root_fd, path, times, 0) == 0);
}

static void make_before(struct rig *rig, enum before before, const uint8_t *content)
{
	uint8_t *bytes = malloc(LARGE_BYTES + 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
	for (size_t i = 0; i < RIG_COUNT(files) && before != NOTHING; i++) {
		size_t count = files[i].bytes + (before == LONGER);

		memcpy(bytes, content, LARGE_BYTES);
		bytes[LARGE_BYTES] = 'x';
		if (before == OTHER)
			bytes[0] ^= 1;
		make_file(rig, files[i].path, bytes, count);
	}
	free(bytes);
	if (before == NOTHING)
		return;
	CU_ASSERT(symlink(before == EQUAL ? "to" : "another", rig_path(rig, "link")) == 0);
	CU_ASSERT(mkdir(rig_path(rig, "empty folder"), 0700) == 0);
}

/* As a source does: sends what is wanted. */
static void send_large(struct rig *rig, uint64_t id, const char *path, const uint8_t *content)
{
	const struct rig_answer *answer;

	rig_ask(rig, id, path, 0644, LARGE_BYTES);
	rig_flush(rig);
	answer = rig_await(rig, WH_RECORD_WANT, id);
	CU_ASSERT_EQUAL(answer->offset, 0);
	rig_extent(rig, id, 0, content, LARGE_BYTES);

	const struct wh_digest digest = digest_of(content, LARGE_BYTES);

	rig_file_end(rig, id, &digest, 0, 0);
}

static void send_all(struct rig *rig, const uint8_t *content)
{
	for (uint64_t i = 0; i < RIG_COUNT(files); i++) {
		if (files[i].bytes == LARGE_BYTES)
			send_large(rig, i, files[i].path, content);
		else
			rig_file(rig, i, files[i].path, 0644, content, files[i].bytes);
	}
	rig_link(rig, LINK_ID, "link", "to");
	rig_folder(rig, FOLDER_ID, "empty folder", 0755);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
}

static bool holds_all(struct rig *rig, const uint8_t *content)
{
	char text[8];
	bool good = readlink(rig_path(rig, "link"), text, sizeof(text)) == 2;

	for (size_t i = 0; i < RIG_COUNT(files); i++)
		good = good && rig_holds(rig, files[i].path, content, files[i].bytes);
	return good;
}

/* When files become durable depends on the disk, not on what was there: only the last counts. */
static uint32_t without_commits(const struct rig *rig, struct rig_answer *answers)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rig->answer_count; i++)
		if (rig->answers[i].type != WH_RECORD_COMMITTED)
			answers[count++] = rig->answers[i];
	return count;
}

static void test_same_answers(const char *base)
{
	static struct rig_answer first[64], answers[64];
	uint8_t *content = content_of(LARGE_BYTES, 1);
	struct wh_totals totals = {0};
	uint32_t count = 0;

	for (enum before before = NOTHING; before < WORLDS; before++) {
		struct rig *rig = rig_new(base);
		struct wh_sink_config config = rig_config(rig, "");
		enum wh_doing doing;

		make_before(rig, before, content);
		config.blind = true;
		CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
		send_all(rig, content);
		CU_ASSERT(holds_all(rig, content));
		CU_ASSERT_FATAL(rig->answer_count < RIG_COUNT(answers));
		if (before == NOTHING) {
			count = without_commits(rig, first);
			totals = rig->totals;
			CU_ASSERT(count == 3 && totals.files == RIG_COUNT(files));
		} else {
			CU_ASSERT_EQUAL(without_commits(rig, answers), count);
			CU_ASSERT(memcmp(first, answers, count * sizeof(first[0])) == 0);
			CU_ASSERT(memcmp(&totals, &rig->totals, sizeof(totals)) == 0);
		}
		rig_free(rig);
	}
	free(content);
}

/* A target is a name whether a folder has it or not, and folders above it are there or made. */
static void test_target(const char *base)
{
	for (int there = 0; there < 2; there++) {
		struct rig *rig = rig_new(base);
		struct wh_sink_config config = rig_config(rig, "above/it/name");
		enum wh_doing doing;

		if (there == 1) {
			CU_ASSERT(mkdir(rig_path(rig, "above"), 0755) == 0);
			CU_ASSERT(mkdir(rig_path(rig, "above/it"), 0755) == 0);
			rig_make_file(rig, "above/it/name", "x", 1);
		}
		config.blind = true;
		CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
		CU_ASSERT_TRUE(wh_sink_progress(rig->sink)->as_name);
		rig_text(rig, 1, "file", "y");
		rig_finish(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
		CU_ASSERT(rig_holds_text(rig, "above/it/name", "y"));
		CU_ASSERT(rig->totals.files == 1 && rig->totals.failed == 0);
		rig_free(rig);
	}
}

/* A hard link would tell whether the name that it gives is one of a file here. */
static void test_hard_links(const char *base)
{
	for (int there = 0; there < 2; there++) {
		struct rig *rig = rig_new(base);
		struct wh_sink_config config = rig_config(rig, "");
		struct wh_record record = rig_entry(1, WH_ENTRY_HARD, "mine", 0644);
		enum wh_doing doing;

		if (there == 1)
			rig_make_file(rig, "secret", "x", 1);
		config.blind = true;
		config.choice.wishes = WH_CHOICE_HARD_LINKS;
		config.rules.keeps = WH_CHOICE_HARD_LINKS;
		CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
		record.entry.link = "secret";
		record.entry.link_bytes = 6;
		rig_put(rig, &record);
		rig->entries++;
		rig_finish(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
		CU_ASSERT(rig_failed(rig, 1, EPERM, WH_DOING_CREATING));
		rig_free(rig);
	}
}

static void each_base(void (*test)(const char *base))
{
	for (size_t i = 0; i < RIG_COUNT(rig_bases); i++)
		test(rig_bases[i]);
}

static void test_all(void)
{
	each_base(test_same_answers);
	each_base(test_target);
	each_base(test_hard_links);
}

CU_TestInfo wh_tests[] = {
	{"no answer depends on what is here", test_all},
	CU_TEST_INFO_NULL,
};
