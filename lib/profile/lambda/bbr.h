/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_BBR_H
#define WH_PROFILE_LAMBDA_BBR_H

/*
 * BBRs on the way: they heed no loss, and who does has nothing beside them. Every ten seconds all
 * of them let the queue run dry for 200 ms, which nobody else does; while that is seen, we do as
 * one more of them would.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

#define WH_LAMBDA_BBR_ROUNDS 10 /* of which the most counts */

struct wh_lambda_bbr {
	double level_s;    /* of the queue, the most of late */
	bool low;          /* it has run dry ... */
	uint64_t low_tsc;  /* ... since then */
	uint64_t dip_tsc;  /* the latest time that it was dry for long; 0: never */
	uint64_t seen_tsc; /* the latest that came ten seconds after another, at its end; 0: none */
	double round_pps[WH_LAMBDA_BBR_ROUNDS]; /* the most that arrived in a part of each */
	uint32_t round;
	uint64_t part_tsc;
	double part_pkts;
};

/* One state. */
void wh_lambda_bbr_watch(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc);

/* They are about. */
bool wh_lambda_bbr_about(
	const struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc);

/* So many packets have arrived with this state. No more than `most_pps` is ever believed. */
void wh_lambda_bbr_arrived(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, double pkts, double most_pps);

/* A round is over, with so much in it; or it is what we begin with. */
void wh_lambda_bbr_end_round(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, double pps, double most_pps);

/* What goes in a second, and what is under way. */
double wh_lambda_bbr_pps(const struct wh_lambda_bbr *bbr);
double wh_lambda_bbr_window_pkts(
	const struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path);

#endif
