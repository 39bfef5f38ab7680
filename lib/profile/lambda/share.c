/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Beside others. The queue tells all flows of a line at once that it is too long. Each sends a part
 * less than what arrives (CUT) until the queue is gone, and then rises (FILL), by the same part of
 * the line in each second since the queue was too long, and faster and faster: a long cycle means
 * that the line has become wider, or that others have left.
 *
 * The part shrinks from cycle to cycle while nothing changes, and what is added with it, so that
 * few packets wait when all have what is theirs. Now and then a flow does not reduce (TEST). If the
 * queue stays, nobody else has, and the line is its own.
 */

#include <math.h>

#include "base/arith.h"
#include "profile/lambda/lambda_internal.h"

#define CUT_MOST      0.25 /* of what arrives, at first, ... */
#define CUT_LEAST     0.06
#define CUT_FADES     0.85 /* ... and each time that ... */
#define NEWS          0.1  /* ... no other rate arrives */
#define RISE          0.5  /* of the part by which is reduced, of the line, in the first second */
#define RISE_DOUBLE_S 0.35
#define RISE_LEAST    0.005 /* of the line: a rate below it may rise to it at once */
#define CUT_FLOOR     0.001 /* of the line */
#define CHECK_RTT     2.0   /* after so long a queue must have become shorter, ... */
#define CHECKS        2     /* ... so often, ... */
#define SHORTER       0.75  /* ... by this, ... */
#define SAME          0.1   /* ... or it did not change at all, ... */
#define SAME_S        20e-6
#define VAIN          3     /* ... so often: then it is none */
#define MINE          0.95  /* of the line arrives: nobody else is there, ... */
#define MINE_S        10e-3 /* ... if for this time */
#define FREE          1.25  /* times what arrived, without a queue: there is more, ... */
#define FREE_MOST     0.5   /* ... and so much of our part may be added in a round trip */
#define BEYOND        1.1   /* times the line, at most */
#define MISSED        0.8   /* of a queue that is too long was seen, ... */
#define FELL          0.3   /* ... and of that this is left: others have reduced */
#define TEST_CALM     6     /* cycles without news, then one in ... */
#define TEST_ONE_IN   8     /* ... so many is a test, ... */
#define TESTS         2     /* ... and so many in a row decide */
#define TEST_RTT      2.0
#define TEST_QUEUES   3.0
#define SINCE_MOST_S  2.0  /* of the time in which a queue was drained counts for the rise */
#define PEAK_FADES    0.95 /* the longest queue seen, with each one that is too long */
#define LENGTHENS     1.1  /* a queue that overflowed before, and now did not */

/* What a flow of this line adds in the time since its queue was too long. */
static double gained_pps(const struct wh_lambda *lambda, double since_s)
{
	double doublings = fmin(since_s / RISE_DOUBLE_S, 20.0);

	return lambda->slope_pps * RISE_DOUBLE_S * (wh_exp(doublings * M_LN2) - 1.0);
}

static double risen_pps(const struct wh_lambda *lambda, double gained)
{
	double most_pps = fmax(2.0 * lambda->rate_pps, RISE_LEAST * wh_lambda_line_pps(lambda));

	return fmin(lambda->rate_pps + gained, most_pps);
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
	if (lambda->phase == WH_LAMBDA_CUT) {
		double since_s =
			wh_lambda_since_s(&lambda->path, event->now_tsc, lambda->event_tsc);

		wh_lambda_set_rate(
			lambda, risen_pps(lambda, gained_pps(lambda, fmin(since_s, SINCE_MOST_S))));
	}
	lambda->phase = WH_LAMBDA_FILL;
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
	       lambda->peak_s >= WH_LAMBDA_PEAK * lambda->longest_s && !bears_losses(lambda);
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
	lambda->slope_pps = RISE * lambda->cut * wh_lambda_line_pps(lambda);
}

static void begin_cut(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	double pps = wh_lambda_likely_part_pps(lambda);

	if (lambda->phase == WH_LAMBDA_FILL && fabs(pps - lambda->peak_pps) < NEWS * pps) {
		lambda->cut = fmax(lambda->cut * CUT_FADES, CUT_LEAST);
		lambda->calm++;
	} else {
		lambda->cut = CUT_MOST;
		lambda->calm = 0;
	}
	lambda->peak_pps = pps;
	lambda->cut_from_pps = lambda->rate_pps;
	lambda->phase = WH_LAMBDA_CUT;
	check_from_here(lambda, event);
	rise_from_here(lambda, event);
	wh_lambda_set_rate(
		lambda, fmax(pps * (1.0 - lambda->cut), CUT_FLOOR * wh_lambda_line_pps(lambda)));
	wh_lambda_mark(lambda, event);
}

void wh_lambda_begin_cut(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	double part_pps = wh_lambda_part_pps(lambda);

	if (lambda->seeks &&
		wh_lambda_train_false(wh_lambda_line_pps(lambda), lambda->rate_pps, part_pps)) {
		lambda->line_pps = lambda->own_pps = part_pps;
		lambda->busy_pps = part_pps;
		wh_lambda_set_rate(lambda, part_pps);
		wh_lambda_begin_hold(lambda, event);
		return;
	}
	lambda->phase = WH_LAMBDA_HOLD;
	begin_cut(lambda, event);
	count_from_here(lambda);
}

void wh_lambda_begin_fill(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	lambda->cut = CUT_MOST;
	lambda->calm = 0;
	lambda->phase = WH_LAMBDA_HOLD;
	lambda->cut_pkts = event->sent_pkts;
	rise_from_here(lambda, event);
	begin_fill(lambda, event);
}

void wh_lambda_begin_after_others(struct wh_lambda *lambda)
{
	lambda->full_s = 0.0;
	lambda->phase = WH_LAMBDA_FILL;
	lambda->cut = CUT_MOST;
}

/* One in a few, and not the same one for two flows that see the same. */
static bool tests_now(const struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	return lambda->calm >= TEST_CALM &&
	       ((event->arrived_tsc >> 8) + event->delivered_pkts) % TEST_ONE_IN == 0;
}

static void begin_test(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	lambda->phase = WH_LAMBDA_TEST;
	check_from_here(lambda, event);
	rise_from_here(lambda, event);
	lambda->peak_pps = wh_lambda_likely_part_pps(lambda);
	wh_lambda_set_rate(lambda, lambda->peak_pps);
	wh_lambda_mark(lambda, event);
}

/* The queue did not become shorter: reduce again, or the path has become longer. */
static void cut_again(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	const struct wh_lambda_path *path = &lambda->path;
	double change_s = fabs(path->queue_s - lambda->cut_queue_s);
	bool same = bears_losses(lambda) &&
		    change_s < SAME * lambda->cut_queue_s + 2.0 * path->jitter_s + SAME_S;
	uint32_t vain = same ? lambda->vain + 1 : 0;
	double from_pps = lambda->cut_from_pps;

	lambda->checks = 0;
	if (vain >= VAIN) {
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
		   since_s >= CHECK_RTT * wh_lambda_path_covered_s(path);
	bool shorter = path->queue_s < SHORTER * lambda->cut_queue_s;

	if (path->queue_s <= 0.5 * wh_lambda_target_s(control) ||
		(due && !shorter && path->queue_s <= wh_lambda_most_s(control))) {
		begin_fill(lambda, event);
	} else if (due && shorter) {
		check_from_here(lambda, event);
		lambda->checks = 0;
	} else if (due && ++lambda->checks < CHECKS) {
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
	bool free = path->queue_s <= 0.5 * wh_lambda_target_s(control) && bears_losses(lambda);

	if (free && path->seen_pkts <= lambda->free_pkts)
		return;
	if (free) {
		double later_s =
			wh_lambda_since_s(path, event->now_tsc, lambda->event_tsc) + RISE_DOUBLE_S;
		double more_pps = gained_pps(lambda, later_s + wh_lambda_path_covered_s(path)) -
				  gained_pps(lambda, later_s);

		lambda->line_pps = fmax(lambda->line_pps, lambda->free_pps);
		if (lambda->free_pps > FREE * lambda->peak_pps &&
			more_pps < FREE_MOST * lambda->peak_pps)
			lambda->event_tsc -=
				(uint64_t)fmin(RISE_DOUBLE_S * path->hz, (double)lambda->event_tsc);
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
	wh_lambda_set_rate(
		lambda, fmin(risen_pps(lambda, gained), BEYOND * wh_lambda_line_pps(lambda)));
	if (lambda->rate_pps >= lambda->rate_max_pps) {
		lambda->own_pps = wh_lambda_line_pps(lambda);
		wh_lambda_begin_hold(lambda, event);
	}
}

/* A queue that was almost too long is gone again: the others saw more of it than we did. */
static bool others_reduced(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);

	return lambda->sure_peak_s > MISSED * wh_lambda_most_s(control) &&
	       lambda->path.queue_s < FELL * lambda->sure_peak_s && bears_losses(lambda);
}

static void on_fill(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double line_pps = wh_lambda_line_pps(lambda);
	bool too_long = lambda->path.queue_s > wh_lambda_most_s(control);

	if (others_reduced(control) && !event->held_up) {
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
		lambda->short_s *= LENGTHENS;
	lambda->longest_s *= PEAK_FADES;
	if (too_long && wh_lambda_part_pps(lambda) >= MINE * line_pps) {
		if (wh_lambda_stands_s(lambda) < fmax(wh_lambda_window_s(lambda), MINE_S))
			return;
		lambda->own_pps = line_pps;
		wh_lambda_set_rate(lambda, line_pps);
		wh_lambda_begin_hold(lambda, event);
		lambda->busy_pps = wh_lambda_part_pps(lambda);
	} else if (tests_now(lambda, event)) {
		begin_test(lambda, event);
	} else {
		begin_cut(lambda, event);
		count_from_here(lambda);
	}
}

static void on_test(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	const struct wh_lambda_path *path = &lambda->path;
	double since_s = wh_lambda_since_s(path, event->now_tsc, lambda->cut_tsc);
	double enough_s = TEST_RTT * wh_lambda_path_covered_s(path) +
			  TEST_QUEUES * lambda->cut_queue_s / lambda->cut;

	if (path->queue_s < 0.5 * lambda->cut_queue_s) {
		lambda->alone = 0;
		begin_fill(lambda, event);
		return;
	}
	if (path->seen_pkts <= lambda->cut_pkts || since_s < enough_s)
		return;
	if (++lambda->alone < TESTS) {
		begin_cut(lambda, event);
		return;
	}
	lambda->alone = 0;
	lambda->own_pps = wh_lambda_likely_part_pps(lambda);
	wh_lambda_set_rate(lambda, lambda->own_pps);
	wh_lambda_begin_hold(lambda, event);
	lambda->busy_pps = lambda->own_pps;
}

void wh_lambda_share(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	if (lambda->phase == WH_LAMBDA_CUT)
		on_cut(control, event);
	else if (lambda->phase == WH_LAMBDA_FILL)
		on_fill(control, event);
	else
		on_test(lambda, event);
}
