/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/bbr.h"

#include <math.h>

#include "base/assert.h"

#define LOW           0.15   /* of the recent queue: it has run empty, ... */
#define LOW_S         0.3e-3 /* or this little */
#define HIGH          0.3    /* ... and stands again */
#define HIGH_S        0.45e-3
#define DIP_LEAST_S   0.12 /* 200 ms, less the time to run empty */
#define DIP_MOST_S    0.4
#define DIP_MOST_RTT  3.0
#define APART_LEAST_S 9.5 /* between two dips: ten seconds, and the length of a dip */
#define APART_MOST_S  12.0
#define ABOUT_S       25.0  /* two dips and a half */
#define CALM_S        1.0   /* without losses before the first dip: others dip after such */
#define LEVEL_FORGETS 0.998 /* per report */

#define PART_RTT     0.5  /* of a round trip is a part of a round */
#define PART_PKTS    4.0  /* and this many packets */
#define GAIN         1.25 /* in one round, ... */
#define DRAIN        0.75 /* ... and in the one that follows */
#define CYCLE        8
#define UNDER_WAY    2.0 /* times what is sent in a round trip */
#define WINDOW_LEAST 4.0

static double since_s(const struct wh_lambda_path *path, uint64_t now_tsc, uint64_t then_tsc)
{
	return now_tsc > then_tsc ? (double)(now_tsc - then_tsc) / path->hz : 0.0;
}

/*
 * Other flows empty a queue for as long, too, but not every ten seconds and never between. The
 * first dip counts until the next is due, unless losses caused it.
 */
static void end_dip(struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double low_s = since_s(path, now_tsc, bbr->low_tsc);
	double apart_s = since_s(path, bbr->low_tsc, bbr->dip_tsc);
	double most_s = DIP_MOST_S + DIP_MOST_RTT * wh_lambda_path_rtt_s(path);

	if (low_s < DIP_LEAST_S)
		return;

	bool first = bbr->dip_tsc == 0 && since_s(path, bbr->low_tsc, bbr->lost_tsc) > CALM_S;

	bbr->twice = bbr->dip_tsc > 0 && apart_s > APART_LEAST_S && apart_s < APART_MOST_S;
	bbr->seen_tsc = low_s < most_s && (bbr->twice || first) ? now_tsc : 0;
	bbr->dip_tsc = bbr->low_tsc;
}

void wh_lambda_bbr_watch(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	if (bbr->low) {
		if (path->queue_s > fmax(HIGH * bbr->level_s, HIGH_S)) {
			bbr->low = false;
			end_dip(bbr, path, now_tsc);
		}
		return;
	}
	bbr->level_s = fmax(bbr->level_s * LEVEL_FORGETS, path->queue_s);
	if (path->queue_s < fmax(LOW * bbr->level_s, LOW_S)) {
		bbr->low = true;
		bbr->low_tsc = now_tsc;
	}
}

bool wh_lambda_bbr_about(
	const struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	return bbr->seen_tsc > 0 &&
	       since_s(path, now_tsc, bbr->seen_tsc) < (bbr->twice ? ABOUT_S : APART_MOST_S);
}

static double *round_pps(struct wh_lambda_bbr *bbr)
{
	return &bbr->round_pps[bbr->round % WH_LAMBDA_BBR_ROUNDS];
}

static void begin_part(struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path)
{
	bbr->part_pkts = 0.0;
	bbr->part_tsc = path->arrived_tsc;
}

/* While the others pause for 200 ms, the arrival rate is not our share. */
static void learn(struct wh_lambda_bbr *bbr, double pps, double most_pps)
{
	if (!bbr->low)
		*round_pps(bbr) = fmax(*round_pps(bbr), fmin(pps, most_pps));
}

void wh_lambda_bbr_arrived(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, double pkts, double most_pps)
{
	double span_s = since_s(path, path->arrived_tsc, bbr->part_tsc);

	WH_ASSERT(pkts >= 0.0);
	bbr->part_pkts += pkts;
	if (span_s == 0.0 || span_s < PART_RTT * wh_lambda_path_rtt_s(path) ||
		bbr->part_pkts < PART_PKTS)
		return;
	learn(bbr, bbr->part_pkts / span_s, most_pps);
	begin_part(bbr, path);
}

void wh_lambda_bbr_end_round(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, double pps, double most_pps)
{
	if (!bbr->low) {
		bbr->round++;
		*round_pps(bbr) = 0.0;
	}
	learn(bbr, pps, most_pps);
	begin_part(bbr, path);
}

static double most_pps_of(const struct wh_lambda_bbr *bbr)
{
	double pps = 0.0;

	for (size_t i = 0; i < WH_LAMBDA_BBR_ROUNDS; i++)
		pps = fmax(pps, bbr->round_pps[i]);
	return pps;
}

double wh_lambda_bbr_pps(const struct wh_lambda_bbr *bbr)
{
	uint32_t phase = bbr->round % CYCLE;
	double gain = phase == 0 ? GAIN : phase == 1 ? DRAIN : 1.0;

	return most_pps_of(bbr) * (bbr->low ? 1.0 : gain);
}

double wh_lambda_bbr_window_pkts(const struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path)
{
	return fmax(UNDER_WAY * most_pps_of(bbr) * wh_lambda_path_rtt_s(path), WINDOW_LEAST);
}
