/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * How the nodes fare with the plan's last job, from the logs of the shards: whether a node fails
 * what others do not. Times are compared only with others of the same node.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fleet/shard_log.h"

/* So many shards that fail on a node one after the other exclude it. */
#define WH_NODE_ROW_MAX 3

/*
 * Feed each shard's log to an empty object, then finish it. It has an object for each node: "done"
 * and "failures" count tries; "row" the shards that have failed on it since it last did one, and
 * "row_receivers" to how many receivers; "excluded" whether its job no longer uses it.
 */
void wh_nodes_take(json_t *nodes, const struct wh_plan *plan, uint32_t shard,
	const struct wh_shard_past *past);
void wh_nodes_finish(json_t *nodes);

/* All of that. */
json_t *wh_fleet_nodes(const struct wh_plan *plan);

/* A node that fails so many shards, whichever receiver they went to, of `receivers` in service. */
bool wh_node_is_broken(const json_t *nodes, const char *name, uint32_t receivers);
