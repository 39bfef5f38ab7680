/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_BUCKET_H
#define WH_PROFILE_BUCKET_H

/*
 * The token bucket of sttp.txt: a packet goes for a token, the bucket holds sigma of them at most,
 * and it is fed by rho: so many for each acknowledgement (III B), or so many in a second (V B).
 * A round trip that differs from the one before by more than a threshold scales sigma, rho and the
 * tokens that there are by
 *
 *     x = alpha x + beta x lastRTT / newRTT,   alpha + beta = 1   (III B.3)
 *
 * It knows no clock, and any unit of time will do.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_bucket_rules {
	double history;   /* alpha */
	double threshold; /* that a round trip must differ by, as a share of the one before */
	/*
	 * IV B.1 has 1.15 for a decrease of 15 %, where III B.3 gives 1/0.85: the factor of a
	 * decrease is 1 and the share by which it decreased.
	 */
	bool growth_by_share;
	bool feed_scales; /* rho is scaled, too: III B.3 says so, IV B.1 does not */
	/* The tokens are scaled before they are fed and after it: the text does not say which. */
	bool twice;
	bool adaptive; /* alpha moves with what round trips do: see bucket.c */
};

struct wh_bucket {
	struct wh_bucket_rules rules;
	double history; /* alpha, of now */
	double capacity;
	double feed;
	double tokens;
	double last_rtt; /* 0: none yet */
	double least_rtt;
	int32_t last_change;
	uint64_t scalings;
};

void wh_bucket_init(struct wh_bucket *bucket, const struct wh_bucket_rules *rules);

/* What a probe has found: sigma, rho, the tokens to begin with, and the probe's round trip. */
void wh_bucket_fill(
	struct wh_bucket *bucket, double capacity, double feed, double tokens, double rtt);

/* So many acknowledgements, or so much time. */
void wh_bucket_feed(struct wh_bucket *bucket, double times);

/* So many acknowledgements, and the round trip that they came after; 0: it is not known. */
void wh_bucket_hear(struct wh_bucket *bucket, double acks, double rtt);

/* Tokens that come otherwise; no more than the bucket holds. */
void wh_bucket_add(struct wh_bucket *bucket, double tokens);

/* Packets went for them. */
void wh_bucket_take(struct wh_bucket *bucket, double tokens);

/* A new round trip, > 0; true when it was worth scaling for. */
bool wh_bucket_measure(struct wh_bucket *bucket, double rtt);

/* Whole tokens. */
static inline uint64_t wh_bucket_whole(const struct wh_bucket *bucket)
{
	return (uint64_t)bucket->tokens;
}

/* The last round trip is about the least one: nothing waits on the way. */
bool wh_bucket_way_is_clear(const struct wh_bucket *bucket);

/* What a value becomes by the formula above. */
double wh_bucket_scale(const struct wh_bucket_rules *rules, double history, double value,
	double last_rtt, double new_rtt);

#endif
