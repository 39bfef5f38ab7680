/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning of a large file comes with its ENTRY, before the sink has asked for it. */
#define RIG_CHUNK_BYTES (UINT32_C(1) << 19)
#include "sink_rig.h"

const char wh_suite_name[] = "sink_ahead";

#define AHEAD WH_INLINE_BYTES_MAX
#define BYTES (UINT32_C(900001))

static uint8_t content[BYTES];

static void ask_ahead(struct rig *rig, uint64_t id, const char *path)
{
	struct wh_record record = rig_entry(id, WH_ENTRY_FILE, path, 0644);

	record.entry.size_bytes = BYTES;
	record.entry.content = WH_CONTENT_AHEAD;
	record.entry.inline_bytes = content;
	rig_put(rig, &record);
	rig_flush(rig);
	rig->entries++;
}

/* As a source does: its digests cover what went ahead. */
static void send_from(struct rig *rig, uint64_t id, uint64_t offset)
{
	struct wh_digest digest = digest_of(content, BYTES);

	XXH3_128bits_reset(rig->extents);
	XXH3_128bits_update(rig->extents, content, offset);
	rig->extent_id = id;
	rig_extent(rig, id, offset, content + offset, BYTES - offset);
	rig_file_end(rig, id, &digest, 0, 0);
}

static struct rig *begin(const char *base)
{
	uint8_t *drawn = content_of(BYTES, 1);

	memcpy(content, drawn, BYTES);
	free(drawn);
	return rig_begin(base);
}

static void expect_whole(struct rig *rig, uint64_t files, uint64_t failed)
{
	rig_finish(rig);
	CU_ASSERT_EQUAL(rig_run(rig), WH_SINK_DONE);
	CU_ASSERT_EQUAL(rig->totals.files, files);
	CU_ASSERT_EQUAL(rig->totals.failed, failed);
	CU_ASSERT_EQUAL(rig->totals.resumed_bytes, 0);
}

/* It takes that of one file at a time. */
static void test_taken(const char *base)
{
	struct rig *rig = begin(base);

	ask_ahead(rig, 1, "a");
	ask_ahead(rig, 2, "b");
	CU_ASSERT_EQUAL(rig_await(rig, WH_RECORD_WANT, 1)->offset, AHEAD);
	CU_ASSERT_EQUAL(rig_await(rig, WH_RECORD_WANT, 2)->offset, 0);
	CU_ASSERT_EQUAL(wh_sink_progress(rig->sink)->bytes, AHEAD);
	send_from(rig, 1, AHEAD);
	send_from(rig, 2, 0);
	rig_await(rig, WH_RECORD_COMMITTED, 3);
	ask_ahead(rig, 3, "c");
	CU_ASSERT_EQUAL(rig_await(rig, WH_RECORD_WANT, 3)->offset, AHEAD);
	send_from(rig, 3, AHEAD);
	expect_whole(rig, 3, 0);
	CU_ASSERT(wh_sink_progress(rig->sink)->digest_known);
	CU_ASSERT_EQUAL(wh_sink_progress(rig->sink)->bytes, 3 * BYTES);
	CU_ASSERT(rig_holds(rig, "a", content, BYTES) && rig_holds(rig, "b", content, BYTES));
	CU_ASSERT(rig_holds(rig, "c", content, BYTES));
	rig_free(rig);
}

/* What is there is compared first. */
static void test_there(const char *base)
{
	struct rig *rig = begin(base);

	rig_make_file(rig, "same", content, BYTES);
	content[AHEAD] ^= 1;
	rig_make_file(rig, "other", content, BYTES);
	content[AHEAD] ^= 1;
	rig_make_file(rig, "shorter", content, BYTES - 1);
	ask_ahead(rig, 1, "same");
	rig_await(rig, WH_RECORD_HAVE, 1);
	rig_same(rig, 1);
	rig_await(rig, WH_RECORD_OUTCOME, 1);
	ask_ahead(rig, 2, "other");
	rig_await(rig, WH_RECORD_HAVE, 2);
	send_from(rig, 2, 0);
	rig_await(rig, WH_RECORD_COMMITTED, 3);
	ask_ahead(rig, 3, "shorter");
	CU_ASSERT_EQUAL(rig_await(rig, WH_RECORD_WANT, 3)->offset, AHEAD);
	send_from(rig, 3, AHEAD);
	expect_whole(rig, 2, 0);
	CU_ASSERT_EQUAL(rig->totals.skipped, 1);
	CU_ASSERT(rig_holds(rig, "other", content, BYTES));
	CU_ASSERT(rig_holds(rig, "shorter", content, BYTES));
	rig_free(rig);
}

/* The first extent's digest is that of what went ahead, and the source may give up. */
static void test_lies(const char *base)
{
	struct rig *rig = begin(base);

	ask_ahead(rig, 1, "a");
	rig_await(rig, WH_RECORD_WANT, 1);
	content[0] ^= 1;
	send_from(rig, 1, AHEAD);
	rig_await(rig, WH_RECORD_OUTCOME, 1);
	CU_ASSERT(rig_failed(rig, 1, EIO, WH_DOING_DIGEST));
	ask_ahead(rig, 2, "b");
	CU_ASSERT_EQUAL(rig_await(rig, WH_RECORD_WANT, 2)->offset, AHEAD);
	rig_file_end(rig, 2, NULL, EIO, WH_DOING_READING);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "folder"), 0755) == 0);
	ask_ahead(rig, 3, "folder");
	CU_ASSERT_EQUAL(rig_await(rig, WH_RECORD_OUTCOME, 3)->error, EISDIR);
	expect_whole(rig, 0, 3);
	CU_ASSERT_EQUAL(rig_count(rig->root), 1);
	rig_free(rig);

	/* Who sends it once more has not been asked to; nor is a job over meanwhile. */
	rig = begin(base);
	ask_ahead(rig, 1, "a");
	rig_await(rig, WH_RECORD_WANT, 1);
	rig_extent(rig, 1, 0, content, BYTES);
	CU_ASSERT_EQUAL(rig_run(rig), WH_SINK_BROKEN);
	rig_free(rig);
	rig = begin(base);
	ask_ahead(rig, 1, "a");
	rig_free(rig);
}

BOTH(taken)
BOTH(there)
BOTH(lies)

CU_TestInfo wh_tests[] = {
	{"taken", both_taken},
	{"there", both_there},
	{"lies", both_lies},
	CU_TEST_INFO_NULL,
};
