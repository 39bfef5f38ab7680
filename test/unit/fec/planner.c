/* SPDX-License-Identifier: BSD-3-Clause */
#include "fec/planner.h"

#include <math.h>

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "planner";

/* By hand: 1 - (1 - p)^n, and two terms of the binomial for one repair packet. */
static void test_chances_by_hand(void)
{
	WH_ASSERT_NEAR(wh_fec_excess_chance(100, 0, 0.01, 1.0, 1), 1.0 - pow(0.99, 100), 1e-9);
	WH_ASSERT_NEAR(wh_fec_excess_chance(100, 1, 0.01, 1.0, 1),
		1.0 - pow(0.99, 100) - 100 * 0.01 * pow(0.99, 99), 1e-9);
	CU_ASSERT_EQUAL(wh_fec_excess_chance(10, 10, 0.5, 1.0, 1), 0.0);
	CU_ASSERT_EQUAL(wh_fec_excess_chance(10, 3, 0.0, 1.0, 1), 0.0);
	CU_ASSERT_EQUAL(wh_fec_excess_chance(10, 3, 1.0, 1.0, 1), 1.0);
	WH_ASSERT_NEAR(wh_fec_excess_chance(10, 9, 0.5, 1.0, 1), pow(0.5, 10), 1e-9);

	/* Two packets, both lost: 0.1 (0.1 + 0.9 m), with m = 1 - 1/5 - 1/45 when adjacent. */
	WH_ASSERT_NEAR(wh_fec_excess_chance(2, 1, 0.1, 5.0, 1), 0.1 * (0.1 + 0.9 * 7 / 9.0), 1e-9);
	WH_ASSERT_NEAR(wh_fec_excess_chance(2, 1, 0.1, 5.0, 2),
		0.1 * (0.1 + 0.9 * 7 / 9.0 * 7 / 9.0), 1e-9);

	/* Many: the normal distribution, half of it above the mean of 2000.5. */
	WH_ASSERT_NEAR(wh_fec_excess_chance(20005, 2000, 0.1, 1.0, 1), 0.5, 1e-9);
	/* Counted and normal meet: 2048 packets by 5 %, a deviation of 10 above. */
	WH_ASSERT_NEAR(wh_fec_excess_chance(2048, 112, 0.05, 1.0, 1),
		wh_fec_excess_chance(2049, 112, 0.05, 1.0, 1), 0.06);
}

/* The share of blocks that lose more than their repair packets, in a simulated chain. */
static double simulate(const struct wh_fec_shape *shape, double loss, double burst_pkts)
{
	struct wh_prng prng;
	uint32_t broken = 0;
	uint32_t blocks = 0;
	bool bad = false;

	wh_prng_init(&prng, 7);
	while (blocks < 60000) {
		uint32_t lost[16] = {0};

		for (uint32_t i = 0; i < shape->k + shape->r; i++) {
			if (burst_pkts == 1.0)
				bad = wh_prng_unit(&prng) < loss;
			else if (bad)
				bad = wh_prng_unit(&prng) >= 1.0 / burst_pkts;
			else
				bad = wh_prng_unit(&prng) < loss / (1.0 - loss) / burst_pkts;
			lost[(i < shape->k ? i : i - shape->k) % shape->blocks] += bad;
		}
		for (uint32_t b = 0; b < shape->blocks; b++)
			broken += lost[b] > shape->r / shape->blocks;
		blocks += shape->blocks;
	}
	return (double)broken / blocks;
}

static struct wh_fec_planner planner_at(double target, double loss, double burst_pkts)
{
	struct wh_fec_planner planner;
	struct wh_fec_planner_config config;

	wh_fec_planner_config_init(&config, WH_FEC_RS);
	config.target = target;
	config.initial_loss = loss;
	wh_fec_planner_init(&planner, &config);
	planner.burst_pkts = burst_pkts;
	return planner;
}

/*
 * 20 paths: the plan's own chance is what a simulation finds, within a factor of 2; it keeps the
 * target, and one repair packet less per block would not.
 */
static void test_simulated_chance(void)
{
	static const double losses[] = {1e-3, 3e-3, 1e-2, 3e-2, 5e-2};
	static const double bursts[] = {1.0, 2.0, 5.0, 12.0};

	for (uint32_t i = 0; i < 20; i++) {
		double loss = losses[i / 4];
		double burst = bursts[i % 4];
		struct wh_fec_planner planner = planner_at(0.01, loss, burst);
		struct wh_fec_shape shape = {.k = 762};

		wh_fec_planner_plan(&planner, &shape);
		CU_ASSERT_EQUAL(shape.code, WH_FEC_RS);
		CU_ASSERT_EQUAL(shape.blocks, 6);

		uint32_t r = shape.r / shape.blocks;
		double chance = wh_fec_excess_chance(127 + r, r, loss, burst, 6);
		double less = wh_fec_excess_chance(126 + r, r - 1, loss, burst, 6);
		double found = simulate(&shape, loss, burst);

		CU_ASSERT_TRUE(chance <= 0.01);
		CU_ASSERT_TRUE(r == 1 || less > 0.01);
		CU_ASSERT_TRUE(found < chance * 2.0 && found > chance / 2.0);
	}
}

/* The 99.99 % of the issue's own path: 0.1 % at random, 1e-4: r = 4 of 124, by the binomial. */
static void test_plans_by_hand(void)
{
	struct wh_fec_planner planner = planner_at(1e-4, 1e-3, 1.0);
	struct wh_fec_shape shape = {.k = 745};

	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_EQUAL(shape.blocks, 6);
	CU_ASSERT_EQUAL(shape.r, 18); /* C(128, 4) 1e-12 = 1.07e-5 with 3, C(127, 3) 1e-9 with 2 */

	shape.k = 1; /* a packet, sent twice: (1e-3)^2 */
	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_EQUAL(
		shape.code, WH_FEC_NONE); /* the ceiling of a quarter allows a third of one */

	shape.k = 3;
	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_EQUAL(shape.r, 1);
}

static void test_ceiling(void)
{
	struct wh_fec_planner planner = planner_at(1e-4, 0.3, 1.0);
	struct wh_fec_shape shape = {.k = 762};

	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_EQUAL(shape.r, 6 * 42); /* 127 / 3 */
	planner.config.r_max = 100;
	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_EQUAL(shape.r, 6 * 16);
}

/* Blocks of one size, of chunks of one and of three of them: each plan is for its own chunk. */
static void test_plans_of_equal_blocks(void)
{
	struct wh_fec_planner planner = planner_at(1e-4, 0.3, 1.0);
	struct wh_fec_shape one = {.k = 127};
	struct wh_fec_shape three = {.k = 381};

	planner.config.r_max = 30;
	wh_fec_planner_plan(&planner, &one);
	CU_ASSERT_EQUAL(one.r, 30);
	wh_fec_planner_plan(&planner, &three);
	CU_ASSERT_EQUAL(three.r, 3 * 10);

	/* In bursts of five, blocks of three are hit less than one by itself. */
	planner = planner_at(1e-4, 1e-2, 5.0);
	wh_fec_planner_plan(&planner, &three);

	struct wh_fec_planner anew = planner_at(1e-4, 1e-2, 5.0);

	wh_fec_planner_plan(&planner, &one);
	struct wh_fec_shape alone = {.k = 127};

	wh_fec_planner_plan(&anew, &alone);
	CU_ASSERT_EQUAL(one.r, alone.r);
	CU_ASSERT_TRUE(3 * one.r > three.r);
}

/* Repair until the path has proved clean, and again for the chunk after the first loss. */
static void test_clean_path(void)
{
	struct wh_fec_planner planner = planner_at(1e-4, 1e-3, 1.0);
	struct wh_fec_shape shape = {.k = 745};

	wh_fec_planner_feedback(&planner, 65535, 0, 0);
	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_EQUAL(shape.r, 6 * 1); /* at worst 3 in 65535: C(126, 2) 2.1e-9 */
	wh_fec_planner_feedback(&planner, 1, 0, 0);
	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_EQUAL(shape.code, WH_FEC_NONE);
	CU_ASSERT_EQUAL(shape.r, 0);

	wh_fec_planner_feedback(&planner, 745, 8, 7);
	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_EQUAL(shape.code, WH_FEC_RS);
	CU_ASSERT_TRUE(shape.r >= 12);
	wh_fec_planner_feedback(&planner, 65536, 0, 0);
	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_EQUAL(shape.r, 0);
}

/* The mean of lengths, by events: 32 of them forget. */
static void test_bursts_are_measured(void)
{
	struct wh_fec_planner planner = planner_at(1e-4, 1e-3, 1.0);

	wh_fec_planner_feedback(&planner, 1000, 8, 1);
	WH_ASSERT_NEAR(planner.burst_pkts, 1.0 + 7.0 / 32.0, 1e-12);
	wh_fec_planner_feedback(&planner, 100000, 640, 64);
	WH_ASSERT_NEAR(planner.burst_pkts, 10.0, 1e-12);
	WH_ASSERT_NEAR(wh_fec_planner_loss(&planner),
		(wh_loss_rate_short(&planner.loss) + 648.0 / 101000.0) / 2.0, 1e-12);
}

static void test_tornado(void)
{
	struct wh_fec_planner planner = planner_at(1e-4, 0.01, 1.0);
	struct wh_fec_shape shape = {.k = 745};

	planner.config.code = WH_FEC_TORNADO;
	wh_fec_planner_plan(&planner, &shape);
	CU_ASSERT_EQUAL(shape.code, WH_FEC_TORNADO);
	CU_ASSERT_EQUAL(shape.blocks, 1);

	/* It bears 0.79 r - 3.5 sqrt(r) losses. */
	uint32_t bears = (uint32_t)((0.79 - 3.5 / sqrt(shape.r)) * shape.r);
	uint32_t less = (uint32_t)((0.79 - 3.5 / sqrt(shape.r - 1)) * (shape.r - 1));

	CU_ASSERT_TRUE(wh_fec_excess_chance(745 + shape.r, bears, 0.01, 1.0, 1) <= 1e-4);
	CU_ASSERT_TRUE(wh_fec_excess_chance(744 + shape.r, less, 0.01, 1.0, 1) > 1e-4);
}

/*
 * Half of what is sent of 711 packets: 0.77 r - 32 reaches the mean and 3.72 deviations, (711 +
 * r) / 2 + 1.86 sqrt(711 + r), at 1,779. Of fewer than 700 it is still 0.79 r - 3.5 sqrt(r).
 */
static void test_tornado_of_half_lost(void)
{
	static const struct {
		uint32_t k, least, most;
	} cases[] = {{711, 1769, 1789}, {699, 2085, 2110}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_fec_planner planner = planner_at(1e-4, 0.5, 1.0);
		struct wh_fec_shape shape = {.k = cases[i].k};

		planner.config.code = WH_FEC_TORNADO;
		planner.config.ceiling = 0.85;
		wh_fec_planner_plan(&planner, &shape);
		CU_ASSERT_TRUE(shape.r >= cases[i].least && shape.r <= cases[i].most);
	}
}

CU_TestInfo wh_tests[] = {
	{"chances by hand", test_chances_by_hand},
	{"simulated chance", test_simulated_chance},
	{"plans by hand", test_plans_by_hand},
	{"ceiling", test_ceiling},
	{"plans of equal blocks", test_plans_of_equal_blocks},
	{"clean path", test_clean_path},
	{"bursts are measured", test_bursts_are_measured},
	{"tornado", test_tornado},
	{"tornado of half lost", test_tornado_of_half_lost},
	CU_TEST_INFO_NULL,
};
