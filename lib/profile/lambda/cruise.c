/* SPDX-License-Identifier: BSD-3-Clause */

/* The rate after the start, from the queue, the arrival rate and the losses. */

#include <math.h>

#include "base/assert.h"
#include "profile/lambda/lambda_internal.h"

#define ALPHA_SEEN       0.3   /* of alpha in the queue: losses may be due to it */
#define ALPHA_BORNE      0.5   /* of the queue at the time of losses is allowed */
#define ALPHA_REGAINED_S 0.5   /* without losses doubles what is allowed */
#define REGAIN           1.5   /* times the rate, on the way back to busy_pps */
#define FLAT             0.1   /* of alpha: less means that the last step had no effect */
#define FLAT_RTT         0.01  /* of a round trip: below it only the increase of the queue counts */
#define FIRST_STEP       0.01  /* of the rate, when the queue is empty; then ... */
#define PAUSED_STEP      0.5   /* instead, where pauses of hosts make samples long */
#define STEP_GROWTH      4.0   /* ... this many times the step before, */
#define BLIND_STEP       1.885 /* 2 / ln 2 - 1, as BBR starts */
#define STEP_MOST        0.9   /* ... up to this */
#define SHED             0.7   /* of the queue beyond alpha */
#define SHED_MOST        0.3   /* of the rate */
#define SHED_FALLS       0.9   /* of the queue at the last reduction */
#define CLEAR            0.5   /* of alpha in the queue: less counts as none */
#define ARRIVAL_LESS     0.98  /* of the rate sent */
#define ARRIVAL_S        50e-3 /* ... but no more packets than are sent in this time */
#define LEFT_DRAINS      0.2   /* of its length: so fast may a queue drain within a sample */
#define LONGER_S         1e-3  /* a shorter queue may be that of many flows, */
#define LONGER_RTT       0.05  /* likewise a share of the round trip, */
#define LONGER_ALPHA     8.0   /* or this many times alpha */
#define LONGER_SHEDS     2     /* reductions without effect mean a longer path */
#define LONGER_SWAYS_S   0.2e-3 /* variation by hosts' jitter */
#define LONGER_ARRIVES   0.97
#define IN_VAIN          0.25 /* of the expected decrease of the queue: less is without effect */

#define UNIT_BPS    1e9  /* of which shares of contending flows are parts, ... */
#define UNIT_ROOM   1.15 /* ... or ten times it, for more than this times it; ... */
#define UNIT_TIMES  30.0 /* ... but no more than this times the capacity */
#define LESS_S      0.3  /* with less than the capacity: contention, ... */
#define PATIENT_S   1.0  /* ... or this beside flows that do not react */
#define SETTLES_S   5.0  /* for this long contention may change, */
#define SETTLES_RTT 50.0
#define YOUNG_S     3.0 /* a session may know too long a delay for this long, */
#define YOUNG_RTT   30.0

#define DRAIN_S        2.0
#define DRAIN_OWN_S    9.0 /* once in each period of minimal delays (path.c) */
#define DRAIN_PKTS     500.0
#define DRAIN_RTT      20.0
#define DRAIN          1.2   /* times the queue is drained, */
#define DRAIN_MORE     0.003 /* and this share of the rate, */
#define DRAIN_OWN      1.1   /* or this times the queue and no more, where nobody else sends, */
#define DRAIN_OWN_MOST 0.9   /* by up to this share of the rate */
#define DRAINED        0.2   /* of alpha in the queue counts as empty */

#define SAMPLE_RTT    0.25 /* is the least length of a sample */
#define SAMPLE_S      1e-3 /* on short paths, because of hosts' jitter */
#define SAMPLE_PAUSES 3.0  /* times the longest pause of a host */

#define SAMPLE_OVERTAKEN 4.0 /* times the longest time by which packets are overtaken */

static double now_s(const struct wh_lambda *lambda, const struct wh_delivery_event *event)
{
	return (double)event->now_tsc / lambda->path.hz;
}

static void increase(struct wh_control *control, double standing, double most_pps)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double alpha = wh_lambda_alpha_pkts(control, lambda->rate_pps);
	double seen_s = wh_lambda_path_covered_s(&lambda->path) + lambda->path.sample.span_s;
	double least = fmax(FIRST_STEP / 2.0, 0.5 * alpha / (lambda->rate_pps * seen_s));

	if (lambda->rate_pps < fmin(lambda->busy_pps, most_pps)) {
		lambda->step = 0.0;
		wh_lambda_set_rate(
			lambda, fmin(fmin(lambda->busy_pps, most_pps), REGAIN * lambda->rate_pps));
		return;
	}
	if (lambda->rate_pps >= most_pps) {
		lambda->step = 0.0;
		return;
	}
	bool little = lambda->path.sample.queue_s < FLAT_RTT * wh_lambda_path_rtt_s(&lambda->path);
	bool flat = standing - (little ? lambda->step_pkts : 0.0) <= FLAT * alpha;

	lambda->step_pkts = standing;
	if (lambda->blind) {
		lambda->step = BLIND_STEP;
	} else if (lambda->step == 0.0 || !flat) {
		lambda->step = fmin(least, 0.1);
		if (wh_lambda_path_pause_s(&lambda->path, lambda->rate_pps) > 0.0)
			lambda->step = PAUSED_STEP;
		lambda->growth = 2.0;
	} else {
		lambda->step = fmin(lambda->step * lambda->growth, STEP_MOST);
		lambda->growth = fmin(2.0 * lambda->growth, STEP_GROWTH);
	}
	lambda->good_pps = lambda->rate_pps;
	wh_lambda_set_rate(lambda, fmin(lambda->rate_pps * (1.0 + lambda->step), most_pps));
}

/*
 * While a queue stands all the time, the arrival rate is all that we can have. Losses by noise do
 * not reduce it.
 */
static void learn_busy(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double pkts = (double)sample->seen_pkts, lost_pkts = (double)sample->lost_pkts;
	double passed = sample->arrival_pps / fmax(1.0 - lost_pkts / fmax(pkts, 1.0), 0.01);

	if (sample->seen_pkts < WH_LAMBDA_ARRIVAL_PKTS || sample->arrival_pps == 0.0)
		return;

	double jump_s = sample->peak_s - sample->queue_s;

	if (jump_s <= wh_lambda_overload_s(control) + LEFT_DRAINS * sample->span_s)
		wh_lambda_learn_left(lambda);
	/* A jump of the delay is a pause of arrivals, whatever its cause. */
	if (jump_s > wh_lambda_overload_s(control))
		return;
	if (!wh_lambda_loss_bearable(&lambda->loss, pkts, lost_pkts))
		passed = sample->arrival_pps / (1.0 - wh_lambda_loss_noise(&lambda->loss));
	/* While a queue drains, no more arrives than was sent, whatever the capacity. */
	if (passed > lambda->busy_pps || passed < ARRIVAL_LESS * sample->sent_pps)
		lambda->busy_pps = passed;
	if (lambda->rate_pps > lambda->busy_pps) {
		lambda->step = 0.0;
		wh_lambda_set_rate(lambda, lambda->busy_pps);
		lambda->good_pps = lambda->rate_pps;
	}
}

/* Losses beyond the noise while packets stood in the queue: it holds no more than these. */
static void learn_queue(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double alpha = wh_lambda_alpha_pkts(control, lambda->rate_pps);
	double peak_pkts = sample->peak_s * lambda->rate_pps;

	if (wh_lambda_loss_bears(&lambda->loss, sample)) {
		lambda->alpha_most_pkts *= 1.0 + fmin(sample->span_s / ALPHA_REGAINED_S, 1.0);
	} else if (peak_pkts > ALPHA_SEEN * alpha) {
		lambda->alpha_most_pkts = ALPHA_BORNE * fmin(peak_pkts, alpha);
	}
}

/*
 * The delay stays although we send less, and less arrives: there is no queue, the path has become
 * longer. With a queue of other flows the arrival rate would not fall at once.
 */
static bool path_is_longer(struct wh_control *control, double from_pps)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double least_s = fmax(fmax(LONGER_S, LONGER_RTT * wh_lambda_path_rtt_s(&lambda->path)),
		LONGER_ALPHA * wh_lambda_alpha_pkts(control, lambda->rate_pps) / lambda->rate_pps);
	double sways_s = fmax(LONGER_SWAYS_S, least_s / 4.0);

	if (lambda->shed_s == 0.0) {
		lambda->shed_from_pps = from_pps;
		lambda->shed_in_vain = 0;
		return false;
	}
	if (lambda->relieves || sample->queue_s < least_s ||
		sample->queue_s < lambda->shed_queue_s - IN_VAIN * lambda->shed_s ||
		sample->arrival_pps > LONGER_ARRIVES * lambda->shed_arrival_pps)
		return false;
	/* The delay of a queue varies, or it overflows. */
	if (sample->peak_s - sample->queue_s > sways_s ||
		fabs(sample->queue_s - lambda->shed_queue_s) > sways_s ||
		!wh_lambda_loss_bears(&lambda->loss, sample))
		return false;
	return ++lambda->shed_in_vain >= LONGER_SHEDS;
}

static bool others_fill(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double path_pps = wh_lambda_capacity_pps(lambda);
	double own_s = wh_lambda_own_alpha_pkts(control, path_pps) / path_pps;

	return wh_lambda_option(control, WH_LAMBDA_SHARE) == WH_SHARING_FAIR &&
	       wh_lambda_others_fill(&lambda->others, &lambda->path, lambda->now_tsc,
		       lambda->rate_pps, own_s, wh_lambda_loss_sure_noise(&lambda->loss), path_pps);
}

void wh_lambda_begin_competing(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	wh_lambda_compete_begin(&lambda->compete, &lambda->path, lambda->now_tsc, lambda->sent_pkts,
		fmax(lambda->rate_pps, lambda->others.full_pps), wh_lambda_capacity_pps(lambda));
	lambda->others = (struct wh_lambda_others){0};
	lambda->relieves = false;
	lambda->shed_s = 0.0;
}

/* `from_pps`: the rate during the sample. */
static void shed(struct wh_control *control, double from_pps, double excess_pkts, double cycle_s)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double share = fmin(SHED * excess_pkts / (lambda->rate_pps * cycle_s), SHED_MOST);

	lambda->step = 0.0;
	if (path_is_longer(control, from_pps)) {
		wh_lambda_others_doubt(&lambda->others, &lambda->path, lambda->now_tsc);
		wh_lambda_path_forget(&lambda->path);
		wh_lambda_set_rate(lambda, lambda->shed_from_pps);
		lambda->shed_s = 0.0;
		return;
	}
	bool falls = lambda->shed_s > 0.0 && sample->queue_s < SHED_FALLS * lambda->shed_queue_s;

	lambda->shed_queue_s = sample->queue_s;
	lambda->shed_arrival_pps = sample->arrival_pps;
	if (falls)
		return; /* the last reduction is enough */
	lambda->shed_s = share * cycle_s;
	wh_lambda_set_rate(lambda, lambda->rate_pps * (1.0 - share));
	lambda->good_pps = lambda->rate_pps;
}

/*
 * What the shares of contending flows are derived from, by all of a line alike: 1 Gb/s, or above
 * that the next power of ten, since trains beside others tell half of the capacity or a little
 * more. On slow lines less, as queues grow with the number of times that a share goes into it.
 */
static double unit_pps(const struct wh_control *control)
{
	const struct wh_lambda *lambda = wh_lambda_view_of(control);
	double bps = fmax(wh_lambda_capacity_pps(lambda), lambda->told_pps) * 8.0 *
		     control->config.wire_bytes;
	double unit_bps = UNIT_BPS;

	while (bps > UNIT_ROOM * unit_bps)
		unit_bps *= 10.0;
	return wh_lambda_pps_of(
		control, lambda->poor ? unit_bps : fmin(unit_bps, UNIT_TIMES * bps));
}

/* Since it began the contending flows have come to their shares. */
static bool is_settled(const struct wh_lambda *lambda)
{
	return lambda->share.age_s >
	       fmax(SETTLES_S, SETTLES_RTT * wh_lambda_path_rtt_s(&lambda->path));
}

/*
 * Settled contention leaves no more queue than BBRs do, but does not run empty every ten seconds.
 */
static void watch_bbrs(struct wh_lambda *lambda)
{
	if (!lambda->share.contended)
		return;
	if (is_settled(lambda))
		wh_lambda_bbr_watch(&lambda->compete.bbr, &lambda->path, lambda->now_tsc);
	wh_lambda_bbr_watch_pulses(&lambda->compete.bbr, &lambda->path, lambda->now_tsc);
}

static bool meets_bbrs(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	struct wh_lambda_bbr bbr = lambda->compete.bbr;

	if (!wh_lambda_bbr_about(&bbr, &lambda->path, lambda->now_tsc) ||
		wh_lambda_option(control, WH_LAMBDA_SHARE) != WH_SHARING_FAIR)
		return false;
	wh_lambda_begin_competing(control);
	lambda->compete.bbr = bbr;
	return true;
}

static bool is_contended(struct wh_control *control)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double age_s = (double)(lambda->now_tsc - lambda->began_tsc) / lambda->path.hz;
	double young_s = fmax(YOUNG_S, YOUNG_RTT * wh_lambda_path_rtt_s(&lambda->path));

	if (wh_lambda_loss_overflown(&lambda->loss))
		wh_lambda_share_begin(&lambda->share, lambda->now_tsc);
	lambda->share.young = age_s < young_s;
	lambda->others.settled = is_settled(lambda);
	/* Who pushes harder leaves us less than we could have. */
	lambda->others.contended = wh_lambda_share_contended(&lambda->share, &lambda->path,
		lambda->now_tsc, fmin(lambda->busy_pps, lambda->rate_pps), lambda->estimate_pps,
		lambda->relieves ? PATIENT_S : LESS_S);
	if (wh_lambda_is_dedicated(control)) /* nobody else is there */
		lambda->share.contended = lambda->others.contended = false;
	return lambda->others.contended;
}

/* In contention, make shares equal. `from_pps`: the rate during the sample. */
static bool shares(struct wh_control *control, double from_pps, double cycle_s)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);

	if (!is_contended(control))
		return false;
	if (meets_bbrs(control))
		return true;
	lambda->relieves = false;
	lambda->loss.trial = WH_LAMBDA_NO_TRIAL; /* what others lose belongs to no trial of ours */
	if (!wh_lambda_loss_bears(&lambda->loss, &lambda->path.sample))
		from_pps = wh_lambda_share_overflows(&lambda->share, &lambda->path, from_pps);
	wh_lambda_set_rate(lambda, wh_lambda_share_rate(&lambda->share, &lambda->path, from_pps,
					   unit_pps(control), cycle_s));
	lambda->busy_pps = lambda->good_pps = lambda->rate_pps;
	lambda->step = lambda->shed_s = 0.0;
	return true;
}

static bool is_sampled(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	struct wh_lambda_path *path = &lambda->path;
	double rtt_s = wh_lambda_path_rtt_s(path);
	double pkts = fmin(WH_LAMBDA_ARRIVAL_PKTS, lambda->rate_pps * ARRIVAL_S);
	double span_s = fmax(fmax(rtt_s * SAMPLE_RTT, fmin(SAMPLE_S, 4.0 * rtt_s)),
		SAMPLE_PAUSES * wh_lambda_path_pause_s(path, lambda->rate_pps));

	span_s = fmax(span_s, SAMPLE_OVERTAKEN * (double)event->overtaken_tsc / path->hz);
	return wh_lambda_path_full(path, event,
		(uint64_t)fmax(pkts, wh_lambda_loss_sample_pkts(&lambda->loss)), span_s,
		lambda->rate_pps);
}

void wh_lambda_cruise(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	struct wh_lambda_path *path = &lambda->path;
	double rtt_s = wh_lambda_path_rtt_s(path);
	double covered_s = wh_lambda_path_covered_s(path);

	watch_bbrs(lambda);
	if (!is_sampled(control, event))
		return;

	const struct wh_lambda_sample *sample = &path->sample;
	double alpha = wh_lambda_alpha_pkts(control, lambda->rate_pps);
	double standing = sample->queue_s * lambda->rate_pps;
	double rate_pps = lambda->rate_pps;
	double cycle_s = covered_s + sample->span_s;

	lambda->heeded = false;
	lambda->sent_most_pps = fmax(lambda->sent_most_pps, sample->sent_pps);
	if (lambda->drains > 0.0) {
		lambda->drains = 0.0;
		lambda->drained_tsc = event->now_tsc;
		wh_lambda_mark(lambda, event);
		return;
	}
	if (sample->queue_s > wh_lambda_overload_s(control) ||
		sample->lost_pkts > sample->seen_pkts / 4)
		lambda->blind = false;
	learn_queue(control);
	if (others_fill(control)) {
		wh_lambda_begin_competing(control);
		return;
	}
	if (standing <= alpha) {
		wh_lambda_end_relief(lambda);
		lambda->shed_s = 0.0;
	}
	if (standing > CLEAR * alpha)
		learn_busy(control);
	if (shares(control, rate_pps, cycle_s)) {
		wh_lambda_mark(lambda, event);
		return;
	}
	if (standing <= CLEAR * alpha)
		rate_pps = wh_lambda_loss_judge(&lambda->loss, sample, now_s(lambda, event), rtt_s,
			lambda->rate_pps, lambda->step > 0.0 ? lambda->good_pps : lambda->rate_pps);
	if (standing <= CLEAR * alpha &&
		(rate_pps != lambda->rate_pps || lambda->loss.trial != WH_LAMBDA_NO_TRIAL)) {
		lambda->step = 0.0;
		wh_lambda_set_rate(lambda, rate_pps);
	} else if (standing > alpha) {
		shed(control, rate_pps, standing - alpha, cycle_s);
	} else if (sample->starved) {
		lambda->step = 0.0;
	} else if (standing < CLEAR * alpha) {
		increase(control, standing,
			wh_lambda_loss_most_pps(&lambda->loss, now_s(lambda, event)));
	} else {
		lambda->step = 0.0;
		wh_lambda_set_rate(lambda,
			fmin(lambda->busy_pps > 0.0 ? lambda->busy_pps : rate_pps, rate_pps) *
				(1.0 + SHED * (alpha - standing) / (rate_pps * cycle_s)));
	}
	wh_lambda_mark(lambda, event);
}

void wh_lambda_drain(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct wh_lambda *lambda = wh_lambda_state_of(control);
	double rtt_s = wh_lambda_path_rtt_s(&lambda->path);
	bool own = wh_lambda_is_dedicated(control);
	double period_s = fmax(fmax(own ? DRAIN_OWN_S : DRAIN_S, DRAIN_RTT * rtt_s),
		DRAIN_PKTS / lambda->rate_pps);
	double alpha_s = wh_lambda_alpha_pkts(control, lambda->rate_pps) / lambda->rate_pps;
	double cycle_s = rtt_s * (1.0 + SAMPLE_RTT) + lambda->path.gap_s;
	double since_s = (double)(event->now_tsc - lambda->drained_tsc) / lambda->path.hz;

	if (lambda->path.queue_s < DRAINED * alpha_s) {
		lambda->drained_tsc = event->now_tsc;
		/* With a dedicated path no other flow needs to see it empty. */
		if (lambda->drains > 0.0 && own) {
			lambda->drains = 0.0;
			wh_lambda_mark(lambda, event);
		}
	} else if (lambda->drains > 0.0 && own && since_s > cycle_s) {
		lambda->drains = 0.0;
		lambda->drained_tsc = event->now_tsc;
		wh_lambda_mark(lambda, event);
	} else if (since_s > period_s && lambda->loss.trial == WH_LAMBDA_NO_TRIAL &&
		   lambda->drains == 0.0) {
		double share = lambda->path.queue_s / cycle_s;

		lambda->drains = own ? fmin(DRAIN_OWN * share, DRAIN_OWN_MOST)
				     : fmin(DRAIN_MORE + DRAIN * share, SHED_MOST);
		lambda->drained_tsc = event->now_tsc;
		wh_lambda_mark(lambda, event);
	}
}
