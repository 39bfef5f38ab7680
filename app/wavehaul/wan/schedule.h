/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_WAN_SCHEDULE_H
#define WH_APP_WAN_SCHEDULE_H

/*
 * How a path changes while it runs, from a file:
 *
 *   [at 5s]            both ways
 *   rate = 2G
 *   [at 10s back]      B to A; `there` is A to B
 *   loss = 1%
 *   outage = 200ms
 *
 * Keys are the options of the path, and `outage`, which drops all that comes for so long.
 */

#include <stdint.h>

#include "cli/settings.h"
#include "lambda/lambda.h"

struct wh_wan_step {
	uint64_t at_ns;                               /* since the start */
	struct wh_fibre_config fibre[WH_LAMBDA_ENDS]; /* whole, from then on */
	bool changes[WH_LAMBDA_ENDS];
	char *head; /* as it is written: "at 10s back" */
};

struct wh_wan_schedule {
	uint32_t count;
	struct wh_wan_step *step; /* by time */
};

/*
 * The file, whole, from the path that `fibre` is at the start, both ways. -1, or the exit status
 * after a complaint that names file and line; to be freed either way. What comes at the end of
 * `time_ns` (0: there is none) or later is refused.
 */
int wh_wan_schedule_read(struct wh_wan_schedule *schedule, const char *path,
	const struct wh_fibre_config fibre[WH_LAMBDA_ENDS], uint64_t time_ns);

void wh_wan_schedule_free(struct wh_wan_schedule *schedule);

/* Packets under way at once, at any time, of at least wire_bytes (wh_fibre_items_needed). */
uint32_t wh_wan_schedule_items(const struct wh_wan_schedule *schedule,
	const struct wh_fibre_config *start, enum wh_lambda_end end, uint32_t wire_bytes);

/* The largest queue in packets; 0: there is none. */
uint32_t wh_wan_schedule_queue_pkts(const struct wh_wan_schedule *schedule, enum wh_lambda_end end);

#endif
