/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "lab/netem/loss_model.h"

const char wh_suite_name[] = "loss_model";

#define HZ          WH_NS_PER_S
#define DRAWS       1000000
#define PACKET_SIZE 1538

struct tally {
	double lost;
	double bit_errors;
	double bursts; /* runs of losses */
};

static struct tally draw_many(const struct wh_link_model *config, uint32_t wire_bytes)
{
	struct tally tally = {0};
	struct wh_loss_model model;
	struct wh_prng prng;
	bool was_lost = false;

	wh_prng_init(&prng, config->seed);
	wh_loss_model_init(&model, config, HZ, 0);
	for (int n = 0; n < DRAWS; n++) {
		enum wh_netem_drop drop = wh_loss_model_draw(&model, &prng, wire_bytes);
		bool lost = drop == WH_NETEM_DROP_LOSS;

		tally.lost += lost;
		tally.bit_errors += drop == WH_NETEM_DROP_BIT_ERROR;
		tally.bursts += lost && !was_lost;
		was_lost = lost;
	}
	return tally;
}

/* Within 4 standard deviations of a binomial count. */
static void check_count(double count, double n, double p)
{
	double sigma = sqrt(n * p * (1.0 - p));

	if (!(fabs(count - n * p) <= 4.0 * sigma))
		printf("\n%g of %g is not %g +- %g", count, n, n * p, 4.0 * sigma);
	CU_ASSERT_TRUE(fabs(count - n * p) <= 4.0 * sigma);
}

static void bernoulli_loses_its_share(void)
{
	static const double shares[] = {0.0, 1e-4, 0.01, 0.3, 0.99, 1.0};

	for (unsigned int i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct wh_link_model config = {.loss = shares[i], .seed = 11};
		struct tally tally = draw_many(&config, PACKET_SIZE);

		check_count(tally.lost, DRAWS, shares[i]);
		CU_ASSERT_EQUAL(tally.bit_errors, 0.0);
	}
}

static void bernoulli_losses_are_independent(void)
{
	struct wh_link_model config = {.loss = 0.1, .seed = 12};
	struct tally tally = draw_many(&config, PACKET_SIZE);

	/* A run begins at a loss after a delivery: 0.9 of the losses; mean length 1 / 0.9. */
	WH_ASSERT_NEAR(tally.bursts, DRAWS * 0.1 * 0.9, 0.012);
}

/*
 * The tolerances are 4 standard deviations: of the share, sqrt(s (1 - s) / n) with s = p / (p + r),
 * widened by sqrt((2 - p - r) / (p + r)) since losses cling together; of the mean burst,
 * sqrt((1 - r) / bursts).
 */
static void gilbert_elliott_matches_the_closed_forms(void)
{
	static const struct {
		double p, r;
		double loss_tolerance;
		double burst_tolerance;
	} cases[] = {
		{0.01, 0.25, 0.052, 0.036}, {0.05, 0.5, 0.021, 0.014}, {0.3, 0.2, 0.006, 0.011},
		{0.1, 1.0, 0.012, 1e-9}, /* never two in a row */
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double p = cases[i].p;
		double r = cases[i].r;
		struct wh_link_model config = {
			.loss_model = WH_LOSS_GILBERT_ELLIOTT,
			.gilbert_elliott = {.good_to_bad = p, .bad_to_good = r, .loss_bad = 1.0},
			.seed = 13,
		};
		struct tally tally = draw_many(&config, PACKET_SIZE);

		WH_ASSERT_NEAR(tally.lost / DRAWS, p / (p + r), cases[i].loss_tolerance);
		WH_ASSERT_NEAR(tally.lost / tally.bursts, 1.0 / r, cases[i].burst_tolerance);
	}
}

static void gilbert_elliott_loses_in_both_states(void)
{
	struct wh_link_model config = {
		.loss_model = WH_LOSS_GILBERT_ELLIOTT,
		.gilbert_elliott = {0.02, 0.08, .loss_good = 0.01, .loss_bad = 0.6},
		.seed = 14,
	};
	struct tally tally = draw_many(&config, PACKET_SIZE);

	/* Bad 0.02 / 0.10 of the time: 0.8 * 0.01 + 0.2 * 0.6. */
	WH_ASSERT_NEAR(tally.lost / DRAWS, 0.128, 0.033);
}

static void gilbert_elliott_starts_good_and_loses_before_it_moves(void)
{
	struct wh_link_model config = {
		.loss_model = WH_LOSS_GILBERT_ELLIOTT,
		.gilbert_elliott = {1.0, 1.0, .loss_bad = 1.0},
	};
	struct wh_loss_model model;
	struct wh_prng prng;

	/* Good, bad, good, ... with no draw at all. */
	wh_prng_init(&prng, 1);
	wh_loss_model_init(&model, &config, HZ, 0);

	struct wh_prng untouched = prng;

	for (int n = 0; n < 100; n++)
		CU_ASSERT_EQUAL(wh_loss_model_draw(&model, &prng, PACKET_SIZE),
			n % 2 == 0 ? WH_NETEM_DELIVERED : WH_NETEM_DROP_LOSS);
	CU_ASSERT_EQUAL(memcmp(&prng, &untouched, sizeof(prng)), 0);

	/* The bad state is for ever when there is no way back. */
	config.gilbert_elliott.bad_to_good = 0.0;
	wh_loss_model_init(&model, &config, HZ, 0);
	CU_ASSERT_EQUAL(wh_loss_model_draw(&model, &prng, PACKET_SIZE), WH_NETEM_DELIVERED);
	for (int n = 0; n < 100; n++)
		CU_ASSERT_EQUAL(wh_loss_model_draw(&model, &prng, PACKET_SIZE), WH_NETEM_DROP_LOSS);
}

static void bit_errors_match_the_closed_form(void)
{
	static const struct {
		double bit_error;
		uint32_t wire_bytes;
		double p; /* 1 - (1 - bit_error)^(8 * wire_bytes), by decimal arithmetic */
	} cases[] = {
		{1e-5, 1538, 0.115772251},
		{1e-6, 1538, 0.012228621},
		{1e-6, 9038, 0.069751976},
		{1e-4, 84, 0.064994961},
		{0.5, 1, 0.99609375},
		{1.0, 84, 1.0},
		{0.0, 9038, 0.0},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_link_model config = {.bit_error = cases[i].bit_error, .seed = 15};
		struct tally tally = draw_many(&config, cases[i].wire_bytes);

		check_count(tally.bit_errors, DRAWS, cases[i].p);
		CU_ASSERT_EQUAL(tally.lost, 0.0);
	}
}

static void small_bit_error_rates_keep_their_digits(void)
{
	struct wh_link_model config = {.bit_error = 1e-15};
	struct wh_loss_model model;
	struct wh_prng prng;

	/* 12304 bits of 1e-15 each: 1.2304e-11 less 7.6e-23. */
	wh_prng_init(&prng, 1);
	wh_loss_model_init(&model, &config, HZ, 0);
	wh_loss_model_draw(&model, &prng, PACKET_SIZE);
	WH_ASSERT_NEAR(model.sizes[PACKET_SIZE % WH_LOSS_SIZES_CACHED].threshold,
		12304e-15 * 0x1p64, 1e-6);
}

static void sizes_that_share_a_cache_entry_keep_their_own_chance(void)
{
	struct wh_link_model config = {.bit_error = 1e-4, .seed = 16};
	const uint32_t sizes[2] = {100, 100 + 20 * WH_LOSS_SIZES_CACHED};
	double errors[2] = {0};
	struct wh_loss_model model;
	struct wh_prng prng;

	wh_prng_init(&prng, config.seed);
	wh_loss_model_init(&model, &config, HZ, 0);
	for (int n = 0; n < 200000; n++)
		errors[n % 2] +=
			wh_loss_model_draw(&model, &prng, sizes[n % 2]) == WH_NETEM_DROP_BIT_ERROR;
	check_count(errors[0], 100000, 0.07688735);
	check_count(errors[1], 100000, 0.66847604);
}

static void loss_comes_before_bit_errors(void)
{
	struct wh_link_model config = {.loss = 0.5, .bit_error = 1.0, .seed = 17};
	struct tally tally = draw_many(&config, PACKET_SIZE);

	check_count(tally.lost, DRAWS, 0.5);
	CU_ASSERT_EQUAL(tally.lost + tally.bit_errors, DRAWS);
}

static void outage_edges_are_exact(void)
{
	const struct wh_link_model config = {
		.outage = {{100, 50}, {200, 1}, {300, 0}, {400, 20}, {410, 20}, {430, 5}, {20, 10},
			{1000, UINT64_MAX}},
		.n_outages = 8,
	};
	static const struct {
		uint64_t now_ns;
		bool outage;
	} cases[] = {
		{0, false},
		{19, false},
		{20, true},
		{29, true},
		{30, false},
		{99, false},
		{100, true},
		{149, true},
		{150, false},
		{199, false},
		{200, true},
		{201, false},
		{300, false},
		{399, false},
		{400, true},
		{415, true},
		{425, true},
		{430, true},
		{434, true},
		{435, false},
		{999, false},
		{1000, true},
		{1001, true},
		{UINT64_MAX - 1001, true},
	};
	const uint64_t start_tsc = 1000;
	struct wh_loss_model every;

	wh_loss_model_init(&every, &config, HZ, start_tsc);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_loss_model fresh; /* jumps there at once */

		wh_loss_model_init(&fresh, &config, HZ, start_tsc);
		CU_ASSERT_EQUAL(
			wh_loss_model_outage(&every, start_tsc + cases[i].now_ns), cases[i].outage);
		CU_ASSERT_EQUAL(
			wh_loss_model_outage(&fresh, start_tsc + cases[i].now_ns), cases[i].outage);
	}
}

static void outage_edges_follow_the_clock(void)
{
	const struct wh_link_model config = {.outage = {{1000, 1000}}, .n_outages = 1};
	struct wh_loss_model model;

	wh_loss_model_init(&model, &config, UINT64_C(2300000000), 0);
	CU_ASSERT_FALSE(wh_loss_model_outage(&model, 2299));
	CU_ASSERT_TRUE(wh_loss_model_outage(&model, 2300));
	CU_ASSERT_TRUE(wh_loss_model_outage(&model, 4599));
	CU_ASSERT_FALSE(wh_loss_model_outage(&model, 4600));
}

CU_TestInfo wh_tests[] = {
	{"Bernoulli loses its share", bernoulli_loses_its_share},
	{"Bernoulli losses are independent", bernoulli_losses_are_independent},
	{"Gilbert-Elliott matches the closed forms", gilbert_elliott_matches_the_closed_forms},
	{"Gilbert-Elliott loses in both states", gilbert_elliott_loses_in_both_states},
	{"Gilbert-Elliott starts good, loses, then moves",
		gilbert_elliott_starts_good_and_loses_before_it_moves},
	{"bit errors match the closed form", bit_errors_match_the_closed_form},
	{"small bit error rates keep their digits", small_bit_error_rates_keep_their_digits},
	{"sizes that share a cache entry keep their own chance",
		sizes_that_share_a_cache_entry_keep_their_own_chance},
	{"loss comes before bit errors", loss_comes_before_bit_errors},
	{"outage edges are exact", outage_edges_are_exact},
	{"outage edges follow the clock", outage_edges_follow_the_clock},
	CU_TEST_INFO_NULL,
};
