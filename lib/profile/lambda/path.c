/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/path.h"

#include <math.h>

#include "base/assert.h"
#include "base/clock.h"
#include "profile/lambda/params.h"

void wh_lambda_path_init(struct wh_lambda_path *path, uint64_t hz)
{
	WH_ASSERT(hz > 0);
	*path = (struct wh_lambda_path){.hz = (double)hz};
}

static double minus_s(const struct wh_lambda_path *path, int64_t later, int64_t earlier)
{
	int64_t span_tsc;

	if (__builtin_sub_overflow(later, earlier, &span_tsc))
		span_tsc = later > earlier ? INT64_MAX : INT64_MIN;
	return (double)span_tsc / path->hz;
}

static void note_least(struct wh_lambda_least *least, const struct wh_delivery_event *event)
{
	if (!least->known || event->least_delay_tsc < least->delay_tsc)
		least->delay_tsc = event->least_delay_tsc;
	if (event->rtt_tsc > 0 && (least->rtt_tsc == 0 || event->rtt_tsc < least->rtt_tsc))
		least->rtt_tsc = event->rtt_tsc;
	least->known = true;
}

static int64_t least_delay_tsc(const struct wh_lambda_path *path)
{
	const struct wh_lambda_least *now = &path->least[0], *before = &path->least[1];

	WH_ASSERT(now->known);
	return before->known && before->delay_tsc < now->delay_tsc ? before->delay_tsc
								   : now->delay_tsc;
}

double wh_lambda_path_rtt_s(const struct wh_lambda_path *path)
{
	uint64_t now_tsc = path->least[0].rtt_tsc, before_tsc = path->least[1].rtt_tsc;
	uint64_t least_tsc =
		now_tsc == 0 || (before_tsc > 0 && before_tsc < now_tsc) ? before_tsc : now_tsc;

	return (double)least_tsc / path->hz;
}

double wh_lambda_path_round_s(const struct wh_lambda_path *path)
{
	return wh_lambda_path_rtt_s(path) + path->queue_s;
}

double wh_lambda_path_patience_s(const struct wh_lambda_path *path)
{
	return fmax(params.full_s, params.full_rtt * wh_lambda_path_round_s(path));
}

double wh_lambda_path_covered_s(const struct wh_lambda_path *path)
{
	return fmax(wh_lambda_path_rtt_s(path), path->there_and_back_s) + path->gap_s;
}

void wh_lambda_path_keep(struct wh_lambda_path *path, uint64_t now_tsc)
{
	path->least_since_tsc = now_tsc;
}

void wh_lambda_path_forget(struct wh_lambda_path *path)
{
	path->least[0] = path->least[1] = (struct wh_lambda_least){0};
}

/* The queue changes little from one report to the next: the rest is jitter. */
static void learn_jitter(struct wh_lambda_path *path, double queue_s)
{
	bool turns = (queue_s > path->queue_s) == (path->before_s > path->queue_s);
	double sways_s = fmin(1.5 * fabs(queue_s - 2.0 * path->queue_s + path->before_s) / 1.732,
		fmin(params.jitters * path->jitter_s + params.same_s, params.host_most_s));

	if (!turns)
		sways_s = 0.0;
	path->jitter_s += (sways_s - path->jitter_s) * params.jitter_learnt;
	path->before_s = path->queue_s;
	path->queue_s = queue_s;
}

static void learn_least(struct wh_lambda_path *path, const struct wh_delivery_event *event)
{
	double period_s =
		fmax(params.least_period_s, params.least_period_rtt * wh_lambda_path_rtt_s(path));

	if (path->least[0].known &&
		wh_lambda_since_s(path, event->now_tsc, path->least_since_tsc) > period_s) {
		path->least[1] = path->least[0];
		path->least[0] = (struct wh_lambda_least){0};
		path->least_since_tsc = event->now_tsc;
	}
	if (!path->least[0].known && !path->least[1].known)
		path->least_since_tsc = event->now_tsc;
	note_least(&path->least[0], event);
}

static bool is_pause(const struct wh_lambda_path *path, double gap_s, double rate_pps)
{
	return gap_s > wh_lambda_path_rtt_s(path) && gap_s * rate_pps > params.arrival_pkts;
}

double wh_lambda_path_pause_s(const struct wh_lambda_path *path, double rate_pps)
{
	return is_pause(path, path->gap_s, rate_pps) ? path->gap_s : 0.0;
}

static void learn_gap(struct wh_lambda_path *path, uint64_t now_tsc, double rate_pps)
{
	double gap_s =
		path->heard_tsc > 0 ? wh_lambda_since_s(path, now_tsc, path->heard_tsc) : 0.0;

	path->gap_s = fmax(gap_s, path->gap_s * params.gap_forgets);
	path->heard_tsc = now_tsc;
	if (is_pause(path, gap_s, rate_pps))
		path->paused_s += gap_s;
}

/* Reports may wait in a queue of the reverse path. */
static void learn_round_trip(struct wh_lambda_path *path, const struct wh_delivery_event *event)
{
	double waited_s = minus_s(path, event->delay_tsc, least_delay_tsc(path));
	double rtt_s = (double)event->rtt_tsc / path->hz - fmax(waited_s, 0.0);

	path->there_and_back_s *= params.gap_forgets;
	if (event->rtt_tsc > 0)
		path->there_and_back_s = fmax(path->there_and_back_s, rtt_s);
}

/*
 * A delay slightly below the previous minimum may be luck of a host: usual delays exceed it by that
 * much without a queue. Forgotten soon, since it may have been a queue that vanished.
 */
static void learn_floor(struct wh_lambda_path *path, double fell_s)
{
	path->floor_s = fmin(path->floor_s * params.floor_forgets + fell_s, params.host_s);
}

/* In shorter times a host may have taken many packets at once. */
static void learn_arrivals(struct wh_lambda_path *path)
{
	double span_s = wh_lambda_since_s(path, path->arrived_tsc, path->part_tsc);
	double pkts = (double)(path->delivered_pkts - path->part_pkts);

	if (path->part_tsc > 0 && (span_s < params.part_s || pkts < params.arrival_pkts))
		return;
	if (path->part_tsc > 0)
		path->arrived_most_pps = fmax(path->arrived_most_pps, pkts / span_s);
	path->part_tsc = path->arrived_tsc;
	path->part_pkts = path->delivered_pkts;
}

static void fill(struct wh_lambda_path *path, const struct wh_delivery_event *event)
{
	struct wh_lambda_sample *sample = &path->sample;

	if (path->filling) {
		sample->queue_s =
			path->states == 0 ? path->queue_s : fmin(sample->queue_s, path->queue_s);
		sample->peak_s = fmax(sample->peak_s,
			fmax(minus_s(path, event->delay_tsc, least_delay_tsc(path)), 0.0));
		path->states++;
	} else if (event->seen_pkts > path->mark_pkts) {
		path->filling = true;
		path->from_seen_pkts = path->seen_pkts;
		path->from_delivered_pkts = path->delivered_pkts;
		path->from_lost_runs = path->lost_runs;
		path->from_arrived_tsc = path->arrived_tsc;
		path->from_tsc = event->now_tsc;
	}
	sample->held_up |= event->held_up;
}

void wh_lambda_path_hear(
	struct wh_lambda_path *path, const struct wh_delivery_event *event, double rate_pps)
{
	learn_gap(path, event->now_tsc, rate_pps);
	path->late_pkts = fmax((double)event->late_tsc / path->hz * rate_pps,
		path->late_pkts * params.gap_forgets);
	if (event->seen_pkts <= path->seen_pkts || event->seen_pkts > event->sent_pkts ||
		event->delivered_pkts < path->delivered_pkts)
		return;
	if (path->least[0].known)
		learn_floor(path,
			fmax(minus_s(path, least_delay_tsc(path), event->least_delay_tsc), 0.0));
	learn_least(path, event);
	path->moved_tsc = event->now_tsc;
	path->seen_pkts = event->seen_pkts;
	path->delivered_pkts = event->delivered_pkts;
	path->lost_runs = event->lost_runs;
	path->arrived_tsc = event->arrived_tsc;
	learn_jitter(path,
		fmax(minus_s(path, event->least_delay_tsc, least_delay_tsc(path)) - path->floor_s,
			0.0));
	path->latest_s =
		fmax(minus_s(path, event->delay_tsc, least_delay_tsc(path)) - path->floor_s, 0.0);
	learn_round_trip(path, event);
	learn_arrivals(path);
	fill(path, event);
}

void wh_lambda_path_mark(struct wh_lambda_path *path, uint64_t now_tsc, uint64_t sent_pkts)
{
	path->mark_pkts = sent_pkts;
	path->mark_tsc = now_tsc;
	path->filling = false;
	path->states = 0;
	path->paused_s = 0.0;
	path->sample = (struct wh_lambda_sample){0};
}

static double sent_pps_of(const struct wh_lambda_path *path, const struct wh_delivery_event *event,
	double allowed_pps)
{
	double span_s = wh_lambda_since_s(path, event->now_tsc, path->mark_tsc);

	if (span_s * allowed_pps < 1.0)
		return allowed_pps;
	return fmin((double)(event->sent_pkts - path->mark_pkts) / span_s, allowed_pps);
}

bool wh_lambda_path_full(struct wh_lambda_path *path, const struct wh_delivery_event *event,
	uint64_t pkts, double span_s, double rate_pps)
{
	struct wh_lambda_sample *sample = &path->sample;

	if (!path->filling || path->states == 0)
		return false;
	sample->seen_pkts = path->seen_pkts - path->from_seen_pkts;
	sample->span_s = wh_lambda_since_s(path, event->now_tsc, path->from_tsc);
	if (sample->seen_pkts < pkts || sample->span_s < span_s)
		return false;

	uint64_t delivered_pkts = path->delivered_pkts - path->from_delivered_pkts;
	double arrived_s = wh_lambda_since_s(path, path->arrived_tsc, path->from_arrived_tsc);
	double marked_s = wh_lambda_since_s(path, event->now_tsc, path->mark_tsc);
	double allowed_pkts =
		rate_pps * (marked_s - fmin(path->paused_s, params.paused_most * marked_s));

	sample->lost_pkts =
		delivered_pkts < sample->seen_pkts ? sample->seen_pkts - delivered_pkts : 0;
	sample->lost_runs = sample->lost_pkts;
	if (path->lost_runs > 0) /* else nobody looks for them, as with repair packets */
		sample->lost_runs = wh_min_u64(
			sample->lost_pkts, wh_max_u64(path->lost_runs - path->from_lost_runs, 1));
	sample->arrival_pps = arrived_s > 0.0 ? (double)delivered_pkts / arrived_s : 0.0;
	sample->sent_pps = sent_pps_of(path, event, rate_pps);
	sample->starved =
		(double)(event->sent_pkts - path->mark_pkts) < params.used_share * allowed_pkts;
	return true;
}

static void measure_train(struct wh_lambda_train *train, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, bool first)
{
	uint64_t since_tsc = train->arrived_tsc;

	/* Several at once after a long wait: they did not wait for the link. */
	uint64_t waited_tsc = event->arrived_tsc - since_tsc;
	uint64_t pkts = path->delivered_pkts - train->arrived_pkts;
	bool paused =
		pkts >= 2 && (double)event->span_tsc <= params.paused_span * (double)waited_tsc;

	if (first || paused || since_tsc > event->arrived_tsc) {
		since_tsc = event->arrived_tsc - event->span_tsc;
		pkts = event->span_pkts;
	}
	train->pkts += pkts;
	train->s += (double)(event->arrived_tsc - since_tsc) / path->hz;
	train->arrived_tsc = event->arrived_tsc;
	train->arrived_pkts = path->delivered_pkts;
	train->still_reports = 0;
}

void wh_lambda_train_interrupted(struct wh_lambda_train *train)
{
	train->arrived_tsc = UINT64_MAX; /* so that only the spacings of one report count */
}

/* On a slow line states are sent more often than packets arrive. */
static bool is_still(const struct wh_lambda_train *train, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event)
{
	double waited_s = wh_lambda_since_s(path, event->now_tsc, path->moved_tsc);

	return train->still_reports >= params.train_still_reports &&
	       waited_s * (double)train->pkts >= params.train_still_spacings * train->s;
}

bool wh_lambda_train_hear(struct wh_lambda_train *train, const struct wh_lambda_path *path,
	const struct wh_delivery_event *event, uint64_t before_pkts, uint64_t pkts)
{
	uint64_t end_pkts = train->from_pkts + pkts;

	WH_ASSERT(before_pkts <= path->seen_pkts);
	if (path->seen_pkts > before_pkts && path->seen_pkts <= end_pkts)
		measure_train(train, path, event, before_pkts <= train->from_pkts);
	else
		train->still_reports++;
	if (path->seen_pkts >= event->sent_pkts && path->seen_pkts < end_pkts && event->held_up) {
		/* The stream had no more packets: another train when it has. */
		*train = (struct wh_lambda_train){.from_pkts = event->sent_pkts};
		return false;
	}
	if (path->seen_pkts <= train->from_pkts)
		return false; /* it has not been sent, or not arrived */
	return path->seen_pkts >= end_pkts || path->seen_pkts >= event->sent_pkts ||
	       (is_still(train, path, event) && path->delivered_pkts >= 2);
}

double wh_lambda_train_pps(
	const struct wh_lambda_train *train, const struct wh_lambda_path *path, double known_pps)
{
	double rtt_s = fmax(wh_lambda_path_rtt_s(path), 1e-9);

	if (train->s > 0.0)
		return (double)train->pkts / train->s;
	return known_pps > 0.0 ? known_pps : fmax((double)path->delivered_pkts, 2.0) / rtt_s;
}

bool wh_lambda_train_false(double train_pps, double sent_pps, double arrives_pps)
{
	return arrives_pps * (sent_pps + train_pps) < params.false_train * train_pps * sent_pps;
}
