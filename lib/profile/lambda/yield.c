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
#define LOOK_MOST   1.0  /* ... which doubles each time; ... */
#define LOOK_DRAINS 0.9  /* ... then this of it for a round trip, until its queue is gone */
#define SAME        0.03 /* of a rate: a queue appeared at the same rate again, ... */
#define SAME_LEAST  0.5  /* ... and it is this share of the capacity: no other flow is there */

#define FASTER         1.1      /* than the line carries: a host was late */
#define SPIKE_ROOM     1.25     /* times what a host was late, */
#define SPIKE_MOST_S   20e-3    /* but at most this, ... */
#define SPIKE_REPORTS  1.5      /* it may grow from one report to the next */
#define SPIKE_FADES    0.9996   /* ... and less by this with each report */
#define CALM_LEARNT    0.015625 /* of the hosts' delays, from each report, ... */
#define CALM_MOST_S    200e-6   /* ... at most this */
#define LITTLE         0.3      /* of the capacity: the least wait is not our own */
#define OFTEN_S        1.0      /* after less than this, ... */
#define OFTEN_RTT      10.0     /* ... or this, it gives way for good, unless hosts are late */
#define WINDOW_S       0.2      /* of arrivals: in a shorter one hosts matter */
#define WINDOW_LEAST_S 20e-3
#define WINDOW_PKTS    16.0   /* that give a rate */
#define MOST_FADES     0.9999 /* with each window */
#define FALSE_RATE     1.02   /* times what arrives while a queue stands: no such capacity */
#define FALSE_MUCH     1.3    /* times what arrives, ... */
#define FALSE_S        2e-3   /* ... and such a queue: it need not have stood */

/* Losses of a round trip beyond the noise. */
static bool loses(
	struct wh_lambda_yield *yield, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double pkts = (double)(path->seen_pkts - yield->seen_pkts);
	double arrived = (double)(path->delivered_pkts - yield->delivered_pkts);
	double lost = fmax(pkts - arrived, 0.0);
	double mean =
		yield->noise_pkts > 0.0 ? pkts * yield->noise_lost_pkts / yield->noise_pkts : 0.0;

	if (wh_lambda_since_s(path, now_tsc, yield->window_tsc) > wh_lambda_path_rtt_s(path)) {
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

/* The arrival rate of the present window; 0: it is too short. */
static double arrives_pps(const struct wh_lambda_yield *yield, const struct wh_lambda_path *path)
{
	double pkts = (double)(path->delivered_pkts - yield->from_pkts);
	double came_s = wh_lambda_since_s(path, path->arrived_tsc, yield->from_tsc);

	return pkts >= WINDOW_PKTS && came_s > WINDOW_LEAST_S ? pkts / came_s : 0.0;
}

static void measure(
	struct wh_lambda_yield *yield, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double window_s = fmax(WINDOW_S, wh_lambda_path_rtt_s(path));
	double pps = arrives_pps(yield, path);

	if (yield->from_tsc > 0 &&
		(pps == 0.0 || wh_lambda_since_s(path, now_tsc, yield->from_now_tsc) < window_s))
		return;
	yield->most_pps = fmax(yield->most_pps * MOST_FADES, fmin(pps, yield->before_pps));
	yield->before_pps = pps;
	yield->from_tsc = path->arrived_tsc;
	yield->from_pkts = path->delivered_pkts;
	yield->from_now_tsc = now_tsc;
}

/* A wait of that length was due to a host, and waits up to it say nothing. */
static void learn_spike(struct wh_lambda_yield *yield, double wait_s)
{
	yield->spike_s = fmin(fmax(yield->spike_s, SPIKE_ROOM * wait_s), SPIKE_MOST_S);
}

/*
 * A queue that fills at the rate of the line does not empty faster than the line. If the packets
 * since the previous report arrived faster, its latest packet was late because of a host.
 */
static bool proves_spike(struct wh_lambda_yield *yield, const struct wh_lambda_path *path)
{
	double pkts = (double)(path->delivered_pkts - yield->arrived_pkts);
	double came_s = wh_lambda_since_s(path, path->arrived_tsc, yield->arrived_tsc);
	double fell_s = yield->waited_s - path->latest_s;

	yield->line_pps = fmax(yield->line_pps, fmax(yield->capacity_pps, yield->most_pps));

	double early_s = pkts / (FASTER * yield->line_pps) - came_s;
	bool proved = yield->arrived_tsc > 0 && early_s > 0.0 && fell_s > early_s / 2.0;

	yield->spike_s *= SPIKE_FADES;
	if (proved)
		learn_spike(yield, fell_s);
	yield->arrived_tsc = path->arrived_tsc;
	yield->arrived_pkts = path->delivered_pkts;
	yield->waited_s = path->latest_s;
	return proved;
}

/* What piled up behind a host, and comes to the line at once, is drained by what we leave free. */
static double lasts_s(const struct wh_lambda_yield *yield)
{
	return yield->spike_s / (1.0 - FULL);
}

/* What a test has left in the queue must be gone before a queue is that of others. */
static double end_look(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event)
{
	double pps = LOOK_DRAINS * yield->capacity_pps;

	yield->look = 0.0;
	yield->looked_tsc = event->now_tsc;
	yield->heed_pkts = event->sent_pkts + (uint64_t)(pps * wh_lambda_path_rtt_s(path));
	return pps;
}

/* After a test only the increase is withdrawn; otherwise all but a crumb. */
static double give_way(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, bool lost, double rate_pps)
{
	bool looks = yield->look > 0.0;
	bool often = yield->spike_s == 0.0 &&
		     wh_lambda_since_s(path, event->now_tsc, yield->looked_tsc) <
			     fmax(OFTEN_S, OFTEN_RTT * wh_lambda_path_rtt_s(path));

	yield->felt_s = looks ? 0.0 : path->latest_s;
	yield->held_pps = lost || often ? 0.0 : rate_pps;
	yield->rises = false;
	if (looks)
		return end_look(yield, path, event);
	yield->heed_pkts = event->sent_pkts;
	yield->looked_tsc = event->now_tsc;
	if (fabs(rate_pps - yield->felt_pps) < SAME * rate_pps &&
		rate_pps > SAME_LEAST * yield->capacity_pps)
		yield->capacity_pps = fmax(rate_pps, fmin(yield->most_pps, yield->capacity_pps));
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
	double judge_s = yield->spike_s > 0.0 ? rtt_s + path->gap_s + lasts_s(yield) : 0.0;
	double more_pps = fmin(BACK_S, BACK_RTT / rtt_s) * yield->capacity_pps;

	if (rate_pps < full_pps && yield->look == 0.0)
		return fmin(rate_pps + more_pps * fmin(span_s, rtt_s), full_pps);
	if (yield->look > 0.0 &&
		wh_lambda_since_s(path, event->now_tsc, yield->looked_tsc) < judge_s)
		return rate_pps;
	if (yield->look > 0.0)
		yield->capacity_pps = fmax(yield->capacity_pps, rate_pps);
	else if (wh_lambda_since_s(path, event->now_tsc, yield->looked_tsc) <
		 fmax(LOOK_S, LOOK_RTT * rtt_s))
		return full_pps;
	yield->look = fmin(fmax(2.0 * yield->look, LOOK), LOOK_MOST);
	yield->looked_tsc = event->now_tsc;
	yield->heed_pkts = event->sent_pkts;
	return yield->capacity_pps * (1.0 + yield->look);
}

/* The latest packet has waited, or all have for longer than a host may cause. */
static bool queues(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	uint64_t now_tsc, double own_s, double rate_pps)
{
	double late_s = path->late_pkts / yield->capacity_pps;
	double sway_s = SWAYS * (path->jitter_s + yield->sway_s) + late_s + yield->rest_s;
	bool stands = path->queue_s > STANDS * own_s + late_s + yield->rest_s;
	bool waits = path->latest_s > WAITS * own_s + sway_s + yield->spike_s;

	if (!stands)
		yield->stood_tsc = 0;
	else if (yield->stood_tsc == 0)
		yield->stood_tsc = now_tsc;
	if (!waits && yield->look == 0.0)
		yield->sway_s += CALM_LEARNT * (fmin(path->latest_s - path->queue_s, CALM_MOST_S) -
						       yield->sway_s);
	if (rate_pps < LITTLE * yield->capacity_pps)
		yield->rest_s += CALM_LEARNT * (fmin(path->queue_s, CALM_MOST_S) - yield->rest_s);
	return waits ||
	       (stands && wh_lambda_since_s(path, now_tsc, yield->stood_tsc) >= lasts_s(yield));
}

/* No more arrives than this, while a queue stands: what was taken for the capacity is none. */
static double correct(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, double rate_pps)
{
	double pps = arrives_pps(yield, path);
	double most_pps = fmax(pps, yield->most_pps);
	bool stood = yield->stood_tsc > 0 && yield->stood_tsc <= yield->from_now_tsc;
	bool much =
		path->queue_s > FALSE_S && most_pps * FALSE_MUCH < fmax(rate_pps, yield->held_pps);

	if (pps == 0.0 || !(stood || much) || most_pps * FALSE_RATE > yield->capacity_pps)
		return rate_pps;
	yield->capacity_pps = yield->line_pps = most_pps;
	yield->own = much;
	if (yield->look > 0.0 && !much)
		return end_look(yield, path, event);
	yield->look = 0.0;
	return fmin(rate_pps, FULL * most_pps);
}

/* Our own queue is drained, and all is taken again. */
static double drain(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, bool queued)
{
	yield->own = queued;
	yield->gave_way_tsc = 0;
	yield->looked_tsc = event->now_tsc;
	yield->seen_pkts = path->seen_pkts;
	yield->delivered_pkts = path->delivered_pkts;
	if (!queued)
		yield->heed_pkts = event->sent_pkts;
	return (queued ? CRUMB : FULL) * yield->capacity_pps;
}

/* The rate before it gave way, a test of more capacity too. */
static double take_again(struct wh_lambda_yield *yield, uint64_t now_tsc, double rate_pps)
{
	double held_pps = yield->held_pps;

	yield->held_pps = 0.0;
	if (held_pps == 0.0)
		return rate_pps;
	learn_spike(yield, yield->felt_s);
	yield->gave_way_tsc = 0;
	if (held_pps <= yield->capacity_pps)
		return fmax(rate_pps, fmin(held_pps, FULL * yield->capacity_pps));
	yield->look = held_pps / yield->capacity_pps - 1.0;
	yield->looked_tsc = now_tsc;
	return held_pps;
}

void wh_lambda_yield_begin_blind(struct wh_lambda_yield *yield)
{
	yield->look = LOOK_MOST / 2.0;
}

double wh_lambda_yield_hear(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, double own_s, double rate_pps, double capacity_pps)
{
	double hold_s = fmax(HOLD_S, HOLD_RTT * wh_lambda_path_rtt_s(path));
	double span_s = wh_lambda_since_s(path, event->now_tsc, yield->heard_tsc);
	bool lost = loses(yield, path, event->now_tsc);

	WH_ASSERT(own_s > 0.0 && capacity_pps > 0.0);
	yield->heard_tsc = event->now_tsc;
	if (yield->capacity_pps == 0.0)
		yield->capacity_pps = capacity_pps;
	measure(yield, path, event->now_tsc);

	double before_s = yield->waited_s;
	bool spike = proves_spike(yield, path);
	bool queued = queues(yield, path, event->now_tsc, own_s, rate_pps);

	rate_pps = correct(yield, path, event, rate_pps);
	yield->rises |= queued && path->latest_s > before_s &&
			wh_lambda_since_s(path, event->now_tsc, yield->looked_tsc) >
				SPIKE_REPORTS * path->gap_s;
	if (path->seen_pkts <= yield->heed_pkts) {
		if (!spike || queued || yield->held_pps == 0.0)
			return rate_pps;
		yield->heed_pkts = 0;
		return take_again(yield, event->now_tsc, rate_pps);
	}
	if (yield->own)
		return drain(yield, path, event, queued);
	if (lost || queued)
		return give_way(yield, path, event, lost, rate_pps);
	if (yield->rises)
		yield->held_pps = 0.0; /* a wait that grew was that of a flow which increases */
	rate_pps = take_again(yield, event->now_tsc, rate_pps);
	if (yield->gave_way_tsc > 0 &&
		wh_lambda_since_s(path, event->now_tsc, yield->gave_way_tsc) < hold_s)
		return rate_pps;
	return come_back(yield, path, event, rate_pps, span_s);
}
