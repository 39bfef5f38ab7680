/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_PXP_H
#define WH_PROFILE_PXP_H

#include "profile/profile.h"

extern const struct wh_profile wh_profile_pxp;

/*
 * What the two methods of periodic-exchange.txt have in common, this and pack: the operator's rate
 * and a window of serials bound the flow, and a packet goes again after a time that each counts in
 * its own way. It is the whole state of either's controller.
 */
struct wh_exchange {
	uint64_t interval_fp;
	uint32_t resend_after; /* states, or microseconds */
};
void wh_exchange_on_rate(struct wh_control *control);
struct wh_decision wh_exchange_decide(const struct wh_control *control, double span_pkts);

#endif
