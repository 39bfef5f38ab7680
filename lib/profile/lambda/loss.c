/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/loss.h"

#include <math.h>

#include "base/arith.h"
#include "base/assert.h"

#define NOISE_PKTS       100000.0 /* over which noise is averaged */
#define NOISE_PRIOR_PKTS 1000.0   /* without a loss, before any were seen */
#define SURE_PKTS        5000.0
#define BEARABLE_SIGMAS  3.0    /* of the noise, */
#define BEARABLE_LOST    2.0    /* and this many more, or bursts, */
#define BEARABLE_MORE    0.002  /* or this share of the packets */
#define DOUBTS           4      /* suspicious samples in a row; a burst of losses is in one only */
#define DOUBTS_PKTS      1000.0 /* or one sample of this many packets, ... */
#define DOUBTS_RUNS      5.0    /* ... if this many runs of losses are in these: fewer are chance */
#define SPREAD_MOST      100.0
#define SPREAD_LEARNT    0.1
#define LOWER            0.95 /* rate of the trial: PCC tries 5 % less */
#define LOWER_ARRIVES    0.98 /* or a little below the arrival rate, ... */
#define LOWER_LEAST      0.8  /* ... but not far down because of a few losses in a row */
#define LOWER_DRASTIC    0.05
#define DRASTIC          0.25 /* with more lost the rate becomes the arrival rate */
#define DRASTIC_PKTS     100
#define SAME             0.5    /* of the share lost at the higher rate: then it is noise */
#define NOISE_MOST       0.15   /* more is due to other flows, whatever our rate: ... */
#define OVERFLOWN        0.9    /* ... times the arrival rate empties queues */
#define SURELY           10.8   /* differ() exceeds it by chance in one of a thousand trials */
#define TRIAL_RUNS       10.0   /* of losses to be in a trial if it is noise, */
#define TRIAL_PKTS       2000.0 /* or this many packets sent, */
#define TRIAL_S          0.2    /* but no more than are sent in this time; ... */
#define TRIAL_SAMPLES    4      /* ... as often at most, while they decide nothing */
#define TRIAL_PKTS_MAX   20000.0
#define UNDER_CEILING    0.99
#define HOLD_S           20e-3 /* below a ceiling, at least, ... */
#define HOLD_RTT         20.0
#define HOLD_MAX_S       16.0 /* ... and at most */
#define FOUND_AGAIN      0.1  /* nearer than this to the last ceiling: the same one */
#define CEILING_GONE     1.1  /* this far above it without losses it is gone */

double wh_lambda_loss_noise(const struct wh_lambda_loss *loss)
{
	if (loss->noise.pkts == 0.0)
		return 0.0;
	return fmin(loss->noise.lost_pkts / (loss->noise.pkts + NOISE_PRIOR_PKTS), NOISE_MOST);
}

static struct wh_lambda_losses losses_of(const struct wh_lambda_sample *sample)
{
	return (struct wh_lambda_losses){
		.pkts = (double)sample->seen_pkts,
		.lost_pkts = (double)sample->lost_pkts,
		.runs = (double)sample->lost_runs,
	};
}

static void add(struct wh_lambda_losses *sum, const struct wh_lambda_losses *more)
{
	sum->pkts += more->pkts;
	sum->lost_pkts += more->lost_pkts;
	sum->runs += more->runs;
}

/* Packets in which one run is to be expected. */
static double run_every_pkts(const struct wh_lambda_losses *losses)
{
	return losses->pkts / fmax(losses->runs, 1.0);
}

/*
 * Twice the logarithm of how much likelier the runs are with a probability of their own in each of
 * two samples than with one for both (the likelihood-ratio test of two Poisson counts).
 */
static double differ(const struct wh_lambda_losses *one, const struct wh_lambda_losses *other)
{
	double both = (one->runs + other->runs) / (one->pkts + other->pkts);
	double of_one = one->runs > 0.0 ? one->runs * wh_log(one->runs / (one->pkts * both)) : 0.0;
	double of_other =
		other->runs > 0.0 ? other->runs * wh_log(other->runs / (other->pkts * both)) : 0.0;

	return 2.0 * (of_one + of_other);
}

uint64_t wh_lambda_loss_sample_pkts(const struct wh_lambda_loss *loss)
{
	if (loss->trial == WH_LAMBDA_NO_TRIAL)
		return 4;
	return (uint64_t)fmin(fmax(TRIAL_RUNS * run_every_pkts(&loss->high), TRIAL_PKTS),
		fmin(TRIAL_PKTS_MAX, loss->high_pps * TRIAL_S));
}

double wh_lambda_loss_sure_noise(const struct wh_lambda_loss *loss)
{
	return loss->noise.pkts >= SURE_PKTS ? wh_lambda_loss_noise(loss) : 0.0;
}

/* Ratio of variance to mean of the number of losses: 20 with bursts of 20. */
static void learn_spread(struct wh_lambda_loss *loss, double pkts, double lost_pkts)
{
	double mean = wh_lambda_loss_noise(loss) * pkts;

	if (mean <= 0.0)
		return;

	double spread = fmin((lost_pkts - mean) * (lost_pkts - mean) / mean, SPREAD_MOST);

	/* A sample with less than one loss expected tells little. */
	loss->spread += (spread - loss->spread) * fmin(SPREAD_LEARNT * mean, SPREAD_LEARNT);
}

/* At least that of runs whose lengths have a geometric distribution. */
static double spread_of(const struct wh_lambda_loss *loss)
{
	double length = loss->noise.lost_pkts / fmax(loss->noise.runs, 1.0);

	return fmax(fmax(loss->spread, fmin(2.0 * length - 1.0, SPREAD_MOST)), 1.0);
}

static void add_noise(struct wh_lambda_loss *loss, const struct wh_lambda_losses *more)
{
	struct wh_lambda_losses *noise = &loss->noise;

	learn_spread(loss, more->pkts, more->lost_pkts);
	add(noise, more);
	if (noise->pkts > NOISE_PKTS) {
		double kept = NOISE_PKTS / noise->pkts;

		/* Rounding must not make more losses than packets, whatever a peer claims. */
		noise->lost_pkts = fmin(noise->lost_pkts * kept, NOISE_PKTS);
		noise->runs *= kept;
		noise->pkts = NOISE_PKTS;
	}
	WH_ASSERT(noise->lost_pkts <= noise->pkts);
}

void wh_lambda_loss_learn(struct wh_lambda_loss *loss, double pkts, double lost_pkts, double runs)
{
	const struct wh_lambda_losses losses = {
		.pkts = pkts, .lost_pkts = lost_pkts, .runs = fmin(runs, lost_pkts)};

	if (pkts > 0.0)
		add_noise(loss, &losses);
}

bool wh_lambda_loss_bearable(const struct wh_lambda_loss *loss, double pkts, double lost_pkts)
{
	double mean = wh_lambda_loss_noise(loss) * pkts;
	double spread = spread_of(loss);

	/* And a burst or two more: small numbers are not normally distributed. */
	return lost_pkts <= mean + BEARABLE_SIGMAS * sqrt(mean * spread) + BEARABLE_LOST * spread ||
	       lost_pkts <= mean + BEARABLE_MORE * pkts;
}

bool wh_lambda_loss_bears(const struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample)
{
	return wh_lambda_loss_bearable(loss, (double)sample->seen_pkts, (double)sample->lost_pkts);
}

/* Runs are no rarer in `low`, as far as that can be said. */
static bool is_same(const struct wh_lambda_losses *low, const struct wh_lambda_losses *high)
{
	return low->runs * high->pkts >= SAME * high->runs * low->pkts;
}

static void set_ceiling(struct wh_lambda_loss *loss, double now_s, double rtt_s)
{
	double hold_s = fmax(HOLD_S, HOLD_RTT * rtt_s);
	double pps = loss->high_arrival_pps / (1.0 - wh_lambda_loss_noise(loss));

	/*
	 * Found again near its old value: keep it longer. One that seemed to be gone, too: a
	 * policer's bucket fills while less is sent, and what exceeds its rate passes for a while.
	 */
	if (fabs(pps - loss->found_pps) < FOUND_AGAIN * pps)
		hold_s = fmin(2.0 * loss->ceiling_hold_s, fmax(HOLD_MAX_S, hold_s));
	loss->found_pps = pps;
	loss->ceiling_hold_s = hold_s;
	loss->ceiling_until_s = now_s + hold_s;
	loss->ceiling_pps = pps * UNDER_CEILING;
	loss->over = loss->high;
}

static double under_ceiling(const struct wh_lambda_loss *loss, double now_s, double rate_pps)
{
	if (loss->ceiling_pps == 0.0 || now_s >= loss->ceiling_until_s)
		return rate_pps;
	return fmin(rate_pps, loss->ceiling_pps);
}

/* Above a ceiling, to test whether it is still there: the first losses tell, and are no noise. */
static double above_ceiling(struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample,
	double now_s, double rate_pps)
{
	double mean = wh_lambda_loss_noise(loss) * (double)sample->seen_pkts;
	double most = mean + BEARABLE_SIGMAS * sqrt(mean * spread_of(loss)) + BEARABLE_LOST;

	if ((double)sample->lost_pkts <= most) {
		if (rate_pps > CEILING_GONE * loss->ceiling_pps)
			loss->ceiling_pps = 0.0;
		return rate_pps;
	}
	loss->ceiling_hold_s = fmin(2.0 * loss->ceiling_hold_s, HOLD_MAX_S);
	loss->ceiling_until_s = now_s + loss->ceiling_hold_s;
	return loss->ceiling_pps;
}

static double begin_trial(struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample,
	double share, double rate_pps)
{
	double low_pps = LOWER * rate_pps;

	loss->trial = WH_LAMBDA_LOWER;
	loss->samples = 0;
	loss->high = loss->doubted;
	loss->low = (struct wh_lambda_losses){0};
	loss->doubts = 0;
	loss->doubted = (struct wh_lambda_losses){0};
	loss->high_pps = rate_pps;
	loss->high_share = share;
	loss->high_arrival_pps = sample->arrival_pps;
	/* If it is no noise, the path takes no more than the arrival rate. */
	if (sample->arrival_pps > 0.0)
		low_pps = fmin(low_pps,
			LOWER_ARRIVES * sample->arrival_pps / (1.0 - wh_lambda_loss_noise(loss)));
	low_pps =
		fmax(low_pps, (share > DRASTIC && sample->seen_pkts >= DRASTIC_PKTS ? LOWER_DRASTIC
										    : LOWER_LEAST) *
				      rate_pps);
	return low_pps;
}

double wh_lambda_loss_most_pps(const struct wh_lambda_loss *loss, double now_s)
{
	return loss->ceiling_pps > 0.0 && now_s < loss->ceiling_until_s ? loss->ceiling_pps
									: INFINITY;
}

/*
 * As much is lost at a lower rate, but too much for noise: a queue overflows that has been full
 * ever since we started, so that its delay seems to be that of the path.
 */
static double under_overflown(struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample,
	double now_s, double rtt_s, double rate_pps)
{
	loss->trial = WH_LAMBDA_NO_TRIAL;
	loss->high_arrival_pps = OVERFLOWN * sample->arrival_pps;
	set_ceiling(loss, now_s, rtt_s);
	return under_ceiling(loss, now_s, rate_pps);
}

/* The rate after a sample at the lower rate. */
static double judge_lower(struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample,
	double now_s, double rtt_s, double rate_pps)
{
	const struct wh_lambda_losses losses = losses_of(sample);
	double share = losses.lost_pkts / fmax(losses.pkts, 1.0);

	add(&loss->low, &losses);
	loss->samples++;
	if (share > NOISE_MOST && share >= SAME * loss->high_share)
		return under_overflown(loss, sample, now_s, rtt_s, rate_pps);
	if (loss->high_share > DRASTIC && share < SAME * loss->high_share) {
		loss->trial = WH_LAMBDA_NO_TRIAL;
		set_ceiling(loss, now_s, rtt_s);
		return under_ceiling(loss, now_s, loss->high_pps);
	}
	if (!is_same(&loss->low, &loss->high) && loss->samples < TRIAL_SAMPLES) {
		if (differ(&loss->low, &loss->high) < SURELY)
			return rate_pps;
		loss->trial = WH_LAMBDA_AGAIN;
		return loss->high_pps;
	}
	loss->trial = WH_LAMBDA_NO_TRIAL;
	loss->noise = (struct wh_lambda_losses){0};
	if (is_same(&loss->low, &loss->over)) /* as much is lost below the ceiling as above it */
		loss->ceiling_pps = 0.0;
	add(&loss->low, &loss->high);
	add_noise(loss, &loss->low);
	return loss->high_pps;
}

/* The rate after a sample at the first rate again. */
static double judge_again(struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample,
	double now_s, double rtt_s, double rate_pps)
{
	struct wh_lambda_losses losses = losses_of(sample);
	double share = losses.lost_pkts / fmax(losses.pkts, 1.0);

	loss->trial = WH_LAMBDA_NO_TRIAL;
	if (share > SAME * loss->high_share && !wh_lambda_loss_bears(loss, sample)) {
		loss->high_arrival_pps = sample->arrival_pps;
		set_ceiling(loss, now_s, rtt_s);
		return under_ceiling(loss, now_s, rate_pps);
	}
	add(&losses, &loss->high);
	add(&losses, &loss->low);
	add_noise(loss, &losses);
	return rate_pps;
}

static bool is_doubtful(const struct wh_lambda_loss *loss, double pkts)
{
	return (loss->doubts >= DOUBTS || pkts >= DOUBTS_PKTS) && loss->doubted.runs >= DOUBTS_RUNS;
}

double wh_lambda_loss_judge(struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample,
	double now_s, double rtt_s, double rate_pps, double good_pps)
{
	const struct wh_lambda_losses losses = losses_of(sample);

	if (loss->trial == WH_LAMBDA_LOWER)
		return judge_lower(loss, sample, now_s, rtt_s, rate_pps);
	if (loss->trial == WH_LAMBDA_AGAIN)
		return judge_again(loss, sample, now_s, rtt_s, rate_pps);
	if (loss->ceiling_pps > 0.0 && rate_pps > loss->ceiling_pps)
		return above_ceiling(loss, sample, now_s, rate_pps);
	if (!wh_lambda_loss_bears(loss, sample)) {
		add(&loss->doubted, &losses);
		loss->doubts++;
		if (is_doubtful(loss, losses.pkts))
			return begin_trial(
				loss, sample, losses.lost_pkts / fmax(losses.pkts, 1.0), rate_pps);
		return under_ceiling(loss, now_s, rate_pps);
	}
	add_noise(loss, &loss->doubted);
	loss->doubted = (struct wh_lambda_losses){0};
	loss->doubts = 0;
	if (rate_pps <= good_pps)
		add_noise(loss, &losses);
	return under_ceiling(loss, now_s, rate_pps);
}
