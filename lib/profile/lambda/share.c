/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Beside others. The queue tells all flows of a line at once that it is too long. Each sends a part
 * less than what arrives (CUT) until the queue is gone, and then rises (FILL), by the same part of
 * the line in each second since the queue was too long, and faster and faster: a long cycle means
 * that the line has become wider, or that others have left.
 *
 * The part shrinks from cycle to cycle while nothing changes, and what is added with it, so that
 * few packets wait when all have what is theirs.
 */

#include <math.h>

#include "base/arith.h"
#include "profile/lambda/lambda_internal.h"

/* What a flow of this line adds in the time since its queue was too long. */
static double gained_pps(const struct wh_lambda *lambda, double since_s)
{
	double doublings = fmin(since_s / params.rise_double_s, 20.0);

	return lambda->slope_pps * params.rise_double_s * (wh_exp(doublings * M_LN2) - 1.0);
}

static double risen_pps(const struct wh_lambda *lambda, double gained)
{
	return lambda->rate_pps + fmin(gained, lambda->rate_pps);
}

/* Losses, and the peak of the queue, count from here. */
static void count_from_here(struct wh_lambda *lambda)
{
	lambda->cut_seen_pkts = lambda->path.seen_pkts;
	lambda->cut_lost_pkts = lambda->path.seen_pkts - lambda->path.delivered_pkts;
	lambda->peak_s = lambda->sure_peak_s = 0.0;
}

static void begin_fill(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	if (lambda->mode == WH_LAMBDA_CUT) {
		double since_s =
			wh_lambda_since_s(&lambda->path, event->now_tsc, lambda->event_tsc);

		wh_lambda_set_rate(lambda, risen_pps(lambda, gained_pps(lambda, since_s)));
	}
	lambda->mode = WH_LAMBDA_FILL;
	count_from_here(lambda);
	lambda->drained_tsc = event->now_tsc;
	lambda->vain = 0;
	lambda->checks = 0;
	wh_lambda_mark(lambda, event);
}

static double lost_since_pkts(const struct wh_lambda *lambda)
{
	const struct wh_lambda_path *path = &lambda->path;
	double lost = (double)(path->seen_pkts - path->delivered_pkts);

	return fmax(lost - (double)lambda->cut_lost_pkts, 0.0);
}

static bool bears_losses(const struct wh_lambda *lambda)
{
	double seen = (double)(lambda->path.seen_pkts - lambda->cut_seen_pkts);

	return wh_lambda_loss_bearable(&lambda->loss, seen, lost_since_pkts(lambda));
}

/* Losses are the line's only where the queue is as long as it was ever seen. */
static bool overflows(const struct wh_lambda *lambda)
{
	return lambda->path.seen_pkts > lambda->cut_pkts &&
	       lambda->peak_s > wh_lambda_short_least_s(lambda) &&
	       lambda->peak_s >= params.peak * lambda->longest_s && !bears_losses(lambda);
}

/*
 * The rate is the most for this line, and more is lost than noise: the queue is full. It seems
 * short if it was as full whenever the least delay was learnt.
 */
static bool exceeds_line(const struct wh_lambda *lambda)
{
	return lambda->path.seen_pkts > lambda->cut_pkts &&
	       lambda->rate_pps >= params.beyond * wh_lambda_line_pps(lambda) &&
	       !bears_losses(lambda);
}

static void check_from_here(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	lambda->cut_queue_s = lambda->path.queue_s;
	lambda->cut_pkts = event->sent_pkts;
	lambda->cut_tsc = event->now_tsc;
}

static void rise_from_here(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	lambda->event_tsc = event->now_tsc;
	lambda->slope_pps = params.rise * lambda->cut * wh_lambda_line_pps(lambda);
}

static void begin_cut(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	double pps = wh_lambda_likely_part_pps(lambda);

	if (lambda->mode == WH_LAMBDA_FILL && fabs(pps - lambda->peak_pps) < params.same * pps) {
		lambda->cut = fmax(lambda->cut * params.cut_fades, params.cut_least);
	} else {
		lambda->cut = params.cut_most;
	}
	lambda->peak_pps = pps;
	lambda->cut_from_pps = lambda->rate_pps;
	lambda->mode = WH_LAMBDA_CUT;
	check_from_here(lambda, event);
	rise_from_here(lambda, event);
	wh_lambda_set_rate(lambda, pps * (1.0 - lambda->cut));
	wh_lambda_mark(lambda, event);
}

/* A misread train, or a dedicated path, has no others: the line is what arrives. */
void wh_lambda_begin_cut(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double part_pps = wh_lambda_part_pps(lambda);

	if (wh_lambda_is_dedicated(control) ||
		(lambda->seeks && wh_lambda_train_false(wh_lambda_line_pps(lambda),
					  lambda->rate_pps, part_pps))) {
		lambda->line_pps = lambda->own_pps = part_pps;
		lambda->busy_pps = part_pps;
		wh_lambda_set_rate(lambda, part_pps);
		wh_lambda_begin_hold(lambda, event);
		return;
	}
	lambda->mode = WH_LAMBDA_HOLD;
	begin_cut(lambda, event);
	count_from_here(lambda);
}

void wh_lambda_begin_fill(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	lambda->cut = params.cut_most;
	lambda->mode = WH_LAMBDA_HOLD;
	lambda->cut_pkts = event->sent_pkts;
	rise_from_here(lambda, event);
	begin_fill(lambda, event);
}

void wh_lambda_begin_after_others(struct wh_lambda *lambda)
{
	lambda->full_s = 0.0;
	lambda->mode = WH_LAMBDA_WINDOW;
	lambda->cut = params.cut_most;
}

/* The queue did not become shorter: reduce again, or the path has become longer. */
static void cut_again(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	const struct wh_lambda_path *path = &lambda->path;
	double change_s = fabs(path->queue_s - lambda->cut_queue_s);
	bool same = bears_losses(lambda) &&
		    change_s < params.same * lambda->cut_queue_s +
				       params.target_jitters * path->jitter_s + params.same_s;
	uint32_t vain = same ? lambda->vain + 1 : 0;
	double from_pps = lambda->cut_from_pps;

	lambda->checks = 0;
	if (vain >= params.vain) {
		wh_lambda_path_forget(&lambda->path);
		wh_lambda_set_rate(lambda, from_pps);
		begin_fill(lambda, event);
		return;
	}
	begin_cut(lambda, event);
	lambda->vain = vain;
	lambda->cut_from_pps = from_pps;
}

static void on_cut(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double since_s = wh_lambda_since_s(path, event->now_tsc, lambda->cut_tsc);
	bool due = path->seen_pkts > lambda->cut_pkts &&
		   since_s >= params.check_rtt * wh_lambda_path_covered_s(path);
	bool shorter = path->queue_s < params.shorter * lambda->cut_queue_s;

	if (path->queue_s <= params.empty * wh_lambda_target_s(control) ||
		(due && !shorter && path->queue_s <= wh_lambda_most_s(control))) {
		begin_fill(lambda, event);
	} else if (due && shorter) {
		check_from_here(lambda, event);
		lambda->checks = 0;
	} else if (due && ++lambda->checks < params.checks) {
		check_from_here(lambda, event);
	} else if (due) {
		cut_again(lambda, event);
	}
}

/*
 * Without a queue the line carries what was sent a round trip before. If that is more than we had,
 * somebody has left or the line is wider: from here on the rise doubles in each round trip.
 */
static void hurry(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	bool free =
		path->queue_s <= params.empty * wh_lambda_target_s(control) && bears_losses(lambda);

	if (free && path->seen_pkts <= lambda->free_pkts)
		return;
	if (free) {
		double later_s = wh_lambda_since_s(path, event->now_tsc, lambda->event_tsc) +
				 params.rise_double_s;
		double more_pps = gained_pps(lambda, later_s + wh_lambda_path_covered_s(path)) -
				  gained_pps(lambda, later_s);

		lambda->line_pps = fmax(lambda->line_pps, lambda->free_pps);
		if (lambda->free_pps > params.free * lambda->peak_pps &&
			more_pps < params.free_most * lambda->peak_pps)
			lambda->event_tsc -= (uint64_t)fmin(
				params.rise_double_s * path->hz, (double)lambda->event_tsc);
	}
	lambda->free_pkts = event->sent_pkts;
	lambda->free_pps = lambda->rate_pps;
}

static void rise(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double span_s = fmin(wh_lambda_since_s(path, event->now_tsc, lambda->heard_tsc),
		fmax(wh_lambda_path_covered_s(path), 1.0));
	double since_s = wh_lambda_since_s(path, event->now_tsc, lambda->event_tsc);
	double gained =
		gained_pps(lambda, since_s) - gained_pps(lambda, fmax(since_s - span_s, 0.0));

	hurry(control, event);
	wh_lambda_set_rate(lambda,
		fmin(risen_pps(lambda, gained), params.beyond * wh_lambda_line_pps(lambda)));
	if (lambda->rate_pps >= lambda->rate_max_pps) {
		lambda->own_pps = wh_lambda_line_pps(lambda);
		wh_lambda_begin_hold(lambda, event);
	}
}

/* A queue that was almost too long is gone again: the others saw more of it than we did. */
static bool others_reduced(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);

	return lambda->sure_peak_s > params.peak * wh_lambda_most_s(control) &&
	       lambda->path.queue_s < params.fell * lambda->sure_peak_s && bears_losses(lambda);
}

/*
 * The part that arrives of what was sent since we rise, if so much is lost that no line does it by
 * itself: a queue overflows that was full ever since we came, so that it seems to be the path.
 * Else 1.
 */
static double arriving_part(const struct wh_lambda *lambda)
{
	const struct wh_lambda_path *path = &lambda->path;
	double seen = (double)(path->seen_pkts - path->from_seen_pkts);
	double came = (double)(path->delivered_pkts - path->from_delivered_pkts);

	if (!path->filling || seen < params.arrival_pkts || seen - came < params.overload * seen)
		return 1.0;
	return came / seen;
}

static void on_fill(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double line_pps = wh_lambda_line_pps(lambda);
	bool too_long = lambda->path.queue_s > wh_lambda_most_s(control);
	double arrives = arriving_part(lambda);

	if (arrives < 1.0)
		wh_lambda_set_rate(lambda, arrives * lambda->rate_pps);
	if (arrives < 1.0 || exceeds_line(lambda) || (others_reduced(control) && !event->held_up)) {
		begin_cut(lambda, event);
		count_from_here(lambda);
		return;
	}
	if (!too_long && !overflows(lambda)) {
		if (!event->held_up)
			rise(control, event);
		return;
	}
	if (!too_long)
		lambda->short_s = fmax(lambda->peak_s, 1.0 / line_pps);
	else if (lambda->short_s > 0.0)
		lambda->short_s *= params.lengthens;
	lambda->longest_s *= params.peak_fades;
	if (too_long && wh_lambda_part_pps(lambda) >= params.whole * line_pps) {
		if (wh_lambda_stands_s(lambda) < fmax(wh_lambda_window_s(lambda), params.report_s))
			return;
		lambda->own_pps = line_pps;
		wh_lambda_set_rate(lambda, line_pps);
		wh_lambda_begin_hold(lambda, event);
		lambda->busy_pps = wh_lambda_part_pps(lambda);
	} else {
		begin_cut(lambda, event);
		count_from_here(lambda);
	}
}

void wh_lambda_share(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	if (lambda->mode == WH_LAMBDA_CUT)
		on_cut(control, event);
	else
		on_fill(control, event);
}
