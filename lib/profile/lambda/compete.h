/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_COMPETE_H
#define WH_PROFILE_LAMBDA_COMPETE_H

/*
 * Beside flows that fill every queue a flow that reduces its rate loses everything. While such
 * flows are present, the packets in flight are those of one CUBIC (RFC 9438): a window that
 * shrinks to 0.7 when the queue overflows, whoever loses packets, but never below a tenth of the
 * line, unless more than half is lost for long: then the line is narrower.
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
	double round_lost_pkts, round_pkts_seen;
	double round_peak_s; /* the longest queue of the round */
	uint64_t round_tsc;  /* when it began */
	bool round_held_up;
	double pace;     /* times the rate, so that as much is sent as the window allows */
	double line_pps; /* the capacity; losses since then tell whether it is less */
	uint64_t line_tsc, line_seen_pkts, line_delivered_pkts;
	uint64_t queued_tsc; /* the latest round with a queue */
};

/* From now on. `line_pps`: the capacity of the narrowest link. */
void wh_lambda_compete_begin(struct wh_lambda_compete *compete, const struct wh_lambda_path *path,
	uint64_t now_tsc, uint64_t sent_pkts, double line_pps);

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
