/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A packet of a handshake between an endpoint and the handshake core (lib/trust). */

#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"
#include "wire/packet.h"

/* A MAC address, or whatever else the layer below needs to answer a stranger. */
#define WH_VIA_BYTES 6

/*
 * Lifetime of a handshake's cookie, which covers the whole handshake. It is valid for one queue,
 * one address and one number.
 */
#define WH_HANDSHAKE_COOKIE_S 25

struct wh_handshake_datagram {
	struct wh_address peer;
	uint32_t queue;
	uint32_t rtt_us; /* with a cookie of ours: its age */
	uint32_t bytes;
	bool is_answer; /* to a peer that began a handshake with us; goes back by `via` */
	uint8_t via[WH_VIA_BYTES];
	uint32_t offered_cid; /* first packet of a handshake: the offered session, 0: none */
	uint8_t offered_cookie[WH_COOKIE_BYTES];
	uint8_t packet[WH_CONTROL_BYTES_MAX];
};
