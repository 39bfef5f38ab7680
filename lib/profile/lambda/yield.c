/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/yield.h"

#include <math.h>

#include "base/assert.h"
#include "profile/lambda/params.h"

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
		if (yield->noise_pkts > params.yield_noise_pkts) {
			yield->noise_lost_pkts *= params.yield_noise_pkts / yield->noise_pkts;
			yield->noise_pkts = params.yield_noise_pkts;
		}
	}
	return lost > mean + params.sigmas * sqrt(mean);
}

/* The arrival rate of the present window; 0: it is too short. */
static double arrives_pps(const struct wh_lambda_yield *yield, const struct wh_lambda_path *path)
{
	double pkts = (double)(path->delivered_pkts - yield->from_pkts);
	double came_s = wh_lambda_since_s(path, path->arrived_tsc, yield->from_tsc);

	return pkts >= params.arrive_pkts && came_s > params.arrive_least_s ? pkts / came_s : 0.0;
}

static void measure(
	struct wh_lambda_yield *yield, const struct wh_lambda_path *path, uint64_t now_tsc)
{
	double window_s = fmax(params.arrive_s, wh_lambda_path_rtt_s(path));
	double pps = arrives_pps(yield, path);

	if (yield->from_tsc > 0 &&
		(pps == 0.0 || wh_lambda_since_s(path, now_tsc, yield->from_now_tsc) < window_s))
		return;
	yield->most_pps = fmax(yield->most_pps * params.most_fades, fmin(pps, yield->before_pps));
	yield->before_pps = pps;
	yield->from_tsc = path->arrived_tsc;
	yield->from_pkts = path->delivered_pkts;
	yield->from_now_tsc = now_tsc;
}

/* A wait of that length was due to a host, and waits up to it say nothing. */
static void learn_spike(struct wh_lambda_yield *yield, double wait_s)
{
	yield->spike_s = fmin(fmax(yield->spike_s, params.spike_room * wait_s), params.host_most_s);
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

	double early_s = pkts / (params.beyond * yield->line_pps) - came_s;
	bool proved = yield->arrived_tsc > 0 && early_s > 0.0 && fell_s > early_s / 2.0;

	yield->spike_s *= params.spike_fades;
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
	return yield->spike_s / (1.0 - params.yield_full);
}

/* What a test has left in the queue must be gone before a queue is that of others. */
static double end_look(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event)
{
	double pps = params.drains * yield->capacity_pps;

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
			     fmax(params.often_s, params.often_rtt * wh_lambda_path_rtt_s(path));

	yield->felt_s = looks ? 0.0 : path->latest_s;
	yield->held_pps = lost || often ? 0.0 : rate_pps;
	yield->rises = false;
	if (looks)
		return end_look(yield, path, event);
	yield->heed_pkts = event->sent_pkts;
	yield->looked_tsc = event->now_tsc;
	if (fabs(rate_pps - yield->felt_pps) < params.felt_same * rate_pps &&
		rate_pps > params.felt_least * yield->capacity_pps)
		yield->capacity_pps = fmax(rate_pps, fmin(yield->most_pps, yield->capacity_pps));
	if (rate_pps > params.felt_least * yield->capacity_pps)
		yield->felt_pps = rate_pps;
	yield->gave_way_tsc = event->now_tsc;
	return params.crumb * yield->capacity_pps;
}

static double come_back(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, double rate_pps, double span_s)
{
	double rtt_s = fmax(wh_lambda_path_rtt_s(path), 1e-9);
	double full_pps = params.yield_full * yield->capacity_pps;
	double judge_s = yield->spike_s > 0.0 ? rtt_s + path->gap_s + lasts_s(yield) : 0.0;
	double more_pps = fmin(params.back_s, params.back_rtt / rtt_s) * yield->capacity_pps;

	if (rate_pps < full_pps && yield->look == 0.0)
		return fmin(rate_pps + more_pps * fmin(span_s, rtt_s), full_pps);
	if (yield->look > 0.0 &&
		wh_lambda_since_s(path, event->now_tsc, yield->looked_tsc) < judge_s)
		return rate_pps;
	if (yield->look > 0.0)
		yield->capacity_pps = fmax(yield->capacity_pps, rate_pps);
	else if (wh_lambda_since_s(path, event->now_tsc, yield->looked_tsc) < params.look_s)
		return full_pps;
	yield->look = fmin(fmax(2.0 * yield->look, params.look), params.look_most);
	yield->looked_tsc = event->now_tsc;
	yield->heed_pkts = event->sent_pkts;
	return yield->capacity_pps * (1.0 + yield->look);
}

/* The latest packet has waited, or all have for longer than a host may cause. */
static bool queues(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	uint64_t now_tsc, double own_s, double rate_pps)
{
	double late_s = path->late_pkts / yield->capacity_pps;
	double sway_s = params.jitters * (path->jitter_s + yield->sway_s) + late_s + yield->rest_s;
	bool stands = path->queue_s > params.stands * own_s + late_s + yield->rest_s;
	bool waits = path->latest_s > params.waits * own_s + sway_s + yield->spike_s;

	if (!stands)
		yield->stood_tsc = 0;
	else if (yield->stood_tsc == 0)
		yield->stood_tsc = now_tsc;
	if (!waits && yield->look == 0.0)
		yield->sway_s +=
			params.calm_learnt *
			(fmin(path->latest_s - path->queue_s, params.host_s) - yield->sway_s);
	if (rate_pps < params.rest * yield->capacity_pps)
		yield->rest_s +=
			params.calm_learnt * (fmin(path->queue_s, params.host_s) - yield->rest_s);
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

	if (pps == 0.0 || !stood || most_pps * params.false_rate > yield->capacity_pps)
		return rate_pps;
	yield->capacity_pps = yield->line_pps = most_pps;
	if (yield->look > 0.0)
		return end_look(yield, path, event);
	return fmin(rate_pps, params.yield_full * most_pps);
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
		return fmax(rate_pps, fmin(held_pps, params.yield_full * yield->capacity_pps));
	yield->look = held_pps / yield->capacity_pps - 1.0;
	yield->looked_tsc = now_tsc;
	return held_pps;
}

void wh_lambda_yield_begin_blind(struct wh_lambda_yield *yield)
{
	yield->look = params.look_most / 2.0;
}

double wh_lambda_yield_hear(struct wh_lambda_yield *yield, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, double own_s, double rate_pps, double capacity_pps)
{
	double hold_s = fmax(params.crumb_s, params.crumb_rtt * wh_lambda_path_rtt_s(path));
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
			wh_lambda_since_s(path, event->now_tsc, yield->looked_tsc) > path->gap_s;
	if (path->seen_pkts <= yield->heed_pkts) {
		if (!spike || queued || yield->held_pps == 0.0)
			return rate_pps;
		yield->heed_pkts = 0;
		return take_again(yield, event->now_tsc, rate_pps);
	}
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
