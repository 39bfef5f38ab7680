/* SPDX-License-Identifier: BSD-3-Clause */

/* The queue that may stand, the one that is too long, and what arrives while it is: our part. */

#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "base/clock.h"
#include "profile/lambda/lambda_internal.h"

void wh_lambda_set_rate(struct wh_lambda *lambda, double rate_pps)
{
	lambda->rate_pps = fmin(fmax(rate_pps, params.rate_least_pps), lambda->rate_max_pps);
	WH_ASSERT(lambda->rate_pps > 0.0);
}

double wh_lambda_line_pps(const struct wh_lambda *lambda)
{
	return fmax(lambda->line_pps, params.rate_least_pps);
}

double wh_lambda_target_s(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double pps = wh_lambda_line_pps(lambda);
	double alpha_pkts = wh_lambda_option(control, WH_LAMBDA_ALPHA) /
			    control->config.wire_bytes *
			    wh_cbrt(pps / wh_lambda_pps_of(control, params.alpha_at_bps));
	double s = fmax(alpha_pkts, params.target_pkts) / pps;

	s = fmax(s, params.target_jitters * lambda->path.jitter_s);
	if (lambda->short_s > 0.0)
		s = fmin(s, fmax(params.target_short * lambda->short_s, 1.0 / pps));
	return s;
}

double wh_lambda_most_s(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double target_s = wh_lambda_target_s(control);
	double late_s = lambda->path.late_pkts / wh_lambda_line_pps(lambda);
	double s = params.most_targets * target_s + params.host_s + late_s;

	if (lambda->short_s == 0.0)
		return s;
	return fmax(fmin(s, params.most_short * lambda->short_s), params.host_s);
}

/* The queue stands since the first report all of whose packets waited. */
void wh_lambda_note_queue(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	bool stands = path->queue_s > wh_lambda_most_s(control);

	if (!stands) {
		lambda->stood_tsc = path->arrived_tsc;
		lambda->stood_pkts = path->delivered_pkts;
	} else if (!lambda->stands) { /* without a pause before its packets */
		lambda->stood_tsc = path->arrived_tsc - event->span_tsc;
		lambda->stood_pkts =
			path->delivered_pkts - wh_min_u64(event->span_pkts, path->delivered_pkts);
	}
	lambda->stands = stands;
	lambda->peak_s = fmax(lambda->peak_s, path->queue_s);
	lambda->sure_peak_s =
		fmax(lambda->sure_peak_s, fmin(path->queue_s, lambda->queue_before_s));
	lambda->queue_before_s = path->queue_s;
	lambda->longest_s = fmax(lambda->longest_s, path->queue_s);
}

double wh_lambda_stands_s(const struct wh_lambda *lambda)
{
	const struct wh_lambda_path *path = &lambda->path;

	return lambda->stands ? wh_lambda_since_s(path, path->arrived_tsc, lambda->stood_tsc) : 0.0;
}

double wh_lambda_part_pps(const struct wh_lambda *lambda)
{
	const struct wh_lambda_path *path = &lambda->path;
	double span_s = wh_lambda_since_s(path, path->arrived_tsc, lambda->stood_tsc);
	double pkts = (double)(path->delivered_pkts - lambda->stood_pkts);

	return span_s > 0.0 ? pkts / span_s / (1.0 - wh_lambda_loss_noise(&lambda->loss)) : 0.0;
}

double wh_lambda_likely_part_pps(const struct wh_lambda *lambda)
{
	double rate_pps = lambda->rate_pps;
	double pkts = (double)(lambda->path.delivered_pkts - lambda->stood_pkts);
	double known = fmin(pkts / params.arrival_pkts, 1.0);
	double pps = fmin(fmax(wh_lambda_part_pps(lambda), params.part_least * rate_pps), rate_pps);

	return rate_pps + known * (pps - rate_pps);
}

double wh_lambda_window_s(const struct wh_lambda *lambda)
{
	return fmax(params.sample_rtt * wh_lambda_path_rtt_s(&lambda->path), params.part_s);
}

void wh_lambda_begin_hold(struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	lambda->mode = WH_LAMBDA_HOLD;
	lambda->step = 0.0;
	lambda->good_pps = lambda->rate_pps;
	lambda->drained_tsc = event->now_tsc;
	wh_lambda_mark(lambda, event);
}
