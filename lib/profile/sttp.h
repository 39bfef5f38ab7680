/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

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

/* The controller's state, which tests read. */
struct wh_sttp {
	struct wh_sttp_rules rules;
	struct wh_bucket bucket;
	bool probed;
	double capacity_pps;
	uint64_t sent_pkts;      /* taken from the bucket so far */
	uint64_t acked_pkts;     /* total */
	uint64_t duplicate_pkts; /* total whose tokens came back */
	uint64_t acked_tsc;      /* last time that packets were acknowledged */
	uint64_t fed_tsc;        /* fed by time up to here */
	uint64_t rtt_tsc;        /* smoothed, once known */
	uint64_t min_fp;         /* interval of the rate bound */
};
