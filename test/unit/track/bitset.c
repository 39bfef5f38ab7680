/* SPDX-License-Identifier: BSD-3-Clause */
#include "track/bitset.h"

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "track/bitset";

static void test_levels(void)
{
	static const struct {
		uint32_t size;
		uint32_t levels;
	} cases[] = {
		{64, 1},
		{128, 2},
		{4096, 2},
		{8192, 3},
		{1 << 18, 3},
		{1 << 19, 4},
		{1 << 24, 4},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_bitset set;

		CU_ASSERT_EQUAL_FATAL(wh_bitset_init(&set, cases[i].size), 0);
		CU_ASSERT_EQUAL(set.levels, cases[i].levels);
		CU_ASSERT_EQUAL(wh_bitset_next(&set, 0), WH_BITSET_NONE);
		CU_ASSERT_EQUAL(wh_bitset_previous(&set, cases[i].size - 1), WH_BITSET_NONE);
		wh_bitset_check(&set);
		wh_bitset_free(&set);
		wh_bitset_free(&set);
	}
}

/* The lowest and the highest position, and the neighbours of every level's word borders. */
static void test_far_apart(void)
{
	static const uint32_t sizes[] = {64, 128, 4096, 8192, 1 << 18, 1 << 20, 1 << 24};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t last = sizes[i] - 1;
		struct wh_bitset set;

		CU_ASSERT_EQUAL_FATAL(wh_bitset_init(&set, sizes[i]), 0);
		wh_bitset_set(&set, 0);
		wh_bitset_set(&set, last);
		wh_bitset_check(&set);
		CU_ASSERT_EQUAL(wh_bitset_next(&set, 0), 0);
		CU_ASSERT_EQUAL(wh_bitset_next(&set, 1), last);
		CU_ASSERT_EQUAL(wh_bitset_next(&set, last), last);
		CU_ASSERT_EQUAL(wh_bitset_previous(&set, last), last);
		CU_ASSERT_EQUAL(wh_bitset_previous(&set, last - 1), 0);
		CU_ASSERT_EQUAL(wh_bitset_previous(&set, 0), 0);

		wh_bitset_clear(&set, 0);
		CU_ASSERT_EQUAL(wh_bitset_next(&set, 0), last);
		CU_ASSERT_EQUAL(wh_bitset_previous(&set, last - 1), WH_BITSET_NONE);
		wh_bitset_set(&set, 0);
		wh_bitset_clear(&set, last);
		CU_ASSERT_EQUAL(wh_bitset_next(&set, 1), WH_BITSET_NONE);
		CU_ASSERT_EQUAL(wh_bitset_previous(&set, last), 0);
		wh_bitset_check(&set);
		wh_bitset_free(&set);
	}
}

static void test_word_borders(void)
{
	static const uint32_t borders[] = {64, 4096, 1 << 18};
	struct wh_bitset set;

	CU_ASSERT_EQUAL_FATAL(wh_bitset_init(&set, 1 << 20), 0);
	for (size_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++) {
		uint32_t border = borders[i];

		wh_bitset_set(&set, border - 1);
		CU_ASSERT_EQUAL(wh_bitset_next(&set, border - 1), border - 1);
		CU_ASSERT_EQUAL(wh_bitset_next(&set, border), WH_BITSET_NONE);
		CU_ASSERT_EQUAL(wh_bitset_previous(&set, border), border - 1);
		wh_bitset_set(&set, border);
		CU_ASSERT_EQUAL(wh_bitset_next(&set, border), border);
		wh_bitset_clear(&set, border - 1);
		CU_ASSERT_FALSE(wh_bitset_test(&set, border - 1));
		CU_ASSERT_TRUE(wh_bitset_test(&set, border));
		CU_ASSERT_EQUAL(wh_bitset_next(&set, 0), border);
		CU_ASSERT_EQUAL(wh_bitset_previous(&set, border - 1), WH_BITSET_NONE);
		wh_bitset_clear(&set, border);
		wh_bitset_check(&set);
	}
	wh_bitset_free(&set);
}

#define MODEL_MAX 16384

static uint8_t model[MODEL_MAX];

static uint32_t model_next(uint32_t size, uint32_t position)
{
	const uint8_t *found = memchr(model + position, 1, size - position);

	return found != NULL ? (uint32_t)(found - model) : WH_BITSET_NONE;
}

static uint32_t model_previous(uint32_t position)
{
	const uint8_t *found = memrchr(model, 1, position + 1);

	return found != NULL ? (uint32_t)(found - model) : WH_BITSET_NONE;
}

/* `fill` out of 100 changes set a bit: sparse sets climb the tree, full ones do not. */
static void run_random(uint32_t size, uint64_t fill, uint64_t seed)
{
	struct wh_bitset set;
	struct wh_prng prng;

	CU_ASSERT_EQUAL_FATAL(wh_bitset_init(&set, size), 0);
	memset(model, 0, sizeof(model));
	wh_prng_init(&prng, seed);
	for (uint32_t step = 0; step < 100000; step++) {
		uint32_t change = (uint32_t)wh_prng_below(&prng, size);
		uint32_t look = (uint32_t)wh_prng_below(&prng, size);

		if (wh_prng_below(&prng, 100) < fill) {
			wh_bitset_set(&set, change);
			model[change] = 1;
		} else {
			/* A random position would hardly ever be a member of a sparse set. */
			uint32_t member = wh_bitset_next(&set, change);

			member = member == WH_BITSET_NONE ? change : member;
			wh_bitset_clear(&set, member);
			model[member] = 0;
		}
		CU_ASSERT_EQUAL_FATAL(wh_bitset_test(&set, look), model[look]);
		CU_ASSERT_EQUAL_FATAL(wh_bitset_next(&set, look), model_next(size, look));
		CU_ASSERT_EQUAL_FATAL(wh_bitset_previous(&set, look), model_previous(look));
		if (step % 4096 == 0)
			wh_bitset_check(&set);
	}
	wh_bitset_check(&set);
	wh_bitset_free(&set);
}

static void test_random(void)
{
	static const uint32_t sizes[] = {64, 256, 4096, MODEL_MAX};
	static const uint64_t fills[] = {10, 50, 90};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (size_t j = 0; j < sizeof(fills) / sizeof(fills[0]); j++)
			run_random(sizes[i], fills[j], 1 + i * 10 + j);
}

CU_TestInfo wh_tests[] = {
	{"levels by size", test_levels},
	{"lowest and highest", test_far_apart},
	{"word borders", test_word_borders},
	{"random against a byte map", test_random},
	CU_TEST_INFO_NULL,
};
