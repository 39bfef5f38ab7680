/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The users of a session that does nothing but carry: a reader that gives chunks as they are and a
 * writer that gives them back, so that nothing but the way of a packet is measured.
 */

#include <stdlib.h>

#include "base/chunk.h"
#include "base/fifo.h"
#include "session/session.h"

static inline void chunks_feed(
	struct wh_session *sender, uint64_t *next_chunk, uint32_t chunk_bytes)
{
	struct wh_chunk *chunk;

	while ((chunk = wh_fifo_pop(wh_session_free_chunks(sender))) != NULL) {
		chunk->number = (*next_chunk)++;
		chunk->bytes = chunk_bytes;
		chunk->end = false;
		if (!wh_fifo_push(wh_session_ready_chunks(sender), chunk))
			abort(); /* there is a slot for each */
		wh_session_kick(sender);
	}
}

/* NULL: it has not been opened yet. */
static inline void chunks_drain(struct wh_session *receiver)
{
	struct wh_chunk *chunk;

	if (receiver == NULL)
		return;
	while ((chunk = wh_fifo_pop(wh_session_deliver_chunks(receiver))) != NULL) {
		if (!wh_fifo_push(wh_session_recycled_chunks(receiver), chunk))
			abort();
		wh_session_kick(receiver);
	}
}
