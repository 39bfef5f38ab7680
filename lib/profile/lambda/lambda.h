/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_LAMBDA_H
#define WH_PROFILE_LAMBDA_H

#include "profile/profile.h"

extern const struct wh_profile wh_profile_lambda;

struct wh_lambda_view {
	const char *phase;
	double rate_pps;
	double window_pkts;
	double queue_s;
	double rtt_s;
	double noise;
	double ceiling_pps; /* 0: none */
	double estimate_pps;
};

/* Zeros when another profile controls. */
struct wh_lambda_view wh_lambda_view(const struct wh_control *control);

#endif
