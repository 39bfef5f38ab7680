/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Alone on a line: the rate at which a short queue stands. A sample is what is reported of packets
 * sent since the last change of the rate; its queue is the least that any of them waited. While it
 * stands the rate is what arrives (BBR's delivery rate) and as much less as drains what exceeds the
 * target in a round trip (FAST). Without one the rate rises, faster and faster while nothing waits.
 * At the start, before any queue was seen, it rises at once: the train may have been misread.
 *
 * Others are there when a queue is too long and much less than the line arrives while it stands.
 */

#include <math.h>

#include "profile/lambda/lambda_internal.h"

static double target_pkts(const struct wh_control *control)
{
	return wh_lambda_target_s(control) * wh_lambda_view_of(control)->rate_pps;
}

/* The next step of the rate; `standing` packets wait. */
static double next_step(struct wh_control *control, double standing)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double target = target_pkts(control);
	double seen_s = wh_lambda_path_covered_s(path) + path->sample.span_s;
	bool flat = standing <= params.flat * target;

	if (lambda->blind)
		return params.blind_step;
	if (lambda->seeks) {
		if (lambda->step > 0.0 && flat)
			return fmin(params.step_grows_most * lambda->step, params.steps_most);
		return params.seek;
	}
	if (lambda->step == 0.0 || !flat) {
		lambda->growth = params.step_grows;
		if (wh_lambda_path_pause_s(path, lambda->rate_pps) > 0.0)
			return params.step_paused;
		return fmin(fmax(params.step, params.empty * target / (lambda->rate_pps * seen_s)),
			params.step_most);
	}
	double step = fmin(lambda->step * lambda->growth, params.steps_most);

	lambda->growth = params.step_grows_most;
	return step;
}

static void increase(struct wh_control *control, double standing, double most_pps)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double known_pps = fmin(lambda->busy_pps, most_pps);

	if (lambda->rate_pps < known_pps) {
		lambda->step = 0.0;
		wh_lambda_set_rate(lambda, known_pps);
	} else if (lambda->rate_pps >= most_pps) {
		lambda->step = 0.0;
	} else {
		lambda->step = next_step(control, standing);
		lambda->good_pps = lambda->rate_pps;
		wh_lambda_set_rate(lambda, fmin(lambda->rate_pps * (1.0 + lambda->step), most_pps));
	}
}

/* While a queue stands, what arrives is all there is. */
static void learn_busy(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double pkts = (double)sample->seen_pkts, lost_pkts = (double)sample->lost_pkts;
	double passed = sample->arrival_pps / (1.0 - wh_lambda_loss_noise(&lambda->loss));
	double likely = passed; /* if what was lost had arrived, too */

	if (sample->seen_pkts < params.arrival_pkts || sample->arrival_pps == 0.0)
		return;
	/* A jump of the delay is a pause of arrivals, whatever its cause. */
	if (sample->peak_s - sample->queue_s > wh_lambda_most_s(control))
		return;
	if (wh_lambda_loss_bearable(&lambda->loss, pkts, lost_pkts))
		likely = sample->arrival_pps / fmax(1.0 - lost_pkts / pkts, 0.01);
	if (likely < params.busy_less * sample->sent_pps && !sample->starved)
		lambda->busy_pps = fmax(passed, likely);
	else
		lambda->busy_pps = fmax(lambda->busy_pps, passed);
	if (lambda->rate_pps > lambda->busy_pps) {
		lambda->step = 0.0;
		wh_lambda_set_rate(lambda, lambda->busy_pps);
		lambda->good_pps = lambda->rate_pps;
	}
	lambda->own_pps = fmax(lambda->own_pps, passed);
	lambda->line_pps = fmax(lambda->line_pps, passed);
}

/* After losses with a queue as long as any, half of what stood then is what may stand. */
static void learn_short(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;

	if (wh_lambda_loss_bears(&lambda->loss, sample))
		lambda->short_s *= 1.0 + fmin(sample->span_s / params.short_doubles_s, 1.0);
	else if (sample->peak_s > wh_lambda_short_least_s(lambda) &&
		 sample->peak_s >= params.peak * lambda->longest_s)
		lambda->short_s = fmin(sample->peak_s, 2.0 * wh_lambda_target_s(control));
}

/* Before a queue was seen samples are short, and losses may be packets that were overtaken. */
static void seek(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double overtaken_s = (double)event->overtaken_tsc / lambda->path.hz;
	double arrives_pps = fmin(sample->arrival_pps, sample->sent_pps);
	bool much = (double)sample->lost_pkts > params.overload * (double)sample->seen_pkts;
	bool ordered = params.sample_overtaken * overtaken_s < sample->span_s;
	bool less = sample->arrival_pps > 0.0 && sample->queue_s > 0.0 &&
		    sample->arrival_pps < params.whole * sample->sent_pps;

	if (sample->queue_s > wh_lambda_most_s(control) || much || (ordered && less))
		lambda->blind = false;
	if (sample->queue_s > wh_lambda_target_s(control) || (ordered && less) ||
		(ordered ? !wh_lambda_loss_bears(&lambda->loss, sample) : much))
		lambda->seeks = false;
	if (lambda->seeks)
		lambda->line_pps = fmin(fmax(lambda->line_pps, arrives_pps), lambda->rate_max_pps);
}

static bool is_sampled(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	struct wh_lambda_path *path = &lambda->path;
	double rtt_s = wh_lambda_path_rtt_s(path);
	double pkts = fmax(params.arrival_pkts, (double)wh_lambda_loss_sample_pkts(&lambda->loss));
	double span_s = fmax(
		params.sample_rtt * rtt_s, fmin(params.sample_s, params.sample_rtt_most * rtt_s));

	if (!lambda->seeks) {
		span_s = fmax(span_s,
			params.sample_pauses * wh_lambda_path_pause_s(path, lambda->rate_pps));
		span_s = fmax(
			span_s, params.sample_overtaken * (double)event->overtaken_tsc / path->hz);
	}
	return wh_lambda_path_full(path, event, (uint64_t)pkts, span_s, lambda->rate_pps);
}

/* The least delay must include no queue (ProbeRTT); one that a drain leaves as it was is none. */
static void drain(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double rtt_s = wh_lambda_path_rtt_s(path);
	double cycle_s = 2.0 * rtt_s + path->queue_s + path->gap_s;
	double since_s = wh_lambda_since_s(path, event->now_tsc, lambda->drained_tsc);
	double period_s = path->queue_s > wh_lambda_most_s(control)
				  ? fmax(params.drain_soon_rtt * rtt_s, params.drain_soon_s)
				  : params.drain_s;
	bool drained = path->queue_s < params.drained * wh_lambda_target_s(control);
	bool over = lambda->drains > 0.0 && (drained || since_s > cycle_s);

	if (drained || over)
		lambda->drained_tsc = event->now_tsc;
	if (over) {
		if (path->queue_s >= lambda->cut_queue_s)
			wh_lambda_path_forget(&lambda->path);
		lambda->drains = 0.0;
		wh_lambda_mark(lambda, event);
	} else if (!drained && since_s > period_s && lambda->drains == 0.0 &&
		   lambda->loss.trial == WH_LAMBDA_NO_TRIAL) {
		lambda->drains =
			fmin(params.drain_more * path->queue_s / cycle_s, params.drain_most);
		lambda->cut_queue_s = path->queue_s;
		lambda->drained_tsc = event->now_tsc;
		wh_lambda_mark(lambda, event);
	}
}

/*
 * A queue of ours shrinks by what we send less than the line. One that does not, though several
 * times as much was spared as it holds, is none: the clocks drift, or the path has become longer.
 * Where packets are lost others may fill a long one.
 */
static bool is_phantom(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double part = fmin(sample->sent_pps / lambda->own_pps, 1.0);
	double change_s = sample->queue_s - lambda->spared_from_s;
	double same_s = params.target_jitters * lambda->path.jitter_s;

	if (sample->seen_pkts < params.arrival_pkts ||
		sample->queue_s <= wh_lambda_target_s(control) ||
		(sample->queue_s > params.host_s
				? fabs(change_s) > same_s ||
					  !wh_lambda_loss_bears(&lambda->loss, sample)
				: sample->queue_s < params.spared_leaves * lambda->spared_from_s)) {
		lambda->spared_from_s = sample->queue_s;
		lambda->spared_s = 0.0;
		return false;
	}
	lambda->spared_s += (1.0 - part) * sample->span_s;
	if (lambda->spared_s < params.spared * sample->queue_s)
		return false;
	lambda->spared_s = 0.0;
	return true;
}

/*
 * Much less arrives while a queue stands than ever arrived alone: others take the rest. They may
 * have taken it little by little, so that what was sent a moment ago says nothing.
 */
static bool others_are_here(const struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	const struct wh_lambda_path *path = &lambda->path;

	return !event->held_up && !path->sample.held_up &&
	       wh_lambda_stands_s(lambda) > wh_lambda_window_s(lambda) &&
	       wh_lambda_path_pause_s(path, lambda->rate_pps) == 0.0 &&
	       wh_lambda_part_pps(lambda) < params.others * lambda->own_pps;
}

/* The rate after a sample. */
static void adjust(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	const struct wh_lambda_sample *sample = &path->sample;
	double target = target_pkts(control), standing = sample->queue_s * lambda->rate_pps;
	double cycle_s = wh_lambda_path_covered_s(path) + sample->span_s;
	double time_s = (double)event->now_tsc / path->hz;
	double rate_pps = lambda->rate_pps;

	if (standing > target)
		learn_busy(control);
	else if (!lambda->seeks &&
		 (standing <= params.empty * target || lambda->loss.trial != WH_LAMBDA_NO_TRIAL ||
			 !wh_lambda_loss_bears(&lambda->loss, sample)))
		rate_pps = wh_lambda_loss_judge(&lambda->loss, sample, time_s,
			wh_lambda_path_rtt_s(path), rate_pps,
			lambda->step > 0.0 ? lambda->good_pps : rate_pps);
	if (standing <= target &&
		(rate_pps != lambda->rate_pps || lambda->loss.trial != WH_LAMBDA_NO_TRIAL)) {
		lambda->step = 0.0;
		wh_lambda_set_rate(lambda, rate_pps);
	} else if (standing > target) {
		double less = params.gain * (standing - target) / (lambda->rate_pps * cycle_s);

		lambda->step = 0.0;
		wh_lambda_set_rate(lambda, lambda->rate_pps * (1.0 - fmin(less, params.gain_most)));
		lambda->good_pps = lambda->rate_pps;
	} else if (sample->starved) {
		lambda->step = 0.0;
	} else if (standing < params.empty * target) {
		increase(control, standing, wh_lambda_loss_most_pps(&lambda->loss, time_s));
	} else {
		double busy_pps = lambda->busy_pps > 0.0 ? lambda->busy_pps : rate_pps;
		double more = params.gain * (target - standing) / (rate_pps * cycle_s);

		lambda->step = 0.0;
		wh_lambda_set_rate(lambda, fmin(busy_pps, rate_pps) * (1.0 + more));
	}
}

void wh_lambda_hold(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	if (others_are_here(lambda, event)) {
		lambda->loss.trial = WH_LAMBDA_NO_TRIAL;
		lambda->drains = 0.0;
		wh_lambda_begin_cut(control, event);
		return;
	}
	if (!is_sampled(lambda, event) || lambda->drains > 0.0) {
		drain(control, event);
		return;
	}
	if (is_phantom(control)) {
		wh_lambda_path_forget(&lambda->path);
		wh_lambda_mark(lambda, event);
		return;
	}
	if (lambda->seeks)
		seek(control, event);
	learn_short(control);
	adjust(control, event);
	wh_lambda_mark(lambda, event);
	drain(control, event);
}
