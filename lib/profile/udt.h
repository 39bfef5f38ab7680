/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_UDT_H
#define WH_PROFILE_UDT_H

#include "profile/profile.h"

#define WH_UDT_LEAST_WINDOW 4 /* after slow start; the reason is in udt.c */

extern const struct wh_profile wh_profile_udt;

/* For tests and traces; zeros for other profiles. */
struct wh_udt_view {
	bool slow_start;
	double rate_pps;          /* C; 0 in slow start */
	double capacity_pps;      /* B */
	double last_decrease_pps; /* D */
	double loss_rate;
	uint64_t last_dec_pn;    /* 0 in slow start */
	uint32_t decrease_count; /* dc */
	uint32_t e;
	uint64_t decreases; /* by (7), total */
	uint64_t freezes;
};
struct wh_udt_view wh_udt_view(const struct wh_control *control);

#endif
