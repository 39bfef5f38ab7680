/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "source/source_internal.h"

static void end_cancelled(struct wh_reading *reading)
{
	wh_source_end_reading(reading, ECANCELED, WH_DOING_WRITING);
}

static void end_after_error(struct wh_reading *reading)
{
	if (reading->ahead.shrunk)
		wh_source_end_reading(reading, EBUSY, WH_DOING_CHANGED);
	else
		wh_source_end_reading(reading, -reading->ahead.error, WH_DOING_READING);
}

/* Sends our segment from `offset` on. */
static void send_from(struct wh_source *source, uint64_t offset)
{
	struct wh_reading *reading = &source->reading;
	const struct wh_segment *segment = &reading->file->segment;

	WH_ASSERT(offset >= segment->from && offset < segment->end);
	reading->from = reading->offset = offset;
	wh_hasher_init(&reading->hasher);
	wh_source_read_run(source, offset, segment->end);
}

/* Sends what is behind the bytes in ENTRY, which the digests cover. */
static void send_behind_ahead(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	const struct wh_segment *segment = &reading->file->segment;

	reading->hasher = source->ahead;
	wh_source_read_run(source, WH_INLINE_BYTES_MAX, segment->end);
	reading->from = segment->from;
}

void wh_source_stop_proof(struct wh_source *source)
{
	wh_likeness_free(source->reading.likeness);
	source->reading.likeness = NULL;
	wh_blocks_free(source->reading.blocks);
	source->reading.blocks = NULL;
}

/* The sink has compared size, mtime, inode and change time before it sent WANT. */
static void begin_resumed(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	const struct wh_source_asked *file = reading->file;

	if (wh_resume_stricter(file->resume, source->config.resume) != file->resume) {
		send_from(source, file->segment.from);
		return;
	}
	if (file->resume == WH_RESUME_ATTRIBUTES) {
		send_from(source, file->resume_at);
		return;
	}
	reading->likened = 0;
	reading->likeness =
		wh_likeness_begin(file->fd, &(struct wh_likeness_run){.from = file->segment.from,
						    .to = file->resume_at,
						    .all = file->resume == WH_RESUME_FULL,
						    .seed = file->seed});
	if (reading->likeness == NULL)
		send_from(source, file->segment.from);
	else
		reading->step = WH_READING_PROVES;
}

/* Having read more counts as work. */
static int32_t prove(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	const struct wh_source_asked *file = reading->file;
	uint64_t likened = reading->likened;
	struct wh_digest digest;
	int rc = wh_likeness_end(reading->likeness, &digest, &reading->likened);

	if (rc == -EINPROGRESS && !file->is_cancelled)
		return reading->likened != likened;
	wh_source_stop_proof(source);
	if (file->is_cancelled)
		end_cancelled(reading);
	else if (rc == 0 && memcmp(&digest, &file->digest, sizeof(digest)) == 0)
		send_from(source, file->resume_at);
	else
		send_from(source, file->segment.from);
	return 1;
}

/*
 * An existing file is compared as a whole, whatever is sent of it. If only a range of the file is
 * sent as a file, nothing is resumed: what the sink has may be of another range.
 */
static void begin_file(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	struct wh_source_asked *file = reading->file;
	bool ranged = wh_source_has_range(source);
	const struct wh_segment whole = {
		.end = ranged ? file->segment.end : (uint64_t)file->status.st_size};

	if (file->is_cancelled) {
		end_cancelled(reading);
	} else if (file->error != 0) {
		wh_source_end_reading(reading, file->error, WH_DOING_OPENING);
	} else if (file->is_stream) {
		wh_source_begin_stream(source);
	} else if (file->compare) {
		wh_hasher_init(&reading->hasher);
		wh_source_read_segment(source, &whole);
		reading->step = WH_READING_COMPARES;
	} else if (file->told != NULL) {
		wh_source_begin_blocks(source);
	} else if (file->is_taken) {
		send_behind_ahead(source);
	} else if (file->resume != WH_RESUME_OFF && (!ranged || wh_source_joins(source))) {
		begin_resumed(source);
	} else {
		send_from(source, file->segment.from);
	}
}

/*
 * Starts the next answered file. The walk has a turn between two files, so that further files are
 * announced while these are read.
 */
static int32_t begin(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	bool is_walks_turn = !source->progress.walked && !source->is_blocked &&
			     source->packed_bytes < WH_SOURCE_PACK_BYTES;

	if (source->answered_count == 0 || is_walks_turn)
		return 0;
	reading->file = &source->asked[source->answered[source->answered_first]];
	source->answered_first = (source->answered_first + 1) % WH_SOURCE_ASKED;
	source->answered_count--;
	WH_ASSERT(reading->step == WH_READING_NOTHING && reading->file->state == WH_ASKED_ANSWERED);
	reading->from = reading->offset = reading->file->segment.from;
	reading->extent_left = 0;
	reading->error = 0;
	begin_file(source);
	return 1;
}

static int32_t start_reads(struct wh_source *source)
{
	struct wh_read_ahead *ahead = &source->reading.ahead;
	int32_t started = 0;

	while (started < WH_SOURCE_CHUNKS_PER_POLL && wh_read_ahead_wants(ahead)) {
		struct wh_chunk *chunk = wh_source_take_chunk(source);

		if (chunk == NULL)
			break;
		wh_read_ahead_start(ahead, chunk);
		started++;
	}
	wh_read_ahead_submit(ahead);
	return started;
}

/* 0: the file is unchanged since it was opened; else a positive errno. */
static int check_unchanged(const struct wh_source_asked *file)
{
	struct stat now;

	if (fstat(file->fd, &now) != 0)
		return errno;
	return wh_is_unchanged(&file->status, &now) ? 0 : EBUSY;
}

/* Compares the sink's digest with ours. */
static int32_t answer_have(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	struct wh_source_asked *file = reading->file;
	struct wh_ledger_entry *entry = wh_ledger_find(&source->ledger, file->id);
	struct wh_digest digest;

	wh_hasher_digest(&reading->hasher, &digest);
	if (memcmp(&digest, &file->digest, sizeof(digest)) != 0) {
		send_from(source, file->segment.from);
		return 1;
	}
	source->record.type = WH_RECORD_SAME;
	source->record.id.id = file->id;
	if (!wh_source_has_room(source, wh_record_bytes(&source->record)))
		return 0;
	wh_source_put(source);
	if (entry != NULL)
		entry->is_same = true;
	wh_source_release(source, file);
	reading->step = WH_READING_NOTHING;
	return 1;
}

static int32_t compare(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	int32_t work = wh_read_ahead_poll(&reading->ahead);

	for (int i = 0; i < WH_SOURCE_CHUNKS_PER_POLL; i++) {
		struct wh_chunk *chunk = wh_read_ahead_take(&reading->ahead);

		if (chunk == NULL)
			break;
		wh_hasher_add(&reading->hasher, chunk->data, chunk->bytes);
		wh_source_keep_chunk(source, chunk);
		work++;
	}
	if (reading->file->is_cancelled) {
		end_cancelled(reading);
	} else if (reading->ahead.error < 0) {
		end_after_error(reading);
	} else if (wh_read_ahead_is_over(&reading->ahead)) {
		int error = check_unchanged(reading->file);

		if (error == 0)
			return work + answer_have(source);
		wh_source_end_reading(reading, error, WH_DOING_CHANGED);
	} else {
		work += start_reads(source);
	}
	return work;
}

static int32_t announce(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	struct wh_record *record = &source->record;

	if (reading->file->is_cancelled) {
		end_cancelled(reading);
		return 1;
	}
	record->type = WH_RECORD_EXTENT;
	record->extent.id = reading->file->id;
	record->extent.offset = reading->offset;
	record->extent.bytes = wh_min_u64(source->extent_bytes, reading->end - reading->offset);
	wh_hasher_digest(&reading->hasher, &record->extent.digest);
	WH_ASSERT(record->extent.bytes > 0 && reading->extent_left == 0);
	if (!wh_source_has_room(source, wh_record_bytes(record)))
		return 0;
	wh_source_put(source);
	reading->extent_left = record->extent.bytes;
	/* Not cut at the largest: a whole number of chunks, so that each begins with a chunk. */
	if (2 * source->extent_bytes <= source->config.extent_bytes_max)
		source->extent_bytes *= 2;
	reading->is_announced = false;
	reading->step = WH_READING_SENDS;
	return 1;
}

/* Replaces bytes that cannot be read; FILE_END will report the error. */
static struct wh_chunk *zero_chunk(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	struct wh_chunk *chunk;

	if (reading->ahead.in_air > 0)
		return NULL;
	chunk = wh_read_ahead_give_up(&reading->ahead);
	if (chunk == NULL)
		chunk = wh_source_take_chunk(source);
	if (chunk == NULL)
		return NULL;
	chunk->bytes = (uint32_t)wh_min_u64(reading->extent_left, source->config.chunk_bytes);
	chunk->end = false;
	memset(chunk->data, 0, chunk->bytes);
	return chunk;
}

/* Sends the next raw chunk of the extent. */
static bool send_one(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	struct wh_chunk *chunk;

	if (reading->extent_left == 0 || wh_fifo_room(source->config.ready) == 0)
		return false;
	if (reading->ahead.error < 0) {
		chunk = zero_chunk(source);
	} else {
		chunk = wh_read_ahead_take(&reading->ahead);
		if (chunk != NULL) {
			wh_hasher_add(&reading->hasher, chunk->data, chunk->bytes);
			source->progress.bytes_read += chunk->bytes;
		}
	}
	if (chunk == NULL)
		return false;
	wh_source_push_raw(source, chunk);
	return true;
}

static int32_t send_extent(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	int32_t work = wh_read_ahead_poll(&reading->ahead);

	if (!reading->is_announced)
		reading->is_announced = wh_source_flush(source);
	if (!reading->is_announced)
		return work;
	for (int i = 0; i < WH_SOURCE_CHUNKS_PER_POLL && send_one(source); i++)
		work++;
	work += start_reads(source);
	if (reading->extent_left > 0)
		return work;
	if (reading->ahead.error < 0)
		end_after_error(reading);
	else if (!wh_read_ahead_is_over(&reading->ahead))
		reading->step = WH_READING_ANNOUNCES;
	else if (reading->blocks != NULL)
		reading->step = WH_READING_DIFFERS;
	else
		wh_source_end_reading(reading, 0, WH_DOING_NOTHING);
	return work + 1;
}

/* Reports a file that failed here, which the sink does not report. */
static void tell_failed(struct wh_source *source)
{
	const struct wh_reading *reading = &source->reading;
	struct wh_ledger_entry *entry = wh_ledger_find(&source->ledger, reading->file->id);

	if (entry == NULL || entry->is_told)
		return;
	entry->is_told = true;
	wh_source_tell(source, &(struct wh_file_result){
				       .path = wh_ledger_path(&source->ledger, entry),
				       .kind = WH_ENTRY_FILE,
				       .bytes = entry->size_bytes,
				       .error = reading->error,
				       .doing = (uint8_t)reading->doing,
			       });
}

/* Notes the size of a stream, which is known only now. */
static void note_stream(struct wh_source *source)
{
	const struct wh_reading *reading = &source->reading;
	struct wh_ledger_entry *entry = wh_ledger_find(&source->ledger, reading->file->id);

	if (entry != NULL)
		entry->size_bytes = reading->offset;
	source->progress.bytes_found += reading->offset;
}

/* A SKIPPED from the sink would be based on the digest of the whole file. */
static void note_compared(struct wh_source *source, uint64_t id)
{
	struct wh_ledger_entry *entry = wh_ledger_find(&source->ledger, id);

	if (entry != NULL)
		entry->is_compared = true;
}

static int32_t put_file_end(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;
	struct wh_record *record = &source->record;

	record->type = WH_RECORD_FILE_END;
	record->file_end.id = reading->file->id;
	record->file_end.error = reading->error;
	record->file_end.doing = (uint8_t)reading->doing;
	record->file_end.digest = (struct wh_digest){{0}};
	if (reading->error == 0 && reading->blocks != NULL)
		record->file_end.digest = *wh_blocks_whole(reading->blocks);
	else if (reading->error == 0)
		wh_hasher_digest(&reading->hasher, &record->file_end.digest);
	if (!wh_source_has_room(source, wh_record_bytes(record)))
		return 0;
	wh_source_put(source);
	if (reading->error != 0)
		tell_failed(source);
	else if (reading->file->is_stream)
		note_stream(source);
	source->progress.digest_known =
		reading->error == 0 &&
		(reading->blocks != NULL || reading->from == reading->file->segment.from);
	source->progress.digest = record->file_end.digest;
	if (reading->error == 0 && reading->blocks != NULL)
		note_compared(source, reading->file->id);
	wh_source_stop_proof(source);
	wh_source_release(source, reading->file);
	reading->step = WH_READING_NOTHING;
	source->packed_bytes = 0;
	return 1;
}

static int32_t finish_file(struct wh_source *source)
{
	struct wh_reading *reading = &source->reading;

	if (reading->file->is_stream) {
		wh_source_end_stream(source);
		return put_file_end(source);
	}

	int32_t work = wh_read_ahead_poll(&reading->ahead);
	struct wh_chunk *chunk;

	/* Drops what was read ahead for extents that are not sent. */
	while ((chunk = wh_read_ahead_give_up(&reading->ahead)) != NULL)
		wh_source_keep_chunk(source, chunk);
	if (reading->ahead.in_air > 0)
		return work;
	if (reading->error == 0) {
		reading->error = check_unchanged(reading->file);
		if (reading->error != 0)
			reading->doing = WH_DOING_CHANGED;
	}
	return work + put_file_end(source);
}

int32_t wh_source_read(struct wh_source *source)
{
	switch (source->reading.step) {
	case WH_READING_NOTHING:
		return begin(source);
	case WH_READING_COMPARES:
		return compare(source);
	case WH_READING_PROVES:
		return prove(source);
	case WH_READING_DIFFERS:
		return wh_source_differ(source);
	case WH_READING_ANNOUNCES:
		return announce(source);
	case WH_READING_SENDS:
		return send_extent(source);
	case WH_READING_STREAMS:
		return wh_source_stream(source);
	default:
		WH_ASSERT(source->reading.step == WH_READING_ENDS);
		return finish_file(source);
	}
}
