/* SPDX-License-Identifier: BSD-3-Clause */
#include "track/recv_table.h"

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "track/recv_table";

/* Windows that start on a word, in a word, and close below the end of the array. */
static const uint64_t starts[] = {0, 1, 63, 64, 100, (UINT64_C(1) << 40) - 3};

#define FOR_EACH_START(i) for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)

/* The first comes last: one step over the whole window, to a clean table. */
static void test_first_comes_last(void)
{
	static const uint32_t sizes[] = {64, 128, 1 << 24};

	FOR_EACH_START(i)
	{
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			struct wh_recv_table table;
			uint64_t start = starts[i];
			uint64_t upper = start + sizes[j];

			CU_ASSERT_EQUAL_FATAL(wh_recv_table_init(&table, sizes[j], start), 0);
			for (uint64_t pn = upper - 1; pn > start; pn--)
				wh_recv_table_enter(&table, pn);
			CU_ASSERT_EQUAL(table.lower, start);
			CU_ASSERT_EQUAL(table.highest_end, upper);
			wh_recv_table_check(&table);
			wh_recv_table_enter(&table, start);
			CU_ASSERT_EQUAL(table.lower, upper);
			CU_ASSERT_EQUAL(table.highest_end, upper);
			CU_ASSERT_EQUAL(wh_recv_table_classify(&table, upper), WH_RECV_NEW);
			wh_recv_table_check(&table);
			wh_recv_table_free(&table);
			wh_recv_table_free(&table);
		}
	}
}

static void test_classify(void)
{
	struct wh_recv_table table;

	CU_ASSERT_EQUAL_FATAL(wh_recv_table_init(&table, 64, 1000), 0);
	wh_recv_table_enter(&table, 1000);
	wh_recv_table_enter(&table, 1010);

	static const struct {
		uint64_t pn;
		enum wh_recv_verdict verdict;
	} cases[] = {
		{0, WH_RECV_DUPLICATE},
		{999, WH_RECV_DUPLICATE},
		{1000, WH_RECV_DUPLICATE},
		{1001, WH_RECV_NEW},
		{1009, WH_RECV_NEW},
		{1010, WH_RECV_DUPLICATE},
		{1011, WH_RECV_NEW},
		{1064, WH_RECV_NEW},
		{1065, WH_RECV_BEYOND},
		{1074, WH_RECV_BEYOND},
		{UINT64_MAX, WH_RECV_BEYOND},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(wh_recv_table_classify(&table, cases[i].pn), cases[i].verdict);
	wh_recv_table_free(&table);
}

#define MODEL_STEPS 300000

/*
 * By packet number - start: has arrived. Every step enters at most one, so lower gets no further.
 */
static uint8_t model[MODEL_STEPS + 4096];

static void expect_model_hole(const struct wh_recv_table *table, uint64_t start, uint64_t from)
{
	uint64_t first = from;
	struct wh_loss_range hole;
	bool found = wh_recv_table_next_hole(table, from, &hole);

	while (first < table->highest_end && model[first - start])
		first++;
	CU_ASSERT_EQUAL_FATAL(found, first < table->highest_end);
	if (!found)
		return;

	uint64_t end = first;

	while (end < table->highest_end && !model[end - start])
		end++;
	CU_ASSERT_EQUAL_FATAL(hole.first, first);
	CU_ASSERT_EQUAL_FATAL(hole.end, end);
}

static void run_random(uint32_t size, uint64_t start, uint64_t seed)
{
	struct wh_recv_table table;
	struct wh_prng prng;
	uint64_t lower = start;
	uint64_t highest_end = start;

	CU_ASSERT_EQUAL_FATAL(wh_recv_table_init(&table, size, start), 0);
	memset(model, 0, sizeof(model));
	wh_prng_init(&prng, seed);
	for (uint32_t step = 0; step < MODEL_STEPS; step++) {
		/* Often the first missing, so that the window moves; else anywhere in reach. */
		uint64_t reach = wh_prng_below(&prng, 2) ? 4 : size + 8;
		uint64_t pn = lower + wh_prng_below(&prng, reach);

		if (lower - start > 8 && wh_prng_below(&prng, 16) == 0)
			pn = lower - 1 - wh_prng_below(&prng, 8);

		enum wh_recv_verdict verdict = wh_recv_table_classify(&table, pn);
		bool beyond = pn >= lower + size;

		CU_ASSERT_EQUAL_FATAL(verdict, beyond              ? WH_RECV_BEYOND
					       : model[pn - start] ? WH_RECV_DUPLICATE
								   : WH_RECV_NEW);
		if (verdict == WH_RECV_NEW) {
			wh_recv_table_enter(&table, pn);
			model[pn - start] = 1;
			highest_end = pn >= highest_end ? pn + 1 : highest_end;
			while (model[lower - start])
				lower++;
		}
		if (wh_prng_below(&prng, 64) == 0) {
			uint64_t end = lower + wh_prng_below(&prng, size + 1);

			wh_recv_table_extend(&table, end);
			highest_end = end > highest_end ? end : highest_end;
		}
		CU_ASSERT_EQUAL_FATAL(table.lower, lower);
		CU_ASSERT_EQUAL_FATAL(table.highest_end, highest_end);
		expect_model_hole(&table, start, lower + wh_prng_below(&prng, size));
		if (step % 4096 == 0)
			wh_recv_table_check(&table);
	}
	CU_ASSERT(lower - start > 20 * size); /* the window went round */
	wh_recv_table_check(&table);
	wh_recv_table_free(&table);
}

static void test_random(void)
{
	run_random(64, 0, 1);
	run_random(64, 12345, 2);
	run_random(128, (UINT64_C(1) << 32) - 100, 3);
	run_random(1024, 77, 4);
	run_random(64, (UINT64_C(1) << 40) - 3, 5);
}

CU_TestInfo wh_tests[] = {
	{"the first comes last", test_first_comes_last},
	{"classify", test_classify},
	{"random against a byte map", test_random},
	CU_TEST_INFO_NULL,
};
