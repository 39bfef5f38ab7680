/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_STTP_H
#define WH_PROFILE_STTP_H

#include "profile/bucket.h"
#include "profile/profile.h"

#define WH_STTP_PROBE_PKTS_MAX 15 /* V B: "trains of ten to fifteen packets" */

extern const struct wh_profile wh_profile_sttp;

/* The options as what they mean, also for the agent of lib/tcp. */
struct wh_sttp_rules {
	struct wh_bucket_rules bucket;
	bool timer;           /* rho is tokens per second, and not per acknowledgement */
	bool token_returns;   /* a lost packet's token comes back with the loss */
	bool returns_clear;   /* it does where nothing waits on the way */
	bool probe_takes;     /* the probe takes one of the first tokens */
	bool probe_repeats;   /* one that is lost goes again */
	uint32_t probe_pkts;  /* of a train; 2: a pair */
	uint32_t probe_bytes; /* of each; 0: nothing said */
	double span_s;        /* sigma begins as what the bottleneck passes in this time */
};
struct wh_sttp_rules wh_sttp_rules(const struct wh_profile_options *options);

/* Begins with what the probe has found; rtt in the unit that all later ones will have. */
void wh_sttp_fill(struct wh_bucket *bucket, const struct wh_sttp_rules *rules, double capacity_pps,
	double rtt);

/* Whether the token of a packet that is lost now comes back. */
static inline bool wh_sttp_token_returns(
	const struct wh_sttp_rules *rules, const struct wh_bucket *bucket)
{
	return rules->token_returns || (rules->returns_clear && wh_bucket_way_is_clear(bucket));
}

/* What tests and traces look at; zeros for other profiles. */
struct wh_sttp_view {
	bool probed;
	double capacity_pps; /* as the probe found it, within the bound; 0: it found none */
	struct wh_bucket bucket;
};
struct wh_sttp_view wh_sttp_view(const struct wh_control *control);

#endif
