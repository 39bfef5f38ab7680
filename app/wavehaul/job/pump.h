/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The data of a bench: chunks with unmodified contents, as with iperf3 and testpmd, so that the
 * packets' path is measured and not the generation of data.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"
#include "session/session.h"

/* Chunks prepared ahead of the session; more would only displace cached ones. */
#define WH_PUMP_AHEAD 3

/*
 * The size of a chunk's contents while most chunks are spare: data in transit then stays in the
 * second-level caches of both ends. Chunks must be spare at the peer, too, where a short chunk
 * takes the room of a full one. When half of the chunks are in use, the path needs more, and chunks
 * are full.
 */
#define WH_PUMP_PIECE_BYTES (UINT32_C(128) << 10)

struct wh_pump {
	struct wh_session *session;
	uint32_t chunk_bytes;
	uint64_t next_chunk;
	uint64_t bytes; /* sent, or taken */
	bool ended;     /* the end marker was sent, or arrived */

	/* the sending end */
	uint64_t wanted_bytes; /* 0: until stop_tsc */
	uint64_t stop_tsc;
	uint32_t chunks;
	struct wh_chunk **spare; /* a stack: the last one is probably still cached */
	uint32_t spares;
	struct wh_chunk end_marker;
};

/* `chunks` of the session's are reused in turn. 0 or -ENOMEM. */
int wh_pump_init(struct wh_pump *pump, struct wh_session *session, uint32_t chunk_bytes,
	uint32_t chunks, uint64_t first_chunk);
void wh_pump_free(struct wh_pump *pump);

int32_t wh_pump_send(struct wh_pump *pump, uint64_t now_tsc);
int32_t wh_pump_take(struct wh_pump *pump);
