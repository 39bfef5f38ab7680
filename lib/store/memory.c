/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "store/store.h"
#include "store/stream.h"

struct memory_reader {
	struct wh_reader reader;
	struct wh_stream stream;
	struct wh_chunk end;
	uint64_t seed;
};

struct memory_writer {
	struct wh_writer writer;
	struct wh_stream stream;
	uint64_t seed;
	struct wh_chunk *held; /* done with, waits for room in `recycled` */
};

/*
 * Word `index` of the pattern: splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", 2014), whose state after n steps is seed + n * gamma, so that any word can
 * be had without those before it.
 */
static inline uint64_t pattern_word(uint64_t index, uint64_t seed)
{
	uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return rte_cpu_to_le_64(z ^ (z >> 31));
}

void wh_memory_pattern(uint8_t *bytes, uint64_t offset, uint32_t count, uint64_t seed)
{
	uint64_t index = offset / sizeof(uint64_t);
	uint32_t whole = RTE_ALIGN_FLOOR(count, sizeof(uint64_t));
	uint64_t word;

	WH_ASSERT(offset % sizeof(uint64_t) == 0);
	for (uint32_t at = 0; at < whole; at += sizeof(word)) {
		word = pattern_word(index++, seed);
		memcpy(bytes + at, &word, sizeof(word));
	}
	word = pattern_word(index, seed);
	memcpy(bytes + whole, &word, count - whole);
}

/* No branch per word: bytes that agree are the rule. */
static bool is_pattern(const uint8_t *bytes, uint64_t offset, uint32_t count, uint64_t seed)
{
	uint64_t index = offset / sizeof(uint64_t);
	uint32_t whole = RTE_ALIGN_FLOOR(count, sizeof(uint64_t));
	uint64_t difference = 0;
	uint64_t word;

	WH_ASSERT(offset % sizeof(uint64_t) == 0);
	for (uint32_t at = 0; at < whole; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		difference |= word ^ pattern_word(index++, seed);
	}
	word = pattern_word(index, seed);
	return difference == 0 && memcmp(bytes + whole, &word, count - whole) == 0;
}

static bool read_all(struct memory_reader *mr)
{
	return mr->stream.bytes == mr->stream.object_bytes;
}

static int32_t send_chunk(struct memory_reader *mr)
{
	struct wh_chunk *chunk = wh_fifo_pop(mr->reader.free);

	if (chunk == NULL)
		return 0;
	chunk->number = mr->stream.chunks;
	chunk->bytes = wh_stream_want_bytes(&mr->stream, chunk->number);
	chunk->end = false;
	wh_memory_pattern(chunk->data, mr->stream.bytes, chunk->bytes, mr->seed);
	wh_stream_add(&mr->stream, chunk);
	mr->reader.bytes = mr->stream.bytes;

	bool pushed = wh_fifo_push(mr->reader.ready, chunk);

	WH_ASSERT(pushed); /* the caller saw room, and we alone fill it */
	return 1;
}

static int32_t send_end(struct memory_reader *mr)
{
	wh_stream_end(&mr->stream, &mr->end);
	mr->reader.digest = mr->end.digest;

	bool pushed = wh_fifo_push(mr->reader.ready, &mr->end);

	WH_ASSERT(pushed); /* the caller saw room, and we alone fill it */
	atomic_store_explicit(&mr->reader.done, WH_STORE_OK, memory_order_release);
	return 1;
}

static bool reading(const struct memory_reader *mr)
{
	return atomic_load_explicit(&mr->reader.done, memory_order_relaxed) == WH_STORE_RUNNING;
}

static int32_t poll_reader(struct wh_reader *reader, __rte_unused uint64_t now_tsc)
{
	struct memory_reader *mr = (struct memory_reader *)reader;
	int32_t work = 0;

	for (int i = 0; i < WH_STORE_CHUNKS_PER_POLL; i++) {
		if (!reading(mr) || wh_fifo_room(reader->ready) == 0)
			break;
		work += read_all(mr) ? send_end(mr) : send_chunk(mr);
	}
	return work;
}

static void close_reader(struct wh_reader *reader)
{
	free(reader);
}

static const struct wh_reader_ops memory_reader_ops = {.poll = poll_reader, .close = close_reader};

int wh_memory_reader_open(struct wh_reader **reader, uint64_t object_bytes, uint64_t seed,
	uint32_t chunk_bytes, struct wh_fifo *free_chunks, struct wh_fifo *ready)
{
	if (object_bytes > INT64_MAX)
		return -EFBIG;

	struct memory_reader *mr = wh_stream_alloc(sizeof(*mr));

	if (mr == NULL)
		return -ENOMEM;
	wh_stream_init(&mr->stream, object_bytes, chunk_bytes);
	mr->seed = seed;
	mr->reader.ops = &memory_reader_ops;
	mr->reader.free = free_chunks;
	mr->reader.ready = ready;
	mr->reader.chunk_bytes = chunk_bytes;
	mr->reader.object_bytes = object_bytes;
	mr->reader.doing = "reading";
	*reader = &mr->reader;
	return 0;
}

static bool writing(const struct memory_writer *mw)
{
	return atomic_load_explicit(&mw->writer.done, memory_order_relaxed) == WH_STORE_RUNNING;
}

static void finish(struct memory_writer *mw, enum wh_store_done verdict, const char *doing)
{
	mw->writer.doing = doing;
	atomic_store_explicit(&mw->writer.done, verdict, memory_order_release);
}

static void accept_chunk(struct memory_writer *mw, const struct wh_chunk *chunk)
{
	if (!wh_stream_fits(&mw->stream, chunk)) {
		finish(mw, WH_STORE_MISMATCH, "comparing the size");
		return;
	}
	if (!is_pattern(chunk->data, mw->stream.bytes, chunk->bytes, mw->seed)) {
		finish(mw, WH_STORE_MISMATCH, "comparing the bytes");
		return;
	}
	wh_stream_add(&mw->stream, chunk);
	atomic_store_explicit(&mw->writer.bytes, mw->stream.bytes, memory_order_relaxed);
}

static void accept_end(struct memory_writer *mw, const struct wh_chunk *end)
{
	struct wh_chunk own;

	wh_stream_end(&mw->stream, &own);
	mw->writer.digest = own.digest;
	if (wh_stream_agrees(&mw->stream, &own, end))
		finish(mw, WH_STORE_OK, mw->writer.doing);
	else
		finish(mw, WH_STORE_MISMATCH, "comparing the size and the digest");
}

static bool recycle(struct memory_writer *mw)
{
	if (mw->held != NULL && wh_fifo_push(mw->writer.recycled, mw->held))
		mw->held = NULL;
	return mw->held == NULL;
}

/* Once it is done, with whatever result, it only hands chunks back. */
static int32_t poll_writer(struct wh_writer *writer, __rte_unused uint64_t now_tsc)
{
	struct memory_writer *mw = (struct memory_writer *)writer;
	int32_t work = 0;

	for (; work < WH_STORE_CHUNKS_PER_POLL && recycle(mw); work++) {
		struct wh_chunk *chunk = wh_fifo_pop(writer->deliver);

		if (chunk == NULL)
			break;
		if (chunk->end) {
			if (writing(mw))
				accept_end(mw, chunk);
			continue;
		}
		if (writing(mw))
			accept_chunk(mw, chunk);
		mw->held = chunk;
	}
	recycle(mw);
	return work;
}

static void close_writer(struct wh_writer *writer)
{
	free(writer);
}

static const struct wh_writer_ops memory_writer_ops = {.poll = poll_writer, .close = close_writer};

int wh_memory_writer_open(struct wh_writer **writer, uint64_t object_bytes, uint64_t seed,
	uint32_t chunk_bytes, struct wh_fifo *deliver, struct wh_fifo *recycled)
{
	if (object_bytes > INT64_MAX) /* the peer's number */
		return -EFBIG;

	struct memory_writer *mw = wh_stream_alloc(sizeof(*mw));

	if (mw == NULL)
		return -ENOMEM;
	wh_stream_init(&mw->stream, object_bytes, chunk_bytes);
	mw->seed = seed;
	mw->writer.ops = &memory_writer_ops;
	mw->writer.deliver = deliver;
	mw->writer.recycled = recycled;
	mw->writer.chunk_bytes = chunk_bytes;
	mw->writer.doing = "writing";
	*writer = &mw->writer;
	return 0;
}
