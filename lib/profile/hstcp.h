/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_HSTCP_H
#define WH_PROFILE_HSTCP_H

#include "profile/profile.h"

extern const struct wh_profile wh_profile_hstcp;

/* For tests and traces; zeros for other profiles. */
struct wh_hstcp_view {
	bool slow_start;
	double window_pkts;
	double threshold_pkts; /* 0: none */
	uint64_t cuts;         /* number of cuts by losses */
	uint64_t timeouts;
};
struct wh_hstcp_view wh_hstcp_view(const struct wh_control *control);

#endif
