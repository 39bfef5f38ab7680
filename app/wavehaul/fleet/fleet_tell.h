/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A fleet's transfer as it is now, and what it has carried. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "fleet/fleet_plan.h"

/*
 * An object: "shards" by state, "bytes" and "files" planned and done, the "rate_bps" of what runs
 * now, "running", "failed": those given up or ended, with the reason, "nodes" (nodes.h), and
 * "verified": shards by what the last check has found, with those that were not the same.
 */
json_t *wh_fleet_now(const struct wh_plan *plan);
void wh_fleet_now_print(const json_t *now);

/* The same as a page, which a browser asks for again after so many seconds. */
void wh_fleet_page_write(FILE *to, const json_t *now, uint32_t again_s);

/* Into that file, which is whole at any time. -1, or an exit status after a complaint. */
int wh_fleet_page(const json_t *now, const char *name, uint32_t again_s);

/* An object: each shard with its tries, the nodes and receivers, and where its checksums are. */
json_t *wh_fleet_report(const struct wh_plan *plan, bool *all_done);

/* A line for each file that has arrived: checksum, node, receiver, name. An exit status. */
int wh_fleet_report_print(const struct wh_plan *plan);

/*
 * Which shards can be given to Slurm, to be sent again or to be checked: not done, or done, and not
 * in its queue for that. Those given up get their tries back. Returns their number; -1 after a
 * complaint.
 */
int64_t wh_fleet_wanted(const struct wh_plan *plan, bool checks, bool *is_wanted);
