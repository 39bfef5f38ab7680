/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "store/ring.h"
#include "store/store.h"
#include "store/stream.h"

/* Chunk `number` is in slot number % WH_RING_DEPTH from its start until it is in `ready`. */
struct read_slot {
	struct wh_chunk *chunk;
	uint32_t have_bytes; /* at the front of the chunk; the request in the air goes on there */
	bool direct;         /* that request was made with O_DIRECT */
};

struct file_reader {
	struct wh_reader reader;
	struct wh_stream stream; /* counts what went out */
	struct wh_chunk end;
	struct io_uring ring;
	int fd;
	bool direct;
	bool sparse;         /* fewer blocks than bytes: worth looking for holes */
	uint64_t hole_until; /* known: no data between the last offset asked for and here */
	uint64_t started;    /* chunks asked for; the number of the next one */
	uint32_t in_air;
	struct read_slot slots[WH_RING_DEPTH];
};

static struct read_slot *slot_of(struct file_reader *fr, uint64_t number)
{
	return &fr->slots[number % WH_RING_DEPTH];
}

static bool running(const struct file_reader *fr)
{
	return atomic_load_explicit(&fr->reader.done, memory_order_relaxed) == WH_STORE_RUNNING;
}

static void fail(struct file_reader *fr, int error, const char *doing)
{
	WH_ASSERT(error < 0 && running(fr));
	fr->reader.error = error;
	fr->reader.doing = doing;
	atomic_store_explicit(&fr->reader.done, WH_STORE_FAILED, memory_order_release);
}

static void request_rest(struct file_reader *fr, struct read_slot *slot)
{
	struct wh_chunk *chunk = slot->chunk;
	struct io_uring_sqe *sqe = wh_ring_request(&fr->ring);
	uint32_t bytes = chunk->bytes - slot->have_bytes;

	WH_ASSERT(bytes > 0);
	slot->direct = fr->direct;
	if (fr->direct) /* the kernel stops at the end of the file by itself */
		bytes = RTE_ALIGN_CEIL(bytes, WH_DIRECT_BYTES);
	io_uring_prep_read(sqe, fr->fd, chunk->data + slot->have_bytes, bytes,
		chunk->number * fr->reader.chunk_bytes + slot->have_bytes);
	io_uring_sqe_set_data(sqe, slot);
	fr->in_air++;
}

/* Books a completed request and asks for what it left out. */
static void complete(struct file_reader *fr, struct read_slot *slot, int result)
{
	if (result == -EINVAL && slot->direct) {
		fr->direct = wh_file_direct(fr->fd, false);
		/* Without O_DIRECT: have_bytes stays where it is, any offset will do. */
		request_rest(fr, slot);
		return;
	}
	if (wh_try_again(result)) {
		request_rest(fr, slot);
		return;
	}
	if (result < 0) {
		fail(fr, result, "reading");
		return;
	}

	/* The last block may reach past the end that the object had at open. */
	uint32_t have = (uint32_t)wh_min_u64(
		(uint64_t)slot->have_bytes + (uint32_t)result, slot->chunk->bytes);

	if (have < slot->chunk->bytes && slot->direct)
		have = RTE_ALIGN_FLOOR(have, WH_DIRECT_BYTES);
	if (have == slot->have_bytes) {
		fail(fr, -EIO, "reading (the file has shrunk)");
		return;
	}
	slot->have_bytes = have;
	if (have < slot->chunk->bytes)
		request_rest(fr, slot);
}

static int32_t reap(struct file_reader *fr)
{
	struct io_uring_cqe *cqes[WH_RING_DEPTH];
	uint32_t count = io_uring_peek_batch_cqe(&fr->ring, cqes, WH_RING_DEPTH);

	WH_ASSERT(count <= fr->in_air);
	for (uint32_t i = 0; i < count; i++) {
		fr->in_air--;
		if (running(fr))
			complete(fr, io_uring_cqe_get_data(cqes[i]), cqes[i]->res);
	}
	io_uring_cq_advance(&fr->ring, count);
	return (int32_t)count;
}

/*
 * Whether [offset, offset + bytes) is one hole. Asks only where data starts next, which is near
 * when there is any; where it ends (SEEK_HOLE) can be a walk over every extent of the file.
 */
static bool in_hole(struct file_reader *fr, uint64_t offset, uint32_t bytes)
{
	if (!fr->sparse)
		return false;
	if (fr->hole_until <= offset) {
		off_t data = lseek(fr->fd, (off_t)offset, SEEK_DATA);

		if (data >= 0)
			fr->hole_until = (uint64_t)data;
		else
			fr->hole_until = errno == ENXIO ? fr->stream.object_bytes : offset;
	}
	return fr->hole_until >= offset + bytes;
}

static int32_t start_reads(struct file_reader *fr)
{
	uint64_t count = wh_stream_chunk_count(&fr->stream);
	int32_t started = 0;

	while (started < WH_STORE_CHUNKS_PER_POLL && fr->started < count &&
		fr->started - fr->stream.chunks < WH_RING_DEPTH) {
		struct wh_chunk *chunk = wh_fifo_pop(fr->reader.free);

		if (chunk == NULL)
			break;
		WH_ASSERT((uintptr_t)chunk->data % WH_CHUNK_ALIGN == 0);
		chunk->number = fr->started;
		chunk->bytes = wh_stream_want_bytes(&fr->stream, fr->started);
		chunk->end = false;

		struct read_slot *slot = slot_of(fr, fr->started);

		WH_ASSERT(slot->chunk == NULL);
		*slot = (struct read_slot){.chunk = chunk};
		if (in_hole(fr, fr->started * fr->reader.chunk_bytes, chunk->bytes)) {
			memset(chunk->data, 0, chunk->bytes);
			slot->have_bytes = chunk->bytes;
		} else {
			request_rest(fr, slot);
		}
		fr->started++;
		started++;
	}
	return started;
}

static int32_t send_chunks(struct file_reader *fr)
{
	int32_t sent = 0;

	while (sent < WH_STORE_CHUNKS_PER_POLL && fr->stream.chunks < fr->started) {
		struct read_slot *slot = slot_of(fr, fr->stream.chunks);
		struct wh_chunk *chunk = slot->chunk;

		if (slot->have_bytes < chunk->bytes || wh_fifo_room(fr->reader.ready) == 0)
			break;
		wh_stream_add(&fr->stream, chunk);
		fr->reader.bytes = fr->stream.bytes;
		slot->chunk = NULL;

		bool pushed = wh_fifo_push(fr->reader.ready, chunk);

		WH_ASSERT(pushed); /* we alone fill it, so room does not go away */
		sent++;
	}
	return sent;
}

static int32_t send_end(struct file_reader *fr)
{
	struct stat status;

	if (fr->stream.chunks < wh_stream_chunk_count(&fr->stream) ||
		wh_fifo_room(fr->reader.ready) == 0)
		return 0;

	/* A hole that was cut off with the end of the file was not read, so nothing told yet. */
	if (fstat(fr->fd, &status) != 0 || (uint64_t)status.st_size < fr->stream.object_bytes) {
		fail(fr, -EIO, "reading (the file has shrunk)");
		return 0;
	}
	wh_stream_end(&fr->stream, &fr->end);
	fr->reader.digest = fr->end.digest;

	bool pushed = wh_fifo_push(fr->reader.ready, &fr->end);

	WH_ASSERT(pushed);
	atomic_store_explicit(&fr->reader.done, WH_STORE_OK, memory_order_release);
	return 1;
}

static int32_t poll_reader(struct wh_reader *reader, __rte_unused uint64_t now_tsc)
{
	struct file_reader *fr = (struct file_reader *)reader;

	if (!running(fr))
		return 0;

	int32_t work = reap(fr);

	if (!running(fr))
		return work;
	work += send_chunks(fr);
	work += send_end(fr);
	if (!running(fr))
		return work;
	work += start_reads(fr);

	int rc = wh_ring_submit(&fr->ring);

	if (rc < 0)
		fail(fr, rc, "reading");
	return work;
}

static void close_reader(struct wh_reader *reader)
{
	struct file_reader *fr = (struct file_reader *)reader;

	wh_ring_drain(&fr->ring, fr->in_air);
	io_uring_queue_exit(&fr->ring);
	close(fr->fd);
	free(fr);
}

static const struct wh_reader_ops file_reader_ops = {.poll = poll_reader, .close = close_reader};

/* O_NONBLOCK: a pipe without a writer must be refused, not waited for. */
static int open_regular(const char *path, struct stat *status)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, status) != 0)
		error = -errno;
	else if (S_ISDIR(status->st_mode))
		error = -EISDIR;
	else if (!S_ISREG(status->st_mode))
		error = -EINVAL;
	if (error == 0)
		return fd;
	close(fd);
	return error;
}

int wh_file_reader_open(struct wh_reader **reader, const char *path, uint32_t chunk_bytes,
	struct wh_fifo *free_chunks, struct wh_fifo *ready)
{
	struct stat status;
	int rc = open_regular(path, &status);

	if (rc < 0)
		return rc;

	int fd = rc;
	struct file_reader *fr = wh_stream_alloc(sizeof(*fr));

	if (fr == NULL) {
		rc = -ENOMEM;
		goto close_file;
	}
	rc = io_uring_queue_init(WH_RING_DEPTH, &fr->ring, 0);
	if (rc < 0)
		goto free_state;
	wh_stream_init(&fr->stream, (uint64_t)status.st_size, chunk_bytes);
	fr->fd = fd;
	fr->direct = wh_file_direct(fd, true);
	fr->sparse = (uint64_t)status.st_blocks * 512 < (uint64_t)status.st_size;
	fr->reader.ops = &file_reader_ops;
	fr->reader.free = free_chunks;
	fr->reader.ready = ready;
	fr->reader.chunk_bytes = chunk_bytes;
	fr->reader.object_bytes = (uint64_t)status.st_size;
	fr->reader.doing = "reading";
	*reader = &fr->reader;
	return 0;

free_state:
	free(fr);
close_file:
	close(fd);
	return rc;
}
