/* SPDX-License-Identifier: BSD-3-Clause */
#include "track/replay.h"

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "replay";

#define SIZE 256

static void test_order(void)
{
	uint64_t bits[SIZE / 64] = {0};
	struct wh_replay replay;

	wh_replay_init(&replay, bits, SIZE);
	for (uint64_t number = 0; number < 3 * SIZE; number++) {
		CU_ASSERT(wh_replay_take(&replay, number));
		CU_ASSERT_FALSE(wh_replay_take(&replay, number));
	}
	for (uint64_t number = 0; number < 3 * SIZE; number++)
		CU_ASSERT_FALSE(wh_replay_take(&replay, number));
	/* What was skipped may come, as long as the window reaches. */
	CU_ASSERT(wh_replay_take(&replay, 4 * SIZE + 10));
	CU_ASSERT_FALSE(wh_replay_take(&replay, 3 * SIZE + 10));
	CU_ASSERT(wh_replay_take(&replay, 3 * SIZE + 11));
	CU_ASSERT_FALSE(wh_replay_take(&replay, 3 * SIZE + 11));
	CU_ASSERT(wh_replay_take(&replay, UINT64_C(1) << 61));
	CU_ASSERT(wh_replay_take(&replay, (UINT64_C(1) << 61) - SIZE + 1));
	CU_ASSERT_FALSE(wh_replay_take(&replay, (UINT64_C(1) << 61) - SIZE));
	CU_ASSERT_FALSE(wh_replay_take(&replay, 0));
}

/* Against a table of all that came: numbers jump, fall back and repeat. */
static void test_random(void)
{
	static bool came[1 << 20];
	uint64_t bits[SIZE / 64] = {0};
	struct wh_replay replay;
	struct wh_prng prng;
	uint64_t highest = 0;

	wh_prng_init(&prng, 1);
	wh_replay_init(&replay, bits, SIZE);
	for (uint32_t i = 0; i < 200000; i++) {
		uint64_t ahead = wh_prng_below(&prng, 100) == 0 ? 4 * SIZE : 8;
		uint64_t number = highest + wh_prng_below(&prng, ahead);
		uint64_t back = wh_prng_below(&prng, i % 3 == 0 ? 2 * SIZE : 20);

		number = number > back ? number - back : 0;
		if (number >= sizeof(came))
			break;

		bool old = number + SIZE <= highest;

		CU_ASSERT_EQUAL_FATAL(wh_replay_take(&replay, number), !old && !came[number]);
		came[number] |= !old;
		highest = number > highest ? number : highest;
	}
	CU_ASSERT(highest > 50000);
}

CU_TestInfo wh_tests[] = {
	{"order", test_order},
	{"random", test_random},
	CU_TEST_INFO_NULL,
};
