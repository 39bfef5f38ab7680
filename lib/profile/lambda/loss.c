/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/lambda/loss.h"

#include <math.h>

#include "base/arith.h"
#include "base/assert.h"
#include "profile/lambda/params.h"

double wh_lambda_loss_noise(const struct wh_lambda_loss *loss)
{
	if (loss->noise.pkts == 0.0)
		return 0.0;
	return fmin(loss->noise.lost_pkts / (loss->noise.pkts + params.noise_prior_pkts),
		params.noise_most);
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
		return (uint64_t)params.short_pkts;
	return (uint64_t)fmin(params.trial_pkts, loss->high_pps * params.trial_s);
}

/* Variance to mean of a number of losses in runs, whose lengths have a geometric distribution. */
static double spread_of(const struct wh_lambda_loss *loss)
{
	double length = loss->noise.lost_pkts / fmax(loss->noise.runs, 1.0);

	return fmax(2.0 * length - 1.0, 1.0);
}

static void add_noise(struct wh_lambda_loss *loss, const struct wh_lambda_losses *more)
{
	struct wh_lambda_losses *noise = &loss->noise;

	add(noise, more);
	if (noise->pkts > params.noise_pkts) {
		double kept = params.noise_pkts / noise->pkts;

		/* Rounding must not make more losses than packets, whatever a peer claims. */
		noise->lost_pkts = fmin(noise->lost_pkts * kept, params.noise_pkts);
		noise->runs *= kept;
		noise->pkts = params.noise_pkts;
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
	return lost_pkts <=
		       mean + params.sigmas * sqrt(mean * spread) + params.bearable_lost * spread ||
	       lost_pkts <= mean + params.bearable_more * pkts;
}

bool wh_lambda_loss_bears(const struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample)
{
	return wh_lambda_loss_bearable(loss, (double)sample->seen_pkts, (double)sample->lost_pkts);
}

/* Runs are no rarer in `low`, as far as that can be said. */
static bool is_same(const struct wh_lambda_losses *low, const struct wh_lambda_losses *high)
{
	return low->runs * high->pkts >= params.lost_same * high->runs * low->pkts;
}

static void set_ceiling(struct wh_lambda_loss *loss, double now_s, double rtt_s)
{
	double hold_s = fmax(params.ceiling_s, params.ceiling_rtt * rtt_s);
	double pps = loss->high_arrival_pps / (1.0 - wh_lambda_loss_noise(loss));

	/*
	 * Found again near its old value: keep it longer. One that seemed to be gone, too: a
	 * policer's bucket fills while less is sent, and what exceeds its rate passes for a while.
	 */
	if (fabs(pps - loss->found_pps) < params.same * pps)
		hold_s = fmin(2.0 * loss->ceiling_hold_s, fmax(params.ceiling_most_s, hold_s));
	loss->found_pps = pps;
	loss->ceiling_hold_s = hold_s;
	loss->ceiling_until_s = now_s + hold_s;
	loss->ceiling_pps = pps * params.under_ceiling;
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
	double most = mean + params.sigmas * sqrt(mean * spread_of(loss)) + params.bearable_lost;

	if ((double)sample->lost_pkts <= most) {
		if (rate_pps > params.beyond * loss->ceiling_pps)
			loss->ceiling_pps = 0.0;
		return rate_pps;
	}
	loss->ceiling_hold_s = fmin(2.0 * loss->ceiling_hold_s, params.ceiling_most_s);
	loss->ceiling_until_s = now_s + loss->ceiling_hold_s;
	return loss->ceiling_pps;
}

static double begin_trial(struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample,
	double share, double rate_pps)
{
	double low_pps = params.lower * rate_pps;

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
		low_pps = fmin(low_pps, params.lower_arrives * sample->arrival_pps /
						(1.0 - wh_lambda_loss_noise(loss)));
	low_pps = fmax(low_pps, (share > params.drastic && sample->seen_pkts >= params.drastic_pkts
						? params.lower_drastic
						: params.lower_least) *
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
	loss->high_arrival_pps = params.drains * sample->arrival_pps;
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
	if (share > params.noise_most && share >= params.lost_same * loss->high_share)
		return under_overflown(loss, sample, now_s, rtt_s, rate_pps);
	if (loss->high_share > params.drastic && share < params.lost_same * loss->high_share) {
		loss->trial = WH_LAMBDA_NO_TRIAL;
		set_ceiling(loss, now_s, rtt_s);
		return under_ceiling(loss, now_s, loss->high_pps);
	}
	if (!is_same(&loss->low, &loss->high) && loss->samples < params.trial_samples) {
		if (differ(&loss->low, &loss->high) < params.surely)
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
	if (share > params.lost_same * loss->high_share && !wh_lambda_loss_bears(loss, sample)) {
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
	return (loss->doubts >= params.doubts || pkts >= params.doubts_pkts) &&
	       loss->doubted.runs >= params.doubts_runs;
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
