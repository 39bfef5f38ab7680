/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_BOUNDS_H
#define WH_APP_BOUNDS_H

/*
 * What this host can bear of a peer: the memory, the tables and the packets that it has. A stream
 * to us is judged here, before anything of it is kept.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "fec/fec.h"
#include "session/session.h"

/* Streams of answers: small chunks, few of them, in one unit of the arena. */
#define WH_ANSWER_CHUNK_BYTES (UINT32_C(16) << 10)

/*
 * Packets of a window that a host opens with and takes. The format allows more, which a stranger's
 * OPEN could make us pay for: a receiver's tables may come to some 34 bytes for each.
 */
#define WH_STREAM_WINDOW_PKTS_MAX (UINT32_C(1) << 20)

/* No end of a lambda has a smaller MTU: no honest peer has smaller full packets, of any family. */
#define WH_STREAM_PAYLOAD_BYTES_MIN                                                                \
	((WH_MTU_MIN - WH_IPV4_BYTES - WH_UDP_BYTES - WH_HEAD_BYTES) / WH_PAYLOAD_ALIGN *          \
		WH_PAYLOAD_ALIGN)

/* What this host can bear of a peer. */
struct wh_peer_bounds {
	uint32_t payload_bytes;   /* of a full packet of our own MTU, to a peer of that family */
	struct wh_fec_limits fec; /* that the tables of our cores are for; r 0: there are none */
};

/* Whether full packets may have such a payload. */
bool wh_payload_is_possible(uint32_t payload_bytes, uint32_t payload_bytes_max);

/* Whether we can receive such a stream. */
bool wh_open_is_possible(const struct wh_open_params *params, const struct wh_peer_bounds *bounds);

/* The least window of a power of two that holds all the packets of config's chunks. */
uint32_t wh_stream_window(const struct wh_session_config *config);

#endif
