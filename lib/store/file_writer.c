/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "store/ring.h"
#include "store/store.h"
#include "store/stream.h"
#include "store/temporary.h"
#include "store/zeros.h"

static_assert(WH_ZERO_PIECE_BYTES % WH_DIRECT_BYTES == 0, "a hole ends where O_DIRECT may go on");

/* What the file is doing; each step but the first two has one request of the file in the air. */
enum step {
	TAKING,   /* chunks from `deliver` */
	EMPTYING, /* the end marker is in, chunks are still being written */
	RESERVING,
	SYNCING,
	SYNCING_FOLDER,
};

struct write_slot {
	struct wh_chunk *chunk;
	uint32_t from; /* bytes before are done; [from, to) is in the air */
	uint32_t to;
	bool hole;   /* the request punches a hole; else it writes */
	bool direct; /* it was made with O_DIRECT */
};

struct file_writer {
	struct wh_writer writer;
	struct wh_stream stream; /* counts what came in */
	struct wh_chunk end;     /* the sender's */
	struct io_uring ring;
	struct wh_temporary temporary;
	enum step step;
	bool direct;
	bool reserved;    /* blocks are allocated: a hole has to be punched, not just left out */
	uint32_t in_air;  /* requests, of chunks and of the file */
	uint32_t idle;    /* slots without a chunk, one bit each */
	uint32_t written; /* slots whose chunk waits for room in `recycled` */
	struct write_slot slots[WH_RING_DEPTH];
};

#define ALL_SLOTS ((UINT32_C(1) << WH_RING_DEPTH) - 1)
static_assert(WH_RING_DEPTH < 32, "slots are bits of a word");

static bool running(const struct file_writer *fw)
{
	return atomic_load_explicit(&fw->writer.done, memory_order_relaxed) == WH_STORE_RUNNING;
}

/* No half file stays behind, however long the session takes to close. */
static void give_up(
	struct file_writer *fw, enum wh_store_done verdict, int error, const char *doing)
{
	WH_ASSERT(running(fw) && verdict != WH_STORE_OK);
	wh_temporary_unlink(&fw->temporary);
	fw->writer.error = error;
	fw->writer.doing = doing;
	atomic_store_explicit(&fw->writer.done, verdict, memory_order_release);
}

static void fail(struct file_writer *fw, int error, const char *doing)
{
	WH_ASSERT(error < 0);
	give_up(fw, WH_STORE_FAILED, error, doing);
}

static uint32_t slot_bit(const struct file_writer *fw, const struct write_slot *slot)
{
	return UINT32_C(1) << (slot - fw->slots);
}

static uint64_t file_offset(const struct file_writer *fw, const struct write_slot *slot)
{
	return slot->chunk->number * fw->writer.chunk_bytes + slot->from;
}

static void request_hole(struct file_writer *fw, struct write_slot *slot)
{
	struct io_uring_sqe *sqe = wh_ring_request(&fw->ring);

	io_uring_prep_fallocate(sqe, fw->temporary.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		(off_t)file_offset(fw, slot),
		(off_t)RTE_ALIGN_CEIL(slot->to - slot->from, WH_DIRECT_BYTES));
	io_uring_sqe_set_data(sqe, slot);
	fw->in_air++;
}

static void request_write(struct file_writer *fw, struct write_slot *slot)
{
	struct io_uring_sqe *sqe = wh_ring_request(&fw->ring);
	uint8_t *data = slot->chunk->data + slot->from;
	uint32_t bytes = slot->to - slot->from;

	slot->direct = fw->direct;
	if (fw->direct) {
		/* Only the last chunk ends within a block; the file is cut to size at the end. */
		uint32_t padded = RTE_ALIGN_CEIL(bytes, WH_DIRECT_BYTES);

		memset(data + bytes, 0, padded - bytes);
		bytes = padded;
	}
	io_uring_prep_write(sqe, fw->temporary.fd, data, bytes, file_offset(fw, slot));
	io_uring_sqe_set_data(sqe, slot);
	fw->in_air++;
}

/* Goes on with the chunk from slot->from. */
static void request_next(struct file_writer *fw, struct write_slot *slot)
{
	while (slot->from < slot->chunk->bytes) {
		slot->to = wh_zero_run_end(
			slot->chunk->data, slot->from, slot->chunk->bytes, &slot->hole);
		if (!slot->hole) {
			request_write(fw, slot);
			return;
		}
		if (fw->reserved) {
			request_hole(fw, slot);
			return;
		}
		slot->from = slot->to;
	}
	fw->written |= slot_bit(fw, slot);
}

static void complete_hole(struct file_writer *fw, struct write_slot *slot, int result)
{
	/* Where holes cannot be punched, reserved blocks read as zeros all the same. */
	if (result < 0 && result != -EOPNOTSUPP && !wh_try_again(result)) {
		fail(fw, result, "making a hole");
		return;
	}
	if (!wh_try_again(result))
		slot->from = slot->to;
	request_next(fw, slot);
}

static void complete_write(struct file_writer *fw, struct write_slot *slot, int result)
{
	if (result == -EINVAL && slot->direct) {
		fw->direct = wh_file_direct(fw->temporary.fd, false);
		request_next(fw, slot);
		return;
	}
	if (wh_try_again(result)) {
		request_next(fw, slot);
		return;
	}
	if (result < 0) {
		fail(fw, result, "writing");
		return;
	}

	/* The result counts padding too. */
	uint32_t reached = (uint32_t)wh_min_u64((uint64_t)slot->from + (uint32_t)result, slot->to);

	if (reached < slot->to && slot->direct)
		reached = RTE_ALIGN_FLOOR(reached, WH_DIRECT_BYTES);
	if (reached == slot->from) {
		fail(fw, -EIO, "writing (no byte was taken)");
		return;
	}
	slot->from = reached;
	request_next(fw, slot);
}

/* A request of the file itself: its step tells which. */
static void request_step(struct file_writer *fw, enum step step)
{
	struct io_uring_sqe *sqe = wh_ring_request(&fw->ring);

	fw->step = step;
	if (step == RESERVING)
		io_uring_prep_fallocate(
			sqe, fw->temporary.fd, 0, 0, (off_t)fw->stream.object_bytes);
	else if (step == SYNCING)
		io_uring_prep_fsync(sqe, fw->temporary.fd, 0);
	else
		io_uring_prep_fsync(sqe, fw->temporary.folder_fd, 0);
	io_uring_sqe_set_data(sqe, NULL);
	fw->in_air++;
}

static void complete_reserve(struct file_writer *fw, int result)
{
	fw->reserved = result == 0;
	if (result < 0 && result != -EOPNOTSUPP && result != -ENOSYS)
		fail(fw, result, "reserving space");
	else
		fw->step = TAKING;
}

/* The rename is a system call of microseconds, unlike the fsync on either side of it. */
static void complete_sync(struct file_writer *fw, int result)
{
	if (result < 0) {
		fail(fw, result, "syncing");
		return;
	}

	int rc = wh_temporary_rename(&fw->temporary);

	if (rc < 0)
		fail(fw, rc, "renaming");
	else
		request_step(fw, SYNCING_FOLDER);
}

static void complete_step(struct file_writer *fw, int result)
{
	if (wh_try_again(result))
		request_step(fw, fw->step);
	else if (fw->step == RESERVING)
		complete_reserve(fw, result);
	else if (fw->step == SYNCING)
		complete_sync(fw, result);
	else if (result < 0 && result != -EINVAL) /* -EINVAL: folders cannot be synced there */
		fail(fw, result, "syncing the folder");
	else
		atomic_store_explicit(&fw->writer.done, WH_STORE_OK, memory_order_release);
}

static void complete(struct file_writer *fw, struct write_slot *slot, int result)
{
	if (slot == NULL)
		complete_step(fw, result);
	else if (slot->hole)
		complete_hole(fw, slot, result);
	else
		complete_write(fw, slot, result);
}

static int32_t reap(struct file_writer *fw)
{
	struct io_uring_cqe *cqes[WH_RING_DEPTH];
	uint32_t count = io_uring_peek_batch_cqe(&fw->ring, cqes, WH_RING_DEPTH);

	WH_ASSERT(count <= fw->in_air);
	for (uint32_t i = 0; i < count; i++) {
		struct write_slot *slot = io_uring_cqe_get_data(cqes[i]);

		fw->in_air--;
		if (running(fw))
			complete(fw, slot, cqes[i]->res);
		/* Nothing more is asked for after a failure: the chunk is free to go. */
		if (!running(fw) && slot != NULL)
			fw->written |= slot_bit(fw, slot);
	}
	io_uring_cq_advance(&fw->ring, count);
	return (int32_t)count;
}

static int32_t recycle(struct file_writer *fw)
{
	int32_t work = 0;

	while (fw->written != 0 && wh_fifo_room(fw->writer.recycled) > 0) {
		struct write_slot *slot = &fw->slots[__builtin_ctz(fw->written)];
		bool pushed = wh_fifo_push(fw->writer.recycled, slot->chunk);

		WH_ASSERT(pushed); /* we alone fill it, so room does not go away */
		fw->written &= ~slot_bit(fw, slot);
		fw->idle |= slot_bit(fw, slot);
		slot->chunk = NULL;
		work++;
	}
	return work;
}

/* Hashes and writes a chunk, unless the writer has given up or does so over it. */
static void accept_chunk(struct file_writer *fw, struct wh_chunk *chunk)
{
	struct write_slot *slot = &fw->slots[__builtin_ctz(fw->idle)];

	*slot = (struct write_slot){.chunk = chunk};
	fw->idle &= ~slot_bit(fw, slot);
	if (running(fw) && !wh_stream_fits(&fw->stream, chunk))
		give_up(fw, WH_STORE_MISMATCH, 0, "comparing the size");
	if (!running(fw)) {
		fw->written |= slot_bit(fw, slot);
		return;
	}
	wh_stream_add(&fw->stream, chunk);
	atomic_store_explicit(&fw->writer.bytes, fw->stream.bytes, memory_order_relaxed);
	request_next(fw, slot);
}

/* Takes what arrives; once the writer has given up, only to hand it back. */
static int32_t take(struct file_writer *fw)
{
	int32_t taken = 0;

	while (taken < WH_STORE_CHUNKS_PER_POLL && fw->idle != 0) {
		struct wh_chunk *chunk = wh_fifo_pop(fw->writer.deliver);

		if (chunk == NULL)
			break;
		taken++;
		if (chunk->end) {
			fw->end = *chunk;
			fw->step = EMPTYING;
			break;
		}
		accept_chunk(fw, chunk);
	}
	return taken;
}

/* All is written: compares, cuts off the padding (a quick call, at most a block) and syncs. */
static void settle(struct file_writer *fw)
{
	struct wh_chunk own;

	WH_ASSERT(fw->in_air == 0 && fw->written == 0);
	wh_stream_end(&fw->stream, &own);
	fw->writer.digest = own.digest;
	if (!wh_stream_agrees(&fw->stream, &own, &fw->end)) {
		give_up(fw, WH_STORE_MISMATCH, 0, "comparing the size and the digest");
		return;
	}
	if (ftruncate(fw->temporary.fd, (off_t)fw->stream.object_bytes) != 0)
		fail(fw, -errno, "setting the size");
	else
		request_step(fw, SYNCING);
}

static int32_t poll_writer(struct wh_writer *writer, __rte_unused uint64_t now_tsc)
{
	struct file_writer *fw = (struct file_writer *)writer;
	int32_t work = reap(fw);

	work += recycle(fw);
	if (fw->step == TAKING || !running(fw))
		work += take(fw);
	if (running(fw) && fw->step == EMPTYING && fw->idle == ALL_SLOTS)
		settle(fw);

	int rc = wh_ring_submit(&fw->ring);

	if (rc < 0 && running(fw))
		fail(fw, rc, "writing");
	return work;
}

static void close_writer(struct wh_writer *writer)
{
	struct file_writer *fw = (struct file_writer *)writer;

	wh_ring_drain(&fw->ring, fw->in_air);
	io_uring_queue_exit(&fw->ring);
	wh_temporary_close(&fw->temporary);
	free(fw);
}

static const struct wh_writer_ops file_writer_ops = {.poll = poll_writer, .close = close_writer};

int wh_file_writer_open(struct wh_writer **writer, const char *folder, const char *name,
	uint64_t object_bytes, uint32_t chunk_bytes, struct wh_fifo *deliver,
	struct wh_fifo *recycled)
{
	if (object_bytes > INT64_MAX) /* the peer's number */
		return -EFBIG;

	struct file_writer *fw = wh_stream_alloc(sizeof(*fw));

	if (fw == NULL)
		return -ENOMEM;

	int rc = io_uring_queue_init(WH_RING_DEPTH, &fw->ring, 0);

	if (rc < 0)
		goto free_state;
	rc = wh_temporary_open(&fw->temporary, folder, name);
	if (rc < 0)
		goto exit_ring;
	wh_stream_init(&fw->stream, object_bytes, chunk_bytes);
	fw->direct = wh_file_direct(fw->temporary.fd, true);
	fw->idle = ALL_SLOTS;
	fw->writer.ops = &file_writer_ops;
	fw->writer.deliver = deliver;
	fw->writer.recycled = recycled;
	fw->writer.chunk_bytes = chunk_bytes;
	fw->writer.doing = "writing";
	if (object_bytes > 0)
		request_step(fw, RESERVING);
	else
		fw->step = TAKING;
	*writer = &fw->writer;
	return 0;

exit_ring:
	io_uring_queue_exit(&fw->ring);
free_state:
	free(fw);
	return rc;
}
