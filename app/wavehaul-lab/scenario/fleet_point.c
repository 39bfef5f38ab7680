/* SPDX-License-Identifier: BSD-3-Clause */

/* [fleet] of a scenario: an archive, the nodes that send it, and what is in their way. */

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/prng.h"
#include "cli/complain.h"
#include "lab/sim/sim_memory.h"
#include "scenario/point.h"

#define RATE_BPS_MAX      1e15
#define FILE_BYTES_MAX    1e15
#define ARCHIVE_BYTES_MAX 1e18

static_assert(WH_SHARD_FILES_MAX == 100000, "the refusal says so");

/* Draws of files have a generator of their own: nodes do not change them. */
#define FILES_SEED UINT64_C(0x66696c6573)

struct fleet_outcome {
	struct wh_forecast forecast;
	double alone_s; /* by one sound node to a receiver of its own */
};

#define RESULT(field) offsetof(struct fleet_outcome, field)
#define SHARE(what)   RESULT(forecast.share[WH_FORECAST_##what])

static const struct {
	const char *name;
	size_t offset;
	enum wh_value_kind kind;
} results[WH_POINT_FLEET_RESULTS] = {
	{"time", RESULT(forecast.seconds), WH_VALUE_TIME},
	{"ideal", RESULT(forecast.ideal_s), WH_VALUE_TIME},
	{"alone", RESULT(alone_s), WH_VALUE_TIME},
	{"by_disk", SHARE(DISK), WH_VALUE_NUMBER},
	{"by_nic", SHARE(NIC), WH_VALUE_NUMBER},
	{"by_lambda", SHARE(LAMBDA), WH_VALUE_NUMBER},
	{"by_receiver", SHARE(RECEIVER), WH_VALUE_NUMBER},
	{"starting", SHARE(START), WH_VALUE_NUMBER},
	{"idle", SHARE(IDLE), WH_VALUE_NUMBER},
	{"dead", SHARE(DEAD), WH_VALUE_NUMBER},
	{"deaths", RESULT(forecast.deaths), WH_VALUE_NUMBER},
	{"waited", RESULT(forecast.waited_s), WH_VALUE_TIME},
	{"repeated", RESULT(forecast.repeated_bytes), WH_VALUE_NUMBER},
};

static uint32_t take_count(
	struct wh_taker *taker, const char *key, uint32_t fallback, uint32_t most)
{
	return (uint32_t)wh_take_count(taker, key, fallback, fallback == 0 ? 0 : 1, most);
}

static double take_rate(struct wh_taker *taker, const char *key)
{
	return wh_take_has(taker, key) ? wh_take_number(taker, key, 1, 1, RATE_BPS_MAX) : INFINITY;
}

static double take_time(struct wh_taker *taker, const char *key, double fallback_s)
{
	return wh_take_has(taker, key) ? wh_ps_to_seconds(wh_take_ps(taker, key, 0)) : fallback_s;
}

bool wh_point_take_fleet(struct wh_point *point, struct wh_taker *taker)
{
	struct wh_point_fleet *fleet = &point->fleet;
	struct wh_forecast_config *config = &fleet->config;

	wh_take_require(taker, "node_rate", "100G");
	wh_take_require(taker, "files", "1M");
	wh_take_require(taker, "size", "1MiB");
	config->nodes = take_count(taker, "nodes", 1, 1000);
	config->node_bps = take_rate(taker, "node_rate");
	config->disk_bps = take_rate(taker, "node_disk");
	config->lambda_bps = take_rate(taker, "lambda_rate");
	config->start_s = take_time(taker, "start", 0);
	config->start_spread = wh_take_number(taker, "start_spread", 0, 0, 1);
	config->slow_nodes = take_count(taker, "slow_nodes", 0, 1000);
	config->slowness = wh_take_number(taker, "slowness", 1, 1, 1e6);
	config->fails_a_day = wh_take_number(taker, "fails_a_day", 0, 0, 0.99);
	config->kill_s = take_time(taker, "kill", INFINITY);
	config->away_s = take_time(taker, "away", INFINITY);
	config->requeue_s = take_time(taker, "requeue", 0);
	config->lost_s = take_time(taker, "lost", 0);
	fleet->receivers = take_count(taker, "receivers", 1, WH_SITE_RECEIVERS_MAX);
	fleet->receiver_bps = wh_take_number(taker, "receiver_rate", 0, 1, RATE_BPS_MAX);
	fleet->files = take_count(taker, "files", 1, 1000000000);
	fleet->file_bytes = wh_take_number(taker, "size", 1, 1, FILE_BYTES_MAX);
	fleet->spread = wh_take_number(taker, "spread", 0, 0, 10);
	fleet->shards.max = take_count(taker, "shards", 1000, 100000);
	fleet->shards.grain_bytes = wh_take_count(taker, "shard_size", 10000000000, 1, INT64_MAX);
	fleet->shards.divides = true;
	fleet->shards.grain_files = take_count(taker, "shard_files", 10000, WH_SHARD_FILES_MAX);
	if (fleet->files > (uint64_t)fleet->shards.max * WH_SHARD_FILES_MAX)
		wh_take_refuse(taker, "files", "is more than 100000 for each of the shards");
	if (fleet->files * fleet->file_bytes > ARCHIVE_BYTES_MAX)
		wh_take_refuse(taker, "size", "makes more than 1e+18 bytes of all files");
	for (size_t i = 0; i < WH_POINT_FLEET_RESULTS; i++) {
		if (wh_variable_find(taker->scope, results[i].name) != NULL)
			return wh_fail(false,
				"%s: [sweep] has '%s', which a run of a fleet tells; take another "
				"name",
				taker->section->where, results[i].name);
		point->variables[point->n_variables++] = (struct wh_variable){
			.name = results[i].name, .value = {.kind = results[i].kind, .x = 1}};
	}
	return !taker->failed;
}

/* Files of the mean size, or lognormal about it, in shards by the code of `wavehaul fleet`. */
static bool fill_shards(struct wh_point_fleet *fleet, uint64_t seed)
{
	bool fine = wh_shards_open(&fleet->shards) == -1;
	struct wh_prng prng;

	wh_prng_init(&prng, seed ^ FILES_SEED);
	for (uint32_t i = 0; fine && i < fleet->files; i++) {
		double normal = sqrt(-2 * log1p(-wh_prng_unit(&prng))) *
				cos(2 * M_PI * wh_prng_unit(&prng));
		double bytes =
			fleet->file_bytes * exp(fleet->spread * (normal - fleet->spread / 2));

		fine = wh_shards_add(&fleet->shards, "", (uint64_t)fmin(bytes, FILE_BYTES_MAX));
	}
	return fine && wh_shards_finish(&fleet->shards);
}

static void fill_site(const struct wh_point_fleet *fleet, struct wh_site *site)
{
	site->receivers = fleet->receivers;
	for (uint32_t i = 0; i < site->receivers; i++) {
		site->receiver[i].weight = 1;
		site->receiver[i].rate_bps = fleet->receiver_bps;
		snprintf(site->receiver[i].name, sizeof(site->receiver[i].name), "dtn%u", i + 1);
	}
}

static bool run(const struct wh_forecast_config *config, struct wh_site *site, uint64_t seed,
	struct fleet_outcome *told)
{
	struct wh_forecast_config alone = *config;
	bool fine = wh_forecast_run(config, seed, &told->forecast);
	struct wh_forecast forecast = {0};

	alone.nodes = site->receivers = 1;
	alone.slow_nodes = 0;
	alone.fails_a_day = 0;
	alone.kill_s = INFINITY;
	fine = fine && wh_forecast_run(&alone, seed, &forecast);
	told->alone_s = forecast.seconds;
	return fine;
}

bool wh_point_run_fleet(struct wh_point *point, uint64_t seed)
{
	struct wh_variable *last = &point->variables[point->n_variables - WH_POINT_FLEET_RESULTS];
	struct wh_point_fleet *fleet = &point->fleet;
	struct wh_site *site = wh_sim_allocate(sizeof(*site));
	bool fine = fill_shards(fleet, seed);
	struct fleet_outcome told;

	fill_site(fleet, site);
	fleet->config.site = site;
	fleet->config.shard = fleet->shards.shard;
	fleet->config.shards = fleet->shards.count;
	fine = fine && run(&fleet->config, site, seed, &told);
	for (size_t i = 0; fine && i < WH_POINT_FLEET_RESULTS; i++)
		last[i].value.x = *(const double *)((const char *)&told + results[i].offset);
	wh_shards_free(&fleet->shards);
	free(site);
	return fine;
}
