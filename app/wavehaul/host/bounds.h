/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The limits of this host for its peers: memory, tables, packet sizes. A peer's request for a
 * stream to us is checked here, before any of it is stored.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "fec/fec.h"
#include "session/session.h"

/* Streams of answers: few, small chunks, in one unit of the arena. */
#define WH_ANSWER_CHUNK_BYTES (UINT32_C(16) << 10)

/*
 * The largest window, in packets, that a host requests and accepts. The format allows more, but
 * then a stranger's OPEN could cost us much memory: a receiver's tables take up to 34 bytes a
 * packet.
 */
#define WH_STREAM_WINDOW_PKTS_MAX (UINT32_C(1) << 20)

/*
 * The payload of full packets at the smallest MTU that a host can be given: no honest peer has
 * smaller full packets, of any family.
 */
#define WH_STREAM_PAYLOAD_BYTES_MIN                                                                \
	((WH_MTU_MIN - WH_IPV4_BYTES - WH_UDP_BYTES - WH_HEAD_BYTES) / WH_PAYLOAD_ALIGN *          \
		WH_PAYLOAD_ALIGN)

/* The limits of this host for a peer. */
struct wh_peer_bounds {
	uint32_t payload_bytes;   /* of a full packet of our own MTU, to a peer of its family */
	struct wh_fec_limits fec; /* for which our cores have tables; r 0: none */
};

/* Whether this is a possible payload of full packets. */
bool wh_payload_is_possible(uint32_t payload_bytes, uint32_t payload_bytes_max);

/* Whether we can receive such a stream. */
bool wh_open_is_possible(const struct wh_open_params *params, const struct wh_peer_bounds *bounds);

/* The smallest power of two that holds all the packets of config's chunks. */
uint32_t wh_stream_window(const struct wh_session_config *config);
