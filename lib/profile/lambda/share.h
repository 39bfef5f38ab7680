/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_SHARE_H
#define WH_PROFILE_LAMBDA_SHARE_H

/*
 * A crowd: several flows of our kind on one path. Proportional decreases leave shares as they are;
 * shares become equal if increases favour small flows. So in a crowd each flow increases (pushes)
 * by an amount that depends on time and on the square root of its rate, and decreases (cuts) by
 * what all see alike: the queue and its growth.
 *
 * Pushes stand in the queue until the next cuts: with ten flows at 100 ms, pushes that make shares
 * equal in 5 s are half a round trip of queue. So they are large after a flow has joined, which all
 * notice by its queue, and small once shares have become equal.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_share {
	bool crowded;
	double capacity_pps; /* the highest arrival rate seen in two consecutive samples */
	double before_pps;   /* arrival rate of the previous sample */
	double queue_s;      /* of the previous sample */
	double settled_s;    /* since a flow joined */
	uint32_t empty;      /* samples in a row without a queue */
	uint64_t queued_tsc; /* the latest with a queue */
	uint64_t less_tsc;   /* since then less than the capacity arrives; 0: not so */
};

/* Other flows are present: capacity that should be free is not. */
void wh_lambda_share_begin(struct wh_lambda_share *share, uint64_t now_tsc);

/* At half of the train's capacity a queue belongs to other flows. False: arrival rate unknown. */
bool wh_lambda_share_found(
	struct wh_lambda_share *share, const struct wh_lambda_path *path, uint64_t now_tsc);

/*
 * Judges a full sample: whether there is a crowd. `busy_pps` is the arrival rate while a queue
 * stands, 0 if unknown; `capacity_pps` is what the train found. After a while without a queue there
 * is none.
 */
bool wh_lambda_share_crowded(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	uint64_t now_tsc, double busy_pps, double capacity_pps);

/*
 * The rate after a sample at `rate_pps`, `cycle_s` after the previous one. All flows use the same
 * `unit_pps`, whatever capacity each has found: trains of latecomers find too little.
 */
double wh_lambda_share_rate(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	double rate_pps, double unit_pps, double cycle_s);

/* The rate after losses beyond the noise. */
double wh_lambda_share_overflows(const struct wh_lambda_path *path, double rate_pps);

#endif
