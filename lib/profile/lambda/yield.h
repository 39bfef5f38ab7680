/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_YIELD_H
#define WH_PROFILE_LAMBDA_YIELD_H

/*
 * A scavenger. It leaves a little of the way free, so that a queue is others', and so are losses
 * that are no noise. At the first state that tells of either all but a crumb of its rate goes. It
 * comes back so slowly that what it adds until it hears of it is borne by a short queue.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_yield {
	double capacity_pps;   /* the most that was seen of the way */
	double felt_pps;       /* what went when a queue was felt the time before */
	uint64_t heard_tsc;    /* the latest state */
	uint64_t gave_way_tsc; /* 0: never */
	uint64_t heed_pkts;    /* what went before this one was heeded */
	uint64_t looked_tsc;   /* for more than the capacity, ... */
	double look;           /* ... by such a share; 0: it does not */
	uint64_t seen_pkts, delivered_pkts, window_tsc; /* when the latest round trip began */
	double noise_pkts, noise_lost_pkts;             /* while nothing stood */
};

/*
 * One state. `own_s` is what one of us would leave in a queue, `rate_pps` what goes, and
 * `capacity_pps` what a train found. Returns what goes from now on.
 */
double wh_lambda_yield_hear(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, double own_s, double rate_pps, double capacity_pps);

#endif
