/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "file/all_bytes.h"
#include "journal/range_notes.h"
#include "sink/sink_internal.h"

static enum wh_large_state first_state(
	const struct wh_sink *sink, struct wh_large *file, const struct stat *status)
{
	bool may_compare = !sink->config.anew && !file->is_stream && S_ISREG(status->st_mode) &&
			   (uint64_t)status->st_size == file->size_bytes;

	file->may_compare = may_compare;
	if (wh_large_is_segment(file))
		return WH_LARGE_AWAIT;
	if (wh_sink_keeps(sink, file))
		return WH_LARGE_RECALL;
	if (file->may_list)
		return WH_LARGE_LIST;
	return may_compare ? WH_LARGE_COMPARE : WH_LARGE_RESERVE;
}

/* Copies the attributes, because the record is gone before the file is complete. */
static void keep_more(struct wh_sink *sink, struct wh_large *file, const struct wh_entry *entry)
{
	uint8_t *xattrs = NULL;

	if (sink->keeps == 0 || entry->content == WH_CONTENT_SEGMENT)
		return;
	file->more = wh_more_of(entry);
	if (entry->xattr_bytes > 0) {
		xattrs = malloc(entry->xattr_bytes);
		if (xattrs == NULL)
			wh_large_fail(sink, file, -ENOMEM, WH_DOING_ATTRIBUTES);
		else
			memcpy(xattrs, entry->xattrs, entry->xattr_bytes);
	}
	file->more.xattrs = xattrs;
}

/* Until the file is reserved; of one file at a time. Others are asked for as a whole. */
static void keep_ahead(struct wh_sink *sink, struct wh_large *file, const struct wh_entry *entry)
{
	if (sink->ahead.file != NULL)
		return;
	sink->ahead.bytes = malloc(WH_INLINE_BYTES_MAX);
	if (sink->ahead.bytes == NULL)
		return;
	memcpy(sink->ahead.bytes, entry->inline_bytes, WH_INLINE_BYTES_MAX);
	sink->ahead.file = file;
}

/* The file is reserved and new, and nothing of it exists: its descriptor is at the beginning. */
static void write_ahead(struct wh_sink *sink, struct wh_large *file)
{
	uint8_t *bytes = sink->ahead.bytes;
	int rc = wh_write_all(file->fd, bytes, WH_INLINE_BYTES_MAX);

	if (rc < 0) {
		wh_large_fail(sink, file, rc, WH_DOING_WRITING);
		return;
	}
	sink->progress.bytes += WH_INLINE_BYTES_MAX;
	wh_large_wrote(sink, file, WH_INLINE_BYTES_MAX);
	wh_ahead_note(sink, file, bytes);
	sink->ahead.bytes = NULL;
	free(bytes);
}

/* The job brings a range of it, which begins where notes can be. */
static void share(struct wh_sink *sink, struct wh_large *file)
{
	uint64_t bytes = wh_choice_range(&sink->config.choice, file->size_bytes, &file->first);

	file->is_shared = true;
	file->from = file->offset = file->reserved = file->first;
	file->end = file->first + bytes;
	if (bytes == 0 || file->first % WH_RANGES_ALIGN_BYTES != 0)
		wh_large_fail(sink, file, -EINVAL, WH_DOING_CREATING);
	else
		file->data_bytes = wh_muldiv_u64(file->data_bytes, bytes, file->size_bytes);
}

bool wh_sink_ask(struct wh_sink *sink, const struct wh_entry *entry, const struct stat *status)
{
	struct wh_large *file = sink->large;

	if (sink->large_count - sink->closing_count - sink->gathering >= WH_SOURCE_ASKED)
		return false;
	WH_ASSERT(sink->large_count < WH_SINK_LARGE_MAX);
	while (file->state != WH_LARGE_NONE)
		file++;
	*file = (struct wh_large){
		.id = entry->id,
		.size_bytes = entry->size_bytes,
		.data_bytes = entry->size_bytes - entry->hole_bytes,
		.mtime_s = entry->mtime_s,
		.mtime_ns = entry->mtime_ns,
		.mode = entry->mode,
		.path_bytes = entry->path_bytes,
		.end = entry->content == WH_CONTENT_STREAM ? INT64_MAX : entry->size_bytes,
		.is_stream = entry->content == WH_CONTENT_STREAM,
		.only_new = sink->place_is_unknown,
		.fd = -1,
		.kept_fd = -1,
		.source = {.size_bytes = entry->size_bytes,
			.mtime_s = entry->mtime_s,
			.mtime_ns = entry->mtime_ns,
			.ctime_ns = entry->ctime_ns,
			.inode = entry->inode,
			.ctime_s = entry->ctime_s},
	};
	if (wh_content_is_split(entry->content) && !wh_large_join(sink, file, entry))
		return false;
	if (wh_sink_joins(sink))
		share(sink, file);
	file->proved = file->noted = file->first;
	file->may_list = wh_sink_may_list(sink, file, entry, status);
	file->state = (uint8_t)first_state(sink, file, status);
	memcpy(sink->large_paths[file - sink->large], entry->path, entry->path_bytes);
	sink->large_count++;
	keep_more(sink, file, entry);
	if (entry->content == WH_CONTENT_AHEAD && !sink->config.is_pipe)
		keep_ahead(sink, file, entry);
	return true;
}

/* The existing file differs, or does not exist. */
static void compare_no_more(struct wh_sink *sink)
{
	if (sink->existing_fd >= 0)
		close(sink->existing_fd);
	sink->existing_fd = -1;
	sink->comparing->state = WH_LARGE_RESERVE;
	sink->comparing = NULL;
}

static bool compare_begin(struct wh_sink *sink)
{
	struct stat status;

	sink->comparing = wh_sink_first_large(sink, WH_LARGE_COMPARE);
	if (sink->comparing == NULL)
		return false;

	sink->existing_fd = wh_large_open_existing(sink, sink->comparing, &status);
	sink->existing_offset = 0;
	wh_hasher_init(&sink->existing);
	if (sink->existing_fd >= 0 && (uint64_t)status.st_size == sink->comparing->size_bytes)
		return true;
	compare_no_more(sink);
	return false;
}

/* Hashes the next piece of the existing file; at its end HAVE is sent. */
static int32_t compare(struct wh_sink *sink)
{
	struct wh_large *file = sink->comparing;
	size_t bytes = wh_min_u64(WH_SINK_PIECE_BYTES, file->size_bytes - sink->existing_offset);
	ssize_t got = pread(sink->existing_fd, sink->piece, bytes, (off_t)sink->existing_offset);
	struct wh_digest digest;

	if (got < 0 && errno == EINTR)
		return 1;
	if (got <= 0) {
		compare_no_more(sink);
		return 1;
	}
	wh_hasher_add(&sink->existing, sink->piece, (size_t)got);
	sink->existing_offset += (uint64_t)got;
	WH_ASSERT(sink->existing_offset <= file->size_bytes);
	if (sink->existing_offset < file->size_bytes)
		return 1;
	wh_hasher_digest(&sink->existing, &digest);
	wh_sink_answer_have(sink, file->id, &digest);
	file->had = true;
	file->state = WH_LARGE_ANSWERED;
	close(sink->existing_fd);
	sink->existing_fd = -1;
	sink->comparing = NULL;
	return 1;
}

/* Reserves space; then the source may send. The file is closed until it does: there may be many. */
static int32_t reserve(struct wh_sink *sink)
{
	struct wh_large *file = sink->reserving;

	if (sink->ahead.file == file && (file->from > file->first || file->basis != NULL))
		wh_ahead_drop(sink, file);

	bool ahead = sink->ahead.file == file;

	if (wh_large_reserve(sink, file, ahead ? WH_INLINE_BYTES_MAX : 0) == 0) {
		if (file->failed)
			sink->reserving = NULL;
		return 1;
	}
	if (ahead)
		write_ahead(sink, file);
	if (file->failed)
		return 1;
	/* A lead lane keeps it open: others may be ahead, and the journal must know the file. */
	if (!file->is_lead || !file->kept) {
		close(file->fd);
		file->fd = -1;
	}
	file->state = WH_LARGE_ANSWERED;
	sink->reserving = NULL;
	wh_sink_answer_want(sink, file);
	return 1;
}

int32_t wh_sink_poll_asked(struct wh_sink *sink)
{
	int32_t work = 0;

	if (sink->reserving == NULL && sink->full == 0)
		sink->reserving = wh_sink_first_large(sink, WH_LARGE_RESERVE);
	if (sink->reserving != NULL)
		work += reserve(sink);
	if (!wh_sink_is_running(sink) || !wh_sink_can_answer(sink))
		return work;
	if (sink->comparing != NULL || compare_begin(sink))
		work += compare(sink);
	return work;
}
