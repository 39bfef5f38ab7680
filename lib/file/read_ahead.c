/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/read_ahead.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "base/clock.h"

static_assert(WH_CHUNK_ALIGN % WH_DIRECT_BYTES == 0, "chunks are aligned for O_DIRECT");
static_assert(WH_READ_PIECE_BYTES % WH_DIRECT_BYTES == 0, "pieces end where blocks do");

/* Each slot of a started chunk that was not taken has at most one request outstanding. */
static void check(const struct wh_read_ahead *ahead)
{
	WH_ASSERT(ahead->taken <= ahead->started);
	WH_ASSERT(ahead->started - ahead->taken <= WH_RING_DEPTH);
	WH_ASSERT(ahead->in_air <= ahead->started - ahead->taken);
	WH_ASSERT(ahead->in_air == 0 || ahead->ring != NULL);
	WH_ASSERT(ahead->error <= 0 && (!ahead->shrunk || ahead->error != 0));
}

void wh_read_ahead_init(struct wh_read_ahead *ahead, struct io_uring *ring, int fd,
	const struct stat *status, uint32_t chunk_bytes, bool cached)
{
	WH_ASSERT(chunk_bytes > 0 && chunk_bytes % WH_CHUNK_ALIGN == 0);
	WH_ASSERT(status->st_size >= 0);
	*ahead = (struct wh_read_ahead){
		.ring = ring,
		.fd = fd,
		.direct = ring != NULL && !cached && wh_file_direct(fd, true),
		.sparse = (uint64_t)status->st_blocks * 512 < (uint64_t)status->st_size,
		.chunk_bytes = chunk_bytes,
		.end = (uint64_t)status->st_size,
	};
}

void wh_read_ahead_limit(struct wh_read_ahead *ahead, uint64_t from, uint64_t end)
{
	WH_ASSERT(ahead->started == 0 && from <= end && end <= ahead->end);
	WH_ASSERT(!ahead->direct || (from % WH_DIRECT_BYTES == 0 &&
					    (end % WH_DIRECT_BYTES == 0 || end == ahead->end)));
	ahead->from = from;
	ahead->end = end;
}

/* Where chunk `index` begins. */
static uint64_t offset_of(const struct wh_read_ahead *ahead, uint64_t index)
{
	return ahead->from + index * ahead->chunk_bytes;
}

static void fail(struct wh_read_ahead *ahead, int error, bool shrunk)
{
	WH_ASSERT(error < 0 && ahead->error == 0);
	ahead->error = error;
	ahead->shrunk = shrunk;
}

static void request_rest(struct wh_read_ahead *ahead, struct wh_read_slot *slot)
{
	struct io_uring_sqe *sqe = wh_ring_request(ahead->ring);
	uint32_t bytes = slot->chunk->bytes - slot->have_bytes;

	WH_ASSERT(bytes > 0);
	slot->direct = ahead->direct;
	if (ahead->direct) /* the kernel stops at the end of the file by itself */
		bytes = RTE_ALIGN_CEIL(bytes, WH_DIRECT_BYTES);
	io_uring_prep_read(sqe, ahead->fd, slot->chunk->data + slot->have_bytes, bytes,
		slot->offset + slot->have_bytes);
	io_uring_sqe_set_data(sqe, slot);
	ahead->in_air++;
}

/* Notes bytes that were read; false: the file is shorter than it was. */
static bool note(struct wh_read_slot *slot, uint32_t bytes)
{
	/* The last block may extend beyond the size that the file had at first. */
	uint32_t have =
		(uint32_t)wh_min_u64((uint64_t)slot->have_bytes + bytes, slot->chunk->bytes);

	if (have < slot->chunk->bytes && slot->direct)
		have = RTE_ALIGN_FLOOR(have, WH_DIRECT_BYTES);
	WH_ASSERT(have >= slot->have_bytes);
	if (have == slot->have_bytes)
		return false;
	slot->have_bytes = have;
	return true;
}

/* Processes a completed request and requests the bytes that are still missing. */
static void complete(struct wh_read_ahead *ahead, struct wh_read_slot *slot, int result)
{
	if (result == -EINVAL && slot->direct) {
		ahead->direct = wh_file_direct(ahead->fd, false);
		/* Without O_DIRECT any offset is allowed, so have_bytes need not be rounded. */
		request_rest(ahead, slot);
		return;
	}
	if (wh_retry_at_once(result)) {
		request_rest(ahead, slot);
		return;
	}
	if (result < 0)
		fail(ahead, result, false);
	else if (!note(slot, (uint32_t)result))
		fail(ahead, -EIO, true);
	else if (slot->have_bytes < slot->chunk->bytes)
		request_rest(ahead, slot);
}

static int32_t reap(struct wh_read_ahead *ahead)
{
	struct io_uring_cqe *cqes[WH_RING_DEPTH];
	uint32_t count = io_uring_peek_batch_cqe(ahead->ring, cqes, WH_RING_DEPTH);

	WH_ASSERT(count <= ahead->in_air);
	for (uint32_t i = 0; i < count; i++) {
		ahead->in_air--;
		if (ahead->error == 0)
			complete(ahead, io_uring_cqe_get_data(cqes[i]), cqes[i]->res);
	}
	io_uring_cq_advance(ahead->ring, count);
	return (int32_t)count;
}

/* The first chunk that is not complete. */
static struct wh_read_slot *first_open(struct wh_read_ahead *ahead)
{
	for (uint64_t i = ahead->taken; i < ahead->started; i++) {
		struct wh_read_slot *slot = &ahead->slots[i % WH_RING_DEPTH];

		if (slot->have_bytes < slot->chunk->bytes)
			return slot;
	}
	return NULL;
}

static int32_t read_piece(struct wh_read_ahead *ahead)
{
	struct wh_read_slot *slot = first_open(ahead);

	if (slot == NULL || ahead->error < 0)
		return 0;

	uint32_t bytes = RTE_MIN(slot->chunk->bytes - slot->have_bytes, WH_READ_PIECE_BYTES);
	ssize_t have = pread(ahead->fd, slot->chunk->data + slot->have_bytes, bytes,
		(off_t)(slot->offset + slot->have_bytes));

	if (have < 0 && !wh_retry_at_once(-errno))
		fail(ahead, -errno, false);
	else if (have >= 0 && !note(slot, (uint32_t)have))
		fail(ahead, -EIO, true);
	return 1;
}

int32_t wh_read_ahead_poll(struct wh_read_ahead *ahead)
{
	int32_t done = ahead->ring != NULL ? reap(ahead) : read_piece(ahead);

	check(ahead);
	return done;
}

void wh_read_ahead_submit(struct wh_read_ahead *ahead)
{
	int rc = ahead->ring != NULL ? wh_ring_submit(ahead->ring) : 0;

	if (rc < 0 && ahead->error == 0)
		fail(ahead, rc, false);
}

/*
 * Whether [offset, offset + bytes) is one hole. Asks only for the next data, which is near if there
 * is any; finding the end of data (SEEK_HOLE) may visit every extent of the file.
 */
static bool in_hole(struct wh_read_ahead *ahead, uint64_t offset, uint32_t bytes)
{
	if (!ahead->sparse)
		return false;
	if (ahead->hole_until <= offset) {
		off_t data = lseek(ahead->fd, (off_t)offset, SEEK_DATA);

		if (data >= 0)
			ahead->hole_until = (uint64_t)data;
		else
			ahead->hole_until = errno == ENXIO ? ahead->end : offset;
	}
	WH_ASSERT(ahead->hole_until >= offset);
	return ahead->hole_until >= offset + bytes;
}

bool wh_read_ahead_wants(const struct wh_read_ahead *ahead)
{
	return ahead->error == 0 && ahead->started - ahead->taken < WH_RING_DEPTH &&
	       offset_of(ahead, ahead->started) < ahead->end;
}

void wh_read_ahead_start(struct wh_read_ahead *ahead, struct wh_chunk *chunk)
{
	uint64_t offset = offset_of(ahead, ahead->started);
	struct wh_read_slot *slot = &ahead->slots[ahead->started % WH_RING_DEPTH];

	WH_ASSERT(wh_read_ahead_wants(ahead));
	WH_ASSERT((uintptr_t)chunk->data % WH_CHUNK_ALIGN == 0);
	chunk->bytes = (uint32_t)wh_min_u64(ahead->chunk_bytes, ahead->end - offset);
	chunk->end = false;
	WH_ASSERT(chunk->bytes > 0 && (!ahead->direct || offset % WH_DIRECT_BYTES == 0));
	*slot = (struct wh_read_slot){.chunk = chunk, .offset = offset};
	ahead->started++;
	if (in_hole(ahead, offset, chunk->bytes)) {
		memset(chunk->data, 0, chunk->bytes);
		slot->have_bytes = chunk->bytes;
	} else if (ahead->ring != NULL) {
		request_rest(ahead, slot);
	}
	check(ahead);
}

static struct wh_chunk *peek(const struct wh_read_ahead *ahead)
{
	const struct wh_read_slot *slot = &ahead->slots[ahead->taken % WH_RING_DEPTH];

	if (ahead->taken == ahead->started || slot->have_bytes < slot->chunk->bytes)
		return NULL;
	return slot->chunk;
}

struct wh_chunk *wh_read_ahead_take(struct wh_read_ahead *ahead)
{
	struct wh_chunk *chunk = peek(ahead);

	if (chunk != NULL)
		ahead->taken++;
	return chunk;
}

struct wh_chunk *wh_read_ahead_give_up(struct wh_read_ahead *ahead)
{
	if (ahead->in_air > 0 || ahead->taken == ahead->started)
		return NULL;
	return ahead->slots[ahead->taken++ % WH_RING_DEPTH].chunk;
}

bool wh_read_ahead_is_over(const struct wh_read_ahead *ahead)
{
	return offset_of(ahead, ahead->taken) >= ahead->end;
}
