/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_LOSS_H
#define WH_PROFILE_LAMBDA_LOSS_H

/*
 * What losses without a queue mean: noise, which is the same at any rate, or a rate too high for a
 * short queue, a policer or the receiver's ring, which show no delay. A trial decides: a lower rate
 * for a while, then the same rate again. Losses that stay are noise; losses that vanish and return
 * mean a ceiling.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

enum wh_lambda_trial {
	WH_LAMBDA_NO_TRIAL,
	WH_LAMBDA_LOWER, /* are losses the same at a lower rate? */
	WH_LAMBDA_AGAIN, /* and do they return at the first rate? */
};

/* A burst of losses is one event, however many packets it takes. */
struct wh_lambda_losses {
	double pkts, lost_pkts, runs;
};

struct wh_lambda_loss {
	struct wh_lambda_losses noise; /* recent */
	enum wh_lambda_trial trial;
	uint32_t doubts;
	struct wh_lambda_losses doubted;
	double high_pps, high_share,
		high_arrival_pps; /* at the rate where the losses were suspicious */
	struct wh_lambda_losses high, low;
	uint32_t samples;             /* at the lower rate */
	struct wh_lambda_losses over; /* above the ceiling */
	double ceiling_pps;           /* 0: none */
	double found_pps;             /* the latest ceiling, even if it is gone; 0: none yet */
	double ceiling_until_s, ceiling_hold_s;
};

/* The share of packets that is lost at any rate. */
double wh_lambda_loss_noise(const struct wh_lambda_loss *loss);

/* Packets that were sent while no queue was as long as it can be. */
void wh_lambda_loss_learn(struct wh_lambda_loss *loss, double pkts, double lost_pkts, double runs);

/* `lost_pkts` of `pkts` can be noise. */
bool wh_lambda_loss_bearable(const struct wh_lambda_loss *loss, double pkts, double lost_pkts);

bool wh_lambda_loss_bears(const struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample);

/* Packets that the next sample needs. */
uint64_t wh_lambda_loss_sample_pkts(const struct wh_lambda_loss *loss);

/* Upper bound of the rate for now. */
double wh_lambda_loss_most_pps(const struct wh_lambda_loss *loss, double now_s);

/*
 * Judges a sample at `rate_pps`; `good_pps` was known to be good before. Returns the next rate; the
 * same rate: losses are no reason to change it.
 */
double wh_lambda_loss_judge(struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample,
	double now_s, double rtt_s, double rate_pps, double good_pps);

#endif
