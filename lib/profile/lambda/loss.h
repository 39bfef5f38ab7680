/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_LOSS_H
#define WH_PROFILE_LAMBDA_LOSS_H

/*
 * What losses mean where no queue explains them: noise, which is the same at any rate, or too high
 * a rate for a short queue, a policer or the receiver's ring, of which no delay tells. An
 * experiment decides: a little less for a while, and as much as before again. Losses that stay are
 * noise; those that go and come back are a ceiling.
 */

#include <stdbool.h>
#include <stdint.h>

#include "profile/lambda/path.h"

enum wh_lambda_trial {
	WH_LAMBDA_NO_TRIAL,
	WH_LAMBDA_LOWER, /* does it lose as much at a lower rate? */
	WH_LAMBDA_AGAIN, /* and then at the first one? */
};

struct wh_lambda_loss {
	double noise_pkts, noise_lost_pkts; /* of late */
	double spread;                      /* of the lost ones' number: its variance by its mean */
	enum wh_lambda_trial trial;
	bool overflown;
	uint32_t doubts;
	double doubted_pkts, doubted_lost_pkts;
	double high_pps, high_share, high_arrival_pps; /* where losses made us suspicious */
	double high_pkts, high_lost_pkts;
	double low_pkts, low_lost_pkts;
	double ceiling_pps; /* 0: none */
	double ceiling_until_s, ceiling_hold_s;
};

/* Lost without any fault of ours: a share of what goes. */
double wh_lambda_loss_noise(const struct wh_lambda_loss *loss);

/* Likewise, as far as it is known of many packets: else a queue's losses may be taken for it. */
double wh_lambda_loss_sure_noise(const struct wh_lambda_loss *loss);

/* So many of so many are what noise takes now and then. */
bool wh_lambda_loss_bearable(const struct wh_lambda_loss *loss, double pkts, double lost_pkts);

bool wh_lambda_loss_bears(const struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample);

/* Said once: more is lost than noise takes, at a lower rate too, so that a queue is full. */
bool wh_lambda_loss_overflown(struct wh_lambda_loss *loss);

/* Packets that the next sample has to have. */
uint64_t wh_lambda_loss_sample_pkts(const struct wh_lambda_loss *loss);

/* No rate above this for now. */
double wh_lambda_loss_most_pps(const struct wh_lambda_loss *loss, double now_s);

/*
 * A sample at `rate_pps`, with a rate that was known to be good before. Returns the rate to go on
 * with; the same: losses are no reason to change it.
 */
double wh_lambda_loss_judge(struct wh_lambda_loss *loss, const struct wh_lambda_sample *sample,
	double now_s, double rtt_s, double rate_pps, double good_pps);

#endif
