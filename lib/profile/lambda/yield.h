/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_YIELD_H
#define WH_PROFILE_LAMBDA_YIELD_H

/*
 * A scavenger. It leaves a little of the capacity free, so that a queue, and losses beyond the
 * noise, are due to other flows. At the first report of either it withdraws all but a crumb of its
 * rate. It returns so slowly that a short queue takes what it adds until it is told.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_yield {
	double capacity_pps;   /* the highest seen on the path */
	double felt_pps;       /* the rate at which a queue appeared the last time */
	uint64_t heard_tsc;    /* the latest report */
	uint64_t gave_way_tsc; /* 0: never */
	uint64_t heed_pkts;    /* reports on packets sent before this one have been acted on */
	uint64_t looked_tsc;   /* when it last tested for more capacity, ... */
	double look;           /* ... by this share; 0: not testing */
	uint64_t seen_pkts, delivered_pkts, window_tsc; /* when the latest round trip began */
	double noise_pkts, noise_lost_pkts;             /* while there was no queue */
};

/*
 * A report. `own_s` is the queue that one flow of our kind would leave, `rate_pps` the present
 * rate, `capacity_pps` what the train found. Returns the new rate.
 */
double wh_lambda_yield_hear(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, double own_s, double rate_pps, double capacity_pps);

#endif
