/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/yield.h"

#include <math.h>

#include "base/assert.h"

#define STANDS      1.5     /* times what one flow leaves in a queue, by all packets, ... */
#define WAITS       0.25    /* ... or by the latest packet, ... */
#define SWAYS       4.0     /* ... plus this many times the hosts' jitter: other flows are there */
#define LOST_SIGMAS 3.0     /* beyond the noise, */
#define NOISE_PKTS  20000.0 /* which is averaged over this many packets */
#define CRUMB       0.01    /* of the capacity is kept, ... */
#define HOLD_S      0.1     /* ... for this long */
#define HOLD_RTT    6.0
#define BACK_S      0.5   /* of the capacity per second, ... */
#define BACK_RTT    0.05  /* ... but no more than this per round trip */
#define FULL        0.965 /* of the capacity; the rest stays free, ... */
#define LOOK_S      5.0   /* ... except for a test at this interval, ... */
#define LOOK_RTT    10.0
#define LOOK        0.02 /* ... whether there is more, ... */
#define LOOK_MOST   1.0  /* ... which doubles each time */
#define SAME        0.03 /* of a rate: a queue appeared at the same rate again, ... */
#define SAME_LEAST  0.5  /* ... and it is this share of the capacity: no other flow is there */

static double since_s(const struct wh_lambda_path *path, uint64_t now_tsc, uint64_t then_tsc)
{
	return now_tsc > then_tsc ? (double)(now_tsc - then_tsc) / path->hz : 0.0;
}

/* Losses of a round trip beyond the noise. */
static bool loses(
	struct wh_lambda_yield *yield, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double pkts = (double)(path->seen_pkts - yield->seen_pkts);
	double arrived = (double)(path->delivered_pkts - yield->delivered_pkts);
	double lost = fmax(pkts - arrived, 0.0);
	double mean =
		yield->noise_pkts > 0.0 ? pkts * yield->noise_lost_pkts / yield->noise_pkts : 0.0;

	if (since_s(path, now_tsc, yield->window_tsc) > wh_lambda_path_rtt_s(path)) {
		yield->window_tsc = now_tsc;
		yield->seen_pkts = path->seen_pkts;
		yield->delivered_pkts = path->delivered_pkts;
		yield->noise_pkts += pkts;
		yield->noise_lost_pkts += lost;
		if (yield->noise_pkts > NOISE_PKTS) {
			yield->noise_lost_pkts *= NOISE_PKTS / yield->noise_pkts;
			yield->noise_pkts = NOISE_PKTS;
		}
	}
	return lost > mean + LOST_SIGMAS * sqrt(mean);
}

/* After a test only the increase is withdrawn; otherwise all but a crumb. */
static double give_way(
	struct wh_lambda_yield *yield, const struct wh_delivery_event *event, double rate_pps)
{
	bool looks = yield->look > 0.0;

	yield->heed_pkts = event->sent_pkts;
	yield->looked_tsc = event->now_tsc;
	yield->look = 0.0;
	if (looks)
		return FULL * yield->capacity_pps;
	if (fabs(rate_pps - yield->felt_pps) < SAME * rate_pps &&
		rate_pps > SAME_LEAST * yield->capacity_pps)
		yield->capacity_pps = rate_pps;
	if (rate_pps > SAME_LEAST * yield->capacity_pps)
		yield->felt_pps = rate_pps;
	yield->gave_way_tsc = event->now_tsc;
	return CRUMB * yield->capacity_pps;
}

static double come_back(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, double rate_pps, double span_s)
{
	double rtt_s = fmax(wh_lambda_path_rtt_s(path), 1e-9);
	double full_pps = FULL * yield->capacity_pps;
	double more_pps = fmin(BACK_S, BACK_RTT / rtt_s) * yield->capacity_pps;

	if (rate_pps < full_pps)
		return fmin(rate_pps + more_pps * fmin(span_s, rtt_s), full_pps);
	if (yield->look > 0.0)
		yield->capacity_pps = fmax(yield->capacity_pps, rate_pps);
	else if (since_s(path, event->now_tsc, yield->looked_tsc) < fmax(LOOK_S, LOOK_RTT * rtt_s))
		return full_pps;
	yield->look = fmin(fmax(2.0 * yield->look, LOOK), LOOK_MOST);
	yield->heed_pkts = event->sent_pkts;
	return yield->capacity_pps * (1.0 + yield->look);
}

double wh_lambda_yield_hear(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, double own_s, double rate_pps, double capacity_pps)
{
	double hold_s = fmax(HOLD_S, HOLD_RTT * wh_lambda_path_rtt_s(path));
	double span_s = since_s(path, event->now_tsc, yield->heard_tsc);
	bool lost = loses(yield, path, event->now_tsc);

	WH_ASSERT(own_s > 0.0 && capacity_pps > 0.0);
	yield->heard_tsc = event->now_tsc;
	if (yield->capacity_pps == 0.0)
		yield->capacity_pps = capacity_pps;
	if (path->seen_pkts <= yield->heed_pkts)
		return rate_pps;
	if (lost || path->queue_s > STANDS * own_s + path->late_s ||
		path->latest_s > WAITS * own_s + SWAYS * path->jitter_s + path->late_s)
		return give_way(yield, event, rate_pps);
	if (yield->gave_way_tsc > 0 && since_s(path, event->now_tsc, yield->gave_way_tsc) < hold_s)
		return rate_pps;
	return come_back(yield, path, event, rate_pps, span_s);
}
