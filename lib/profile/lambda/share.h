/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_SHARE_H
#define WH_PROFILE_LAMBDA_SHARE_H

/*
 * Several of us on one way. Cuts in proportion leave shares as they are; they become equal when who
 * has less gains more by what all add. In a crowd, therefore, each pushes by what depends on the
 * clock and the root of its rate, and cuts by what all see alike: the queue and how it grows.
 *
 * Pushes stand in the queue until the cuts that follow: those of ten at 100 ms, which make shares
 * equal in 5 s, are half a round trip. So they are much after somebody has come, which all see by
 * the queue that he brings, and become little while shares become equal.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_share {
	bool crowded;
	double capacity_pps; /* the most that was ever seen of the way, twice in a row */
	double before_pps;   /* that arrived in the sample before */
	double queue_s;      /* of the sample before */
	double settled_s;    /* since somebody came */
	uint32_t empty;      /* samples in a row without a queue */
	uint64_t queued_tsc; /* the latest with one */
	uint64_t less_tsc;   /* since then less arrives than the way bears; 0: it does not */
};

/* Others are there: what was to be free is not. */
void wh_lambda_share_begin(struct wh_lambda_share *share, uint64_t now_tsc);

/* At half of what its train has found: a queue is others'. False: what arrives is not known. */
bool wh_lambda_share_found(
	struct wh_lambda_share *share, const struct wh_lambda_path *path, uint64_t now_tsc);

/*
 * Of a full sample. `busy_pps` is what arrives while a queue stands, 0 unknown; `capacity_pps` what
 * a train found. Without a queue for a while nobody else is there any more.
 */
bool wh_lambda_share_crowded(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	uint64_t now_tsc, double busy_pps, double capacity_pps);

/*
 * The rate that follows such a sample of `rate_pps`, `cycle_s` after the one before. All of us
 * reckon with the same `unit_pps`, whatever each has found of the way: trains of latecomers find
 * too little.
 */
double wh_lambda_share_rate(struct wh_lambda_share *share, const struct wh_lambda_path *path,
	double rate_pps, double unit_pps, double cycle_s);

/* What is left of `rate_pps` when more is lost than the way's noise takes. */
double wh_lambda_share_overflows(const struct wh_lambda_path *path, double rate_pps);

#endif
