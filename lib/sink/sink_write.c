/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "base/assert.h"
#include "base/clock.h"
#include "file/zeros.h"
#include "sink/sink_internal.h"

#define ALL_SLOTS ((UINT32_C(1) << WH_RING_DEPTH) - 1)
static_assert(WH_RING_DEPTH < 32, "slots are bits of a word");
static_assert(WH_ZERO_PIECE_BYTES % WH_DIRECT_BYTES == 0, "holes begin and end where blocks do");
static_assert(WH_SINK_PIECE_BYTES % WH_ZERO_PIECE_BYTES == 0, "so do pieces");

static uint32_t slot_bit(const struct wh_sink *sink, const struct wh_write_slot *slot)
{
	WH_ASSERT(slot >= sink->slots && slot < sink->slots + WH_RING_DEPTH);
	return UINT32_C(1) << (slot - sink->slots);
}

/* Without a ring, and in memory, bytes are written directly. */
static bool has_ring(struct wh_sink *sink)
{
	if (sink->ring_tried || sink->in_memory)
		return sink->ring != NULL;
	sink->ring_tried = true;
	sink->ring = wh_rings_take(sink->config.rings);
	sink->idle = ALL_SLOTS;
	return sink->ring != NULL;
}

/* O_DIRECT requires whole blocks. Padding is only possible beyond the end of the file. */
static bool can_be_direct(const struct wh_large *file, uint64_t offset, uint32_t bytes)
{
	return offset % WH_DIRECT_BYTES == 0 &&
	       (bytes % WH_DIRECT_BYTES == 0 || offset + bytes == file->size_bytes);
}

/*
 * Length of the hole to be made for these zeros. Holes are punched, because blocks may be reserved.
 * A hole at the end of the file includes its whole last block.
 */
static uint64_t hole_bytes(const struct wh_large *file, uint64_t offset, uint32_t bytes)
{
	return offset + bytes == file->size_bytes ? RTE_ALIGN_CEIL(bytes, WH_DIRECT_BYTES) : bytes;
}

static void prepare_hole(struct io_uring_sqe *sqe, const struct wh_write_slot *slot)
{
	uint64_t offset = slot->offset + slot->from;

	slot->file->padded = true;
	io_uring_prep_fallocate(sqe, slot->file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		offset, hole_bytes(slot->file, offset, slot->to - slot->from));
}

static void prepare_write(struct io_uring_sqe *sqe, struct wh_write_slot *slot)
{
	struct wh_large *file = slot->file;
	uint64_t offset = slot->offset + slot->from;
	uint8_t *data = slot->chunk->data + slot->from;
	uint32_t bytes = slot->to - slot->from;

	if (file->direct && !can_be_direct(file, offset, bytes))
		file->direct = wh_file_direct(file->fd, false);
	slot->direct = file->direct;
	if (file->direct && bytes % WH_DIRECT_BYTES != 0) {
		uint32_t padded = RTE_ALIGN_CEIL(bytes, WH_DIRECT_BYTES);

		memset(data + bytes, 0, padded - bytes);
		bytes = padded;
		file->padded = true;
	}
	io_uring_prep_write(sqe, file->fd, data, bytes, offset);
}

/* Continues with the chunk from slot->from: to the end of the zeros there, or of the data. */
static void request(struct wh_sink *sink, struct wh_write_slot *slot)
{
	struct io_uring_sqe *sqe = wh_ring_request(sink->ring);

	WH_ASSERT(slot->file->fd >= 0 && sink->in_air < WH_RING_DEPTH);
	slot->to = wh_zero_run_end(slot->chunk->data, slot->from, slot->chunk->bytes, &slot->hole);
	slot->hole = slot->hole && !slot->file->dense;
	if (slot->hole)
		prepare_hole(sqe, slot);
	else
		prepare_write(sqe, slot);
	io_uring_sqe_set_data(sqe, slot);
	slot->file->in_air++;
	sink->in_air++;
}

/* The chunk's bytes are written, or not wanted any more. */
static void finish_slot(struct wh_sink *sink, struct wh_write_slot *slot)
{
	WH_ASSERT((sink->written & slot_bit(sink, slot)) == 0 && slot->chunk != NULL);
	sink->written |= slot_bit(sink, slot);
}

/* End of a punched hole; if holes are impossible the zeros are written. */
static uint32_t hole_reached(struct wh_write_slot *slot, int result)
{
	if (result >= 0)
		return slot->to;
	if (!wh_retry_at_once(result))
		slot->file->dense = true;
	return slot->from;
}

/* End of the written bytes; a permanent error fails the file. */
static uint32_t write_reached(struct wh_sink *sink, struct wh_write_slot *slot, int result)
{
	struct wh_large *file = slot->file;
	/* The result includes padding. */
	uint32_t reached = result < 0 ? slot->from
				      : (uint32_t)wh_min_u64(
						(uint64_t)slot->from + (uint32_t)result, slot->to);

	/* It began at a block boundary: can_be_direct(), and pieces of zeros are whole blocks. */
	WH_ASSERT(!slot->direct || slot->from % WH_DIRECT_BYTES == 0);
	if (reached < slot->to && slot->direct)
		reached = RTE_ALIGN_FLOOR(reached, WH_DIRECT_BYTES);
	if (result == -EINVAL && slot->direct)
		file->direct = wh_file_direct(file->fd, false);
	else if (result < 0 && !wh_retry_at_once(result))
		wh_large_fail(sink, file, result, WH_DOING_WRITING);
	else if (result >= 0 && reached == slot->from)
		wh_large_fail(sink, file, -EIO, WH_DOING_WRITING);
	return reached;
}

static void complete(struct wh_sink *sink, struct wh_write_slot *slot, int result)
{
	uint32_t reached =
		slot->hole ? hole_reached(slot, result) : write_reached(sink, slot, result);

	if (wh_sink_is_running(sink) && !slot->file->failed) {
		sink->progress.bytes += reached - slot->from;
		if (!slot->hole)
			wh_large_wrote(sink, slot->file, reached - slot->from);
		slot->from = reached;
	} else {
		slot->from = slot->chunk->bytes;
	}
	if (slot->from < slot->chunk->bytes)
		request(sink, slot);
	else
		finish_slot(sink, slot);
}

static int32_t recycle(struct wh_sink *sink)
{
	int32_t work = 0;

	while (sink->written != 0 && wh_fifo_room(sink->config.recycled) > 0) {
		struct wh_write_slot *slot = &sink->slots[__builtin_ctz(sink->written)];
		bool pushed = wh_fifo_push(sink->config.recycled, slot->chunk);

		WH_ASSERT(pushed); /* we are the only producer, so room does not disappear */
		sink->written &= ~slot_bit(sink, slot);
		sink->idle |= slot_bit(sink, slot);
		slot->chunk = NULL;
		work++;
	}
	return work;
}

int32_t wh_sink_reap(struct wh_sink *sink)
{
	struct io_uring_cqe *cqes[WH_RING_DEPTH];

	if (sink->ring == NULL)
		return 0;

	uint32_t count = io_uring_peek_batch_cqe(sink->ring, cqes, WH_RING_DEPTH);

	WH_ASSERT(count <= sink->in_air);
	for (uint32_t i = 0; i < count; i++) {
		struct wh_write_slot *slot = io_uring_cqe_get_data(cqes[i]);

		WH_ASSERT(slot->file->in_air > 0);
		sink->in_air--;
		slot->file->in_air--;
		complete(sink, slot, cqes[i]->res);
	}
	io_uring_cq_advance(sink->ring, count);
	return (int32_t)count + recycle(sink);
}

void wh_sink_submit(struct wh_sink *sink)
{
	int rc = sink->ring != NULL ? wh_ring_submit(sink->ring) : 0;

	if (rc < 0 && wh_sink_is_running(sink))
		wh_sink_break(sink, rc, WH_DOING_WRITING);
}

void wh_sink_close_ring(struct wh_sink *sink)
{
	if (sink->ring != NULL)
		wh_rings_give(sink->config.rings, sink->ring, sink->in_air);
}

/* Passes the current chunk to the slot. */
static int32_t write_by_ring(struct wh_sink *sink)
{
	struct wh_intake *intake = &sink->intake;
	struct wh_large *file = intake->file;

	if (sink->idle == 0)
		return 0;

	struct wh_write_slot *slot = &sink->slots[__builtin_ctz(sink->idle)];

	WH_ASSERT(intake->at == 0);
	*slot = (struct wh_write_slot){
		.chunk = intake->chunk, .file = file, .offset = file->offset};
	sink->idle &= ~slot_bit(sink, slot);
	wh_hasher_add(&sink->content, slot->chunk->data, slot->chunk->bytes);
	intake->chunk = NULL;
	wh_sink_raw_done(sink, slot->chunk->bytes);
	request(sink, slot);
	return WH_SINK_WORK_PER_POLL;
}

/* Like pwrite, but zeros become a hole if the file can have holes. */
static ssize_t put_down(
	struct wh_large *file, uint64_t offset, const uint8_t *data, uint32_t bytes, bool zero)
{
	if (zero && !file->dense) {
		file->padded = true;
		if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			    (off_t)hole_bytes(file, offset, bytes)) == 0)
			return bytes;
		if (errno == EINTR)
			return -1;
		file->dense = true;
	}
	return pwrite(file->fd, data, bytes, (off_t)offset);
}

/* Writes a piece of the current chunk, and hashes it while it is in the cache. */
static int32_t write_directly(struct wh_sink *sink)
{
	struct wh_intake *intake = &sink->intake;
	struct wh_large *file = intake->file;
	const uint8_t *data = intake->chunk->data + intake->at;
	uint64_t end = wh_min_u64((uint64_t)intake->at + WH_SINK_PIECE_BYTES, intake->chunk->bytes);
	bool zero;
	uint32_t bytes =
		wh_zero_run_end(intake->chunk->data, intake->at, (uint32_t)end, &zero) - intake->at;
	ssize_t put = put_down(file, file->offset + intake->at, data, bytes, zero);

	if (put < 0 && errno == EINTR)
		return 1;
	if (put <= 0) {
		wh_large_fail(sink, file, put < 0 ? -errno : -EIO, WH_DOING_WRITING);
		return 1;
	}
	wh_hasher_add(&sink->content, data, (size_t)put);
	sink->progress.bytes += (uint64_t)put;
	intake->at += (uint32_t)put;
	if (!zero)
		wh_large_wrote(sink, file, (uint32_t)put);
	if (intake->at == intake->chunk->bytes)
		wh_sink_raw_done(sink, intake->chunk->bytes);
	return WH_SINK_WORK_PER_POLL;
}

int32_t wh_sink_write(struct wh_sink *sink)
{
	struct wh_intake *intake = &sink->intake;
	struct wh_large *file = intake->file;

	uint64_t end = file->offset + intake->chunk->bytes;

	WH_ASSERT(intake->raw && end <= file->end);
	if (sink->config.is_pipe && !file->failed)
		return wh_sink_pipe_raw(sink);
	if ((file->retracts || wh_basis_is_busy(file)) && !file->failed)
		return 0;

	bool opens = file->fd < 0 || (file->offset == file->from && intake->at == 0);

	if (!file->failed && !wh_large_is_ready(sink, file, end) &&
		wh_large_reserve(sink, file, end) == 0)
		return WH_SINK_WORK_PER_POLL;
	if (!file->failed && opens)
		file->direct = has_ring(sink) && wh_file_direct(file->fd, true);
	if (file->failed) {
		intake->at = intake->chunk->bytes;
		wh_sink_raw_done(sink, intake->chunk->bytes);
		return 1;
	}
	return has_ring(sink) ? write_by_ring(sink) : write_directly(sink);
}
