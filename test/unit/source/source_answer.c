/* SPDX-License-Identifier: BSD-3-Clause */
#include "source_rig.h"

const char wh_suite_name[] = "source_answer";

/* The fate of every entry is told once, as the sink tells it. */
static void outcomes(void)
{
	struct rig rig;

	rig_init(&rig, MEMORY, 1 << 20, 8, 8);
	tree_folder(&rig.tree, "t");
	tree_folder(&rig.tree, "t/d");
	add_file(&rig, "t/e", 1, 1);
	add_file(&rig, "t/f", 2, 2);
	add_file(&rig, "t/g", 3, 3);
	tree_link(&rig.tree, "t/l", "x");
	tree_link(&rig.tree, "t/m", "x");
	rig.commits = false;
	rig_open(&rig, "t");
	rig_run(&rig, 7);
	rig_settle(&rig);
	CU_ASSERT_EQUAL(rig.told_count, 0);
	rig_outcome(&rig, 3, 0);
	rig_settle(&rig);
	CU_ASSERT_STRING_EQUAL(rig.told, "=t/f ");
	rig_outcome(&rig, 4, ENOSPC);
	rig_outcome(&rig, 1, EACCES);
	rig_outcome(&rig, 5, 0);
	rig_settle(&rig);
	CU_ASSERT_STRING_EQUAL(rig.told, "=t/f -t/g(28,writing,there) -t/d(13,writing,there) ");
	rig_commit(&rig, 2);
	rig_commit(&rig, 2);
	rig_settle(&rig);
	CU_ASSERT_EQUAL(rig.told_count, 3);
	rig_commit(&rig, 7);
	rig_totals(&rig);
	rig_end(&rig);
	rig_run(&rig, 0);
	CU_ASSERT_STRING_EQUAL(
		rig.told, "=t/f -t/g(28,writing,there) -t/d(13,writing,there) +t/e ");
	expect_done(&rig, 1, 1, 2);
	CU_ASSERT_EQUAL(wh_source_progress(rig.source)->totals.bytes, 1);
	rig_free(&rig);
}

/* The sink fails a large file before it is wanted, and another in the middle. */
static void outcomes_of_large_files(void)
{
	struct rig rig;
	uint64_t bytes = WH_SOURCE_EXTENT_BYTES + 70000;

	rig_init(&rig, MEMORY, 1 << 20, 4, 4);
	tree_folder(&rig.tree, "t");
	add_file(&rig, "t/a", 300 * KIB, 1);
	tree_file(&rig.tree, "t/b", "", 0);
	CU_ASSERT_FATAL(truncate(tree_path(&rig.tree, "t/b"), (off_t)bytes) == 0);
	add_file(&rig, "t/c", 300 * KIB, 3);
	rig.wants = false;
	rig_open(&rig, "t");
	rig_run(&rig, 4);
	rig_outcome(&rig, 1, ENOSPC);
	rig_want(&rig, 2);
	rig_want(&rig, 3);
	for (int i = 0; i < RIG_POLLS_MAX && rig.entries[2].have_bytes == 0; i++)
		rig_poll(&rig);
	CU_ASSERT_STRING_EQUAL(rig.told, "-t/a(28,writing,there) ");
	rig_outcome(&rig, 2, EIO);
	rig_outcome(&rig, 3, EROFS); /* in the queue by now */
	rig_run(&rig, 0);
	CU_ASSERT(!rig.entries[1].has_end);
	/* What was announced comes, and no further extent. */
	CU_ASSERT_EQUAL(rig.entries[2].have_bytes, MIB);
	CU_ASSERT_EQUAL(rig.entries[2].extents, 1);
	CU_ASSERT(rig.entries[2].has_end && rig.entries[2].error == ECANCELED);
	CU_ASSERT(rig.entries[3].has_end && rig.entries[3].error == ECANCELED);
	CU_ASSERT_EQUAL(rig.entries[3].extents, 0);
	CU_ASSERT_STRING_EQUAL(
		rig.told, "-t/a(28,writing,there) -t/b(5,writing,there) -t/c(30,writing,there) ");
	expect_done(&rig, 0, 0, 3);
	rig_free(&rig);
}

/* Or while it is compared. */
static void outcome_of_compared_file(void)
{
	struct rig rig;
	uint8_t *content = content_of(2 * MIB, 1);

	rig_init(&rig, MEMORY, 65536, 4, 4);
	add_file(&rig, "f", 2 * MIB, 1);
	rig.wants = false;
	rig_open(&rig, "f");
	rig_run(&rig, 1);
	rig_have(&rig, 0, digest_of(content, 2 * MIB));
	for (int i = 0; i < 5; i++) /* a piece each, of 32 */
		rig_poll(&rig);
	rig_outcome(&rig, 0, EIO);
	rig_run(&rig, 0);
	CU_ASSERT(!rig.entries[0].is_same && rig.entries[0].has_end);
	CU_ASSERT_EQUAL(rig.entries[0].error, ECANCELED);
	CU_ASSERT_EQUAL(rig.entries[0].extents, 0);
	CU_ASSERT_STRING_EQUAL(rig.told, "-f(5,writing,there) ");
	expect_done(&rig, 0, 0, 1);
	rig_free(&rig);
	free(content);
}

/* Sinks that lie. Entries 0 to 3 are out: a folder, a large file, two small ones. */
static void lie_unknown_id(struct rig *rig)
{
	rig_want(rig, 4);
}

static void lie_want_a_small_one(struct rig *rig)
{
	rig_want(rig, 2);
}

static void lie_want_twice(struct rig *rig)
{
	rig_want(rig, 1);
	rig_want(rig, 1);
}

static void lie_want_and_have(struct rig *rig)
{
	rig_want(rig, 1);
	rig_have(rig, 1, (struct wh_digest){{0}});
}

static void lie_want_after_failure(struct rig *rig)
{
	rig_outcome(rig, 1, EIO);
	rig_want(rig, 1);
}

static void lie_have_a_folder(struct rig *rig)
{
	rig_have(rig, 0, (struct wh_digest){{0}});
}

static void lie_outcome_twice(struct rig *rig)
{
	rig_outcome(rig, 2, 0);
	rig_outcome(rig, 2, 0);
}

static void lie_outcome_unknown(struct rig *rig)
{
	rig_outcome(rig, UINT64_MAX - 1, 0);
}

static void lie_skips_unseen(struct rig *rig)
{
	rig_outcome(rig, 1, 0);
}

static void lie_keeps_no_range(struct rig *rig)
{
	rig_answer(rig, &(struct wh_record){.type = WH_RECORD_OUTCOME,
				.outcome = {.id = 2, .status = WH_OUTCOME_KEPT}});
}

static void lie_outcome_after_commit(struct rig *rig)
{
	rig_commit(rig, 1);
	rig_outcome(rig, 0, EIO);
}

static void lie_commits_unsent(struct rig *rig)
{
	rig_outcome(rig, 1, EIO);
	rig_commit(rig, 5);
}

static void lie_commits_unwanted(struct rig *rig)
{
	rig_commit(rig, 4);
}

static void lie_commit_decreases(struct rig *rig)
{
	rig_commit(rig, 1);
	rig_commit(rig, 0);
}

static void lie_totals_early(struct rig *rig)
{
	rig_outcome(rig, 1, EIO);
	rig_totals(rig);
}

static void lie_end_early(struct rig *rig)
{
	rig_end(rig);
}

static void lie_of_a_source(struct rig *rig)
{
	rig_answer(rig, &(struct wh_record){.type = WH_RECORD_FINISH});
}

static void lie_ready(struct rig *rig)
{
	static const uint8_t address[WH_READY_ADDRESS_BYTES] = {4, 192, 0, 2, 1};

	rig_answer(rig, &(struct wh_record){.type = WH_RECORD_READY,
				.ready = {.queues = 1, .ports = 1, .addresses = address}});
}

static void lie_garbage(struct rig *rig)
{
	rig_answer_bytes(rig, "garbage, garbage", 16);
}

static void lie_empty(struct rig *rig)
{
	rig_answer_bytes(rig, "", 0);
}

static void lie_number(struct rig *rig)
{
	rig_commit(rig, 1);
	rig->next_answer++;
	rig_commit(rig, 1);
}

static void hostile_answers(void)
{
	void (*const lies[])(struct rig *) = {
		lie_unknown_id,
		lie_want_a_small_one,
		lie_want_twice,
		lie_want_and_have,
		lie_want_after_failure,
		lie_have_a_folder,
		lie_outcome_twice,
		lie_outcome_unknown,
		lie_skips_unseen,
		lie_keeps_no_range,
		lie_outcome_after_commit,
		lie_commits_unsent,
		lie_commits_unwanted,
		lie_commit_decreases,
		lie_totals_early,
		lie_end_early,
		lie_of_a_source,
		lie_ready,
		lie_garbage,
		lie_empty,
		lie_number,
	};

	for (size_t i = 0; i < COUNT(lies); i++) {
		struct rig rig;
		const char *names[] = {"t", NULL};

		rig_init(&rig, MEMORY, 65536, 4, 4);
		tree_folder(&rig.tree, "t");
		add_file(&rig, "t/1", 300 * KIB, 1);
		add_file(&rig, "t/2", 3, 1);
		add_file(&rig, "t/3", 3, 1);
		rig.wants = false;
		rig_open_lane(&rig, names, 0, 1, true);
		rig_settle(&rig);
		CU_ASSERT_EQUAL_FATAL(rig.entry_count, 4);
		lies[i](&rig);
		rig_settle(&rig);
		expect_broken(&rig, lies[i] == lie_empty ? -EBADMSG : -EPROTO);
		rig_free(&rig);
	}
}

/* At the end too everything has to be right. */
static void hostile_ends(void)
{
	for (int lie = 0; lie < 6; lie++) {
		struct rig rig;

		rig_init(&rig, MEMORY, 65536, 4, 4);
		add_file(&rig, "f", 3, 1);
		rig.commits = false;
		rig_open(&rig, "f");
		rig_settle(&rig);
		CU_ASSERT_EQUAL(rig_state(&rig), WH_SOURCE_SENT);
		if (lie != 0) /* an entry's fate is not told */
			rig_commit(&rig, 1);
		if (lie != 1) /* no TOTALS */
			rig_totals(&rig);
		if (lie == 2) /* a record behind them */
			rig_commit(&rig, 1);
		if (lie == 3)
			rig.next_answer++;
		if (lie == 4)
			XXH3_128bits_update(rig.answered, "x", 1);
		rig_end(&rig);
		rig_settle(&rig);
		if (lie < 5)
			expect_broken(&rig, -EPROTO);
		else
			expect_done(&rig, 1, 0, 0);
		rig_free(&rig);
	}
}

static void refused(void)
{
	struct rig rig;

	rig_init(&rig, MEMORY, 65536, 4, 4);
	add_file(&rig, "f", MIB, 1);
	rig_open(&rig, "f");
	rig_run(&rig, 1);
	rig_answer(&rig, &(struct wh_record){.type = WH_RECORD_REFUSED,
				 .refused = {.error = EROFS, .text = "no, no", .text_bytes = 5}});
	rig_end(&rig);
	rig_settle(&rig);
	expect_broken(&rig, -EROFS);
	CU_ASSERT_STRING_EQUAL(wh_source_progress(rig.source)->refusal, "no, n");
	rig_free(&rig);
}

/* The first large file's beginning is in its ENTRY: taken, asked for, or claimed of another. */
static void went_ahead(void)
{
	const uint64_t bytes = 3000001;

	for (uint32_t i = 0; i < 5; i++) {
		struct wh_record record = {
			.type = WH_RECORD_WANT, .want = {.offset = WH_INLINE_BYTES_MAX}};
		bool asks = i >= 3;
		struct rig rig;

		rig_init(&rig, MEMORY, 1 << 20, 8, 8);
		tree_folder(&rig.tree, "t");
		add_file(&rig, "t/a", bytes, 1);
		if (i == 2)
			add_file(&rig, "t/b", bytes, 2);
		rig.wants = false;
		rig.wishes = i == 3 ? WH_CHOICE_QUICK : 0;
		rig.asks_first = i == 4;
		rig_open(&rig, "t");
		rig_run(&rig, 2 + (i == 2));

		struct rig_entry *first = &rig.entries[1];

		CU_ASSERT_EQUAL(first->entry.content, asks ? WH_CONTENT_ASK : WH_CONTENT_AHEAD);
		CU_ASSERT_EQUAL(wh_source_progress(rig.source)->went_ahead, !asks);
		first->have_bytes = i == 0 ? WH_INLINE_BYTES_MAX : 0;
		record.want.id = i == 2 ? rig.entries[2].id : first->id;
		if (i == 1)
			rig_want(&rig, first->id);
		else
			rig_answer(&rig, &record);
		if (i < 2) {
			rig_run(&rig, 0);
			expect_done(&rig, 1, 0, 0);
			CU_ASSERT(arrived(&rig, first->path, bytes, 1));
			CU_ASSERT_EQUAL(wh_source_progress(rig.source)->bytes_read, bytes);
			CU_ASSERT(wh_source_progress(rig.source)->digest_known);
		} else {
			CU_ASSERT_EQUAL(rig.entries[i == 2 ? 2 : 1].entry.content, WH_CONTENT_ASK);
			rig_settle(&rig);
			expect_broken(&rig, -EPROTO);
		}
		rig_free(&rig);
	}
}

CU_TestInfo wh_tests[] = {
	{"went ahead", went_ahead},
	{"outcomes", outcomes},
	{"outcomes of large files", outcomes_of_large_files},
	{"outcome of a compared file", outcome_of_compared_file},
	{"hostile answers", hostile_answers},
	{"hostile ends", hostile_ends},
	{"refused", refused},
	CU_TEST_INFO_NULL,
};
