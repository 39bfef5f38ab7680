/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_COMPETE_H
#define WH_PROFILE_LAMBDA_COMPETE_H

/*
 * Beside flows that fill every queue: who sheds there gives all of his away. While such flows are
 * about, what is under way is what one TCP would have: a window that shrinks to 0.7 when a queue
 * overflows, ours or others' packets, and grows as CUBIC's as long as we have little of the way
 * (RFC 9438), else as that of a Reno.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_compete {
	struct wh_lambda_least before[2]; /* the delays when the way seemed to become longer ... */
	double told_s;                    /* ... and the least that it has seemed to have since */
	bool told;
	uint64_t told_tsc;
	double full_pps; /* the rate when others began to fill the queue; 0: they do not */
	uint64_t full_tsc;
	bool on;
	double window_pkts;
	double most_queue_s; /* of those that stood of late */
	uint64_t seen_pkts, delivered_pkts;
	uint64_t cut_pkts; /* losses of what went before this one were heeded */
	uint64_t cut_tsc;
	double cut_from_pkts; /* the window before */
	uint64_t round_pkts;  /* what went before it is of this round */
	double round_lost_pkts, round_pkts_seen, round_arrived_pkts;
	double round_queue_s; /* the least of it */
	uint64_t round_arrived_tsc;
	double capacity_pps; /* of the way, and ... */
	double share;        /* ... what of it is ours, by what arrives */
	uint64_t queued_tsc; /* the latest round with a queue */
	uint32_t clear_rounds, alone_rounds;
};

/*
 * The way seems to have become longer, and what was known of its delay is to be forgotten. If its
 * delay then falls, a queue stood: `path` gets its delays back, and others are about.
 */
void wh_lambda_compete_doubt(
	struct wh_lambda_compete *compete, const struct wh_lambda_path *path, uint64_t now_tsc);
bool wh_lambda_compete_disproves(
	struct wh_lambda_compete *compete, struct wh_lambda_path *path, uint64_t now_tsc);

/*
 * Of a full sample. Who sheds all that is his, and a queue stands nevertheless, for longer than
 * flows like this one take to empty it, has others beside him. `own_s` is what one of us leaves
 * there.
 */
bool wh_lambda_compete_fills(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, double rate_pps, double own_s);

/* From now on. `rate_pps` is ours now, and `capacity_pps` the most that was seen of the way. */
void wh_lambda_compete_begin(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double rate_pps, double capacity_pps);

/* One state. Noise is the share that is lost whatever we do; `clear_s` of queue is none. */
void wh_lambda_compete_hear(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double noise, double clear_s);

#endif
