/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <math.h>

#include "base/prng.h"

const char wh_suite_name[] = "prng";

/*
 * The generators again, from their descriptions: splitmix64 as the hash of a Weyl sequence (Steele,
 * Lea and Flood 2014, with Stafford's variant 13), xoshiro256++ as the linear engine of Blackman
 * and Vigna (section 4.2: a, b = 17, 45) under the ++ scrambler with rotation 23. The two known
 * sequences below hold this description to account before the library is.
 */
struct reference {
	uint64_t s0, s1, s2, s3;
};

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

static uint64_t weyl_hash(uint64_t seed, uint64_t index)
{
	uint64_t z = seed + index * UINT64_C(0x9e3779b97f4a7c15);

	z ^= z >> 30;
	z *= UINT64_C(0xbf58476d1ce4e5b9);
	z ^= z >> 27;
	z *= UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return z;
}

static uint64_t reference_next(struct reference *r)
{
	struct reference old = *r;

	r->s0 = old.s0 ^ old.s1 ^ old.s3;
	r->s1 = old.s0 ^ old.s1 ^ old.s2;
	r->s2 = old.s0 ^ old.s2 ^ (old.s1 << 17);
	r->s3 = rotl(old.s1 ^ old.s3, 45);
	return old.s0 + rotl(old.s0 + old.s3, 23);
}

static void the_reference_gives_known_sequences(void)
{
	/* splitmix64 of seed 1234567, xoshiro256++ of state {1, 2, 3, 4}: as published. */
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
	struct reference r = {1, 2, 3, 4};
	struct wh_prng prng = {{1, 2, 3, 4}};

	for (uint64_t i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(weyl_hash(1234567, i + 1), splitmix[i]);
	for (uint64_t i = 0; i < 6; i++) {
		CU_ASSERT_EQUAL(reference_next(&r), xoshiro[i]);
		CU_ASSERT_EQUAL(wh_prng_u64(&prng), xoshiro[i]);
	}
}

static void sequence_is_the_published_one(void)
{
	static const uint64_t seeds[] = {0, 1, 42, 1234567, UINT64_MAX};

	for (unsigned int i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		struct reference r = {weyl_hash(seeds[i], 1), weyl_hash(seeds[i], 2),
			weyl_hash(seeds[i], 3), weyl_hash(seeds[i], 4)};
		struct wh_prng prng;
		unsigned int n_wrong = 0;

		wh_prng_init(&prng, seeds[i]);
		for (int n = 0; n < 10000; n++)
			n_wrong += wh_prng_u64(&prng) != reference_next(&r);
		CU_ASSERT_EQUAL(n_wrong, 0);
	}
}

static void same_seed_same_sequence(void)
{
	struct wh_prng a;
	struct wh_prng b;
	struct wh_prng c;
	unsigned int n_same = 0;

	wh_prng_init(&a, 7);
	wh_prng_init(&b, 7);
	wh_prng_init(&c, 8);
	for (int i = 0; i < 1000; i++) {
		uint64_t value = wh_prng_u64(&a);

		CU_ASSERT_EQUAL(value, wh_prng_u64(&b));
		n_same += value == wh_prng_u64(&c);
	}
	CU_ASSERT_EQUAL(n_same, 0);
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
	{"the reference gives known sequences", the_reference_gives_known_sequences},
	{"sequence is the published one", sequence_is_the_published_one},
	{"same seed, same sequence", same_seed_same_sequence},
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
