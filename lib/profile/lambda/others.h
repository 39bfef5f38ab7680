/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_OTHERS_H
#define WH_PROFILE_LAMBDA_OTHERS_H

/*
 * Detects flows that fill every queue, by any of: a queue that stays although we have withdrawn
 * all our packets from it, or that contention of our kind would have emptied; a path that seemed to
 * become longer and then gets shorter again; a short queue that overflows repeatedly although we
 * leave a part of the capacity.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_others {
	bool contended;                   /* other flows of our kind are present, ... */
	bool settled;                     /* ... and have come to their shares */
	struct wh_lambda_least before[2]; /* the delays when the path seemed to become longer ... */
	double told_s;                    /* ... and the minimum since then */
	bool told;
	uint64_t told_tsc;
	double full_pps; /* the rate when the queue began to stand; 0: it does not */
	uint64_t full_tsc;
	double full_s; /* in contention: for how long it stood, less the time when it did not */
	uint64_t empty_tsc; /* there, when it was last nearly empty; 0: not known */
	double overflows;   /* decayed count, while we left a part of the capacity */
	uint64_t overflown_tsc;
	double before_pps; /* arrival rate of the previous sample */
};

/*
 * wh_lambda_others_doubt: the path seems to have become longer, and its known delays will be
 * dropped. wh_lambda_others_disprove: if the delay has fallen since, it was a queue after all:
 * `path` gets its delays back, and the result is true, other flows are present.
 */
void wh_lambda_others_doubt(
	struct wh_lambda_others *others, const struct wh_lambda_path *path, uint64_t now_tsc);
bool wh_lambda_others_disprove(
	struct wh_lambda_others *others, struct wh_lambda_path *path, uint64_t now_tsc);

/*
 * Judges a full sample; true: flows that fill every queue are present. Either a queue stands,
 * although we have withdrawn our packets, for longer than flows of our kind take to empty it; or we
 * leave a part of the capacity and a queue too short to stand overflows repeatedly. `own_s` is the
 * queue that one flow of our kind leaves.
 */
bool wh_lambda_others_fill(struct wh_lambda_others *others, const struct wh_lambda_path *path,
	uint64_t now_tsc, double rate_pps, double own_s, double noise, double capacity_pps);

#endif
