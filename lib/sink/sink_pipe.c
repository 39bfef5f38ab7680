/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sink/sink_internal.h"

/* Returns the number of bytes written; if the pipe is closed the sink breaks. */
static size_t put(struct wh_sink *sink, const uint8_t *data, size_t bytes)
{
	ssize_t taken = write(sink->config.pipe_fd, data, wh_min_u64(bytes, WH_SINK_PIECE_BYTES));

	if (taken >= 0) {
		sink->progress.bytes += (uint64_t)taken;
		return (size_t)taken;
	}
	if (errno != EAGAIN && errno != EINTR)
		wh_sink_break(sink, -errno, WH_DOING_WRITING);
	return 0;
}

int32_t wh_sink_pipe_inline(struct wh_sink *sink, const struct wh_entry *entry)
{
	struct wh_intake *intake = &sink->intake;

	if (sink->record.type != WH_RECORD_ENTRY || intake->has_piped)
		return -1;

	uint32_t bytes = wh_entry_inline_bytes(entry);

	if (bytes == 0)
		return -1;

	size_t taken =
		put(sink, entry->inline_bytes + intake->piped_bytes, bytes - intake->piped_bytes);

	intake->piped_bytes += taken;
	if (intake->piped_bytes < bytes)
		return taken > 0 ? WH_SINK_WORK_FILE : 0;
	intake->has_piped = true;
	intake->piped_id = entry->id;
	return -1;
}

void wh_sink_take_piped(struct wh_sink *sink, const struct wh_entry *entry)
{
	struct wh_intake *intake = &sink->intake;
	const struct stat nothing = {0};
	struct wh_large *large;
	struct wh_staged file = {
		.id = entry->id,
		.bytes = entry->size_bytes,
		.path = entry->path,
		.path_bytes = entry->path_bytes,
		.kind = entry->kind,
	};

	if (entry->kind != WH_ENTRY_FILE || (intake->has_piped && intake->piped_id != entry->id)) {
		wh_sink_tell_failed(sink, &file, -ENOTSUP, WH_DOING_KIND);
		return;
	}
	intake->has_piped = true;
	intake->piped_id = entry->id;
	if (entry->content == WH_CONTENT_NONE || entry->content == WH_CONTENT_INLINE) {
		wh_sink_note_written(sink, &file);
		return;
	}

	bool asked = wh_sink_ask(sink, entry, &nothing);

	WH_ASSERT(asked); /* the first one */
	large = wh_sink_find_large(sink, entry->id);
	large->state = WH_LARGE_ANSWERED;
	if (entry->content == WH_CONTENT_AHEAD)
		wh_ahead_note(sink, large, entry->inline_bytes);
	wh_sink_answer_want(sink, large);
}

int32_t wh_sink_pipe_raw(struct wh_sink *sink)
{
	struct wh_intake *intake = &sink->intake;
	const uint8_t *data = intake->chunk->data + intake->at;
	size_t taken = put(sink, data, intake->chunk->bytes - intake->at);

	if (taken == 0)
		return 0;
	wh_hasher_add(&sink->content, data, taken);
	intake->at += (uint32_t)taken;
	if (intake->at == intake->chunk->bytes)
		wh_sink_raw_done(sink, intake->chunk->bytes);
	return WH_SINK_WORK_FILE;
}

void wh_sink_pipe_end(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_staged entry = wh_large_entry(sink, file);

	WH_ASSERT(!file->failed && file->in_air == 0);
	wh_sink_note_written(sink, &entry);
	wh_large_forget(sink, file);
}
