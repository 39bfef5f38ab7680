/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "profile/profile.h"

/*
 * Least rate, relative to the bottleneck's. III A has 8 to 100 Mb/s for a bottleneck that ends in
 * links of 100 Mb/s. For links of 10 Mb/s it has 8 to 10, which leaves little to control.
 */
#define WH_TTP_MIN_SHARE 0.08

extern const struct wh_profile wh_profile_ttp;

/* ttp.txt, Fig. 1. */
enum wh_ttp_state {
	WH_TTP_STEADY,
	WH_TTP_LOSS,
	WH_TTP_NO_LOSS,
};

/* The controller's state, which tests read. */
struct wh_ttp {
	enum wh_ttp_state state;
	double rate_bps; /* may exceed max_bps, which may rise again */
	double min_bps;
	double max_bps;
	double increase_bps;
	uint64_t bitmaps;
	uint64_t decreases;
	uint64_t increases;
	uint64_t divided_end; /* one past the last packet sent when the rate was divided */
};
