/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_SHARE_H
#define WH_PROFILE_LAMBDA_SHARE_H

/*
 * Contention: several flows of our kind on one path. All are drawn to the same rate, that is
 * unit / e^price, where the price says how many share the line. Nobody tells it: it rises while the
 * queue is too long and falls while it is too short, and as all see the same queue, it changes
 * alike for all. So what all push towards their share is what they take back for the price, and
 * nothing of it stays in the queue.
 *
 * Flows that began at different times must come to the same price. Therefore a queue belongs to
 * each price, a longer one to a higher price: who believes in a higher price than others wants a
 * longer queue than there is, and lowers its price.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_share {
	bool contended;
	bool joins;          /* a newcomer, which does not know the price */
	bool young;          /* its session, so that losses may hide the least delay */
	double capacity_pps; /* the highest arrival rate seen in two consecutive samples */
	double before_pps;   /* arrival rate of the previous sample */
	double queue_s;      /* of the previous sample */
	double price;        /* logarithm of how many times an equal share goes into the unit */
	double age_s;        /* time in contention so far */
	double rtt_s;        /* of the previous sample, the least */
	uint32_t doubts;     /* samples before the least delay is believed */
	uint64_t queued_tsc; /* the latest with a queue */
	uint64_t less_tsc;   /* since then less than the capacity arrives; 0: not so */
};

/* Other flows are present: capacity that should be free is not. */
void wh_lambda_share_begin(struct wh_lambda_share *share, uint64_t now_tsc);

/* Likewise, at the start of a session. */
void wh_lambda_share_join(struct wh_lambda_share *share, uint64_t now_tsc);

/* At half of the train's capacity a queue belongs to other flows. False: arrival rate unknown. */
bool wh_lambda_share_found(
	struct wh_lambda_share *share, const struct wh_lambda_path *path, uint64_t now_tsc);

/*
 * Judges a full sample: whether there is contention. `busy_pps` is what we have while a queue
 * stands, 0 if unknown; `capacity_pps` is what the train found. Less than the capacity for
 * `patience_s` means contention; most of it and no queue for a while, that there is none.
 */
bool wh_lambda_share_contended(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	uint64_t now_tsc, double busy_pps, double capacity_pps, double patience_s);

/*
 * The rate after a sample at `rate_pps`, `cycle_s` after the previous one. `unit_pps` is the same
 * for all flows of a line, and no less than its capacity.
 */
double wh_lambda_share_rate(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	double rate_pps, double unit_pps, double cycle_s);

/* The rate after losses beyond the noise. */
double wh_lambda_share_overflows(
	const struct wh_lambda_share *share, const struct wh_lambda_path *path, double rate_pps);

#endif
