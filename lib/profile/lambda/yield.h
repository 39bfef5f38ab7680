/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_YIELD_H
#define WH_PROFILE_LAMBDA_YIELD_H

/*
 * A scavenger gives way at the first sign of others: a queue that is not its own, or losses that
 * are no noise.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_yield {
	uint64_t gave_way_tsc; /* 0: never */
};

/* Of a full sample: others are there. `own_s` is what we leave in a queue ourselves. */
bool wh_lambda_yield_begins(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	uint64_t now_tsc, double own_s, double noise);

/* It is too early to come back. */
bool wh_lambda_yield_holds(
	const struct wh_lambda_yield *yield, const struct wh_lambda_path *path, uint64_t now_tsc);

/* What stays of a rate. */
double wh_lambda_yield_pps(double rate_pps, double capacity_pps);

#endif
