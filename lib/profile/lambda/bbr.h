/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_BBR_H
#define WH_PROFILE_LAMBDA_BBR_H

/*
 * BBR flows on the path: they ignore losses, and a flow that does not gets nothing beside them.
 * Every ten seconds all of them let the queue run empty for 200 ms, which no other TCP does. One
 * that has most of the line is told sooner, since in one of eight round trips it sends a quarter
 * more. While they are seen we behave as one more BBR.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

#define WH_LAMBDA_BBR_ROUNDS 10 /* of which the maximum counts */

/* A queue that is short but for one of every eight round trips. */
struct wh_lambda_pulses {
	double level_s; /* of the queue, the recent maximum */
	double peak_s;  /* of the latest pulse */
	bool high;
	uint64_t heard_tsc; /* the latest report */
	uint64_t rose_tsc;  /* the latest pulse began; 0: never */
	uint64_t fell_tsc;  /* ... and ended */
	uint32_t count;     /* of pulses that came when due */
};

struct wh_lambda_bbr {
	struct wh_lambda_pulses pulses;
	double level_s;    /* of the queue, the recent maximum */
	bool low;          /* it has run empty ... */
	uint64_t low_tsc;  /* ... since then */
	uint64_t dip_tsc;  /* the latest time that it was empty for long; 0: never */
	uint64_t seen_tsc; /* when one ended ten seconds after another, or pulses told; 0: never */
	double round_pps[WH_LAMBDA_BBR_ROUNDS]; /* the highest arrival rate in a part of each */
	uint32_t round;
	uint64_t part_tsc;
	double part_pkts;
};

/* A report. */
void wh_lambda_bbr_watch(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc);

/* Likewise, while we do not behave as one: whether there is one that has most of the line. */
void wh_lambda_bbr_watch_pulses(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc);

/* BBR flows are present. */
bool wh_lambda_bbr_about(
	const struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc);

/* `pkts` arrived with this report. Rates above `most_pps` are not believed. */
void wh_lambda_bbr_arrived(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, double pkts, double most_pps);

/* A round is over, with this arrival rate; or it is what we begin with. */
void wh_lambda_bbr_end_round(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, double pps, double most_pps);

/* Our rate, and packets in flight. */
double wh_lambda_bbr_pps(const struct wh_lambda_bbr *bbr);
double wh_lambda_bbr_window_pkts(
	const struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path);

#endif
