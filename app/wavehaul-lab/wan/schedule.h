/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * How a path changes while it runs, from a file:
 *
 *   [at 5s]            both ways
 *   rate = 2G
 *   [at 10s back]      B to A; `there` is A to B
 *   loss = 1%
 *   outage = 200ms
 *
 * Keys are the options of the path, and `outage`, a time for which all frames are dropped.
 */

#include <stdint.h>

#include "cli/settings.h"
#include "netem/emulator.h"

struct wh_wan_step {
	uint64_t at_ns;                               /* since the start */
	struct wh_link_model netem[WH_EMULATOR_ENDS]; /* the complete path from then on */
	bool changes[WH_EMULATOR_ENDS];
	char *head; /* as written: "at 10s back" */
};

struct wh_wan_schedule {
	uint32_t count;
	struct wh_wan_step *step; /* sorted by time */
};

/*
 * Reads the whole file; `link` is the path at the start, each way. -1, or the exit status after a
 * complaint that names file and line; free it in both cases. Changes at or after `time_ns` (0:
 * unlimited) are refused.
 */
int wh_wan_schedule_read(struct wh_wan_schedule *schedule, const char *path,
	const struct wh_link_model netem[WH_EMULATOR_ENDS], uint64_t time_ns);

void wh_wan_schedule_free(struct wh_wan_schedule *schedule);

/* The most packets in transit at any time, if of at least wire_bytes (wh_netem_items_needed). */
uint32_t wh_wan_schedule_items(const struct wh_wan_schedule *schedule,
	const struct wh_link_model *start, enum wh_emulator_end end, uint32_t wire_bytes);

/* The largest queue in packets; 0: no queue. */
uint32_t wh_wan_schedule_queue_pkts(
	const struct wh_wan_schedule *schedule, enum wh_emulator_end end);
