/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "fleet/forecast/forecast.h"
#include "unit.h"

const char wh_suite_name[] = "app/forecast";

#define GB   1000000000
#define NEAR 1e-6

/* 80 shards of 1 GB: one takes 1 s at 8 Gb/s. */
static struct wh_shard shards[100];
static struct wh_site site;

static struct wh_forecast_config fleet_of(uint32_t nodes)
{
	for (uint32_t i = 0; i < 80; i++)
		shards[i].bytes = GB;
	site = (struct wh_site){.receivers = nodes};
	for (uint32_t i = 0; i < nodes; i++)
		site.receiver[i].weight = 1;
	return (struct wh_forecast_config){.shard = shards,
		.shards = 80,
		.site = &site,
		.nodes = nodes,
		.node_bps = 8e9,
		.disk_bps = INFINITY,
		.lambda_bps = INFINITY,
		.slowness = 1,
		.kill_s = INFINITY,
		.away_s = INFINITY};
}

static struct wh_forecast run(const struct wh_forecast_config *config)
{
	struct wh_forecast result;
	double sum = 0;

	CU_ASSERT_FATAL(wh_forecast_run(config, 1, &result));
	for (uint32_t i = 0; i < WH_FORECAST_TIMES; i++)
		sum += result.share[i];
	CU_ASSERT_DOUBLE_EQUAL(sum, 1, NEAR);
	return result;
}

static void one_node(void)
{
	struct wh_forecast_config config = fleet_of(1);
	struct wh_forecast result;

	config.start_s = 0.25;
	result = run(&config);
	CU_ASSERT_DOUBLE_EQUAL(result.seconds, 80 * 1.25, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(result.ideal_s, 80, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(result.share[WH_FORECAST_START], 0.2, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(result.share[WH_FORECAST_NIC], 0.8, NEAR);
}

/* Four nodes over one lambda of 16 Gb/s, and over one receiver of 16. */
static void shares_are_equal(void)
{
	struct wh_forecast_config config = fleet_of(4);
	struct wh_forecast result;

	config.lambda_bps = 16e9;
	result = run(&config);
	CU_ASSERT_DOUBLE_EQUAL(result.seconds, 40, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(result.share[WH_FORECAST_LAMBDA], 1, NEAR);
	config.lambda_bps = INFINITY;
	site.receivers = 1;
	site.receiver[0].rate_bps = 16e9;
	result = run(&config);
	CU_ASSERT_DOUBLE_EQUAL(result.seconds, 40, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(result.share[WH_FORECAST_RECEIVER], 1, NEAR);
}

/*
 * Of a lambda of 10 Gb/s a slow node uses 2, so that the other has its 8 of it: with five shards it
 * does four while the slow one does its first.
 */
static void what_one_leaves_the_other_has(void)
{
	struct wh_forecast_config config = fleet_of(2);
	struct wh_forecast result;

	config.lambda_bps = 10e9;
	config.disk_bps = 8e9;
	config.slow_nodes = 1;
	config.slowness = 4;
	config.shards = 5;
	result = run(&config);
	CU_ASSERT_DOUBLE_EQUAL(result.seconds, 4, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(result.ideal_s, 4, NEAR);
}

/* A slow node takes fewer shards: 64 and 16 of 80, not 40 of each, which would take 160 s. */
static void work_is_stolen(void)
{
	struct wh_forecast_config config = fleet_of(2);

	config.disk_bps = 8e9;
	config.slow_nodes = 1;
	config.slowness = 4;
	CU_ASSERT_DOUBLE_EQUAL(run(&config).seconds, 64, NEAR);
}

/*
 * The first of two nodes dies at 10.5 s, with half of a shard in the journal but for the last 0.2 s
 * of it. The other one does all else: 79 whole shards less the 10 of the dead one, and 0.7 of one.
 */
static void a_node_dies(void)
{
	struct wh_forecast_config config = fleet_of(2);
	struct wh_forecast result;

	config.kill_s = 10.5;
	config.requeue_s = 5;
	config.lost_s = 0.2;
	result = run(&config);
	CU_ASSERT_DOUBLE_EQUAL(result.seconds, 69.7, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(result.repeated_bytes, 0.2 * GB, 1);
	CU_ASSERT_DOUBLE_EQUAL(result.deaths, 1, 0);
	CU_ASSERT_DOUBLE_EQUAL(result.waited_s, 69 - 10.5, NEAR);
}

/* With nothing else to do its shard begins as soon as Slurm has it again. */
static void a_shard_is_requeued(void)
{
	struct wh_forecast_config config = fleet_of(2);
	struct wh_forecast result;

	config.shards = 2;
	config.kill_s = 0.5;
	config.requeue_s = 5;
	config.start_s = 0.25;
	result = run(&config);
	CU_ASSERT_DOUBLE_EQUAL(result.waited_s, 5, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(result.seconds, 0.5 + 5 + 0.25 + 0.75, NEAR);
}

/* It comes back after 4 s, and takes what is left. Without that there is no end. */
static void the_only_node_dies(void)
{
	struct wh_forecast_config config = fleet_of(1);

	config.kill_s = 10.5;
	config.away_s = 4;
	CU_ASSERT_DOUBLE_EQUAL(run(&config).seconds, 84, NEAR);
	config.away_s = INFINITY;

	struct wh_forecast result;

	CU_ASSERT(wh_forecast_run(&config, 1, &result));
	CU_ASSERT(isinf(result.seconds));
}

/* Of 100 nodes of which a tenth dies in a day, 13.2 die in 30 hours. */
static void nodes_die_by_chance(void)
{
	struct wh_forecast_config config = fleet_of(100);
	double deaths = 0;

	for (uint32_t i = 0; i < 100; i++)
		shards[i].bytes = UINT64_C(108000) * GB;
	config.shards = 100;
	config.fails_a_day = 0.1;
	config.away_s = 0;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct wh_forecast result;

		CU_ASSERT(wh_forecast_run(&config, seed, &result));
		deaths += result.deaths * 108000 / result.seconds;
	}
	CU_ASSERT_DOUBLE_EQUAL(deaths / 20, 13.2, 1.6);
}

/* Receivers that take as much as a node: at no time has one two of the shards, and another none. */
static void receivers_in_turn(void)
{
	struct wh_forecast_config config = fleet_of(8);
	struct wh_forecast result;

	for (uint32_t i = 0; i < 8; i++)
		site.receiver[i].rate_bps = 8e9;
	result = run(&config);
	CU_ASSERT_DOUBLE_EQUAL(result.seconds, 10, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(result.ideal_s, 10, NEAR);
	site.receiver[3].maintenance = true;
	result = run(&config);
	CU_ASSERT_DOUBLE_EQUAL(result.ideal_s, 80 / 7.0, NEAR);
	CU_ASSERT(result.seconds < 13);
}

/* 80 s of one node's work, of which a node does no part of a shard. */
static void fewest_nodes(void)
{
	struct wh_forecast_config config = fleet_of(8);

	CU_ASSERT_EQUAL(wh_forecast_nodes(&config, 80.1, 8), 1);
	CU_ASSERT_EQUAL(wh_forecast_nodes(&config, 79.9, 8), 2);
	CU_ASSERT_EQUAL(wh_forecast_nodes(&config, 27.1, 8), 3);
	CU_ASSERT_EQUAL(wh_forecast_nodes(&config, 26.9, 8), 4);
	CU_ASSERT_EQUAL(wh_forecast_nodes(&config, 9.9, 8), 0);
}

CU_TestInfo wh_tests[] = {
	{"one node", one_node},
	{"shares are equal", shares_are_equal},
	{"what one leaves the other has", what_one_leaves_the_other_has},
	{"work is stolen", work_is_stolen},
	{"a node dies", a_node_dies},
	{"a shard is requeued", a_shard_is_requeued},
	{"the only node dies", the_only_node_dies},
	{"nodes die by chance", nodes_die_by_chance},
	{"receivers in turn", receivers_in_turn},
	{"fewest nodes", fewest_nodes},
	CU_TEST_INFO_NULL,
};
