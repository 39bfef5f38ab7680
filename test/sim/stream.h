/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_SIM_STREAM_H
#define WH_TEST_SIM_STREAM_H

/*
 * Both far ends of a session: a source of a repeatable stream, whose chunks may be short at random,
 * and a sink that compares every byte. Neither knows the session but by its FIFOs.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "base/prng.h"
#include "store/digest.h"
#include "store/store.h"

struct wh_stream_source {
	struct wh_fifo *free;
	struct wh_fifo *ready;
	uint64_t seed;
	uint64_t total_bytes;
	uint32_t chunk_bytes;
	bool short_chunks;
	struct wh_prng prng;
	uint64_t bytes;
	uint64_t chunks;
	bool ended;
	struct wh_chunk end;
	struct wh_hasher *hasher;
};

struct wh_stream_sink {
	struct wh_fifo *deliver;
	struct wh_fifo *recycled;
	uint64_t seed;
	uint64_t total_bytes;
	uint64_t bytes;
	uint64_t chunks;
	enum wh_store_done done;
	struct wh_hasher *hasher;
};

void wh_stream_source_open(struct wh_stream_source *source, uint64_t total_bytes, uint64_t seed,
	uint32_t chunk_bytes, bool short_chunks, struct wh_fifo *free_chunks,
	struct wh_fifo *ready);
void wh_stream_source_close(struct wh_stream_source *source);

/* Sends up to `most` bytes of what is left, in chunks; with all of it sent, the end marker. */
int32_t wh_stream_source_poll(struct wh_stream_source *source, uint64_t most);

void wh_stream_sink_open(struct wh_stream_sink *sink, uint64_t total_bytes, uint64_t seed,
	struct wh_fifo *deliver, struct wh_fifo *recycled);
void wh_stream_sink_close(struct wh_stream_sink *sink);
int32_t wh_stream_sink_poll(struct wh_stream_sink *sink);

#endif
