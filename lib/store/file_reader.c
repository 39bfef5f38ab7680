/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "store/read_ahead.h"
#include "store/ring.h"
#include "store/store.h"
#include "store/stream.h"

struct file_reader {
	struct wh_reader reader;
	struct wh_stream stream; /* counts what went out */
	struct wh_chunk end;
	struct io_uring ring;
	struct wh_read_ahead ahead;
	int fd;
};

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

static int32_t start_reads(struct file_reader *fr)
{
	int32_t started = 0;

	while (started < WH_STORE_CHUNKS_PER_POLL && wh_read_ahead_wants(&fr->ahead)) {
		struct wh_chunk *chunk = wh_fifo_pop(fr->reader.free);

		if (chunk == NULL)
			break;
		wh_read_ahead_start(&fr->ahead, chunk);
		started++;
	}
	return started;
}

static int32_t send_chunks(struct file_reader *fr)
{
	int32_t sent = 0;

	while (sent < WH_STORE_CHUNKS_PER_POLL && wh_fifo_room(fr->reader.ready) > 0) {
		struct wh_chunk *chunk = wh_read_ahead_take(&fr->ahead);

		if (chunk == NULL)
			break;
		chunk->number = fr->stream.chunks;
		wh_stream_add(&fr->stream, chunk);
		fr->reader.bytes = fr->stream.bytes;

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

/* Whether reading goes on. */
static bool check(struct file_reader *fr)
{
	if (running(fr) && fr->ahead.error < 0)
		fail(fr, fr->ahead.error,
			fr->ahead.shrunk ? "reading (the file has shrunk)" : "reading");
	return running(fr);
}

static int32_t poll_reader(struct wh_reader *reader, __rte_unused uint64_t now_tsc)
{
	struct file_reader *fr = (struct file_reader *)reader;

	if (!running(fr))
		return 0;

	int32_t work = wh_read_ahead_poll(&fr->ahead);

	if (!check(fr))
		return work;
	work += send_chunks(fr);
	work += send_end(fr);
	if (!running(fr))
		return work;
	work += start_reads(fr);
	wh_read_ahead_submit(&fr->ahead);
	check(fr);
	return work;
}

static void close_reader(struct wh_reader *reader)
{
	struct file_reader *fr = (struct file_reader *)reader;

	wh_ring_drain(&fr->ring, fr->ahead.in_air);
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
	wh_read_ahead_init(&fr->ahead, &fr->ring, fd, &status, chunk_bytes);
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
