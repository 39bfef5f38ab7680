/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "source/source_internal.h"

/* The capacity of a pipe. */
#define PIECE_BYTES (UINT32_C(64) << 10)

#define PIECES_PER_POLL 4

/* Room for an EXTENT. */
#define EXTENT_BYTES 64

bool wh_source_put_stream(struct wh_source *source)
{
	struct wh_entry *entry;
	int fd;

	entry = wh_source_begin_entry(source, &source->item_status);
	entry->kind = WH_ENTRY_FILE;
	entry->content = WH_CONTENT_STREAM;
	if (source->asked_count == WH_SOURCE_ASKED || !wh_source_entry_has_room(source))
		return false;
	fd = fcntl(source->config.pipe_fd, F_DUPFD_CLOEXEC, 3);
	wh_source_put_asking(source, NULL, fd < 0 ? -errno : fd);
	return true;
}

void wh_source_begin_stream(struct wh_source *source)
{
	wh_hasher_init(&source->reading.hasher);
	source->stream = (struct wh_source_stream){0};
	source->reading.step = WH_READING_STREAMS;
}

static bool put_extent(struct wh_source *source, uint64_t bytes)
{
	struct wh_reading *reading = &source->reading;
	struct wh_record *record = &source->record;

	record->type = WH_RECORD_EXTENT;
	record->extent.id = reading->file->id;
	record->extent.offset = reading->offset;
	record->extent.bytes = bytes;
	wh_hasher_digest(&reading->hasher, &record->extent.digest);
	if (!wh_source_has_room(source, wh_record_bytes(record)))
		return false;
	wh_source_put(source);
	return true;
}

static void fill_is_full(struct wh_source_stream *stream)
{
	WH_ASSERT(stream->full_count < WH_STREAM_FULL_MAX && stream->filling->bytes > 0);
	stream->full[stream->full_count++] = stream->filling;
	stream->filling = NULL;
}

/* Handles the end of the pipe, or a read error. */
static void end_pipe(struct wh_source *source, int error)
{
	struct wh_source_stream *stream = &source->stream;

	if (error != 0) {
		wh_source_end_reading(&source->reading, error, WH_DOING_READING);
		return;
	}
	stream->is_over = true;
	if (stream->filling->bytes > 0) {
		fill_is_full(stream);
		return;
	}
	wh_source_keep_chunk(source, stream->filling);
	stream->filling = NULL;
}

/* False: nothing was read. */
static bool read_piece(struct wh_source *source)
{
	struct wh_source_stream *stream = &source->stream;
	struct wh_chunk *chunk = stream->filling;
	uint32_t room = source->config.chunk_bytes - chunk->bytes;
	ssize_t bytes = read(source->reading.file->fd, chunk->data + chunk->bytes,
		wh_min_u64(room, PIECE_BYTES));

	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (bytes <= 0) {
		int error = bytes < 0 ? errno : 0;

		if (error == 0 && source->config.is_whole != NULL &&
			!source->config.is_whole(source->reading.file->fd))
			error = EPIPE;
		end_pipe(source, error);
		return true;
	}
	chunk->bytes += (uint32_t)bytes;
	if (chunk->bytes == source->config.chunk_bytes)
		fill_is_full(stream);
	return true;
}

/* Reserves a chunk for the record before one for bytes. */
static bool has_chunk(struct wh_source *source)
{
	struct wh_source_stream *stream = &source->stream;

	if (stream->filling != NULL)
		return true;
	if (!wh_source_has_room(source, EXTENT_BYTES))
		return false;
	stream->filling = wh_source_take_chunk(source);
	if (stream->filling == NULL)
		return false;
	stream->filling->bytes = 0;
	stream->filling->end = false;
	return true;
}

static int32_t fill(struct wh_source *source)
{
	struct wh_source_stream *stream = &source->stream;
	int32_t work = 0;

	stream->is_idle = false;
	while (work < PIECES_PER_POLL && source->reading.step == WH_READING_STREAMS &&
		!stream->is_over && stream->full_count < WH_STREAM_FULL_MAX && has_chunk(source)) {
		stream->is_idle = !read_piece(source);
		if (stream->is_idle)
			break;
		work++;
	}
	return work;
}

static int32_t announce(struct wh_source *source)
{
	struct wh_source_stream *stream = &source->stream;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < stream->full_count; i++)
		bytes += stream->full[i]->bytes;
	if (!put_extent(source, bytes))
		return 0;
	source->reading.extent_left = bytes;
	source->reading.is_announced = false;
	stream->is_sending = true;
	stream->sent = 0;
	return 1;
}

static int32_t send_full(struct wh_source *source)
{
	struct wh_source_stream *stream = &source->stream;
	struct wh_reading *reading = &source->reading;
	int32_t work = 0;

	if (!reading->is_announced)
		reading->is_announced = wh_source_flush(source);
	while (reading->is_announced && stream->sent < stream->full_count &&
		wh_fifo_room(source->config.ready) > 0) {
		struct wh_chunk *chunk = stream->full[stream->sent++];

		wh_hasher_add(&reading->hasher, chunk->data, chunk->bytes);
		source->progress.bytes_read += chunk->bytes;
		wh_source_push_raw(source, chunk);
		work++;
	}
	if (stream->sent < stream->full_count)
		return work;
	WH_ASSERT(reading->extent_left == 0);
	stream->full_count = stream->sent = 0;
	stream->is_sending = false;
	return work + 1;
}

int32_t wh_source_stream(struct wh_source *source)
{
	struct wh_source_stream *stream = &source->stream;
	struct wh_reading *reading = &source->reading;
	int32_t work;

	if (stream->is_sending)
		return send_full(source);
	if (reading->file->is_cancelled) {
		wh_source_end_reading(reading, ECANCELED, WH_DOING_WRITING);
		return 1;
	}
	work = fill(source);
	if (reading->step != WH_READING_STREAMS)
		return work + 1;
	if (stream->full_count > 0 &&
		(stream->full_count == WH_STREAM_FULL_MAX || stream->is_over ||
			stream->filling == NULL || stream->is_idle))
		return work + announce(source);
	if (stream->is_over && stream->full_count == 0)
		wh_source_end_reading(reading, 0, WH_DOING_NOTHING);
	return work + stream->is_over;
}

void wh_source_end_stream(struct wh_source *source)
{
	struct wh_source_stream *stream = &source->stream;

	if (stream->filling != NULL)
		wh_source_keep_chunk(source, stream->filling);
	for (uint32_t i = stream->sent; i < stream->full_count; i++)
		wh_source_keep_chunk(source, stream->full[i]);
	*stream = (struct wh_source_stream){0};
}
