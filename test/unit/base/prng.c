/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <math.h>

#include "base/prng.h"

const char wh_suite_name[] = "prng";

static void sequence_is_the_published_one(void)
{
	/* splitmix64 of seed 1234567, which is the state; xoshiro256++ of state {1, 2, 3, 4}. */
	static const uint64_t splitmix[] = {
		UINT64_C(6457827717110365317),
		UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423),
		UINT64_C(4593380528125082431),
	};
	static const uint64_t xoshiro[] = {
		UINT64_C(41943041),
		UINT64_C(58720359),
		UINT64_C(3588806011781223),
		UINT64_C(3591011842654386),
		UINT64_C(9228616714210784205),
		UINT64_C(9973669472204895162),
	};
	struct wh_prng prng;

	wh_prng_init(&prng, 1234567);
	CU_ASSERT_EQUAL(memcmp(prng.state, splitmix, sizeof(splitmix)), 0);
	prng = (struct wh_prng){{1, 2, 3, 4}};
	for (uint64_t i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(wh_prng_u64(&prng), xoshiro[i]);
}

/* Chi-square with n - 1 degrees of freedom: mean n - 1, standard deviation sqrt(2 (n - 1)). */
static void check_uniform(const unsigned int *counts, unsigned int n, double total)
{
	double chi_square = 0.0;

	for (unsigned int i = 0; i < n; i++) {
		double off = counts[i] - total / n;

		chi_square += off * off / (total / n);
	}
	CU_ASSERT_TRUE(fabs(chi_square - (n - 1)) < 4.0 * sqrt(2.0 * (n - 1)));
}

static void below_is_uniform(void)
{
	static const uint64_t bounds[] = {2, 3, 10, 100};
	struct wh_prng prng;

	wh_prng_init(&prng, 1);
	for (unsigned int i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		unsigned int counts[100] = {0};
		unsigned int n_outside = 0;

		for (int n = 0; n < 200000; n++) {
			uint64_t value = wh_prng_below(&prng, bounds[i]);

			if (value < bounds[i])
				counts[value]++;
			else
				n_outside++;
		}
		CU_ASSERT_EQUAL(n_outside, 0);
		check_uniform(counts, (unsigned int)bounds[i], 200000);
	}
}

static void below_has_no_modulo_bias(void)
{
	/*
	 * For bound = 3 * 2^62 a plain modulo would give the results below 2^62 half of the time,
	 * not a third of it.
	 */
	const uint64_t bound = UINT64_C(3) << 62;
	unsigned int counts[3] = {0};
	struct wh_prng prng;

	wh_prng_init(&prng, 2);
	for (int n = 0; n < 200000; n++)
		counts[wh_prng_below(&prng, bound) >> 62]++;
	check_uniform(counts, 3, 200000);
}

static void below_takes_every_bound(void)
{
	struct wh_prng prng;
	struct wh_prng same;

	wh_prng_init(&prng, 3);
	for (int n = 0; n < 1000; n++)
		CU_ASSERT_EQUAL(wh_prng_below(&prng, 1), 0);
	for (int n = 0; n < 1000; n++)
		CU_ASSERT_NOT_EQUAL(wh_prng_below(&prng, UINT64_MAX), UINT64_MAX);

	/* No draw is thrown away for a power of two. */
	wh_prng_init(&prng, 4);
	wh_prng_init(&same, 4);
	for (int n = 0; n < 1000; n++)
		CU_ASSERT_EQUAL(wh_prng_below(&prng, UINT64_C(1) << 63),
			wh_prng_u64(&same) & (UINT64_MAX >> 1));
}

static void unit_is_uniform_below_one(void)
{
	unsigned int counts[100] = {0};
	double sum = 0.0;
	struct wh_prng prng;

	wh_prng_init(&prng, 5);
	for (int n = 0; n < 200000; n++) {
		double value = wh_prng_unit(&prng);

		CU_ASSERT_FATAL(value >= 0.0 && value < 1.0);
		counts[(int)(value * 100.0)]++;
		sum += value;
	}
	check_uniform(counts, 100, 200000);
	/* Standard deviation of the mean: 1 / sqrt(12 n) = 0.00065. */
	CU_ASSERT_TRUE(fabs(sum / 200000 - 0.5) < 4 * 0.00065);

	/* The largest draw stays below one. */
	struct wh_prng edge = {{UINT64_MAX, 0, 0, 0}};

	/* rotl(2^64 - 1, 23) + 2^64 - 1 = 2^64 - 2 */
	CU_ASSERT_EQUAL(wh_prng_unit(&edge), 1.0 - 0x1p-53);
}

static void thresholds(void)
{
	CU_ASSERT_EQUAL(wh_chance_threshold(0.0), 0);
	CU_ASSERT_EQUAL(wh_chance_threshold(-0.0), 0);
	CU_ASSERT_EQUAL(wh_chance_threshold(-1.0), 0);
	CU_ASSERT_EQUAL(wh_chance_threshold(1.0), UINT64_MAX);
	CU_ASSERT_EQUAL(wh_chance_threshold(1.5), UINT64_MAX);
	CU_ASSERT_EQUAL(wh_chance_threshold(0.5), UINT64_C(1) << 63);
	CU_ASSERT_EQUAL(wh_chance_threshold(0.25), UINT64_C(1) << 62);
	CU_ASSERT_EQUAL(wh_chance_threshold(0x1p-64), 1);
	CU_ASSERT_EQUAL(wh_chance_threshold(0x1p-65), 0);
	CU_ASSERT_EQUAL(wh_chance_threshold(1.0 - 0x1p-53), UINT64_MAX - 2047);
}

static void certain_outcomes_draw_nothing(void)
{
	struct wh_prng prng;
	struct wh_prng untouched;

	wh_prng_init(&prng, 6);
	untouched = prng;
	for (int n = 0; n < 1000; n++) {
		CU_ASSERT_FALSE(wh_prng_chance(&prng, 0));
		CU_ASSERT_TRUE(wh_prng_chance(&prng, UINT64_MAX));
	}
	CU_ASSERT_EQUAL(wh_prng_u64(&prng), wh_prng_u64(&untouched));
}

static void chance_is_a_comparison_with_the_draw(void)
{
	struct wh_prng prng;

	wh_prng_init(&prng, 7);
	for (int n = 0; n < 1000; n++) {
		struct wh_prng at = prng;
		struct wh_prng above = prng;
		uint64_t draw = wh_prng_u64(&prng);

		CU_ASSERT_FALSE(wh_prng_chance(&at, draw));
		CU_ASSERT_TRUE(wh_prng_chance(&above, draw + 1));
		/* One draw each. */
		CU_ASSERT_EQUAL(memcmp(&at, &prng, sizeof(prng)), 0);
		CU_ASSERT_EQUAL(memcmp(&above, &prng, sizeof(prng)), 0);
	}
}

static void chance_comes_as_often_as_asked(void)
{
	static const double probabilities[] = {0.001, 0.01, 0.1, 0.5, 0.9};
	struct wh_prng prng;

	wh_prng_init(&prng, 8);
	for (unsigned int i = 0; i < sizeof(probabilities) / sizeof(probabilities[0]); i++) {
		double p = probabilities[i];
		uint64_t threshold = wh_chance_threshold(p);
		int n_true = 0;

		for (int n = 0; n < 1000000; n++)
			n_true += wh_prng_chance(&prng, threshold);
		CU_ASSERT_TRUE(fabs(n_true - 1e6 * p) < 4.0 * sqrt(1e6 * p * (1.0 - p)));
	}
}

CU_TestInfo wh_tests[] = {
	{"sequence is the published one", sequence_is_the_published_one},
	{"below is uniform", below_is_uniform},
	{"below has no modulo bias", below_has_no_modulo_bias},
	{"below takes every bound", below_takes_every_bound},
	{"unit is uniform below one", unit_is_uniform_below_one},
	{"thresholds", thresholds},
	{"certain outcomes draw nothing", certain_outcomes_draw_nothing},
	{"chance is a comparison with the draw", chance_is_a_comparison_with_the_draw},
	{"chance comes as often as asked", chance_comes_as_often_as_asked},
	CU_TEST_INFO_NULL,
};
