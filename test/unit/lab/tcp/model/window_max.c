/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/model/window_max.h"

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "window_max";

static double add(struct wh_window_max *max, uint64_t at, double value)
{
	wh_window_max_add(max, 10, at, value);
	return wh_window_max_value(max);
}

static void keeps_the_best_for_the_window(void)
{
	struct wh_window_max max;

	wh_window_max_reset(&max, 0, 5);
	CU_ASSERT_EQUAL(add(&max, 1, 9), 9);
	for (uint64_t at = 2; at <= 11; at++)
		CU_ASSERT_EQUAL(add(&max, at, 7), 9);
	CU_ASSERT_EQUAL(add(&max, 12, 7), 7);
}

/* When the best is gone, the best of what came later is there: 8 at 6, then 6 at 9. */
static void the_next_best_takes_over(void)
{
	struct wh_window_max max;

	wh_window_max_reset(&max, 0, 10);
	add(&max, 3, 4);
	add(&max, 6, 8);
	add(&max, 9, 6);
	CU_ASSERT_EQUAL(add(&max, 10, 1), 10);
	CU_ASSERT_EQUAL(add(&max, 11, 1), 8);
	CU_ASSERT_EQUAL(add(&max, 16, 1), 8);
	CU_ASSERT_EQUAL(add(&max, 17, 1), 6);
}

static void a_pause_forgets_all(void)
{
	struct wh_window_max max;

	wh_window_max_reset(&max, 0, 10);
	CU_ASSERT_EQUAL(add(&max, 100, 1), 1);
}

/* Never above the true one; and never below what the last quarter of the window had. */
static void is_near_the_truth(void)
{
	struct wh_window_max max = {0};
	struct wh_prng prng;
	double values[1000];

	wh_prng_init(&prng, 1);
	for (uint64_t at = 0; at < 1000; at++) {
		double most = 0, recent = 0;

		values[at] = wh_prng_unit(&prng);
		add(&max, at, values[at]);
		for (uint64_t back = 0; back <= 10 && back <= at; back++) {
			if (values[at - back] > most)
				most = values[at - back];
			if (back <= 2 && values[at - back] > recent)
				recent = values[at - back];
		}
		CU_ASSERT_TRUE(wh_window_max_value(&max) <= most);
		CU_ASSERT_TRUE(wh_window_max_value(&max) >= recent);
	}
}

CU_TestInfo wh_tests[] = {
	{"keeps the best for the window", keeps_the_best_for_the_window},
	{"the next best takes over", the_next_best_takes_over},
	{"a pause forgets all", a_pause_forgets_all},
	{"is near the truth", is_near_the_truth},
	CU_TEST_INFO_NULL,
};
