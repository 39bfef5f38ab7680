/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_OTHERS_H
#define WH_PROFILE_LAMBDA_OTHERS_H

/*
 * Are there flows that fill every queue? What tells: a queue that stays although we shed all that
 * is ours, a way that seemed to have become longer and is shorter again, and a short queue that
 * overflows again and again although we leave a part of the way.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_others {
	bool crowded;                     /* others of our kind are about */
	struct wh_lambda_least before[2]; /* the delays when the way seemed to become longer ... */
	double told_s;                    /* ... and the least that it has seemed to have since */
	bool told;
	uint64_t told_tsc;
	double full_pps; /* the rate when others began to fill the queue; 0: they do not */
	uint64_t full_tsc;
	double overflows; /* of late, while we left a part of the way */
	uint64_t overflown_tsc;
	double before_pps; /* that arrived in the sample before */
};

/*
 * The way seems to have become longer, and what was known of its delay is to be forgotten. If its
 * delay then falls, a queue stood: `path` gets its delays back, and others are about.
 */
void wh_lambda_others_doubt(
	struct wh_lambda_others *others, const struct wh_lambda_path *path, uint64_t now_tsc);
bool wh_lambda_others_disprove(
	struct wh_lambda_others *others, struct wh_lambda_path *path, uint64_t now_tsc);

/*
 * Of a full sample. Who sheds all that is his, and a queue stands nevertheless, for longer than
 * flows like this one take to empty it, has others beside him; and so has who leaves a part of the
 * way, and a queue too short to stand overflows again and again. `own_s` is what one of us leaves
 * there.
 */
bool wh_lambda_others_fill(struct wh_lambda_others *others, const struct wh_lambda_path *path,
	uint64_t now_tsc, double rate_pps, double own_s, double noise, double capacity_pps);

#endif
