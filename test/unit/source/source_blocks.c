/* SPDX-License-Identifier: BSD-3-Clause */
/* Sinks that lie about blocks that they have; of honest ones test/unit/sink/sink_blocks.c. */
#include "source_rig.h"

const char wh_suite_name[] = "source_blocks";

/* Digests of the large file, which has three blocks. */
static void tell_blocks(struct rig *rig, uint64_t id, uint32_t first, uint32_t count)
{
	static const uint8_t digests[WH_BLOCKS_TOLD_MAX * WH_DIGEST_BYTES];

	rig_answer(rig,
		&(struct wh_record){.type = WH_RECORD_BLOCKS,
			.blocks = {.id = id, .first = first, .count = count, .digests = digests}});
}

static void lie_blocks(struct rig *rig)
{
	tell_blocks(rig, 1, 0, 3);
}

static void lie_blocks_of_a_small_one(struct rig *rig)
{
	tell_blocks(rig, 2, 0, 1);
}

static void lie_blocks_of_none(struct rig *rig)
{
	tell_blocks(rig, 9, 0, 1);
}

static void lie_too_many_blocks(struct rig *rig)
{
	tell_blocks(rig, 1, 0, 2);
	tell_blocks(rig, 1, 2, 2);
}

static void lie_blocks_apart(struct rig *rig)
{
	tell_blocks(rig, 1, 0, 1);
	tell_blocks(rig, 1, 2, 1);
}

static void lie_blocks_again(struct rig *rig)
{
	tell_blocks(rig, 1, 0, 1);
	tell_blocks(rig, 1, 0, 1);
}

static void lie_blocks_after_want(struct rig *rig)
{
	rig_want(rig, 1);
	tell_blocks(rig, 1, 0, 1);
}

static void lie_blocks_and_have(struct rig *rig)
{
	tell_blocks(rig, 1, 0, 1);
	rig_have(rig, 1, (struct wh_digest){{0}});
}

static void lie_blocks_and_resume(struct rig *rig)
{
	tell_blocks(rig, 1, 0, 1);
	rig_answer(rig, &(struct wh_record){.type = WH_RECORD_WANT,
				.want = {.id = 1, .offset = 65536, .resume = WH_RESUME_FULL}});
}

/* A source bears two lists at once. */
static void lie_lists(struct rig *rig)
{
	for (uint64_t id = 1; id <= 3; id++)
		tell_blocks(rig, id, 0, 1);
}

static void check_blocks(void (*lie)(struct rig *rig), uint32_t wishes, bool breaks)
{
	struct rig rig;
	const char *names[] = {"t", NULL};
	bool all_large = lie == lie_lists;

	rig_init(&rig, MEMORY, 65536, 4, 4);
	rig.wishes = wishes;
	tree_folder(&rig.tree, "t");
	add_file(&rig, "t/1", 300 * KIB, 1);
	add_file(&rig, "t/2", all_large ? 300 * KIB : 3, 1);
	add_file(&rig, "t/3", all_large ? 300 * KIB : 3, 1);
	rig.wants = false;
	rig_open_lane(&rig, names, 0, 1, true);
	rig_settle(&rig);
	CU_ASSERT_EQUAL_FATAL(rig.entry_count, 4);
	lie(&rig);
	rig_settle(&rig);
	if (breaks)
		expect_broken(&rig, -EPROTO);
	else
		CU_ASSERT_EQUAL(rig_state(&rig), WH_SOURCE_RUNNING);
	rig_free(&rig);
}

static void hostile_blocks(void)
{
	void (*const lies[])(struct rig *) = {
		lie_blocks_of_a_small_one,
		lie_blocks_of_none,
		lie_too_many_blocks,
		lie_blocks_apart,
		lie_blocks_again,
		lie_blocks_after_want,
		lie_blocks_and_have,
		lie_blocks_and_resume,
		lie_lists,
	};

	for (size_t i = 0; i < COUNT(lies); i++)
		check_blocks(lies[i], WH_CHOICE_BLOCKS, true);
	check_blocks(lie_blocks, 0, true);
	check_blocks(lie_blocks, WH_CHOICE_BLOCKS, false);
}

CU_TestInfo wh_tests[] = {
	{"hostile blocks", hostile_blocks},
	CU_TEST_INFO_NULL,
};
