/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Both far ends of a session: a source of a repeatable stream, whose chunks may be short at random,
 * and a sink that compares every byte. Neither knows the session but by its FIFOs.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "base/prng.h"
#include "file/digest.h"

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
	bool ended; /* the end marker went out */
	struct wh_chunk end;
	struct wh_hasher *hasher;
};

enum wh_stream_verdict {
	WH_STREAM_RUNNING,
	WH_STREAM_OK,
	WH_STREAM_MISMATCH, /* size, bytes or digest; what still comes goes back unseen */
};

struct wh_stream_sink {
	struct wh_fifo *deliver;
	struct wh_fifo *recycled;
	uint64_t seed;
	uint64_t total_bytes;
	uint64_t bytes;
	uint64_t chunks;
	enum wh_stream_verdict done;
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

/* Bytes [offset, offset + count) of the stream of a seed. */
void wh_stream_pattern(uint8_t *bytes, uint64_t offset, uint32_t count, uint64_t seed);
