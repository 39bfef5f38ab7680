/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sink/sink_internal.h"

static void refuse(struct wh_sink *sink)
{
	wh_sink_break(sink, -EPROTO, WH_DOING_READING);
}

static void take_end(struct wh_sink *sink, const struct wh_chunk *end)
{
	struct wh_digest digest;

	wh_hasher_digest(&sink->packed, &digest);
	sink->intake.ended = true;
	if (!sink->intake.finished || end->number != sink->intake.number ||
		memcmp(&digest, &end->digest, sizeof(digest)) != 0)
		refuse(sink);
	else
		sink->step = WH_STEP_EMPTYING;
}

/* Only the last raw chunk of an extent may be short. */
static bool fits(const struct wh_sink *sink, const struct wh_chunk *chunk)
{
	const struct wh_intake *intake = &sink->intake;

	if (intake->finished || chunk->bytes == 0 || chunk->bytes > sink->config.chunk_bytes)
		return false;
	return intake->extent_bytes == 0 ||
	       chunk->bytes == wh_min_u64(sink->config.chunk_bytes, intake->extent_bytes);
}

static bool take_chunk(struct wh_sink *sink)
{
	struct wh_intake *intake = &sink->intake;
	struct wh_chunk *chunk = wh_fifo_pop(sink->config.deliver);

	WH_ASSERT(intake->chunk == NULL);
	if (chunk == NULL)
		return false;
	if (chunk->end) {
		take_end(sink, chunk);
		return true;
	}
	WH_ASSERT(chunk->number == intake->number); /* a session delivers in order */
	intake->number++;
	intake->chunk = chunk;
	intake->at = 0;
	intake->raw = intake->extent_bytes > 0;
	if (!fits(sink, chunk))
		refuse(sink);
	else if (!intake->raw && !wh_pack_check_seal(&sink->packed, chunk))
		wh_sink_break(sink, -EBADMSG, WH_DOING_DIGEST);
	return true;
}

static bool give_back(struct wh_sink *sink)
{
	if (sink->intake.chunk == NULL)
		return true;
	if (!wh_fifo_push(sink->config.recycled, sink->intake.chunk))
		return false;
	sink->intake.chunk = NULL;
	return true;
}

/* Verifies everything received so far against the source's digest, or fails the file. */
static void prove(struct wh_sink *sink, struct wh_large *file, const struct wh_digest *sent)
{
	struct wh_digest digest;

	if (file->failed)
		return;
	wh_hasher_digest(&sink->content, &digest);
	if (memcmp(&digest, sent, sizeof(digest)) != 0)
		wh_large_fail(sink, file, -EIO, WH_DOING_DIGEST);
	else
		file->proved = file->offset;
}

/* For a file transferred by blocks: skips equal blocks. */
static void leave_out(struct wh_sink *sink, struct wh_large *file, uint64_t offset)
{
	if (file->basis == NULL || offset < file->offset || offset > file->end)
		return;
	if (file->state == WH_LARGE_ANSWERED) {
		wh_basis_begin(sink, file);
		file->from = offset;
	} else if (file->state == WH_LARGE_COMING) {
		sink->progress.totals.resumed_bytes += offset - file->offset;
	}
	file->offset = offset;
}

static void take_extent(struct wh_sink *sink, const struct wh_record *record)
{
	struct wh_intake *intake = &sink->intake;
	struct wh_large *file = wh_sink_find_large(sink, record->extent.id);

	if (file != NULL && file->state == WH_LARGE_ANSWERED && file->from > file->first &&
		record->extent.offset == file->first)
		wh_large_begin_again(sink, file);
	if (file != NULL)
		leave_out(sink, file, record->extent.offset);
	if (file == NULL || intake->at != intake->chunk->bytes ||
		file->offset != record->extent.offset ||
		record->extent.bytes > file->end - file->offset ||
		(file->state != WH_LARGE_COMING && file->state != WH_LARGE_ANSWERED)) {
		refuse(sink);
		return;
	}
	if (file->is_stream &&
		!wh_rules_let(&sink->config.rules, sink->config.used, record->extent.bytes)) {
		wh_sink_break(sink, -EDQUOT, WH_DOING_ADDING);
		return;
	}
	if (file->state == WH_LARGE_ANSWERED && file->offset > file->from) {
		WH_ASSERT(sink->ahead.file == file);
		sink->content = sink->ahead.hasher;
		wh_ahead_drop(sink, file);
		prove(sink, file, &record->extent.digest);
	} else if (file->state == WH_LARGE_ANSWERED) {
		wh_hasher_init(&sink->content);
		sink->progress.totals.resumed_bytes += file->from - file->first;
		if (sink->config.keeping.resume == WH_RESUME_SPARSE && file->basis == NULL)
			sink->progress.totals.sampled_bytes += file->from - file->first;
	} else {
		prove(sink, file, &record->extent.digest);
	}
	file->state = WH_LARGE_COMING;
	intake->file = file;
	intake->extent_bytes = record->extent.bytes;
}

/* It failed at the source: neither reported to it nor counted again. */
static void fail_at_peer(
	struct wh_sink *sink, struct wh_large *file, const struct wh_record *record)
{
	struct wh_staged entry = wh_large_entry(sink, file);
	enum wh_doing doing = (enum wh_doing)record->file_end.doing;

	if (file->failed)
		return;
	file->failed = true;
	file->told = true;
	if (file->assembly != NULL)
		wh_assembly_fail(
			sink->config.assemblies, file->assembly, -record->file_end.error, doing);
	if (!wh_large_is_segment(file)) /* else its lead lane reports it */
		wh_sink_note_failed(sink, &entry, -record->file_end.error, doing, true);
}

/* The end of a stream gives its size; an empty one has not been opened yet. */
static void end_stream(struct wh_sink *sink, struct wh_large *file)
{
	if (file->state == WH_LARGE_ANSWERED) {
		wh_hasher_init(&sink->content);
		if (!sink->config.is_pipe && !file->failed)
			wh_large_reserve(sink, file, 0);
	}
	file->size_bytes = file->end = file->offset;
}

/* Sets progress.digest if FILE_END covers the whole file and it was received. */
static void know_digest(
	struct wh_sink *sink, const struct wh_large *file, const struct wh_digest *digest)
{
	sink->progress.digest_known =
		!file->failed && (file->basis != NULL || file->from == file->first);
	sink->progress.digest = *digest;
}

/* Bytes that were not sent are in the existing file. */
static void end_blocks(struct wh_sink *sink, struct wh_large *file, const struct wh_digest *digest)
{
	bool same = wh_basis_end(sink, file, digest);

	sink->intake.file = NULL;
	know_digest(sink, file, digest);
	if (same) {
		wh_large_same(sink, file);
		return;
	}
	sink->progress.totals.resumed_bytes +=
		file->end - (file->state == WH_LARGE_COMING ? file->offset : file->first);
	wh_large_close(sink, file);
}

static void take_file_end(struct wh_sink *sink, const struct wh_record *record)
{
	struct wh_large *file = wh_sink_find_large(sink, record->file_end.id);
	bool whole = record->file_end.error == 0;

	if (file == NULL || (file->state != WH_LARGE_COMING && file->state != WH_LARGE_ANSWERED) ||
		(whole && file->offset != file->end && !file->is_stream && file->basis == NULL)) {
		refuse(sink);
		return;
	}
	if (whole && file->basis != NULL) {
		end_blocks(sink, file, &record->file_end.digest);
		return;
	}
	if (whole && file->is_stream)
		end_stream(sink, file);
	if (!whole) {
		fail_at_peer(sink, file, record);
	} else {
		prove(sink, file, &record->file_end.digest);
	}
	know_digest(sink, file, &record->file_end.digest);
	sink->intake.file = NULL;
	if (sink->config.is_pipe && !file->failed)
		wh_sink_pipe_end(sink, file);
	else
		wh_large_close(sink, file);
}

static void take_same(struct wh_sink *sink, const struct wh_record *record)
{
	struct wh_large *file = wh_sink_find_large(sink, record->id.id);

	if (file == NULL || file->state != WH_LARGE_ANSWERED || !file->had)
		refuse(sink);
	else if (file->failed) /* meanwhile, in another lane */
		wh_large_close(sink, file);
	else
		wh_large_same(sink, file);
}

static void take_fault(struct wh_sink *sink, const struct wh_record *record)
{
	struct wh_staged fault = {
		.path = record->fault.path,
		.path_bytes = record->fault.path_bytes,
		.kind = WH_ENTRY_FILE,
	};

	wh_sink_note_name(sink, fault.path, fault.path_bytes, WH_ENTRY_FILE);
	wh_sink_note_failed(
		sink, &fault, -record->fault.error, (enum wh_doing)record->fault.doing, true);
}

static void take_entry(struct wh_sink *sink, const struct wh_entry *entry, uint64_t now_tsc)
{
	struct wh_intake *intake = &sink->intake;

	if (entry->id < intake->next_id) {
		refuse(sink);
		return;
	}
	intake->next_id = entry->id + 1;
	intake->entries++;
	if (entry->kind == WH_ENTRY_FILE && entry->content != WH_CONTENT_SEGMENT &&
		!sink->progress.all_found) {
		sink->progress.files_found++;
		sink->progress.bytes_found +=
			wh_choice_bytes(&sink->config.choice, entry->size_bytes);
	}
	if (entry->kind != WH_ENTRY_HARD)
		intake->files_below = intake->next_id;
	wh_sink_note_name(sink, entry->path, entry->path_bytes, entry->kind);
	wh_sink_take_entry(sink, entry, now_tsc);
}

/* FOUND: the source's totals, for display only; they may be wrong. */
static void take_found(struct wh_sink *sink, const struct wh_record *record)
{
	struct wh_sink_progress *progress = &sink->progress;

	if (progress->all_found)
		refuse(sink);
	progress->all_found = true;
	progress->files_found = record->found.files;
	progress->bytes_found = record->found.bytes;
}

static void take_finish(struct wh_sink *sink, const struct wh_record *record)
{
	struct wh_intake *intake = &sink->intake;

	if (record->finish.entries != intake->entries ||
		sink->large_count != sink->closing_count + sink->gathering)
		refuse(sink);
	intake->finished = true;
	sink->progress.totals.left_out = record->finish.left_out;
}

/* Between a file's first extent and its end no other record is allowed, and none after FINISH. */
static bool is_in_order(const struct wh_sink *sink, const struct wh_record *record)
{
	const struct wh_large *file = sink->intake.file;

	if (sink->intake.finished)
		return false;
	if (file == NULL)
		return true;
	if (record->type == WH_RECORD_EXTENT)
		return record->extent.id == file->id;
	if (record->type == WH_RECORD_WAITS)
		return file->is_stream || file->basis != NULL;
	return record->type == WH_RECORD_FILE_END && record->file_end.id == file->id;
}

static bool is_hard(const struct wh_record *record)
{
	return record->type == WH_RECORD_ENTRY && record->entry.kind == WH_ENTRY_HARD;
}

static int32_t take_record(struct wh_sink *sink, uint64_t now_tsc)
{
	struct wh_intake *intake = &sink->intake;
	struct wh_record *record = &sink->record;
	uint32_t bytes = wh_record_decode(
		intake->chunk->data + intake->at, intake->chunk->bytes - intake->at, record);

	if (bytes > 0 && is_hard(record) && wh_sink_awaits_files(sink)) {
		/* Waiting for a file that the source has not ended would never end. */
		if (sink->large_count == sink->closing_count + sink->gathering)
			return 0;
		refuse(sink);
		return 1;
	}
	if (bytes > 0 && sink->config.is_pipe && is_in_order(sink, record)) {
		int32_t done = wh_sink_pipe_inline(sink, &record->entry);

		if (done >= 0)
			return done;
	}
	intake->at += bytes;
	WH_ASSERT(intake->at <= intake->chunk->bytes);
	if (bytes == 0 || !is_in_order(sink, record)) {
		refuse(sink);
		return 1;
	}
	switch (record->type) {
	case WH_RECORD_ENTRY:
		take_entry(sink, &record->entry, now_tsc);
		return WH_SINK_WORK_FILE + (int32_t)(bytes >> 12);
	case WH_RECORD_EXTENT:
		take_extent(sink, record);
		return 1;
	case WH_RECORD_FILE_END:
		take_file_end(sink, record);
		return WH_SINK_WORK_FILE;
	case WH_RECORD_SAME:
		take_same(sink, record);
		return WH_SINK_WORK_FILE;
	case WH_RECORD_FAULT:
		take_fault(sink, record);
		return 1;
	case WH_RECORD_FINISH:
		take_finish(sink, record);
		return 1;
	case WH_RECORD_FOUND:
		take_found(sink, record);
		return 1;
	case WH_RECORD_WAITS:
		sink->progress.waits_told++;
		sink->progress.peer = record->waits;
		return 1;
	default: /* an answer, or a record of a job's beginning */
		refuse(sink);
		return 1;
	}
}

/* A record is only processed if there is room for an answer and in the batch. */
static int32_t take_one(struct wh_sink *sink, uint64_t now_tsc)
{
	struct wh_intake *intake = &sink->intake;

	if (intake->chunk == NULL)
		return take_chunk(sink) ? 1 : 0;
	if (intake->raw)
		return wh_sink_write(sink);
	if (intake->at == intake->chunk->bytes)
		return give_back(sink) ? 1 : 0;
	if (sink->closing_count == WH_SINK_CLOSING_MAX || !wh_stage_has_room(sink->stage) ||
		!wh_sink_can_answer(sink))
		return 0;
	return take_record(sink, now_tsc);
}

int32_t wh_sink_take(struct wh_sink *sink, uint64_t now_tsc)
{
	int32_t work = 0;

	while (work < WH_SINK_WORK_PER_POLL && wh_sink_is_running(sink) &&
		sink->step == WH_STEP_TAKING) {
		int32_t done = take_one(sink, now_tsc);

		if (done == 0)
			break;
		work += done;
	}
	return work;
}

int32_t wh_sink_give_back_all(struct wh_sink *sink)
{
	int32_t work = 0;

	while (give_back(sink) && work < WH_SINK_WORK_PER_POLL) {
		struct wh_chunk *chunk = wh_fifo_pop(sink->config.deliver);

		if (chunk == NULL)
			break;
		if (!chunk->end)
			sink->intake.chunk = chunk;
		work++;
	}
	return work;
}
