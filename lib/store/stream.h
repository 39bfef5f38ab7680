/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_STORE_STREAM_H
#define WH_STORE_STREAM_H

/*
 * Private to lib/store: what every reader and writer knows of its stream, be it in a file or in
 * memory: which chunk comes next, how long each has to be, how many bytes went by, their digest.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/chunk.h"
#include "base/clock.h"
#include "store/digest.h"

/* A poll handles so many chunks at most: it may share its core with the packet path. */
#define WH_STORE_CHUNKS_PER_POLL 2

struct wh_stream {
	struct wh_hasher hasher;
	uint64_t object_bytes;
	uint64_t bytes;  /* so far */
	uint64_t chunks; /* so far; the number of the next one */
	uint32_t chunk_bytes;
};

/* Zeroed memory for a state that contains a wh_stream; NULL when there is none. */
static inline void *wh_stream_alloc(size_t bytes)
{
	static_assert(WH_HASHER_ALIGN % sizeof(void *) == 0, "an alignment of aligned_alloc");
	size_t rounded = (bytes + WH_HASHER_ALIGN - 1) / WH_HASHER_ALIGN * WH_HASHER_ALIGN;
	void *memory = aligned_alloc(WH_HASHER_ALIGN, rounded);

	if (memory != NULL)
		memset(memory, 0, rounded);
	return memory;
}

static inline void wh_stream_init(
	struct wh_stream *stream, uint64_t object_bytes, uint32_t chunk_bytes)
{
	WH_ASSERT(chunk_bytes > 0 && chunk_bytes % WH_CHUNK_ALIGN == 0);
	WH_ASSERT(object_bytes <= INT64_MAX);
	wh_hasher_init(&stream->hasher);
	stream->object_bytes = object_bytes;
	stream->bytes = 0;
	stream->chunks = 0;
	stream->chunk_bytes = chunk_bytes;
}

static inline uint64_t wh_stream_chunk_count(const struct wh_stream *stream)
{
	return (stream->object_bytes + stream->chunk_bytes - 1) / stream->chunk_bytes;
}

/* Bytes that chunk `number` has to have; 0 past the end. */
static inline uint32_t wh_stream_want_bytes(const struct wh_stream *stream, uint64_t number)
{
	if (number >= wh_stream_chunk_count(stream))
		return 0;
	return (uint32_t)wh_min_u64(
		stream->chunk_bytes, stream->object_bytes - number * stream->chunk_bytes);
}

/* Whether the next chunk has the size that it has in such an object: the peer may have lied. */
static inline bool wh_stream_fits(const struct wh_stream *stream, const struct wh_chunk *chunk)
{
	WH_ASSERT(!chunk->end && chunk->number == stream->chunks);
	return chunk->bytes > 0 && chunk->bytes == wh_stream_want_bytes(stream, chunk->number);
}

static inline void wh_stream_add(struct wh_stream *stream, const struct wh_chunk *chunk)
{
	WH_ASSERT(wh_stream_fits(stream, chunk));
	wh_hasher_add(&stream->hasher, chunk->data, chunk->bytes);
	stream->bytes += chunk->bytes;
	stream->chunks++;
}

/* Writes the end marker of what went by. */
static inline void wh_stream_end(const struct wh_stream *stream, struct wh_chunk *marker)
{
	*marker = (struct wh_chunk){.number = stream->chunks, .end = true};
	wh_hasher_digest(&stream->hasher, &marker->digest);
}

/* Whether the whole object went by, and is what the sender's end marker says. */
static inline bool wh_stream_agrees(
	const struct wh_stream *stream, const struct wh_chunk *own, const struct wh_chunk *senders)
{
	return stream->bytes == stream->object_bytes && own->number == senders->number &&
	       memcmp(&own->digest, &senders->digest, sizeof(own->digest)) == 0;
}

#endif
