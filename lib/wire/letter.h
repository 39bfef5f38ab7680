/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_WIRE_LETTER_H
#define WH_WIRE_LETTER_H

/* A packet of a greeting on its way between an endpoint and who greets (lib/trust). */

#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"
#include "wire/packet.h"

/* A MAC address, or whatever the layer below wants to know again when a stranger is answered. */
#define WH_VIA_BYTES 6

/*
 * The cookie of a greeting is good for so long: for all of the greeting, which begins with it, and
 * for no other queue, address or number.
 */
#define WH_GREETING_COOKIE_S 25

struct wh_letter {
	struct wh_address peer;
	uint32_t queue;
	uint32_t rtt_us; /* of one that came with a cookie of ours: how old that is */
	uint32_t bytes;
	bool is_answer; /* to a stranger: it goes where his came from, by `via` */
	uint8_t via[WH_VIA_BYTES];
	uint32_t offered_lci; /* of one that begins a greeting: a session for it, 0: none */
	uint8_t offered_cookie[WH_COOKIE_BYTES];
	uint8_t packet[WH_CONTROL_BYTES_MAX];
};

#endif
