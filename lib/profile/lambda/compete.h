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

#include "profile/lambda/bbr.h"
#include "profile/lambda/path.h"

struct wh_lambda_compete {
	bool on;
	double window_pkts;
	double most_queue_s; /* of those that stood of late */
	uint64_t seen_pkts, delivered_pkts;
	double arrived_pkts; /* with the latest state */
	uint64_t cut_pkts;   /* losses of what went before this one were heeded */
	uint64_t cut_tsc;
	double cut_from_pkts; /* the window before */
	uint64_t round_pkts;  /* what went before it is of this round */
	double round_lost_pkts, round_pkts_seen, round_arrived_pkts;
	double round_queue_s; /* the least of it */
	double round_peak_s;  /* and the most */
	uint64_t round_arrived_tsc;
	double capacity_pps; /* of the way, and ... */
	double share;        /* ... what of it is ours, by what arrives */
	uint64_t queued_tsc; /* the latest round with a queue */
	uint32_t clear_rounds, alone_rounds;
	bool as_bbr;
	struct wh_lambda_bbr bbr;
};

/* From now on. `rate_pps` is ours now, and `capacity_pps` the most that was seen of the way. */
void wh_lambda_compete_begin(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double rate_pps, double capacity_pps);

/* One state. Noise is the share that is lost whatever we do; `clear_s` of queue is none. */
void wh_lambda_compete_hear(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double noise, double clear_s);

/* What goes in a second. */
double wh_lambda_compete_pps(
	const struct wh_lambda_compete *compete, const struct wh_lambda_path *path);

#endif
