/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that one lane finds for all. */
#include <fcntl.h>
#include <unistd.h>

#include "bundle/split.h"
#include "unit.h"

const char wh_suite_name[] = "split";

#define MIB (UINT64_C(1) << 20)

/* Segments are all of the file, in order, none empty, and nearly the same. */
static void test_parts(void)
{
	static const uint64_t bytes[] = {
		64 * MIB, 64 * MIB + 1, 100 * MIB - 1, 300000000, INT64_MAX};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		for (uint32_t lanes = 2; lanes <= WH_SPLIT_LANES_MAX; lanes++) {
			uint64_t end = 0;

			for (uint32_t lane = 0; lane < lanes; lane++) {
				struct wh_segment segment = wh_segment_of(bytes[i], lanes, lane);

				CU_ASSERT(segment.from == end && segment.end > segment.from);
				CU_ASSERT(segment.end - segment.from <= bytes[i] / lanes + 2 * MIB);
				CU_ASSERT(segment.from % WH_SPLIT_ALIGN_BYTES == 0);
				end = segment.end;
			}
			CU_ASSERT(end == bytes[i]);
		}
	CU_ASSERT(!wh_segment_is_possible(3 * MIB, 4) && wh_segment_is_possible(3 * MIB + 1, 4));
	CU_ASSERT(!wh_segment_is_possible(UINT64_MAX, 4) && !wh_segment_is_possible(0, 4));
	CU_ASSERT(!wh_segment_is_possible(300 * MIB, 1));
}

/* Each of the others takes each once, in order; a place is free when all have left. */
static void test_all_take(void)
{
	static struct wh_splits splits;
	struct wh_split *announced[WH_SPLITS_MAX];
	const struct stat status = {.st_size = 300};
	uint32_t seen[3] = {0};
	int fd = open("/dev/null", O_RDONLY);

	wh_splits_init(&splits, 3);
	for (uint32_t i = 0; i < WH_SPLITS_MAX; i++) {
		announced[i] = wh_splits_announce(&splits, i % 2, fd, &status, "a/b");
		CU_ASSERT_FATAL(announced[i] != NULL && announced[i]->number == i + 1);
	}
	CU_ASSERT(wh_splits_announce(&splits, 0, fd, &status, "c") == NULL);
	for (uint32_t lane = 0; lane < 3; lane++)
		for (uint32_t i = 0; i < WH_SPLITS_MAX; i++)
			if (lane != i % 2)
				CU_ASSERT(
					wh_splits_next(&splits, lane, &seen[lane]) == announced[i]);
	for (uint32_t lane = 0; lane < 3; lane++) {
		CU_ASSERT(wh_splits_next(&splits, lane, &seen[lane]) == NULL);
		CU_ASSERT(!wh_splits_are_over(&splits, seen[lane]));
	}
	CU_ASSERT(strcmp(announced[0]->path, "a/b") == 0 && announced[0]->status.st_size == 300);

	int own_fd = wh_split_open(announced[0]);

	CU_ASSERT(own_fd >= 0 && close(own_fd) == 0);
	wh_split_leave(&splits, announced[0], 0);
	wh_split_leave(&splits, announced[0], 2);
	CU_ASSERT(announced[0]->number == 1);
	wh_split_leave(&splits, announced[0], 1);
	CU_ASSERT(announced[0]->number == 0);
	CU_ASSERT(wh_splits_announce(&splits, 0, fd, &status, "c") == announced[0]);

	/* One that has ended is not waited for, and takes no more. */
	wh_splits_gone(&splits, 0);
	wh_split_leave(&splits, announced[1], 1);
	wh_split_leave(&splits, announced[1], 2);
	CU_ASSERT(announced[1]->number == 0);
	CU_ASSERT(wh_splits_announce(&splits, 1, fd, &status, "d") == NULL);
	wh_splits_walked(&splits, 1);
	wh_splits_walked(&splits, 2);
	CU_ASSERT(!wh_splits_are_over(&splits, WH_SPLITS_MAX));
	CU_ASSERT(wh_splits_are_over(&splits, WH_SPLITS_MAX + 1));
	wh_splits_free(&splits);
	close(fd);
}

CU_TestInfo wh_tests[] = {
	{"segments", test_parts},
	{"all lanes take them", test_all_take},
	CU_TEST_INFO_NULL,
};
