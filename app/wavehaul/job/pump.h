/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PUMP_H
#define WH_APP_PUMP_H

/*
 * What bench sends and takes: chunks as they are, untouched, as iperf3 and testpmd do. What is
 * measured is the way of a packet, not a pattern's making.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"
#include "session/session.h"

/* Ready ahead of the session; more would only push those that are in the cache out of it. */
#define WH_PUMP_AHEAD 3

/*
 * What a chunk has as long as most of them are spare, here and at the peer, where a short one takes
 * the room of a long one: what is on its way then stays in a second-level cache, at both ends. When
 * half of them are out, the path needs more, and gets all.
 */
#define WH_PUMP_PIECE_BYTES (UINT32_C(128) << 10)

struct wh_pump {
	struct wh_session *session;
	uint32_t chunk_bytes;
	uint64_t next_chunk;
	uint64_t bytes; /* sent, or taken */
	bool ended;     /* the end marker went out, or came */

	/* the sending end */
	uint64_t wanted_bytes; /* 0: until stop_tsc */
	uint64_t stop_tsc;
	uint32_t chunks;
	struct wh_chunk **spare; /* last in, first out: the one that is likely in the cache */
	uint32_t spares;
	struct wh_chunk end_marker;
};

/* `chunks` of the session's are to go round. 0 or -ENOMEM. */
int wh_pump_init(struct wh_pump *pump, struct wh_session *session, uint32_t chunk_bytes,
	uint32_t chunks, uint64_t first_chunk);
void wh_pump_free(struct wh_pump *pump);

int32_t wh_pump_send(struct wh_pump *pump, uint64_t now_tsc);
int32_t wh_pump_take(struct wh_pump *pump);

#endif
