/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_PROFILE_H
#define WH_SESSION_PROFILE_H

/*
 * A profile is data: which feedback, which recovery, which rate controller. The parts are
 * interchangeable; the table is in profile.c.
 */

#include <stdbool.h>
#include <stdint.h>

#include "rate/control.h"
#include "wire/packet.h"

struct wh_profile {
	uint8_t number; /* on the wire */
	const char *name;
	const char *summary;
	const struct wh_control_ops *control;
	uint32_t period_us;        /* of both ends' states and of the rate control: SYN */
	uint32_t state_bytes;      /* a state also goes after so many; 0: by period alone */
	uint32_t pair_period_pkts; /* every so many packets two go back to back; 0: never */
	bool state_on_news_only;   /* a state without news waits for two round trips */
	bool delay_warnings;       /* the receiver watches the delay's trend */
	bool control_is_paced;     /* the rate includes the transmitter's control packets */
	bool bitmaps;              /* the receiver tells by them what arrives; ttp.txt II B */
	uint32_t nak_packets_max;  /* per firing of the NAK timer */

	/* Where the operator names none. */
	enum wh_recovery recovery;
	enum wh_fec_code code;
	double repair_ceiling; /* repair packets per packet sent; 0: the planner's own */
};

/* NULL when there is none of that name or number. */
const struct wh_profile *wh_profile_find(const char *name);
const struct wh_profile *wh_profile_by_number(uint8_t number);

/* The i-th, for listings; NULL past the last. */
const struct wh_profile *wh_profile_at(uint32_t i);

#endif
