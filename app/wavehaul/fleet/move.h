/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* In a task, after a shard has failed: another node may do what this one does not. */

#include <stdbool.h>
#include <stdint.h>

#include "fleet/fleet_plan.h"

/*
 * Requeues the shard for a node on which it has not failed, if one of the partition takes tasks;
 * and excludes this node for the rest of the job if it is broken, as nodes.h has it. `receivers`
 * are in service. True: the shard has moved, and this task ends.
 */
bool wh_fleet_move(const struct wh_plan *plan, uint32_t shard, uint32_t receivers);
