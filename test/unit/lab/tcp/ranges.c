/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/ranges.h"

#include <string.h>

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "sim_ranges";

static struct wh_sim_ranges ranges;

static void expect(uint32_t count, const struct wh_sim_sack *expected)
{
	CU_ASSERT_EQUAL_FATAL(ranges.count, count);
	for (uint32_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL(ranges.range[i].first, expected[i].first);
		CU_ASSERT_EQUAL(ranges.range[i].end, expected[i].end);
	}
}

#define EXPECT(count, ...) expect(count, (struct wh_sim_sack[]){__VA_ARGS__})

static void joins_what_touches(void)
{
	CU_ASSERT_TRUE(wh_sim_ranges_add(&ranges, 10, 12));
	CU_ASSERT_TRUE(wh_sim_ranges_add(&ranges, 20, 21));
	CU_ASSERT_TRUE(wh_sim_ranges_add(&ranges, 15, 16));
	EXPECT(3, {10, 12}, {15, 16}, {20, 21});
	CU_ASSERT_TRUE(wh_sim_ranges_add(&ranges, 12, 13));
	CU_ASSERT_TRUE(wh_sim_ranges_add(&ranges, 14, 15));
	EXPECT(3, {10, 13}, {14, 16}, {20, 21});
	CU_ASSERT_TRUE(wh_sim_ranges_add(&ranges, 13, 14));
	EXPECT(2, {10, 16}, {20, 21});
	CU_ASSERT_FALSE(wh_sim_ranges_add(&ranges, 11, 16));
	CU_ASSERT_FALSE(wh_sim_ranges_add(&ranges, 20, 21));
	CU_ASSERT_TRUE(wh_sim_ranges_add(&ranges, 8, 25));
	EXPECT(1, {8, 25});
	CU_ASSERT_TRUE(wh_sim_ranges_add(&ranges, 0, 1));
	CU_ASSERT_TRUE(wh_sim_ranges_add(&ranges, 0, 8));
	EXPECT(1, {0, 25});
	wh_sim_ranges_clear(&ranges);
	EXPECT(0, {0, 0});
	wh_sim_ranges_free(&ranges);
}

static void forgets_below(void)
{
	CU_ASSERT_FALSE(wh_sim_ranges_forget(&ranges, 100));
	wh_sim_ranges_add(&ranges, 5, 8);
	wh_sim_ranges_add(&ranges, 10, 20);
	wh_sim_ranges_add(&ranges, 30, 31);
	CU_ASSERT_FALSE(wh_sim_ranges_forget(&ranges, 5));
	CU_ASSERT_TRUE(wh_sim_ranges_forget(&ranges, 8));
	EXPECT(2, {10, 20}, {30, 31});
	CU_ASSERT_FALSE(wh_sim_ranges_forget(&ranges, 9));
	CU_ASSERT_TRUE(wh_sim_ranges_forget(&ranges, 15));
	EXPECT(2, {15, 20}, {30, 31});
	CU_ASSERT_TRUE(wh_sim_ranges_forget(&ranges, 31));
	EXPECT(0, {0, 0});
	wh_sim_ranges_free(&ranges);
}

static void finds_ranges_and_holes(void)
{
	static const struct {
		uint64_t pn, hole;
		int range;
	} cases[] = {{0, 0, -1}, {4, 4, -1}, {5, 8, 0}, {7, 8, 0}, {8, 8, -1}, {9, 9, -1},
		{10, WH_SIM_NO_HOLE, 1}, {11, WH_SIM_NO_HOLE, 1}, {12, WH_SIM_NO_HOLE, -1}};

	CU_ASSERT_EQUAL(wh_sim_ranges_hole(&ranges, 0), WH_SIM_NO_HOLE);
	CU_ASSERT_PTR_NULL(wh_sim_ranges_find(&ranges, 0));
	wh_sim_ranges_add(&ranges, 5, 8);
	wh_sim_ranges_add(&ranges, 10, 12);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wh_sim_sack *found = wh_sim_ranges_find(&ranges, cases[i].pn);

		CU_ASSERT_EQUAL(wh_sim_ranges_hole(&ranges, cases[i].pn), cases[i].hole);
		CU_ASSERT_PTR_EQUAL(
			found, cases[i].range < 0 ? NULL : &ranges.range[cases[i].range]);
	}
	wh_sim_ranges_free(&ranges);
}

#define MANY 200

static void check_against(const bool *there)
{
	uint32_t n = 0;

	for (uint64_t s = 0; s < MANY; s++) {
		CU_ASSERT_EQUAL_FATAL(wh_sim_ranges_find(&ranges, s) != NULL, there[s]);
		if (there[s] && (s == 0 || !there[s - 1]))
			n++;
	}
	CU_ASSERT_EQUAL_FATAL(ranges.count, n);
}

static void agrees_with_a_plain_table(void)
{
	static bool there[MANY];
	struct wh_prng prng;

	wh_prng_init(&prng, 5);
	for (unsigned int i = 0; i < 20000; i++) {
		uint64_t first = wh_prng_below(&prng, MANY);
		uint64_t end = first + 1 + wh_prng_below(&prng, i % 50 == 0 ? MANY - first : 2);

		if (end > MANY)
			end = MANY;
		if (i % 37 == 0) {
			bool any = memchr(there, true, first) != NULL;

			CU_ASSERT_EQUAL_FATAL(wh_sim_ranges_forget(&ranges, first), any);
			memset(there, 0, first);
		} else {
			bool news = memchr(there + first, false, end - first) != NULL;

			CU_ASSERT_EQUAL_FATAL(wh_sim_ranges_add(&ranges, first, end), news);
			memset(there + first, true, end - first);
		}
		check_against(there);
	}
	CU_ASSERT_TRUE(ranges.room > 16);
	wh_sim_ranges_free(&ranges);
}

/* As after a slow start's end: many holes, filled from the first on while others come behind. */
static void moves_on_in_place(void)
{
	for (uint64_t s = 0; s < 20000; s += 2)
		wh_sim_ranges_add(&ranges, s, s + 1);
	CU_ASSERT_EQUAL(ranges.count, 10000);
	uint32_t room = ranges.room;

	for (uint64_t s = 1; s < 400000; s += 2) {
		CU_ASSERT_EQUAL_FATAL(wh_sim_ranges_hole(&ranges, s - 1), s);
		CU_ASSERT_TRUE_FATAL(wh_sim_ranges_add(&ranges, s, s + 1));
		CU_ASSERT_TRUE_FATAL(wh_sim_ranges_forget(&ranges, s + 1));
		CU_ASSERT_TRUE_FATAL(wh_sim_ranges_add(&ranges, s + 19999, s + 20000));
		CU_ASSERT_EQUAL_FATAL(ranges.range[0].first, s + 1);
		CU_ASSERT_EQUAL_FATAL(ranges.count, 10000);
	}
	CU_ASSERT_TRUE(ranges.room + ranges.spare <= 2 * room);
	wh_sim_ranges_clear(&ranges);
	CU_ASSERT_EQUAL(ranges.spare, 0);
	wh_sim_ranges_free(&ranges);
	CU_ASSERT_EQUAL(ranges.room, 0);
}

CU_TestInfo wh_tests[] = {
	{"joins what touches", joins_what_touches},
	{"forgets below", forgets_below},
	{"finds ranges and holes", finds_ranges_and_holes},
	{"agrees with a plain table", agrees_with_a_plain_table},
	{"moves on in place", moves_on_in_place},
	CU_TEST_INFO_NULL,
};
