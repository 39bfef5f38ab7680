/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "profile/profile.h"

extern const struct wh_profile wh_profile_pxp;

/*
 * Shared by the two methods of periodic-exchange.txt, pxp and pack: the operator's rate and a
 * window of packet numbers limit the flow, and a packet is retransmitted after a time, which each
 * measures in its own way. This is the whole controller state of either.
 */
struct wh_exchange {
	uint64_t interval_fp;
	uint32_t resend_after; /* reports, or microseconds */
};
void wh_exchange_on_rate(struct wh_control *control);
struct wh_decision wh_exchange_decide(const struct wh_control *control, double span_pkts);
