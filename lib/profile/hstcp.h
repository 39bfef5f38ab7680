/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/highspeed.h"
#include "profile/profile.h"

extern const struct wh_profile wh_profile_hstcp;

/* The controller's state, which tests read. */
struct wh_hstcp {
	struct wh_highspeed highspeed;
	double window_pkts;
	double threshold_pkts; /* end of slow start; 0: none yet */
	uint64_t rtt_tsc;      /* 0: unknown */
	uint64_t cut_end;      /* losses below it belong to the latest cut */
	uint64_t interval_min_fp;
	uint64_t round_tsc; /* start of the present round; 0: none */
	double round_pkts;  /* acknowledged in the present round, ... */
	double used_pkts;   /* ... and in the previous one */
	uint64_t cuts;
	uint64_t timeouts;
};
