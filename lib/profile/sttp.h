/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_STTP_H
#define WH_PROFILE_STTP_H

#include "profile/bucket.h"
#include "profile/profile.h"

#define WH_STTP_PROBE_PKTS_MAX 15 /* V B: "trains of ten to fifteen packets" */

extern const struct wh_profile wh_profile_sttp;

/* The options, decoded; also for the agent of lib/lab/tcp. */
struct wh_sttp_rules {
	struct wh_bucket_rules bucket;
	bool timer;           /* rho is tokens per second, not per acknowledgement */
	bool token_returns;   /* the token of a lost packet is returned */
	bool returns_clear;   /* it is returned if no queue has built up */
	bool probe_takes;     /* the probe takes one of the first tokens */
	bool probe_repeats;   /* a lost probe is sent again */
	uint32_t probe_pkts;  /* per probe; 2: a pair */
	uint32_t probe_bytes; /* of each; 0: not set */
	double span_s;        /* initial sigma: what the bottleneck passes in this time */
};
struct wh_sttp_rules wh_sttp_rules(const struct wh_profile_options *options);

/* Fills the bucket by the probe's result; rtt in the same unit as all later ones. */
void wh_sttp_fill(struct wh_bucket *bucket, const struct wh_sttp_rules *rules, double capacity_pps,
	double rtt);

/* Whether the token of a packet that is now found lost is returned. */
static inline bool wh_sttp_token_returns(
	const struct wh_sttp_rules *rules, const struct wh_bucket *bucket)
{
	return rules->token_returns || (rules->returns_clear && wh_bucket_path_is_clear(bucket));
}

/* For tests and traces; zeros for other profiles. */
struct wh_sttp_view {
	bool probed;
	double capacity_pps; /* as probed, within the bound; 0: not probed */
	struct wh_bucket bucket;
};
struct wh_sttp_view wh_sttp_view(const struct wh_control *control);

#endif
