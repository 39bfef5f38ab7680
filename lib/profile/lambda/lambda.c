/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The rate that a way bears, found and kept without being told anything. What the receiver's states
 * tell of the way is in path.c, what losses mean in loss.c. Scenarios are those of
 * config/scenarios/bars; each fails without the rule that names it.
 *
 * Train. 32 packets go at once, and what distance they come in is the capacity (packet pairs of
 *   udt.txt); all at once say nothing, and rates double. bar03: which takes ten round trips more.
 * Verify. Half of that for a round trip, all of it when the first state finds no queue (Careful
 *   Resume). bar04: an estimate that is ten times too high would lose nine products. Where less
 *   arrives than others could leave, the train was false; no bar: a receiver on a busy machine.
 * Cruise. `alpha` packets of ours stand in the queue, whatever the round trip (FAST); they grow
 *   with the cube root of the rate, so that each flow has fewer there the more flows there are
 *   (Swift, FASP). What is under way is bounded by that: a queue then is as long as windows are too
 *   large, where rates alone would add up over a round trip. bar02: it swings at 1 s.
 * Increase. With no queue the rate rises, by half of alpha first, then ever faster as long as
 *   nothing is felt (PCC, Copa's velocity). bar05-rate: 2 to 10 Gb/s in ten round trips.
 * Busy. While a queue stands, what arrives is all that is there for us, and the rate goes there at
 *   once (BBR's delivery rate). bar05-cbr: losses while it comes down by shares.
 * Overload. Far too much queue and less that arrives: heeded by the first state, not by a sample.
 *   bar05-rate: losses of another quarter of a round trip.
 * Short queue. Losses while something stands: half of what stood is what we may leave there.
 *   bar02 with 16 packets.
 * Noise. Losses without a queue are tried: at a lower rate noise stays the same (PCC). bar01.
 *   Those of a policer do not, and become a ceiling that is tried again ever more rarely (BBR's
 *   lt_bw). bar09.
 * Drain. When no empty queue was seen for 2 s, it is let run dry for a round trip: the least
 *   delay shall be no queue's (LEDBAT++, ProbeRTT). bar06-share.
 * Floor. What stands whatever the rate, and is short, is hosts' doing and no queue. No bar fails
 *   without it, for its hosts are perfect: `demo` does on a machine that has other work.
 * Pause. What piles up while a host has no CPU is no queue: samples outlast that, where it is
 *   longer than the way. No bar: `bench` over memif on a busy machine.
 * Longer way. A queue that stays although we shed, while less arrives, is none. bar05-delay.
 * Compete. Who sheds beside flows that fill every queue gives all away: while they are about, as
 *   much is under way as one TCP has (Copa, Nimbus), a BBR where they are BBRs. bar07.
 * Crowd. Steps that are shares of the rate, and what arrives as the rate, leave shares as they are:
 *   beside others all push nearly alike, most when somebody has come, and cut alike. bar06-share.
 * Give way. A scavenger goes to a crumb at the first sign of others (LEDBAT). bar08.
 * Fetch. When nothing is seen for long, one packet goes in spite of the window. bar05-outage.
 */

#include "profile/lambda/lambda.h"

#include <assert.h>
#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "profile/interval.h"
#include "profile/lambda/compete.h"
#include "profile/lambda/loss.h"
#include "profile/lambda/others.h"
#include "profile/lambda/path.h"
#include "profile/lambda/share.h"
#include "profile/lambda/yield.h"

#define TRAIN_PKTS   32    /* shows the capacity, and loses little where it is not borne */
#define ALPHA_BYTES  12000 /* of ours that stand in the queue at 1 Gb/s */
#define ALPHA_AT_BPS 1e9
#define ALPHA_LEAST  2.0 /* packets: fewer cannot be seen */

#define ALPHA_SEEN        0.3 /* of alpha stood: losses may come of it */
#define ALPHA_BORNE       0.5 /* of the queue that stood when packets were lost */
#define ALPHA_BORNE_LEAST 1.0
#define ALPHA_REGAINED_S  0.5   /* without losses it is twice that */
#define JITTER_ALPHA      2.0   /* so many times what least delays sway by is no queue */
#define REGAIN            1.5   /* towards what was there for us before a queue was shed */
#define FLAT              0.1   /* of alpha: the step before was not felt */
#define FLAT_RTT          0.01  /* of so little of a round trip only what is more than before */
#define FIRST_STEP        0.01  /* of the rate, when nothing stands in the queue; then ... */
#define PAUSED_STEP       0.5   /* where hosts pause longer than the way is, and samples are long */
#define STEP_GROWTH       4.0   /* ... so many times the step before, */
#define BLIND_STEP        1.885 /* 2 / ln 2 - 1, as BBR starts */
#define STEP_MOST         0.9   /* ... up to this */
#define SHED              0.7   /* of what stands in the queue beyond alpha */
#define SHED_MOST         0.3   /* of the rate */
#define SHED_FALLS        0.9   /* of the queue when we last shed */
#define CLEAR             0.5   /* of alpha in the queue: less is none */
#define OVERLOAD_ALPHA    4.0   /* so many times alpha in the queue are too much, ... */
#define OVERLOAD_RTT      0.02  /* ... and such a part of the round trip, ... */
#define OVERLOAD_S        200e-6 /* ... and so much: hosts' jitter is no queue */
#define ARRIVAL_PKTS      32     /* that say how fast they come, to a few percent, ... */
#define ARRIVAL_LESS      0.98   /* of what went */
#define ARRIVAL_S         50e-3  /* ... but for no more than go in so long a sample waits */
#define OVERLOAD_LESS     0.9    /* of the rate arrives */
#define LONGER_S          1e-3   /* a queue of less may be that of many flows, */
#define LONGER_RTT        0.05   /* or of such a part of the round trip, */
#define LONGER_ALPHA      8.0    /* or of so many times alpha */
#define LONGER_SHEDS      2      /* times we shed in vain, and the way is longer */
#define LONGER_SWAYS_S    0.2e-3 /* and hosts' jitter is no queue */
#define LONGER_ARRIVES    0.97
#define IN_VAIN           0.25 /* of what was to go of the queue went */

#define DRAIN_S      2.0
#define DRAIN_PKTS   500.0
#define DRAIN_RTT    20.0
#define DRAIN        1.2   /* of what stands goes, */
#define DRAIN_MORE   0.003 /* and such a part of the rate */
#define DRAINED      0.2   /* of alpha in the queue is none */
#define COMPETE_PACE 1.1   /* of the rate: the window says what goes */

#define SAMPLE_RTT     0.25 /* that a sample lasts at least */
#define SAMPLE_S       1e-3 /* on short ways hosts' jitter needs so long */
#define SAMPLE_PAUSES  3.0  /* and so many times what a host has paused for */
#define SLACK_PKTS     2.0
#define WINDOW_PKTS    64.0 /* at least: a burst of losses takes no whole window, ... */
#define WINDOW_S       5e-3 /* ... but no more than goes in so long */
#define RATE_LEAST_PPS 1.0  /* below a packet in a second nothing is learnt any more */
#define STILL_RTT      1.5  /* without news for so long a packet goes to fetch some */
#define STILL_S        5e-3
#define STILL_PKTS     3.0 /* and so many packets' intervals */
#define STILL_FIRST_S  1.0 /* while the round trip is unknown */

enum {
	TRAIN,
	ALPHA,
	SHARE,
	OPTIONS,
};

static const struct wh_option options[OPTIONS] = {
	[TRAIN] = {"train", WH_OPTION_COUNT, 2, 1024, TRAIN_PKTS, false, NULL,
		"packets that go first, at once, to find the capacity"},
	[ALPHA] = {"alpha", WH_OPTION_COUNT, 100, 1 << 24, ALPHA_BYTES, false, "FAST TCP",
		"bytes that it keeps in the queue at 1 Gb/s, and more at a higher rate"},
	[SHARE] = {"share", WH_OPTION_SHARING, WH_SHARING_DEDICATED, WH_SHARING_SCAVENGER,
		WH_SHARING_FAIR, false, NULL,
		"dedicated: owns the way; fair: one of equals, TCPs too; scavenger: gives way"},
};

enum phase { START, VERIFY, CRUISE };

struct lambda {
	enum phase phase;
	struct wh_lambda_path path;
	struct wh_lambda_loss loss;
	struct wh_lambda_others others;
	struct wh_lambda_compete compete;
	struct wh_lambda_yield yield;
	struct wh_lambda_share share;
	double rate_pps;
	double rate_max_pps;    /* the operator's bound, the line's */
	double train_pps;       /* as the train says, whatever the bound */
	bool blind;             /* it came all at once and said nothing */
	double estimate_pps;    /* and within it */
	double busy_pps;        /* what arrived while a queue stood: all that is there for us */
	double alpha_most_pkts; /* losses have shown a short queue; 0: they have not */
	double good_pps;        /* before the latest step */
	double growth;
	double step_pkts;            /* that stood in the queue then */
	double step;                 /* the latest increase, a share of the rate; 0: none */
	double shed_queue_s, shed_s; /* the queue when we last shed, and what was to go of it */
	double shed_from_pps;        /* the rate before all shedding in a row */
	double shed_arrival_pps;
	uint32_t shed_in_vain;
	uint64_t now_tsc, sent_pkts; /* of the latest event */
	struct wh_lambda_train train;
	uint64_t drained_tsc; /* the queue was seen empty */
	bool heeded;          /* an overload, and no sample is full since then */
	double drains;        /* by such a share of the rate; 0: it does not */
	uint64_t fetch_pkts;  /* sent with one that fetches news, beyond any window; 0: none does */
	uint64_t still_tsc;
};

static_assert(sizeof(struct lambda) <= WH_CONTROL_STATE_BYTES, "a controller's state has room");
static_assert(OPTIONS <= WH_OPTIONS_MAX, "each option has a value");

static struct lambda *state_of(struct wh_control *control)
{
	return (struct lambda *)control->state;
}

static const struct lambda *view_of(const struct wh_control *control)
{
	return (const struct lambda *)control->state;
}

static double option(const struct wh_control *control, uint32_t which)
{
	return control->config.options.value[which];
}

static double pps_of(const struct wh_control *control, double bps)
{
	return bps / (8.0 * control->config.wire_bytes);
}

static void set_rate(struct lambda *lambda, double rate_pps)
{
	lambda->rate_pps = fmin(fmax(rate_pps, RATE_LEAST_PPS), lambda->rate_max_pps);
	WH_ASSERT(lambda->rate_pps > 0.0);
}

static void bound_rate(struct wh_control *control)
{
	const struct wh_control_config *config = &control->config;
	struct lambda *lambda = state_of(control);
	bool bound = lambda->phase == CRUISE && lambda->rate_pps >= lambda->rate_max_pps;
	double most_pps = (double)config->hz; /* a packet a cycle */

	if (config->rate_bps > 0)
		most_pps = fmin(most_pps, pps_of(control, (double)config->rate_bps));
	if (config->line_bps > 0)
		most_pps = fmin(most_pps, pps_of(control, (double)config->line_bps));
	lambda->rate_max_pps = fmax(most_pps, 1e-6);
	/* Where nothing else held it, half of what the train says is borne. */
	set_rate(lambda, fmax(lambda->rate_pps, bound ? lambda->train_pps / 2.0 : 0.0));
	lambda->estimate_pps = fmax(lambda->estimate_pps, lambda->train_pps);
	lambda->estimate_pps = fmin(lambda->estimate_pps, lambda->rate_max_pps);
}

static void init(struct wh_control *control)
{
	struct lambda *lambda = state_of(control);
	const struct wh_known_path *known = &control->config.known;

	wh_lambda_path_init(&lambda->path, control->config.hz);
	bound_rate(control);
	lambda->rate_pps = lambda->rate_max_pps;
	if (known->capacity_bps > 0)
		lambda->estimate_pps = pps_of(control, (double)known->capacity_bps);
}

/* Packets of ours that are to stand in the queue: fewer for each flow, the more there are. */
static double own_alpha_pkts(const struct wh_control *control, double rate_pps)
{
	double wire_bytes = control->config.wire_bytes;
	double part = rate_pps * wire_bytes * 8.0 / ALPHA_AT_BPS;

	return fmax(option(control, ALPHA) / wire_bytes * wh_cbrt(part), ALPHA_LEAST);
}

/* Likewise, where queues shorter than hosts' jitter are not seen, and the way's may be short. */
static double alpha_pkts(const struct wh_control *control, double rate_pps)
{
	double pkts = own_alpha_pkts(control, rate_pps);
	double jitter_s = view_of(control)->path.jitter_s;
	double borne_pkts = view_of(control)->alpha_most_pkts;

	pkts = fmax(pkts, JITTER_ALPHA * jitter_s * rate_pps);
	return borne_pkts > 0.0 ? fmin(pkts, fmax(borne_pkts, ALPHA_BORNE_LEAST)) : pkts;
}

static double window_pkts(const struct wh_control *control)
{
	const struct lambda *lambda = view_of(control);
	double covered_s = wh_lambda_path_covered_s(&lambda->path);
	double pkts = lambda->rate_pps * covered_s + alpha_pkts(control, lambda->rate_pps);

	if (lambda->compete.on)
		return fmin(lambda->compete.window_pkts + lambda->rate_pps * lambda->path.gap_s,
			(double)control->config.window_pkts_max);
	if (lambda->drains > 0.0)
		return fmax(lambda->rate_pps * covered_s * (1.0 - lambda->drains), 2.0);
	pkts = fmax(pkts + SLACK_PKTS, fmin(WINDOW_PKTS, lambda->rate_pps * WINDOW_S));
	return fmin(pkts, (double)control->config.window_pkts_max);
}

static double now_s(const struct lambda *lambda, const struct wh_delivery_event *event)
{
	return (double)event->now_tsc / lambda->path.hz;
}

static void mark(struct lambda *lambda, const struct wh_delivery_event *event)
{
	wh_lambda_path_mark(&lambda->path, event->now_tsc, event->sent_pkts);
}

static void end_train(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct lambda *lambda = state_of(control);

	lambda->blind = lambda->train.s == 0.0 && lambda->estimate_pps == 0.0;
	lambda->train_pps =
		wh_lambda_train_pps(&lambda->train, &lambda->path, lambda->estimate_pps);
	lambda->estimate_pps = fmin(lambda->train_pps, lambda->rate_max_pps);
	lambda->phase = VERIFY;
	set_rate(lambda, lambda->train_pps / 2.0);
	lambda->good_pps = lambda->rate_pps;
	mark(lambda, event);
}

static void verify(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct lambda *lambda = state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double alpha = alpha_pkts(control, lambda->rate_pps);

	/* Nothing but what is to be verified is under way: the first state that sees it tells. */
	if (!path->filling)
		return;
	lambda->phase = CRUISE;
	if (path->queue_s * lambda->rate_pps < alpha)
		set_rate(lambda, lambda->estimate_pps);
	else if (wh_lambda_share_found(&lambda->share, path, event->now_tsc))
		set_rate(lambda, fmin(path->short_pps, lambda->estimate_pps));
	lambda->good_pps = fmin(lambda->good_pps, lambda->rate_pps);
	lambda->step = 0.0;
	mark(lambda, event);
}

/* So much in the queue is far too much. */
static double overload_s(const struct wh_control *control)
{
	const struct lambda *lambda = view_of(control);
	double alpha_s = alpha_pkts(control, lambda->rate_pps) / lambda->rate_pps;

	return fmax(
		fmax(OVERLOAD_ALPHA * alpha_s, OVERLOAD_RTT * wh_lambda_path_rtt_s(&lambda->path)),
		OVERLOAD_S);
}

static void increase(struct wh_control *control, double standing, double most_pps)
{
	struct lambda *lambda = state_of(control);
	double alpha = alpha_pkts(control, lambda->rate_pps);
	double seen_s = wh_lambda_path_covered_s(&lambda->path) + lambda->path.sample.span_s;
	double least = fmax(FIRST_STEP / 2.0, 0.5 * alpha / (lambda->rate_pps * seen_s));

	if (lambda->rate_pps < fmin(lambda->busy_pps, most_pps)) {
		lambda->step = 0.0;
		set_rate(lambda, fmin(fmin(lambda->busy_pps, most_pps), REGAIN * lambda->rate_pps));
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
	set_rate(lambda, fmin(lambda->rate_pps * (1.0 + lambda->step), most_pps));
}

/*
 * With a queue all the time, what arrives is all that is there for us. What noise takes now and
 * then is no less.
 */
static void learn_busy(struct wh_control *control)
{
	struct lambda *lambda = state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double pkts = (double)sample->seen_pkts, lost_pkts = (double)sample->lost_pkts;
	double passed = sample->arrival_pps / fmax(1.0 - lost_pkts / fmax(pkts, 1.0), 0.01);

	/* A delay that jumps is a pause of what arrives, whatever the cause. */
	if (sample->seen_pkts < ARRIVAL_PKTS || sample->arrival_pps == 0.0 ||
		sample->peak_s - sample->queue_s > overload_s(control))
		return;
	if (!wh_lambda_loss_bearable(&lambda->loss, pkts, lost_pkts))
		passed = sample->arrival_pps / (1.0 - wh_lambda_loss_noise(&lambda->loss));
	/* While a queue runs dry no more arrives than went, whatever there is room for. */
	if (passed > lambda->busy_pps || passed < ARRIVAL_LESS * sample->sent_pps)
		lambda->busy_pps = passed;
	if (lambda->rate_pps > lambda->busy_pps) {
		lambda->step = 0.0;
		set_rate(lambda, lambda->busy_pps);
		lambda->good_pps = lambda->rate_pps;
	}
}

/* Losses beyond the noise while something stood in the queue: it holds no more than that. */
static void learn_queue(struct wh_control *control)
{
	struct lambda *lambda = state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double alpha = alpha_pkts(control, lambda->rate_pps);
	double peak_pkts = sample->peak_s * lambda->rate_pps;

	if (wh_lambda_loss_bears(&lambda->loss, sample)) {
		lambda->alpha_most_pkts *= 1.0 + fmin(sample->span_s / ALPHA_REGAINED_S, 1.0);
	} else if (peak_pkts > ALPHA_SEEN * alpha) {
		lambda->alpha_most_pkts = ALPHA_BORNE * fmin(peak_pkts, alpha);
	}
}

/*
 * The queue stays although we shed, and what arrives becomes less: nothing stands there, the way
 * has become longer. A queue of others' would let us have what we do not send.
 */
static bool way_is_longer(struct wh_control *control, double from_pps)
{
	struct lambda *lambda = state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double least_s = fmax(fmax(LONGER_S, LONGER_RTT * wh_lambda_path_rtt_s(&lambda->path)),
		LONGER_ALPHA * alpha_pkts(control, lambda->rate_pps) / lambda->rate_pps);
	double sways_s = fmax(LONGER_SWAYS_S, least_s / 4.0);

	if (lambda->shed_s == 0.0) {
		lambda->shed_from_pps = from_pps;
		lambda->shed_in_vain = 0;
		return false;
	}
	if (sample->queue_s < least_s ||
		sample->queue_s < lambda->shed_queue_s - IN_VAIN * lambda->shed_s ||
		sample->arrival_pps > LONGER_ARRIVES * lambda->shed_arrival_pps)
		return false;
	/* A queue sways, or overflows. */
	if (sample->peak_s - sample->queue_s > sways_s ||
		fabs(sample->queue_s - lambda->shed_queue_s) > sways_s ||
		!wh_lambda_loss_bears(&lambda->loss, sample))
		return false;
	return ++lambda->shed_in_vain >= LONGER_SHEDS;
}

static double capacity_pps(const struct lambda *lambda)
{
	return fmax(fmax(lambda->share.capacity_pps, lambda->estimate_pps), RATE_LEAST_PPS);
}

static bool others_fill(struct wh_control *control)
{
	struct lambda *lambda = state_of(control);
	double own_s = own_alpha_pkts(control, lambda->estimate_pps) / lambda->estimate_pps;

	return option(control, SHARE) == WH_SHARING_FAIR &&
	       wh_lambda_others_fill(&lambda->others, &lambda->path, lambda->now_tsc,
		       lambda->rate_pps, own_s, wh_lambda_loss_sure_noise(&lambda->loss),
		       capacity_pps(lambda));
}

static void begin_competing(struct wh_control *control)
{
	struct lambda *lambda = state_of(control);

	wh_lambda_compete_begin(&lambda->compete, &lambda->path, lambda->now_tsc, lambda->sent_pkts,
		fmax(lambda->rate_pps, lambda->others.full_pps), capacity_pps(lambda));
	lambda->others = (struct wh_lambda_others){0};
	lambda->shed_s = 0.0;
}

/* `from_pps`: the rate that the sample is of. */
static void shed(struct wh_control *control, double from_pps, double excess_pkts, double cycle_s)
{
	struct lambda *lambda = state_of(control);
	const struct wh_lambda_sample *sample = &lambda->path.sample;
	double share = fmin(SHED * excess_pkts / (lambda->rate_pps * cycle_s), SHED_MOST);

	lambda->step = 0.0;
	if (way_is_longer(control, from_pps)) {
		wh_lambda_others_doubt(&lambda->others, &lambda->path, lambda->now_tsc);
		wh_lambda_path_forget(&lambda->path);
		set_rate(lambda, lambda->shed_from_pps);
		lambda->shed_s = 0.0;
		return;
	}
	if (wh_lambda_path_learn_floor(
		    &lambda->path, lambda->rate_pps, lambda->shed_queue_s, lambda->shed_s)) {
		set_rate(lambda, lambda->shed_from_pps);
		lambda->shed_s = 0.0;
		return;
	}
	bool falls = lambda->shed_s > 0.0 && sample->queue_s < SHED_FALLS * lambda->shed_queue_s;

	lambda->shed_queue_s = sample->queue_s;
	lambda->shed_arrival_pps = sample->arrival_pps;
	if (falls)
		return; /* what we shed before is enough */
	lambda->shed_s = share * cycle_s;
	set_rate(lambda, lambda->rate_pps * (1.0 - share));
	lambda->good_pps = lambda->rate_pps;
}

/* A scavenger leaves all but a crumb of the way to others, and comes back a while later. */
static bool gives_way(struct wh_control *control)
{
	struct lambda *lambda = state_of(control);
	double own_s = alpha_pkts(control, lambda->estimate_pps) / lambda->estimate_pps;

	if (option(control, SHARE) != WH_SHARING_SCAVENGER)
		return false;
	if (wh_lambda_yield_begins(&lambda->yield, &lambda->path, lambda->now_tsc, own_s,
		    wh_lambda_loss_noise(&lambda->loss))) {
		lambda->busy_pps = lambda->step = lambda->shed_s = 0.0;
		set_rate(lambda, wh_lambda_yield_pps(lambda->rate_pps, lambda->estimate_pps));
		lambda->good_pps = lambda->rate_pps;
	}
	return wh_lambda_yield_holds(&lambda->yield, &lambda->path, lambda->now_tsc);
}

/* In a crowd shares are to become equal. `from_pps`: the rate that the sample is of. */
static bool shares(struct wh_control *control, double from_pps, double cycle_s)
{
	struct lambda *lambda = state_of(control);

	if (wh_lambda_loss_overflown(&lambda->loss))
		wh_lambda_share_begin(&lambda->share, lambda->now_tsc);
	lambda->others.crowded = wh_lambda_share_crowded(&lambda->share, &lambda->path,
		lambda->now_tsc, lambda->busy_pps, lambda->estimate_pps);
	if (!lambda->others.crowded)
		return false;
	if (!wh_lambda_loss_bears(&lambda->loss, &lambda->path.sample))
		from_pps = wh_lambda_share_overflows(&lambda->path, from_pps);
	set_rate(lambda, wh_lambda_share_rate(&lambda->share, &lambda->path, from_pps,
				 pps_of(control, ALPHA_AT_BPS), cycle_s));
	lambda->busy_pps = lambda->good_pps = lambda->rate_pps;
	lambda->step = lambda->shed_s = 0.0;
	return true;
}

static void cruise(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct lambda *lambda = state_of(control);
	struct wh_lambda_path *path = &lambda->path;
	double rtt_s = wh_lambda_path_rtt_s(path);
	double covered_s = wh_lambda_path_covered_s(path);
	double pkts = fmin(ARRIVAL_PKTS, lambda->rate_pps * ARRIVAL_S);
	double span_s = fmax(fmax(rtt_s * SAMPLE_RTT, fmin(SAMPLE_S, 4.0 * rtt_s)),
		SAMPLE_PAUSES * wh_lambda_path_pause_s(path, lambda->rate_pps));

	if (!wh_lambda_path_full(path, event,
		    (uint64_t)fmax(pkts, wh_lambda_loss_sample_pkts(&lambda->loss)), span_s,
		    lambda->rate_pps))
		return;

	const struct wh_lambda_sample *sample = &path->sample;
	double alpha = alpha_pkts(control, lambda->rate_pps);
	double standing = sample->queue_s * lambda->rate_pps;
	double rate_pps = lambda->rate_pps;
	double cycle_s = covered_s + sample->span_s;

	lambda->heeded = false;
	if (lambda->drains > 0.0) {
		lambda->drains = 0.0;
		lambda->drained_tsc = event->now_tsc;
		mark(lambda, event);
		return;
	}
	if (sample->queue_s > overload_s(control) || sample->lost_pkts > sample->seen_pkts / 4)
		lambda->blind = false;
	if (gives_way(control)) {
		mark(lambda, event);
		return;
	}
	learn_queue(control);
	if (others_fill(control)) {
		begin_competing(control);
		return;
	}
	if (standing <= alpha)
		lambda->shed_s = 0.0;
	if (standing > CLEAR * alpha)
		learn_busy(control);
	if (shares(control, rate_pps, cycle_s)) {
		mark(lambda, event);
		return;
	}
	if (standing <= CLEAR * alpha)
		rate_pps = wh_lambda_loss_judge(&lambda->loss, sample, now_s(lambda, event), rtt_s,
			lambda->rate_pps, lambda->step > 0.0 ? lambda->good_pps : lambda->rate_pps);
	if (standing <= CLEAR * alpha &&
		(rate_pps != lambda->rate_pps || lambda->loss.trial != WH_LAMBDA_NO_TRIAL)) {
		lambda->step = 0.0;
		set_rate(lambda, rate_pps);
	} else if (standing > alpha) {
		shed(control, rate_pps, standing - alpha, cycle_s);
	} else if (sample->held_up || sample->starved) {
		lambda->step = 0.0;
	} else if (standing < CLEAR * alpha) {
		increase(control, standing,
			wh_lambda_loss_most_pps(&lambda->loss, now_s(lambda, event)));
	} else {
		lambda->step = 0.0;
		set_rate(lambda,
			fmin(lambda->busy_pps > 0.0 ? lambda->busy_pps : rate_pps, rate_pps) *
				(1.0 + SHED * (alpha - standing) / (rate_pps * cycle_s)));
	}
	mark(lambda, event);
}

/*
 * The queue has not been seen empty for long, so that the least delay may be of a queue. Who shares
 * the way sees it empty at the same moments, and drains it at the same moment.
 */
static void drain(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct lambda *lambda = state_of(control);
	double rtt_s = wh_lambda_path_rtt_s(&lambda->path);
	double period_s = fmax(fmax(DRAIN_S, DRAIN_RTT * rtt_s), DRAIN_PKTS / lambda->rate_pps);
	double alpha_s = alpha_pkts(control, lambda->rate_pps) / lambda->rate_pps;

	if (lambda->path.queue_s < DRAINED * alpha_s) {
		lambda->drained_tsc = event->now_tsc;
	} else if ((double)(event->now_tsc - lambda->drained_tsc) / lambda->path.hz > period_s &&
		   lambda->loss.trial == WH_LAMBDA_NO_TRIAL && lambda->drains == 0.0) {
		double cycle_s = rtt_s * (1.0 + SAMPLE_RTT) + lambda->path.gap_s;
		double share = DRAIN_MORE + DRAIN * lambda->path.queue_s / cycle_s;

		lambda->drains = fmin(share, SHED_MOST);
		lambda->drained_tsc = event->now_tsc;
		mark(lambda, event);
	}
}

/* Far too much stands in the queue, and less arrives than goes: that is the rate, and less. */
static void heed_overload(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct lambda *lambda = state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double most_s = overload_s(control);
	double arrives_pps = path->short_pps / (1.0 - wh_lambda_loss_noise(&lambda->loss));
	double sent_pps = wh_lambda_path_sent_pps(path, event, lambda->rate_pps);

	if (lambda->share.crowded || path->queue_s < most_s || lambda->heeded ||
		wh_lambda_path_pause_s(path, lambda->rate_pps) > 0.0 || arrives_pps == 0.0 ||
		arrives_pps > OVERLOAD_LESS * sent_pps)
		return;
	lambda->heeded = true;
	if (lambda->busy_pps == 0.0 &&
		wh_lambda_train_false(lambda->estimate_pps, sent_pps, arrives_pps))
		lambda->estimate_pps = lambda->train_pps = arrives_pps;
	else if (lambda->phase == VERIFY)
		wh_lambda_share_begin(&lambda->share, event->now_tsc);
	lambda->phase = CRUISE;
	lambda->step = 0.0;
	lambda->drains = 0.0;
	if (lambda->shed_s == 0.0) {
		lambda->shed_from_pps = lambda->rate_pps;
		lambda->shed_in_vain = 0;
	}
	lambda->shed_queue_s = path->queue_s;
	lambda->shed_arrival_pps = arrives_pps;
	lambda->shed_s = (1.0 - arrives_pps / lambda->rate_pps) * wh_lambda_path_rtt_s(path);
	/* Others' part of the excess is ours as well, where they do not heed it. */
	set_rate(lambda, arrives_pps * sqrt(arrives_pps / sent_pps));
	lambda->busy_pps = arrives_pps;
	lambda->good_pps = lambda->rate_pps;
	mark(lambda, event);
}

/* The window says what goes; the rate is what comes of it. */
static void compete(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct lambda *lambda = state_of(control);
	const struct wh_lambda_path *path = &lambda->path;
	double alpha_s = alpha_pkts(control, lambda->rate_pps) / lambda->rate_pps;

	wh_lambda_path_keep(&lambda->path, event->now_tsc);
	wh_lambda_compete_hear(&lambda->compete, path, event->now_tsc, event->sent_pkts,
		wh_lambda_loss_sure_noise(&lambda->loss), alpha_s);
	set_rate(lambda, wh_lambda_compete_pps(&lambda->compete, path));
	lambda->busy_pps = lambda->good_pps = lambda->rate_pps;
	lambda->step = 0.0;
	mark(lambda, event);
}

static void on_delivery(struct wh_control *control, const struct wh_delivery_event *event)
{
	struct lambda *lambda = state_of(control);
	uint64_t before_pkts = lambda->path.seen_pkts;

	wh_lambda_path_hear(&lambda->path, event, lambda->rate_pps);
	lambda->now_tsc = event->now_tsc;
	lambda->sent_pkts = event->sent_pkts;
	if (lambda->phase == START) {
		if (lambda->path.seen_pkts > 0 &&
			wh_lambda_train_hear(&lambda->train, &lambda->path, event, before_pkts,
				(uint64_t)option(control, TRAIN)))
			end_train(control, event);
		return;
	}
	if (lambda->path.seen_pkts == before_pkts)
		return;
	if (lambda->fetch_pkts > 0)
		mark(lambda, event); /* what an outage took says nothing of the rate */
	lambda->fetch_pkts = 0;
	if (lambda->compete.on) {
		compete(control, event);
		return;
	}
	if (option(control, SHARE) == WH_SHARING_FAIR &&
		wh_lambda_others_disprove(&lambda->others, &lambda->path, event->now_tsc)) {
		begin_competing(control);
		return;
	}
	heed_overload(control, event);
	if (lambda->phase == VERIFY)
		verify(control, event);
	else
		cruise(control, event);
	if (lambda->phase == CRUISE)
		drain(control, event);
}

/* Nothing new was seen for long: the window may be full of what is lost. */
static void on_tick(struct wh_control *control, const struct wh_tick_event *event)
{
	struct lambda *lambda = state_of(control);
	bool heard = lambda->path.seen_pkts > 0;
	double patience_s = fmax(heard ? STILL_S : STILL_FIRST_S,
		STILL_RTT * wh_lambda_path_rtt_s(&lambda->path) + 2.0 * lambda->path.queue_s +
			STILL_PKTS / lambda->rate_pps);

	if (lambda->still_tsc < lambda->path.moved_tsc || lambda->still_tsc == 0)
		lambda->still_tsc =
			lambda->path.moved_tsc > 0 ? lambda->path.moved_tsc : event->now_tsc;
	if (event->now_tsc <= lambda->still_tsc ||
		(double)(event->now_tsc - lambda->still_tsc) / lambda->path.hz < patience_s)
		return;
	lambda->still_tsc = event->now_tsc;
	lambda->fetch_pkts = event->sent_pkts_total + 1;
}

static uint64_t interval_fp(const struct wh_control *control)
{
	const struct lambda *lambda = view_of(control);
	double fp = (double)control->config.hz /
		    (lambda->rate_pps * (1.0 - lambda->drains) *
			    (lambda->compete.on ? COMPETE_PACE : 1.0)) *
		    (double)WH_INTERVAL_MIN_FP;

	return (uint64_t)fmin(
		fmax(ceil(fp), (double)WH_INTERVAL_MIN_FP), (double)WH_INTERVAL_MAX_FP);
}

static struct wh_decision decide(const struct wh_control *control)
{
	const struct lambda *lambda = view_of(control);
	uint64_t pkts = lambda->phase == START
				? lambda->train.from_pkts + (uint64_t)option(control, TRAIN)
				: lambda->path.seen_pkts + (uint64_t)window_pkts(control);

	return (struct wh_decision){
		.interval_fp = interval_fp(control),
		.window_pkts = control->config.window_pkts_max,
		.by_tokens = true,
		.tokens = pkts > lambda->fetch_pkts ? pkts : lambda->fetch_pkts,
	};
}

struct wh_lambda_view wh_lambda_view(const struct wh_control *control)
{
	static const char *const names[] = {"start", "verify", "cruise"};
	const struct lambda *lambda = view_of(control);

	if (control->profile != &wh_profile_lambda)
		return (struct wh_lambda_view){0};
	return (struct wh_lambda_view){
		.phase = names[lambda->phase],
		.rate_pps = lambda->rate_pps,
		.window_pkts = window_pkts(control),
		.queue_s = lambda->path.queue_s,
		.rtt_s = wh_lambda_path_rtt_s(&lambda->path),
		.noise = wh_lambda_loss_noise(&lambda->loss),
		.ceiling_pps = lambda->loss.ceiling_pps,
		.estimate_pps = lambda->estimate_pps,
	};
}

static void found(const struct wh_control *control, struct wh_known_path *known)
{
	const struct lambda *lambda = view_of(control);
	double bps = lambda->rate_pps * 8.0 * control->config.wire_bytes;
	double rtt_ns = wh_lambda_path_rtt_s(&lambda->path) * 1e9;

	if (lambda->phase != CRUISE || rtt_ns < 1.0)
		return;
	known->capacity_bps = (uint64_t)fmin(fmax(bps, 1.0), (double)WH_KNOWN_BPS_MAX);
	known->rtt_ns = (uint64_t)fmin(rtt_ns, (double)WH_KNOWN_RTT_MAX_NS);
}

const struct wh_profile wh_profile_lambda = {
	.number = 8,
	.name = "lambda",
	.summary = "finds the rate by itself: trains, delivery and delay; harms nobody",
	.options = options,
	.n_options = OPTIONS,

	.control_bytes = sizeof(struct lambda),
	.init = init,
	.on_delivery = on_delivery,
	.on_tick = on_tick,
	.on_rate = bound_rate,
	.decide = decide,
	.found = found,

	.feedback =
		{
			.period_us = 10000,
			.resend = WH_RESEND_LATE,
			.no_ack2 = true,
			.delivery = true,
		},

	.code = WH_FEC_RS,
};
