/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

/* A poll handles so many chunks at most, as those of real files do. */
#define CHUNKS_PER_POLL 2

/* Shorter than a packet, and than some headers. */
#define TINY_BYTES 100

static struct wh_hasher *hasher_open(void)
{
	struct wh_hasher *hasher = aligned_alloc(
		WH_HASHER_ALIGN, (sizeof(*hasher) + WH_HASHER_ALIGN - 1) & -WH_HASHER_ALIGN);

	WH_ASSERT(hasher != NULL);
	wh_hasher_init(hasher);
	return hasher;
}

/* Eight bytes of the pattern, output `index` of splitmix64: any of them can be had by itself. */
static void pattern_word(uint8_t word[8], uint64_t index, uint64_t seed)
{
	uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	memcpy(word, &z, sizeof(z));
}

void wh_stream_pattern(uint8_t *bytes, uint64_t offset, uint32_t count, uint64_t seed)
{
	uint8_t word[8];

	for (uint32_t at = 0; at < count;) {
		uint32_t skip = (offset + at) % 8;
		uint32_t some = (uint32_t)wh_min_u64(8 - skip, count - at);

		pattern_word(word, (offset + at) / 8, seed);
		memcpy(bytes + at, word + skip, some);
		at += some;
	}
}

void wh_stream_source_open(struct wh_stream_source *source, uint64_t total_bytes, uint64_t seed,
	uint32_t chunk_bytes, bool short_chunks, struct wh_fifo *free_chunks, struct wh_fifo *ready)
{
	*source = (struct wh_stream_source){
		.free = free_chunks,
		.ready = ready,
		.seed = seed,
		.total_bytes = total_bytes,
		.chunk_bytes = chunk_bytes,
		.short_chunks = short_chunks,
		.hasher = hasher_open(),
	};
	wh_prng_init(&source->prng, seed);
}

void wh_stream_source_close(struct wh_stream_source *source)
{
	free(source->hasher);
	source->hasher = NULL;
}

static uint32_t draw_bytes(struct wh_stream_source *source, uint64_t most)
{
	uint64_t left = wh_min_u64(source->total_bytes - source->bytes, most);
	uint64_t bytes = source->chunk_bytes;

	if (source->short_chunks)
		bytes = 1 + wh_prng_below(&source->prng,
				    wh_prng_below(&source->prng, 4) == 0 ? TINY_BYTES : bytes);
	return (uint32_t)wh_min_u64(bytes, left);
}

static void push(struct wh_fifo *fifo, void *chunk)
{
	bool pushed = wh_fifo_push(fifo, chunk);

	WH_ASSERT(pushed);
}

static int32_t send_end(struct wh_stream_source *source)
{
	source->end = (struct wh_chunk){.number = source->chunks, .end = true};
	wh_hasher_digest(source->hasher, &source->end.digest);
	push(source->ready, &source->end);
	source->ended = true;
	return 1;
}

int32_t wh_stream_source_poll(struct wh_stream_source *source, uint64_t most)
{
	int32_t work = 0;

	while (work < CHUNKS_PER_POLL && most > 0 && !source->ended) {
		if (source->bytes == source->total_bytes)
			return work + send_end(source);

		struct wh_chunk *chunk = wh_fifo_pop(source->free);

		if (chunk == NULL)
			break;
		chunk->number = source->chunks++;
		chunk->end = false;
		chunk->bytes = draw_bytes(source, most);
		wh_stream_pattern(chunk->data, source->bytes, chunk->bytes, source->seed);
		wh_hasher_add(source->hasher, chunk->data, chunk->bytes);
		source->bytes += chunk->bytes;
		most -= chunk->bytes;
		push(source->ready, chunk);
		work++;
	}
	return work;
}

void wh_stream_sink_open(struct wh_stream_sink *sink, uint64_t total_bytes, uint64_t seed,
	struct wh_fifo *deliver, struct wh_fifo *recycled)
{
	*sink = (struct wh_stream_sink){
		.deliver = deliver,
		.recycled = recycled,
		.seed = seed,
		.total_bytes = total_bytes,
		.hasher = hasher_open(),
	};
}

void wh_stream_sink_close(struct wh_stream_sink *sink)
{
	free(sink->hasher);
	sink->hasher = NULL;
}

static void take_end(struct wh_stream_sink *sink, const struct wh_chunk *end)
{
	struct wh_digest digest;

	wh_hasher_digest(sink->hasher, &digest);
	sink->done = sink->bytes == sink->total_bytes && end->number == sink->chunks &&
				     memcmp(&digest, &end->digest, sizeof(digest)) == 0
			     ? WH_STREAM_OK
			     : WH_STREAM_MISMATCH;
}

static bool is_right(const struct wh_stream_sink *sink, const struct wh_chunk *chunk)
{
	if (chunk->bytes == 0 || chunk->bytes > sink->total_bytes - sink->bytes)
		return false;

	uint8_t *truth = malloc(chunk->bytes);

	WH_ASSERT(truth != NULL);
	wh_stream_pattern(truth, sink->bytes, chunk->bytes, sink->seed);

	bool right = memcmp(truth, chunk->data, chunk->bytes) == 0;

	free(truth);
	return right;
}

static void take_bytes(struct wh_stream_sink *sink, const struct wh_chunk *chunk)
{
	WH_ASSERT(chunk->number == sink->chunks);
	sink->chunks++;
	if (!is_right(sink, chunk)) {
		sink->done = WH_STREAM_MISMATCH;
		return;
	}
	wh_hasher_add(sink->hasher, chunk->data, chunk->bytes);
	sink->bytes += chunk->bytes;
}

int32_t wh_stream_sink_poll(struct wh_stream_sink *sink)
{
	struct wh_chunk *chunk;
	int32_t work = 0;

	while (work < CHUNKS_PER_POLL && (chunk = wh_fifo_pop(sink->deliver)) != NULL) {
		work++;
		if (chunk->end && sink->done == WH_STREAM_RUNNING)
			take_end(sink, chunk);
		if (chunk->end)
			continue;
		if (sink->done == WH_STREAM_RUNNING)
			take_bytes(sink, chunk);
		push(sink->recycled, chunk);
	}
	return work;
}
