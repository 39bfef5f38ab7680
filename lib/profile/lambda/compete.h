/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_COMPETE_H
#define WH_PROFILE_LAMBDA_COMPETE_H

/*
 * Beside flows that fill every queue a flow that reduces its rate loses everything. While such
 * flows are present, the packets in flight are those of one TCP: a window that shrinks to 0.7 when
 * the queue overflows, whoever loses packets, and grows as CUBIC's while our share is small (RFC
 * 9438), else as Reno's.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

struct wh_lambda_compete {
	double window_pkts;
	double longest_s; /* queue since we compete */
	uint64_t seen_pkts, delivered_pkts;
	double arrived_pkts; /* with the latest report */
	uint64_t cut_pkts;   /* losses among packets sent before this one have been acted on */
	uint64_t cut_tsc;
	double cut_from_pkts; /* the window before */
	uint64_t round_pkts;  /* packets sent before it belong to this round */
	double round_lost_pkts, round_pkts_seen, round_arrived_pkts;
	double round_peak_s; /* the longest queue of the round */
	uint64_t round_arrived_tsc;
	uint64_t round_tsc; /* when it began */
	bool round_held_up;
	double pace;         /* times the rate, so that as much is sent as the window allows */
	double capacity_pps; /* of the path, and ... */
	double share;        /* ... our share of it, by what arrives */
	uint64_t queued_tsc; /* the latest round with a queue */
	uint32_t clear_rounds;
};

/* From now on. `rate_pps` is our rate now, `capacity_pps` the highest seen on the path. */
void wh_lambda_compete_begin(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double rate_pps, double capacity_pps);

/*
 * A report; whether the others are gone. `noise` is the share lost whatever we do; a queue up to
 * `clear_s` counts as none.
 */
bool wh_lambda_compete_hear(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double noise, double clear_s);

/* The rate that results. */
double wh_lambda_compete_pps(
	const struct wh_lambda_compete *compete, const struct wh_lambda_path *path);

#endif
