/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The token bucket of sttp.txt: sending a packet takes a token, the bucket holds at most sigma
 * tokens, and rho feeds it: tokens per acknowledgement (III B), or per second (V B). A round trip
 * that differs from the previous one by more than a threshold scales sigma, rho and the present
 * tokens:
 *
 *     x = alpha x + beta x lastRTT / newRTT,   alpha + beta = 1   (III B.3)
 *
 * It uses no clock, and works in any unit of time.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_bucket_rules {
	double history;   /* alpha */
	double threshold; /* least difference of a round trip, as a share of the previous one */
	/*
	 * IV B.1 has 1.15 for a decrease of 15 %, where III B.3 gives 1/0.85: with this the factor
	 * of a decrease is 1 plus the share by which it decreased.
	 */
	bool growth_by_share;
	bool feed_scales; /* rho is scaled, too: as in III B.3, unlike IV B.1 */
	/* Tokens are scaled before feeding and after it: the text does not say which. */
	bool twice;
	bool adaptive; /* alpha follows the round trips: see bucket.c */
};

struct wh_bucket {
	struct wh_bucket_rules rules;
	double history; /* present alpha */
	double capacity;
	double feed;
	double tokens;
	double last_rtt; /* 0: none yet */
	double least_rtt;
	int32_t last_change;
	uint64_t scalings;
};

void wh_bucket_init(struct wh_bucket *bucket, const struct wh_bucket_rules *rules);

/* Sets what a probe has found: sigma, rho, initial tokens, and the probe's round trip. */
void wh_bucket_fill(
	struct wh_bucket *bucket, double capacity, double feed, double tokens, double rtt);

/* `times`: number of acknowledgements, or time. */
void wh_bucket_feed(struct wh_bucket *bucket, double times);

/* `acks` acknowledgements, and their round trip; 0: unknown. */
void wh_bucket_hear(struct wh_bucket *bucket, double acks, double rtt);

/* Adds tokens from elsewhere, within the capacity. */
void wh_bucket_add(struct wh_bucket *bucket, double tokens);

/* Removes the tokens of packets that were sent. */
void wh_bucket_take(struct wh_bucket *bucket, double tokens);

/* A new round trip, > 0; true if it caused scaling. */
bool wh_bucket_measure(struct wh_bucket *bucket, double rtt);

/* Whole tokens. */
static inline uint64_t wh_bucket_whole(const struct wh_bucket *bucket)
{
	return (uint64_t)bucket->tokens;
}

/* Whether the last round trip is close to the least one, so that no queue has built up. */
bool wh_bucket_path_is_clear(const struct wh_bucket *bucket);

/* Scales a value by the formula above. */
double wh_bucket_scale(const struct wh_bucket_rules *rules, double history, double value,
	double last_rtt, double new_rtt);
