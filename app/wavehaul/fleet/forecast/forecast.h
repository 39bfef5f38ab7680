/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * How long a fleet takes, by a model of it as a fluid: shards as tasks of an array of Slurm, on
 * nodes that send to the receivers of a site. What shares a receiver or the lambda is max-min fair,
 * and all rates change whenever a task begins or ends. `fleet send --by` and `wavehaul sim` use it.
 */

#include <stdint.h>

#include "fleet/shards.h"
#include "fleet/site.h"

/* A rate of INFINITY limits nothing, and what has a time of INFINITY never happens. */
struct wh_forecast_config {
	const struct wh_shard *shard;
	uint32_t shards;
	const struct wh_site *site; /* a receiver without a rate limits nothing */
	uint32_t nodes;
	double node_bps;
	double disk_bps;     /* of a node */
	double lambda_bps;   /* of all lambdas */
	double start_s;      /* from when a node is free until its next task's bytes flow */
	double start_spread; /* the share of it by which it is less or more, drawn each time */
	uint32_t slow_nodes;
	double slowness;    /* how many times slower their disks are */
	double fails_a_day; /* share of nodes that die within a day */
	double kill_s;      /* the first node dies at this time */
	double away_s;      /* until a dead node takes tasks again */
	double requeue_s;   /* until its shard waits in the queue again */
	double lost_s;      /* what it sent last, for so long, is not in the journal */
};

/* What a node does, and what limits it while it sends. */
enum wh_forecast_time {
	WH_FORECAST_DISK,
	WH_FORECAST_NIC,
	WH_FORECAST_LAMBDA,
	WH_FORECAST_RECEIVER,
	WH_FORECAST_START,
	WH_FORECAST_IDLE, /* no shard waits */
	WH_FORECAST_DEAD,
	WH_FORECAST_TIMES,
};

struct wh_forecast {
	double seconds; /* until the last shard is done; INFINITY: all nodes died */
	double ideal_s; /* without starts and deaths, were the work divisible at will */
	double share[WH_FORECAST_TIMES]; /* of the time of all nodes */
	double deaths;
	double waited_s; /* the longest from a death until the shard began again */
	double repeated_bytes;
};

/* False: no memory. */
bool wh_forecast_run(
	const struct wh_forecast_config *config, uint64_t seed, struct wh_forecast *forecast);

/* The fewest nodes by which all is done in that time, 0: more than `most`, or no memory. */
uint32_t wh_forecast_nodes(const struct wh_forecast_config *config, double within_s, uint32_t most);
