/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/bbr.h"

#include <math.h>

#include "base/arith.h"
#include "base/assert.h"

#define LOW           0.15   /* of the recent queue: it has run empty, ... */
#define LOW_S         0.3e-3 /* or this little */
#define HIGH          0.3    /* ... and stands again */
#define HIGH_S        0.45e-3
#define DIP_LEAST_S   0.12 /* 200 ms, less the time to run empty */
#define DIP_MOST_S    0.4
#define DIP_MOST_RTT  3.0
#define GONE          4.0 /* times as long: nobody fills the queue any more */
#define APART_LEAST_S 9.5 /* between two dips: ten seconds, and the length of a dip */
#define APART_MOST_S  12.0
#define ABOUT_S       25.0  /* two dips and a half */
#define LEVEL_FORGETS 0.998 /* per report */

#define RISEN             0.6 /* of the recent maximum: a pulse begins, ... */
#define FALLEN            0.4 /* ... and ends */
#define PULSE_LEAST_S     0.3e-3
#define PULSE_LEAST_RTT   0.03 /* of queue at least, ... */
#define PULSE_MOST_RTT    0.4  /* ... and at most: a quarter of a round trip stands there */
#define PULSE_FORGETS_RTT 12.0 /* the recent maximum, by a factor e */
#define PULSES            4    /* are enough, ... */
#define BEAT_LEAST_RTT    7.3  /* ... this far apart, or twice as far, ... */
#define BEAT_MOST_RTT     9.6
#define JUST_FELL_RTT     2.0  /* ... unless it was still the same */
#define SHORT             0.65 /* of the time the queue is short */

#define PART_RTT     0.5  /* of a round trip is a part of a round */
#define PART_PKTS    4.0  /* and this many packets */
#define GAIN         1.25 /* in one round, ... */
#define DRAIN        0.75 /* ... and in the one that follows */
#define CYCLE        8
#define UNDER_WAY    2.0 /* times what is sent in a round trip */
#define WINDOW_LEAST 4.0

static double dip_most_s(const struct wh_lambda_path *path)
{
	return DIP_MOST_S + DIP_MOST_RTT * wh_lambda_path_rtt_s(path);
}

/* Other flows empty a queue for as long, too, but not every ten seconds. */
static void end_dip(struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double low_s = wh_lambda_since_s(path, now_tsc, bbr->low_tsc);
	double apart_s = wh_lambda_since_s(path, bbr->low_tsc, bbr->dip_tsc);

	if (low_s < DIP_LEAST_S)
		return;
	if (bbr->dip_tsc > 0 && low_s < dip_most_s(path) && apart_s > APART_LEAST_S &&
		apart_s < APART_MOST_S)
		bbr->seen_tsc = now_tsc;
	bbr->dip_tsc = bbr->low_tsc;
}

void wh_lambda_bbr_watch(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	if (bbr->low) {
		if (path->queue_s > fmax(HIGH * bbr->level_s, HIGH_S)) {
			bbr->low = false;
			end_dip(bbr, path, now_tsc);
		} else if (wh_lambda_since_s(path, now_tsc, bbr->low_tsc) >
			   GONE * dip_most_s(path)) {
			bbr->seen_tsc = 0;
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
	return bbr->seen_tsc > 0 && wh_lambda_since_s(path, now_tsc, bbr->seen_tsc) < ABOUT_S;
}

/* The queue has risen again, `apart` round trips after it last did. */
static void judge_pulse(struct wh_lambda_pulses *pulses, const struct wh_lambda_path *path,
	uint64_t now_tsc, double apart)
{
	double rtt_s = wh_lambda_path_rtt_s(path);
	bool fits = wh_lambda_since_s(path, now_tsc, pulses->fell_tsc) >= SHORT * apart * rtt_s &&
		    pulses->peak_s < PULSE_MOST_RTT * rtt_s;

	if (fits && apart >= BEAT_LEAST_RTT && apart <= BEAT_MOST_RTT)
		pulses->count++;
	else if (!fits || apart < 2.0 * BEAT_LEAST_RTT || apart > 2.0 * BEAT_MOST_RTT)
		pulses->count = 0;
}

static void rise(
	struct wh_lambda_pulses *pulses, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double apart =
		wh_lambda_since_s(path, now_tsc, pulses->rose_tsc) / wh_lambda_path_rtt_s(path);

	pulses->high = true;
	if (pulses->rose_tsc > 0 && apart < JUST_FELL_RTT)
		return;
	if (pulses->rose_tsc > 0)
		judge_pulse(pulses, path, now_tsc, apart);
	pulses->rose_tsc = now_tsc;
	pulses->peak_s = 0.0;
}

void wh_lambda_bbr_watch_pulses(
	struct wh_lambda_bbr *bbr, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	struct wh_lambda_pulses *pulses = &bbr->pulses;
	double rtt_s = wh_lambda_path_rtt_s(path), queue_s = path->queue_s;
	double past =
		wh_lambda_since_s(path, now_tsc, pulses->heard_tsc) / (PULSE_FORGETS_RTT * rtt_s);

	pulses->heard_tsc = now_tsc;
	pulses->level_s = fmax(pulses->level_s * wh_exp(-fmin(past, 50.0)), queue_s);
	if (!pulses->high && queue_s > RISEN * pulses->level_s &&
		queue_s > fmax(PULSE_LEAST_S, PULSE_LEAST_RTT * rtt_s)) {
		rise(pulses, path, now_tsc);
	} else if (pulses->high && queue_s < FALLEN * pulses->level_s) {
		pulses->high = false;
		pulses->fell_tsc = now_tsc;
	}
	pulses->peak_s = fmax(pulses->peak_s, queue_s);
	if (pulses->count >= PULSES)
		*bbr = (struct wh_lambda_bbr){.seen_tsc = now_tsc};
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
	double span_s = wh_lambda_since_s(path, path->arrived_tsc, bbr->part_tsc);

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
