/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What the jobs of a plan have used of the nodes, and under which account. */

#include <jansson.h>

#include "fleet/fleet_plan.h"

/*
 * A list of jobs, in the order in which they began: "job" (null: by hand), what Slurm was told of
 * it ("account", "partition", "licenses"; null: nothing), "tries" and "checks", and for how long
 * they had a node, "node_s". Of a try that was cut off nobody knows, they are in "cut_off".
 */
json_t *wh_fleet_charged(const struct wh_plan *plan);

/* A sentence for each on stderr: stdout has the files. */
void wh_fleet_charged_tell(const json_t *charged);
