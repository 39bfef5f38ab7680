/* SPDX-License-Identifier: BSD-3-Clause */

/* The rate when far too much waits at once, and while a queue that others made drains. */

#include <math.h>

#include "base/assert.h"
#include "profile/lambda/lambda_internal.h"

#define OVERLOAD_ALPHA   4.0    /* times alpha in the queue is too much, ... */
#define OVERLOAD_RTT     0.02   /* ... if also this share of the round trip, ... */
#define OVERLOAD_S       200e-6 /* ... and more than hosts' jitter */
#define OVERLOAD_LESS    0.9    /* of the rate arrives */
#define OVERLOAD_DOUBTED 0.95   /* of the rate arrives after all */
#define RELIEF_JUMP      0.6    /* of the rate arrives: our kind begins with half a line (0.67); */
#define RELIEF_CYCLES    4.0    /* in which its queue drains, ... */
#define RELIEF_LEAST     0.5    /* ... but no less than this of what is left to us */
#define RELIEF_FALLS     0.9    /* of its queue is left: it drains */
#define RELIEF_ENDS      0.9    /* of the capacity arrives: they are gone */

double wh_lambda_capacity_pps(const struct wh_lambda *lambda)
{
	return fmax(
		fmax(lambda->share.capacity_pps, lambda->estimate_pps), WH_LAMBDA_RATE_LEAST_PPS);
}

double wh_lambda_overload_s(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double alpha_s = wh_lambda_alpha_pkts(control, lambda->rate_pps) / lambda->rate_pps;

	return fmax(
		fmax(OVERLOAD_ALPHA * alpha_s, OVERLOAD_RTT * wh_lambda_path_rtt_s(&lambda->path)),
		OVERLOAD_S);
}

/*
 * What others leave us: a full queue lets each flow through in proportion to what it sends, so that
 * `arrives_pps` of `sent_pps` tells what all send. Zero or less: the path has become narrower.
 */
static double left_pps(const struct wh_lambda *lambda, double sent_pps, double arrives_pps)
{
	double path_pps = fmax(wh_lambda_capacity_pps(lambda), arrives_pps);

	WH_ASSERT(arrives_pps > 0.0);
	return path_pps - sent_pps * (path_pps - arrives_pps) / arrives_pps;
}

void wh_lambda_learn_left(struct wh_lambda *lambda)
{
	const struct wh_lambda_sample *sample = &lambda->path.sample;

	if (lambda->relieves && sample->arrival_pps > lambda->rate_pps && !sample->starved &&
		!sample->held_up)
		lambda->busy_pps = fmin(lambda->busy_pps,
			fmax(left_pps(lambda, lambda->rate_pps, sample->arrival_pps),
				sample->arrival_pps));
}

void wh_lambda_end_relief(struct wh_lambda *lambda)
{
	if (!lambda->relieves)
		return;
	if (lambda->shed_s > 0.0 && lambda->busy_pps > lambda->rate_pps)
		wh_lambda_set_rate(lambda, fmin(lambda->busy_pps, lambda->rate_pps / RELIEF_LEAST));
	lambda->relieves = lambda->busy_pps < RELIEF_ENDS * wh_lambda_capacity_pps(lambda);
}

static void note_before(struct wh_lambda *lambda, double sent_pps)
{
	lambda->before = (struct wh_lambda_before){
		.rate_pps = lambda->rate_pps,
		.busy_pps = lambda->busy_pps,
		.least_pps = OVERLOAD_DOUBTED * sent_pps,
		.arrived_tsc = lambda->path.arrived_tsc,
		.delivered_pkts = lambda->path.delivered_pkts,
		.seen_pkts = lambda->path.seen_pkts,
		.until_pkts = lambda->sent_pkts,
	};
}

void wh_lambda_doubt_overload(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	const struct wh_lambda_before *before = &lambda->before;
	double span_s = (double)(int64_t)(path->arrived_tsc - before->arrived_tsc) / path->hz;
	double pkts = (double)(path->delivered_pkts - before->delivered_pkts);
	double seen_pkts = (double)(path->seen_pkts - before->seen_pkts);
	double least_pkts =
		before->least_pps * span_s * (1.0 - wh_lambda_loss_noise(&lambda->loss));

	if (before->rate_pps == 0.0 || path->seen_pkts > before->until_pkts ||
		lambda->share.contended) {
		lambda->before.rate_pps = 0.0;
		return;
	}
	if (pkts < WH_LAMBDA_ARRIVAL_PKTS || pkts < least_pkts ||
		!wh_lambda_loss_bearable(&lambda->loss, seen_pkts, fmax(seen_pkts - pkts, 0.0)))
		return;
	wh_lambda_set_rate(lambda, before->rate_pps);
	lambda->busy_pps = before->busy_pps;
	lambda->good_pps = lambda->rate_pps;
	lambda->shed_s = 0.0;
	lambda->heeded = lambda->relieves = false;
	lambda->before.rate_pps = 0.0;
	wh_lambda_mark(lambda, event);
}

/*
 * The rate at an overload. If others came whom a queue cannot have held back yet, what they leave,
 * and less, so that the queue that stands by now drains; if not even that is left the path has
 * become narrower: reduce by the other flows' part of the excess, too, as they may not react.
 */
static double relieved_pps(
	struct wh_lambda *lambda, const struct wh_delivery_event *event, double arrives_pps)
{
	const struct wh_lambda_path *path = &lambda->path;
	double rtt_s = wh_lambda_path_rtt_s(path);
	double sent_pps = wh_lambda_path_sent_before_pps(path, event, lambda->rate_pps);
	double left = left_pps(lambda, sent_pps, arrives_pps);

	lambda->relieves = false;
	lambda->shed_queue_s = path->queue_s;
	if (lambda->phase != WH_LAMBDA_CRUISE || left <= 0.0 ||
		arrives_pps > RELIEF_JUMP * sent_pps) {
		sent_pps = wh_lambda_path_sent_pps(path, event, lambda->rate_pps);
		return arrives_pps * sqrt(arrives_pps / sent_pps);
	}
	lambda->relieves = true;
	lambda->shed_queue_s += (sent_pps / arrives_pps - 1.0) * rtt_s;

	double drain_pps = lambda->shed_queue_s * wh_lambda_capacity_pps(lambda) /
			   (RELIEF_CYCLES * (rtt_s + lambda->shed_queue_s));

	return fmax(left - drain_pps, RELIEF_LEAST * left);
}

void wh_lambda_heed_overload(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double most_s = wh_lambda_overload_s(control);
	double arrives_pps = path->short_pps / (1.0 - wh_lambda_loss_noise(&lambda->loss));
	double sent_pps = wh_lambda_path_sent_pps(path, event, lambda->rate_pps);

	if (lambda->share.contended || path->queue_s < most_s || lambda->heeded || event->held_up ||
		path->sample.held_up || wh_lambda_path_pause_s(path, lambda->rate_pps) > 0.0 ||
		arrives_pps == 0.0 || arrives_pps > OVERLOAD_LESS * sent_pps ||
		(lambda->relieves && path->queue_s < RELIEF_FALLS * lambda->shed_queue_s))
		return;
	double relieved = relieved_pps(lambda, event, arrives_pps);

	lambda->heeded = true;
	if (lambda->phase == WH_LAMBDA_CRUISE)
		note_before(lambda, sent_pps);
	if (lambda->busy_pps == 0.0 &&
		wh_lambda_train_false(lambda->estimate_pps, sent_pps, arrives_pps))
		lambda->estimate_pps = lambda->train_pps = arrives_pps;
	else if (lambda->phase == WH_LAMBDA_VERIFY)
		wh_lambda_share_join(&lambda->share, event->now_tsc);
	lambda->phase = WH_LAMBDA_CRUISE;
	lambda->step = 0.0;
	lambda->drains = 0.0;
	if (lambda->shed_s == 0.0) {
		lambda->shed_from_pps = lambda->rate_pps;
		lambda->shed_in_vain = 0;
	}
	lambda->shed_arrival_pps = arrives_pps;
	lambda->shed_s = (1.0 - arrives_pps / lambda->rate_pps) * wh_lambda_path_rtt_s(path);
	wh_lambda_set_rate(lambda, relieved);
	lambda->busy_pps = arrives_pps;
	lambda->good_pps = lambda->rate_pps;
	wh_lambda_mark(lambda, event);
}
