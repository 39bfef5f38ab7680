/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "profile/profile.h"

#define WH_UDT_LEAST_WINDOW 4 /* after slow start; the reason is in udt.c */

extern const struct wh_profile wh_profile_udt;

/* The controller's state, which tests read. */
struct wh_udt {
	bool slow_start;
	bool single_loss_spared;
	uint32_t arrival_pps; /* AS, last known value */
	uint64_t rtt_tsc;     /* last known value */
	double window_pkts;   /* W */
	double interval_tsc;  /* I; 0 in slow start */
	double interval_min_tsc;
	double interval_max_tsc;
	double capacity_pps;      /* B */
	double last_decrease_pps; /* D */
	double loss_rate;
	uint64_t lost_pkts;       /* reported since loss_rate was last updated */
	uint64_t sent_pkts_total; /* at that time */
	uint64_t dec_end;         /* one past last_dec_seq */
	uint32_t decrease_count;  /* dc */
	uint32_t e;
	uint64_t freeze_until_tsc;
	uint64_t decreases;
	uint64_t freezes;
};
