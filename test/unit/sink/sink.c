/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdatomic.h>

#include "sink_rig.h"
#include "stage/stage.h"

const char wh_suite_name[] = "sink";

#define BIG_MAX (5 * RIG_CHUNK_BYTES * 4 + 321)

static void test_small_files(const char *base)
{
	static const struct {
		const char *path;
		uint32_t bytes;
		uint16_t mode;
		uint16_t becomes;
	} files[] = {
		{"empty", 0, 0644, 0644},
		{"one", 1, 0600, 0600},
		{"page", 4096, 0755, 0755},
		{"odd", 4097, 0000, 0000},
		{"largest", 60000, 0400, 0400},
		{"suid", 10, 06755, 0755},
		{"sticky", 10, 01644, 01644},
		{"made/on/the/way", 11, 0640, 0640},
		{"a b\n\t\"'$*", 12, 0644, 0644},
		{"-rf", 13, 0644, 0644},
		{"\xc3\xa9\xe6\xbc\xa2\xff", 14, 0644, 0644},
	};
	uint8_t *content = content_of(65536, 1);
	struct rig *rig = rig_begin(base);
	char longest[256];
	uint64_t bytes = 15;

	memset(longest, 'n', 255);
	longest[255] = '\0';
	for (uint64_t i = 0; i < RIG_COUNT(files); i++) {
		rig_file(rig, 10 * i, files[i].path, files[i].mode, content + i, files[i].bytes);
		bytes += files[i].bytes;
	}
	rig_file(rig, 1000, longest, 0644, content, 15);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	for (uint64_t i = 0; i < RIG_COUNT(files); i++) {
		CU_ASSERT(rig_looks(rig, files[i].path, files[i].becomes));
		CU_ASSERT(chmod(rig_path(rig, files[i].path), 0600) == 0);
		CU_ASSERT(rig_holds(rig, files[i].path, content + i, files[i].bytes));
		CU_ASSERT_PTR_NOT_NULL_FATAL(rig_result(rig, files[i].path));
		CU_ASSERT(rig_result(rig, files[i].path)->error == 0);
		CU_ASSERT(rig_result(rig, files[i].path)->bytes == files[i].bytes);
	}
	CU_ASSERT(rig_holds(rig, longest, content, 15));
	CU_ASSERT(rig->totals.files == RIG_COUNT(files) + 1 && rig->totals.bytes == bytes);
	CU_ASSERT(rig->totals.skipped == 0 && rig->totals.failed == 0);
	CU_ASSERT(wh_sink_progress(rig->sink)->bytes == bytes);
	/* All of them, one folder's depth of three; no staging folder is left. */
	CU_ASSERT(rig_count(rig->root) == RIG_COUNT(files) + 1 + 3);
	CU_ASSERT(rig->result_count == RIG_COUNT(files) + 1);
	CU_ASSERT(rig->answer_count == 2);
	CU_ASSERT(rig->answers[0].type == WH_RECORD_COMMITTED && rig->answers[0].id == 1001);
	CU_ASSERT(rig->answers[1].type == WH_RECORD_TOTALS);
	rig_free(rig);
	free(content);
}

static void test_nothing(const char *base)
{
	struct rig *rig = rig_begin(base);

	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->answer_count == 1 && rig->answers[0].type == WH_RECORD_TOTALS);
	CU_ASSERT(rig_count(rig->root) == 0);
	rig_free(rig);
}

static void test_folders(const char *base)
{
	struct rig *rig = rig_begin(base);

	CU_ASSERT_FATAL(mkdir(rig_path(rig, "old"), 0500) == 0);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "group"), 0755) == 0);
	CU_ASSERT_FATAL(chmod(rig_path(rig, "group"), 02755) == 0);
	rig_folder(rig, 1, "old", 0750);
	rig_folder(rig, 2, "new", 0555);
	rig_folder(rig, 3, "new/er", 01777);
	rig_text(rig, 4, "new/er/file", "x");
	rig_folder(rig, 5, "new/empty", 0700);
	rig_folder(rig, 6, "group", 06770);
	rig_folder(rig, 7, "suid", 06711);
	rig_text(rig, 8, "old/file", "y");
	rig_text(rig, 9, "plain/file", "z");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_looks(rig, "old", 0750));
	CU_ASSERT(rig_looks(rig, "new", 0555));
	CU_ASSERT(rig_looks(rig, "new/er", 01777));
	CU_ASSERT(rig_looks(rig, "new/empty", 0700));
	CU_ASSERT(rig_looks(rig, "group", 02770));
	CU_ASSERT(rig_looks(rig, "suid", 0711));
	CU_ASSERT(!rig_looks(rig, "plain", 0700)); /* no entry, no time */
	CU_ASSERT(rig_holds_text(rig, "new/er/file", "x"));
	CU_ASSERT(rig->totals.files == 3 && rig->totals.failed == 0);
	CU_ASSERT(rig->result_count == 3);
	rig_free(rig);
}

static void test_links(const char *base)
{
	struct rig *rig = rig_begin(base);
	char text[64];

	CU_ASSERT_FATAL(symlink("same", rig_path(rig, "kept")) == 0);
	CU_ASSERT_FATAL(symlink("other", rig_path(rig, "changed")) == 0);
	CU_ASSERT_FATAL(symlink("same and more", rig_path(rig, "longer")) == 0);
	rig_make_file(rig, "was a file", "x", 1);
	rig_link(rig, 1, "kept", "same");
	rig_link(rig, 2, "changed", "same");
	rig_link(rig, 3, "longer", "same");
	rig_link(rig, 4, "was a file", "../../..");
	rig_link(rig, 5, "in/new", "/etc/passwd");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_skipped(rig, 1));
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const names[] = {"kept", "changed", "longer"};

		CU_ASSERT(readlink(rig_path(rig, names[i]), text, sizeof(text)) == 4);
		CU_ASSERT(memcmp(text, "same", 4) == 0);
	}
	CU_ASSERT(readlink(rig_path(rig, "was a file"), text, sizeof(text)) == 8);
	CU_ASSERT(readlink(rig_path(rig, "in/new"), text, sizeof(text)) == 11);
	CU_ASSERT(rig->totals.files == 0 && rig->totals.skipped == 0 && rig->totals.failed == 0);
	CU_ASSERT(rig->result_count == 0);
	rig_free(rig);
}

static void test_skips_small(const char *base)
{
	struct rig *rig = rig_begin(base);

	rig_make_file(rig, "same", "12345", 5);
	rig_make_file(rig, "differs", "12345", 5);
	rig_make_file(rig, "longer", "123456", 6);
	rig_make_file(rig, "empty", "", 0);
	CU_ASSERT_FATAL(symlink(rig->outside, rig_path(rig, "link")) == 0);
	rig_file(rig, 1, "same", 0640, "12345", 5);
	rig_file(rig, 2, "differs", 0644, "12346", 5);
	rig_file(rig, 3, "longer", 0644, "12345", 5);
	rig_file(rig, 4, "empty", 0600, "", 0);
	rig_file(rig, 5, "link", 0644, "x", 1);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_skipped(rig, 1) && rig_skipped(rig, 4));
	CU_ASSERT(rig_holds(rig, "same", "12345", 5) && rig_looks(rig, "same", 0640));
	CU_ASSERT(rig_looks(rig, "empty", 0600));
	CU_ASSERT(rig_holds(rig, "differs", "12346", 5));
	CU_ASSERT(rig_holds(rig, "longer", "12345", 5));
	CU_ASSERT(rig_holds(rig, "link", "x", 1));
	CU_ASSERT(rig->totals.files == 3 && rig->totals.skipped == 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig_result(rig, "same"));
	CU_ASSERT(rig_result(rig, "same")->skipped && rig_result(rig, "same")->error == 0);
	CU_ASSERT(rig->result_count == 5);
	rig_free(rig);
}

static void test_large_files(const char *base)
{
	static const uint64_t sizes[] = {1, 4095, 4096, RIG_CHUNK_BYTES, RIG_CHUNK_BYTES + 1,
		WH_INLINE_BYTES_MAX + 1, 3 * RIG_CHUNK_BYTES + 5, BIG_MAX};
	static const uint64_t extents[] = {
		RIG_CHUNK_BYTES, 2 * RIG_CHUNK_BYTES, RIG_CHUNK_BYTES + 100, 5000000};
	uint8_t *content = content_of(BIG_MAX, 2);
	struct rig *rig = rig_begin(base);
	uint64_t id = 0, bytes = 0;
	char name[32];

	for (size_t s = 0; s < RIG_COUNT(sizes); s++)
		for (size_t e = 0; e < RIG_COUNT(extents); e++) {
			snprintf(name, sizeof(name), "deep/%zu.%zu", s, e);
			rig_send(rig, ++id, name, 0444, content, sizes[s], extents[e]);
			bytes += sizes[s];
		}
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	for (size_t s = 0; s < RIG_COUNT(sizes); s++)
		for (size_t e = 0; e < RIG_COUNT(extents); e++) {
			snprintf(name, sizeof(name), "deep/%zu.%zu", s, e);
			CU_ASSERT(rig_holds(rig, name, content, sizes[s]));
			CU_ASSERT(rig_looks(rig, name, 0444));
		}
	CU_ASSERT(rig->totals.files == id && rig->totals.bytes == bytes);
	CU_ASSERT(wh_sink_progress(rig->sink)->bytes == bytes);

	const struct wh_digest last = digest_of(content, BIG_MAX);

	CU_ASSERT(wh_sink_progress(rig->sink)->digest_known);
	CU_ASSERT(memcmp(&wh_sink_progress(rig->sink)->digest, &last, sizeof(last)) == 0);
	CU_ASSERT(rig_count(rig->root) == (int)id + 1);
	rig_free(rig);
	free(content);
}

static void test_have(const char *base)
{
	const uint64_t bytes = 600000; /* three pieces */
	uint8_t *content = content_of(bytes, 3), *other = content_of(bytes, 4);
	struct wh_digest digest = digest_of(content, bytes);
	struct wh_digest other_digest = digest_of(other, bytes);
	struct rig *rig = rig_begin(base);
	const struct rig_answer *answer;

	rig_make_file(rig, "same", content, bytes);
	rig_make_file(rig, "differs", other, bytes);
	rig_make_file(rig, "shorter", content, bytes - 1);
	rig_ask(rig, 1, "same", 0600, bytes);
	rig_ask(rig, 2, "differs", 0600, bytes);
	rig_ask(rig, 3, "shorter", 0600, bytes);
	rig_await(rig, WH_RECORD_WANT, 3);
	answer = rig_await(rig, WH_RECORD_HAVE, 1);
	CU_ASSERT(memcmp(&answer->digest, &digest, sizeof(digest)) == 0);
	answer = rig_await(rig, WH_RECORD_HAVE, 2);
	CU_ASSERT(memcmp(&answer->digest, &other_digest, sizeof(digest)) == 0);
	rig_extent(rig, 2, 0, content, bytes);
	rig_file_end(rig, 2, &digest, 0, 0);
	rig_same(rig, 1);
	rig_extent(rig, 3, 0, content, bytes);
	rig_file_end(rig, 3, &digest, 0, 0);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_skipped(rig, 1) && rig_looks(rig, "same", 0600));
	CU_ASSERT(rig_holds(rig, "same", content, bytes));
	CU_ASSERT(rig_holds(rig, "differs", content, bytes));
	CU_ASSERT(rig_holds(rig, "shorter", content, bytes));
	CU_ASSERT(rig->totals.files == 2 && rig->totals.skipped == 1);
	CU_ASSERT(rig->totals.bytes == 2 * bytes);
	rig_free(rig);
	free(content);
	free(other);
}

/* Who wants all anew is not asked for what is there, nor spared it. */
static void test_anew(const char *base)
{
	size_t bytes = 3 * WH_SINK_PIECE_BYTES + 7;
	uint8_t *content = content_of(bytes, 8);
	struct wh_digest digest = digest_of(content, bytes);
	struct rig *rig = rig_new(base);
	struct wh_sink_config config = rig_config(rig, "");
	enum wh_doing doing;

	config.anew = true;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	rig_make_file(rig, "large", content, bytes);
	rig_make_file(rig, "small", "12345", 5);
	rig_ask(rig, 1, "large", 0600, bytes);
	rig_file(rig, 2, "small", 0640, "12345", 5);
	rig_await(rig, WH_RECORD_WANT, 1);
	rig_extent(rig, 1, 0, content, bytes);
	rig_file_end(rig, 1, &digest, 0, 0);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_holds(rig, "large", content, bytes));
	CU_ASSERT(rig_holds(rig, "small", "12345", 5) && rig_looks(rig, "small", 0640));
	CU_ASSERT(rig->totals.files == 2 && rig->totals.skipped == 0);
	CU_ASSERT(rig->totals.bytes == bytes + 5);
	rig_free(rig);
	free(content);
}

/* The file that is there changes between HAVE and SAME, or while it is read. */
static void test_have_no_more(const char *base)
{
	const uint64_t bytes = 400000;
	uint8_t *content = content_of(bytes, 3);
	struct rig *rig = rig_begin(base);
	char outside[sizeof(rig->outside) + 16];
	struct stat status;

	rig_make_file(rig, "shrinks", content, bytes);
	rig_make_file(rig, "vanishes", content, bytes);
	rig_make_file(rig, "early", content, bytes);
	rig_make_file(rig, "becomes a link", content, bytes);
	rig_ask(rig, 1, "shrinks", 0600, bytes);
	rig_ask(rig, 2, "vanishes", 0600, bytes);
	rig_ask(rig, 3, "early", 0600, bytes);
	rig_ask(rig, 4, "becomes a link", 0600, bytes);
	rig_poll(rig); /* takes all of them; they are hashed one after the other */
	CU_ASSERT_FATAL(truncate(rig_path(rig, "early"), 5) == 0);
	rig_await(rig, WH_RECORD_HAVE, 1);
	rig_await(rig, WH_RECORD_HAVE, 2);
	rig_await(rig, WH_RECORD_WANT, 3);
	rig_file_end(rig, 3, NULL, ENOENT, WH_DOING_OPENING);
	CU_ASSERT_FATAL(truncate(rig_path(rig, "shrinks"), 5) == 0);
	CU_ASSERT_FATAL(unlink(rig_path(rig, "vanishes")) == 0);
	rig_await(rig, WH_RECORD_HAVE, 4);
	snprintf(outside, sizeof(outside), "%s/precious", rig->outside);
	CU_ASSERT_FATAL(rename(rig_path(rig, "becomes a link"), outside) == 0);
	CU_ASSERT_FATAL(symlink(outside, rig_path(rig, "becomes a link")) == 0);
	CU_ASSERT_FATAL(chmod(outside, 0644) == 0);
	for (uint64_t id = 1; id <= 4; id++)
		if (id != 3)
			rig_same(rig, id);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, ESTALE, WH_DOING_CHANGED));
	CU_ASSERT(rig_failed(rig, 2, ENOENT, WH_DOING_OPENING));
	CU_ASSERT(rig_find(rig, WH_RECORD_OUTCOME, 3) == NULL);
	CU_ASSERT(rig_result(rig, "early")->error == ENOENT && rig_result(rig, "early")->at_peer);
	CU_ASSERT(rig_failed(rig, 4, ELOOP, WH_DOING_OPENING));
	CU_ASSERT(stat(outside, &status) == 0 && (status.st_mode & 07777) == 0644);
	CU_ASSERT(rig->totals.failed == 4);
	CU_ASSERT(rig_count(rig->root) == 3); /* what is left of them, as it is */
	rig_free(rig);
	free(content);
}

static void test_damage(const char *base)
{
	const uint64_t bytes = 300000;
	uint8_t *content = content_of(bytes, 5);
	struct wh_digest digest = digest_of(content, bytes);
	struct rig *rig = rig_begin(base);

	for (uint64_t id = 1; id <= 3; id++) {
		char name[] = {(char)('0' + id), '\0'};

		rig_ask(rig, id, name, 0644, bytes);
	}
	rig_await(rig, WH_RECORD_WANT, 3);
	content[bytes - 1] ^= 1;
	rig_extent(rig, 1, 0, content, bytes);
	content[bytes - 1] ^= 1;
	rig_file_end(rig, 1, &digest, 0, 0);
	rig_extent(rig, 3, 0, content, 100000); /* then it fails at the source */
	rig_file_end(rig, 3, NULL, EIO, WH_DOING_READING);
	rig_extent(rig, 2, 0, content, bytes);
	rig_file_end(rig, 2, &digest, 0, 0);
	rig_fault(rig, "no way", EACCES, WH_DOING_LISTING);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, EIO, WH_DOING_DIGEST));
	CU_ASSERT(!rig_result(rig, "1")->at_peer && rig_result(rig, "1")->error == EIO);
	CU_ASSERT(rig_find(rig, WH_RECORD_OUTCOME, 3) == NULL);
	CU_ASSERT(rig_result(rig, "3")->at_peer && rig_result(rig, "3")->error == EIO);
	CU_ASSERT(rig_result(rig, "no way")->at_peer);
	CU_ASSERT(rig_result(rig, "no way")->error == EACCES);
	CU_ASSERT(rig_result(rig, "no way")->doing == WH_DOING_LISTING);
	CU_ASSERT(rig_holds(rig, "2", content, bytes));
	CU_ASSERT(rig->totals.files == 1 && rig->totals.failed == 3);
	CU_ASSERT(rig_count(rig->root) == 1);
	rig_free(rig);
	free(content);
}

/* One entry fails, the others do not. */
static void test_in_the_way(const char *base)
{
	struct rig *rig = rig_begin(base);
	char name[300], path[5 * 256];

	rig_make_file(rig, "file", "x", 1);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "folder"), 0755) == 0);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "folder 2"), 0755) == 0);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "folder 7"), 0755) == 0);
	memset(name, 'n', 256);
	name[256] = '\0';
	rig_text(rig, 1, "folder", "y");
	rig_link(rig, 2, "folder 2", "y");
	rig_folder(rig, 3, "file", 0755);
	rig_text(rig, 4, "file/below", "y");
	rig_text(rig, 5, "file/be/low", "y");
	rig_folder(rig, 6, "file/folder", 0755);
	rig_ask(rig, 7, "folder 7", 0644, 1000000);
	rig_text(rig, 8, name, "y");
	rig_text(rig, 9, ".wavehaul-abcdef.part/0", "y");
	rig_folder(rig, 10, "a/.wavehaul-abcdef.part", 0755);
	rig_text(rig, 11, "good", "y");
	snprintf(path, sizeof(path), "%s/y", name);
	rig_text(rig, 12, path, "y");
	rig_text(rig, 13, ".WAVEHAUL-x.part", "y");
	rig_link(rig, 14, "a/.wavehaul-.part", "y");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 13, EPERM, WH_DOING_PATH));
	CU_ASSERT(rig_failed(rig, 14, EPERM, WH_DOING_PATH));
	CU_ASSERT(rig_failed(rig, 1, EISDIR, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 2, EISDIR, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 3, ENOTDIR, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 4, ENOTDIR, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 5, ENOTDIR, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 6, ENOTDIR, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 7, EISDIR, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 8, ENAMETOOLONG, WH_DOING_PATH));
	CU_ASSERT(rig_failed(rig, 9, EPERM, WH_DOING_PATH));
	CU_ASSERT(rig_failed(rig, 10, EPERM, WH_DOING_PATH));
	CU_ASSERT(rig_failed(rig, 12, ENAMETOOLONG, WH_DOING_PATH));
	CU_ASSERT(rig_result(rig, "file/below")->error == ENOTDIR);
	CU_ASSERT(rig_holds_text(rig, "good", "y") && rig_holds_text(rig, "file", "x"));
	CU_ASSERT(rig->totals.files == 1 && rig->totals.failed == 13);
	CU_ASSERT(rig_count(rig->root) == 5);
	rig_free(rig);
}

/*
 * A folder takes the name while the file is in the batch, where all are that shall replace
 * something: one fails, the others do not.
 */
static void test_in_the_way_at_last(const char *base)
{
	struct rig *rig = rig_begin(base);

	rig_make_file(rig, "a", "0", 1);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "gone"), 0755) == 0);
	rig_make_file(rig, "gone/c", "0", 1);
	rig_text(rig, 1, "a", "1");
	rig_text(rig, 2, "b", "2");
	rig_text(rig, 3, "gone/c", "3");
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	CU_ASSERT_FATAL(rig_holds_text(rig, "a", "0") && unlink(rig_path(rig, "a")) == 0);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "a"), 0755) == 0);
	CU_ASSERT_FATAL(unlink(rig_path(rig, "gone/c")) == 0);
	CU_ASSERT_FATAL(rmdir(rig_path(rig, "gone")) == 0);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, EISDIR, WH_DOING_RENAMING));
	CU_ASSERT(rig_holds_text(rig, "b", "2") && rig_holds_text(rig, "gone/c", "3"));
	CU_ASSERT(rig->totals.files == 2 && rig->totals.failed == 1);
	CU_ASSERT(rig_count(rig->root) == 4);
	rig_free(rig);
}

static void test_targets(const char *base)
{
	static const struct {
		const char *target;
		bool into;
		bool as_name;
		int error;
		const char *file; /* where "top/file" goes */
	} cases[] = {
		{"", false, false, 0, "top/file"},
		{".", false, false, 0, "top/file"},
		{"folder", false, false, 0, "folder/top/file"},
		{"folder/", false, false, 0, "folder/top/file"},
		{"folder", true, false, 0, "folder/top/file"},
		{"folder", false, true, 0, "folder/file"},
		{"inner", false, false, 0, "folder/top/file"}, /* a link */
		{"inner/new", false, false, 0, "folder/new/file"},
		{"new", false, false, 0, "new/file"},
		{"new", true, false, 0, "new/top/file"},
		{"new//", false, false, 0, "new/top/file"},
		{"folder/new", false, false, 0, "folder/new/file"},
		{"folder/../new", false, false, 0, "new/file"},
		{"none/new", false, false, -ENOENT, NULL},
		{"none/new", true, false, -ENOENT, NULL},
		{"none/..", false, false, -ENOENT, NULL},
		{"file", true, false, -ENOTDIR, NULL},
		{"file/x", false, false, -ENOTDIR, NULL},
		{"outer", false, false, -EXDEV, NULL}, /* a link */
		{"outer/new", true, false, -EXDEV, NULL},
		{"..", false, false, -EXDEV, NULL},
		{"../outside", false, false, -EXDEV, NULL},
		{"/tmp", false, false, -EXDEV, NULL},
	};

	for (size_t i = 0; i < RIG_COUNT(cases); i++) {
		struct rig *rig = rig_new(base);
		struct wh_sink_config config = rig_config(rig, cases[i].target);
		enum wh_doing doing;

		config.into_folder = cases[i].into;
		config.as_name = cases[i].as_name;
		CU_ASSERT_FATAL(mkdir(rig_path(rig, "folder"), 0755) == 0);
		CU_ASSERT_FATAL(symlink("folder", rig_path(rig, "inner")) == 0);
		CU_ASSERT_FATAL(symlink("../outside", rig_path(rig, "outer")) == 0);
		rig_make_file(rig, "file", "x", 1);
		CU_ASSERT(wh_sink_open(&rig->sink, &config, &doing) == cases[i].error);
		if (cases[i].error == 0) {
			rig_folder(rig, 1, "top", 0750);
			rig_text(rig, 2, "top/file", "y");
			rig_finish(rig);
			CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
			CU_ASSERT(rig_holds_text(rig, cases[i].file, "y"));
			CU_ASSERT(rig->totals.failed == 0);
		} else {
			CU_ASSERT(doing == WH_DOING_OPENING || doing == WH_DOING_CREATING);
			CU_ASSERT(rig_count(rig->root) == 4);
		}
		CU_ASSERT(rig_count(rig->outside) == 0);
		rig_free(rig);
	}
}

/* A file instead of a file, under a new name; the folder of the same name is not entered. */
static void test_target_file(const char *base)
{
	struct rig *rig = rig_new(base);

	rig_make_file(rig, "old", "x", 1);
	rig_open(rig, "old");
	CU_ASSERT(wh_sink_progress(rig->sink)->as_name);
	rig_text(rig, 1, "source", "yy");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_holds_text(rig, "old", "yy"));
	CU_ASSERT(rig_result(rig, "source")->error == 0);
	CU_ASSERT(rig_count(rig->root) == 1);
	rig_free(rig);
}

static void test_gate(const char *base)
{
	_Atomic bool gate = false;
	struct rig *rig = rig_new(base);
	struct wh_sink_config config = rig_config(rig, "");
	enum wh_doing doing;

	config.gate = &gate;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	rig_folder(rig, 1, "folder", 0500);
	rig_text(rig, 2, "folder/file", "x");
	rig_finish(rig);
	rig_await(rig, WH_RECORD_COMMITTED, 3);
	for (int i = 0; i < 1000; i++)
		rig_poll(rig);
	CU_ASSERT(rig_holds_text(rig, "folder/file", "x"));
	CU_ASSERT(!rig_looks(rig, "folder", 0500));
	CU_ASSERT(rig_find(rig, WH_RECORD_TOTALS, 0) == NULL && !rig->ended);
	CU_ASSERT(rig_state(rig) == WH_SINK_RUNNING);
	atomic_store(&gate, true);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_looks(rig, "folder", 0500));
	rig_free(rig);
}

/* A batch is committed when nothing has come for a while, though the bundle goes on. */
static void test_quiet(const char *base)
{
	struct rig *rig = rig_begin(base);

	rig_text(rig, 1, "file", "x");
	rig_flush(rig);
	while (rig->now_tsc < RIG_HZ / 1000 * (WH_BATCH_QUIET_MS - 1))
		rig_poll(rig);
	CU_ASSERT(rig_count(rig->root) == 2); /* the stage and what is in it */
	CU_ASSERT(rig_find(rig, WH_RECORD_COMMITTED, 2) == NULL);
	rig_await(rig, WH_RECORD_COMMITTED, 2);
	CU_ASSERT(rig_holds_text(rig, "file", "x"));
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	rig_free(rig);
}

/*
 * What is not committed leaves nothing, whenever it is closed. In memory a small file that replaces
 * nothing has its name once it is whole.
 */
static void test_close_in_between(const char *base)
{
	uint8_t *content = content_of(BIG_MAX, 6);

	for (int polls = 0; polls < 40; polls++) {
		struct rig *rig = rig_begin(base);

		rig_make_file(rig, "have", content, BIG_MAX);
		rig_text(rig, 1, "small", "x");
		rig_link(rig, 2, "link", "x");
		rig_ask(rig, 3, "have", 0644, BIG_MAX);
		rig_ask(rig, 4, "want", 0644, BIG_MAX);
		if (polls >= 20) {
			rig_await(rig, WH_RECORD_WANT, 4);
			rig_extent(rig, 4, 0, content, BIG_MAX);
		}
		for (int i = 0; i < polls; i++)
			rig_poll(rig);
		wh_sink_close(rig->sink);
		rig->sink = NULL;
		int named = names_at_once(base) && rig_holds_text(rig, "small", "x");

		CU_ASSERT(rig_count(rig->root) == 1 + named);
		CU_ASSERT(rig_holds(rig, "have", content, BIG_MAX));
		rig_free(rig);
	}
	free(content);
}

#define MANY_MAX 10000

/* More than one batch, fewer answer chunks than answers, and two sinks in the same folders. */
static void test_many(const char *base)
{
	struct rig *rigs[] = {rig_begin(base), rig_new(base)};
	/* A disk takes its time. */
	const int many = strcmp(base, "/tmp") == 0 ? MANY_MAX / 5 : MANY_MAX;
	char name[64];

	/* The second goes to the first one's root. */
	close(rigs[1]->root_fd);
	rigs[1]->root_fd = open(rigs[0]->root, O_PATH | O_DIRECTORY);
	rig_open(rigs[1], "");
	for (uint64_t i = 0; i < (uint64_t)many; i++) {
		snprintf(name, sizeof(name), "%d/%d/%d", (int)(i / 1000), (int)(i / 100), (int)i);
		rig_file(rigs[i % 2], i, name, 0644, name, strlen(name));
	}
	rig_finish(rigs[0]);
	rig_finish(rigs[1]);
	for (int i = 0; i < RIG_POLLS_MAX && !(rigs[0]->ended && rigs[1]->ended); i++) {
		rig_poll(rigs[0]);
		rig_poll(rigs[1]);
	}
	CU_ASSERT(rig_state(rigs[0]) == WH_SINK_DONE && rig_state(rigs[1]) == WH_SINK_DONE);
	CU_ASSERT(rigs[0]->totals.files == (uint64_t)many / 2 &&
		  rigs[1]->totals.files == (uint64_t)many / 2);
	CU_ASSERT(rig_count(rigs[0]->root) == many + many / 1000 + many / 100);
	for (uint64_t i = 0; i < (uint64_t)many; i += 97) {
		snprintf(name, sizeof(name), "%d/%d/%d", (int)(i / 1000), (int)(i / 100), (int)i);
		CU_ASSERT(rig_holds_text(rigs[0], name, name));
	}
	/* The same once more: all is there. */
	struct rig *again = rig_new(base);

	close(again->root_fd);
	again->root_fd = open(rigs[0]->root, O_PATH | O_DIRECTORY);
	rig_open(again, "");
	for (uint64_t i = 0; i < (uint64_t)many; i++) {
		snprintf(name, sizeof(name), "%d/%d/%d", (int)(i / 1000), (int)(i / 100), (int)i);
		rig_file(again, i, name, 0644, name, strlen(name));
	}
	rig_finish(again);
	CU_ASSERT(rig_run(again) == WH_SINK_DONE);
	CU_ASSERT(again->totals.skipped == (uint64_t)many && again->totals.files == 0);
	rig_free(again);
	rig_free(rigs[1]);
	rig_free(rigs[0]);
}

/* A batch is full: it is committed though more is there to be taken. */
static void test_full_batch(void)
{
	struct rig *rig = rig_begin(rig_bases[0]);
	char name[32];

	for (int i = 0; i <= WH_BATCH_FILES; i++) {
		snprintf(name, sizeof(name), "%d", i);
		rig_file(rig, (uint64_t)i, name, 0644, "", 0);
	}
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->answer_count == 3);
	CU_ASSERT(rig->answers[0].type == WH_RECORD_COMMITTED);
	CU_ASSERT(rig->answers[0].id == WH_BATCH_FILES);
	CU_ASSERT(rig->answers[1].type == WH_RECORD_COMMITTED);
	CU_ASSERT(rig->answers[1].id == WH_BATCH_FILES + 1);
	CU_ASSERT(rig_count(rig->root) == WH_BATCH_FILES + 1);
	rig_free(rig);
}

/* A large file that is not finished holds COMMITTED back. */
static void test_committed_below(const char *base)
{
	uint8_t *content = content_of(BIG_MAX, 6);
	struct wh_digest digest = digest_of(content, BIG_MAX);
	struct rig *rig = rig_begin(base);

	rig_text(rig, 1, "a", "x");
	rig_ask(rig, 5, "large", 0644, BIG_MAX);
	rig_text(rig, 6, "b", "x");
	rig_flush(rig);
	rig_await(rig, WH_RECORD_COMMITTED, 5);
	CU_ASSERT(rig_holds_text(rig, "b", "x"));
	rig_extent(rig, 5, 0, content, BIG_MAX);
	rig_file_end(rig, 5, &digest, 0, 0);
	rig_await(rig, WH_RECORD_COMMITTED, 7);
	CU_ASSERT(rig_holds(rig, "large", content, BIG_MAX));
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	rig_free(rig);
	free(content);
}

/* Without chunks for answers nothing more is taken; with them all goes on. */
static void test_back_pressure(const char *base)
{
	struct rig *rig = rig_begin(base);
	struct wh_chunk *taken[RIG_ANSWERS];
	char name[64];

	for (int i = 0; i < RIG_ANSWERS; i++)
		taken[i] = wh_fifo_pop(&rig->free);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), ".wavehaul-aaaaaa.part/%d", i); /* one OUTCOME each */
		rig_file(rig, (uint64_t)i, name, 0644, "", 0);
	}
	rig_finish(rig);
	for (int i = 0; i < 1000; i++)
		rig_poll(rig);
	CU_ASSERT(rig->result_count == 0);
	/* 24 bytes each, a seal, and room for any answer: 4096 - 16 - 64 < 24 n */
	wh_fifo_push(&rig->free, taken[0]);
	wh_sink_poll(rig->sink, 0);
	for (int i = 0; i < 1000; i++)
		wh_sink_poll(rig->sink, 0);
	CU_ASSERT(rig->result_count == (RIG_ANSWER_BYTES - 16 - 64) / 24 + 1);
	for (int i = 1; i < RIG_ANSWERS; i++)
		wh_fifo_push(&rig->free, taken[i]);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->totals.failed == 300 && rig->result_count == 300);
	rig_free(rig);
}

BOTH(small_files)
BOTH(nothing)
BOTH(folders)
BOTH(links)
BOTH(skips_small)
BOTH(large_files)
BOTH(have)
BOTH(anew)
BOTH(have_no_more)
BOTH(damage)
BOTH(in_the_way)
BOTH(in_the_way_at_last)
BOTH(targets)
BOTH(target_file)
BOTH(gate)
BOTH(quiet)
BOTH(close_in_between)
BOTH(many)
BOTH(committed_below)
BOTH(back_pressure)

CU_TestInfo wh_tests[] = {
	{"small files", both_small_files},
	{"nothing", both_nothing},
	{"folders", both_folders},
	{"links", both_links},
	{"small files that are there", both_skips_small},
	{"large files", both_large_files},
	{"large files that are there", both_have},
	{"all anew", both_anew},
	{"large files that are there no more", both_have_no_more},
	{"damage", both_damage},
	{"something else in the way", both_in_the_way},
	{"something else in the way, at last", both_in_the_way_at_last},
	{"targets", both_targets},
	{"a file as target", both_target_file},
	{"gate", both_gate},
	{"a batch after a while", both_quiet},
	{"closed in between", both_close_in_between},
	{"many files, two sinks", both_many},
	{"a full batch", test_full_batch},
	{"a large file holds back", both_committed_below},
	{"no chunks for answers", both_back_pressure},
	CU_TEST_INFO_NULL,
};
