/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_common.h>

#include "base/assert.h"
#include "sink/sink_internal.h"

bool wh_sink_can_answer(struct wh_sink *sink)
{
	return wh_pack_has_room(&sink->answers, WH_ANSWER_BYTES_MAX);
}

static void answer(struct wh_sink *sink, const struct wh_record *record)
{
	WH_ASSERT(wh_record_bytes(record) <= WH_ANSWER_BYTES_MAX);
	wh_pack_put(&sink->answers, record);
}

bool wh_sink_tell_waits(struct wh_sink *sink, const struct wh_waits_told *told)
{
	struct wh_record *record = &sink->answer;

	if (!wh_sink_is_running(sink) || sink->step >= WH_STEP_TELLING || !wh_sink_can_answer(sink))
		return false;
	record->type = WH_RECORD_WAITS;
	record->waits = *told;
	answer(sink, record);
	return wh_pack_flush(&sink->answers);
}

void wh_sink_answer_id(struct wh_sink *sink, enum wh_record_type type, uint64_t id)
{
	struct wh_record *record = &sink->answer;

	record->type = type;
	if (type == WH_RECORD_COMMITTED)
		record->committed.below = id;
	else
		record->id.id = id;
	answer(sink, record);
}

static void answer_outcome(struct wh_sink *sink, uint64_t id, enum wh_outcome_status status,
	int error, enum wh_doing doing)
{
	struct wh_record *record = &sink->answer;

	WH_ASSERT((status == WH_OUTCOME_FAILED) == (error < 0));
	record->type = WH_RECORD_OUTCOME;
	record->outcome.id = id;
	record->outcome.status = (uint8_t)status;
	record->outcome.doing = (uint8_t)doing;
	record->outcome.error = -error;
	answer(sink, record);
}

void wh_sink_answer_want(struct wh_sink *sink, const struct wh_large *file)
{
	struct wh_record *record = &sink->answer;
	bool resumes = file->from > file->first;

	record->type = WH_RECORD_WANT;
	record->want.id = file->id;
	record->want.offset = resumes || file->offset > file->first ? file->offset : 0;
	record->want.digest = resumes ? file->likeness : (struct wh_digest){{0}};
	record->want.seed = resumes ? file->seed : 0;
	record->want.resume = resumes ? (uint8_t)sink->config.keeping.resume : WH_RESUME_OFF;
	answer(sink, record);
}

bool wh_sink_answer_blocks(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_basis *basis = file->basis;
	struct wh_record *record = &sink->answer;
	uint8_t digests[WH_BLOCKS_TOLD_MAX * WH_DIGEST_BYTES];
	uint32_t count = RTE_MIN(basis->count - basis->told, (uint32_t)WH_BLOCKS_TOLD_MAX);

	record->type = WH_RECORD_BLOCKS;
	record->blocks.id = file->id;
	record->blocks.first = basis->told;
	record->blocks.count = count;
	record->blocks.digests = digests;
	if (!wh_pack_has_room(&sink->answers, wh_record_bytes(record)))
		return false;
	for (uint32_t i = 0; i < count; i++)
		memcpy(digests + i * WH_DIGEST_BYTES,
			wh_blocks_digest(basis->blocks, basis->told + i), WH_DIGEST_BYTES);
	wh_pack_put(&sink->answers, record);
	basis->told += count;
	return true;
}

void wh_sink_answer_have(struct wh_sink *sink, uint64_t id, const struct wh_digest *digest)
{
	struct wh_record *record = &sink->answer;

	record->type = WH_RECORD_HAVE;
	record->have.id = id;
	record->have.digest = *digest;
	answer(sink, record);
}

void wh_sink_answer_totals(struct wh_sink *sink)
{
	struct wh_record *record = &sink->answer;

	record->type = WH_RECORD_TOTALS;
	record->totals = sink->progress.totals;
	answer(sink, record);
}

void wh_sink_answer_needless(struct wh_sink *sink, uint64_t id)
{
	answer_outcome(sink, id, WH_OUTCOME_SKIPPED, 0, WH_DOING_NOTHING);
}

static void report(
	struct wh_sink *sink, struct wh_file_result *result, const char *path, size_t path_bytes)
{
	WH_ASSERT(path_bytes <= WH_PATH_BYTES_MAX);
	if (sink->config.on_file == NULL)
		return;
	memcpy(sink->told_path, path, path_bytes);
	sink->told_path[path_bytes] = '\0';
	result->path = sink->told_path;
	sink->config.on_file(sink->config.context, result);
}

void wh_sink_note_failed(struct wh_sink *sink, const struct wh_staged *file, int error,
	enum wh_doing doing, bool at_peer)
{
	struct wh_file_result result = {
		.kind = (enum wh_entry_kind)file->kind,
		.bytes = file->bytes,
		.error = -error,
		.doing = (uint8_t)doing,
		.at_peer = at_peer,
	};

	WH_ASSERT(error < 0 && doing != WH_DOING_NOTHING);
	if (doing == WH_DOING_PASSING)
		sink->progress.totals.passed_over++;
	else
		sink->progress.totals.failed++;
	report(sink, &result, file->path, file->path_bytes);
}

/*
 * Decides whether an error ends the bundle. On a full disk every further file would fail, so it
 * does. A file that does not fit leaves room for smaller ones, so several may fail. Attributes may
 * find no room in their own inode, which says nothing about the disk.
 */
static void see_full(struct wh_sink *sink, int error, enum wh_doing doing)
{
	if (doing == WH_DOING_ATTRIBUTES || !wh_is_full(error))
		return;
	if (doing == WH_DOING_RESERVING && ++sink->unfit < WH_SINK_UNFIT_MAX)
		return;
	sink->full = error;
	sink->full_doing = doing;
}

void wh_sink_tell_failed(
	struct wh_sink *sink, const struct wh_staged *file, int error, enum wh_doing doing)
{
	if (sink->full != 0 && wh_is_full(error))
		return;
	see_full(sink, error, doing);
	wh_sink_note_failed(sink, file, error, doing, false);
	answer_outcome(sink, file->id, WH_OUTCOME_FAILED, error, doing);
}

void wh_sink_tell_skipped(struct wh_sink *sink, const struct wh_staged *file)
{
	struct wh_file_result result = {
		.kind = WH_ENTRY_FILE, .bytes = file->bytes, .skipped = true};

	answer_outcome(sink, file->id, WH_OUTCOME_SKIPPED, 0, WH_DOING_NOTHING);
	if (file->kind != WH_ENTRY_FILE)
		return;
	sink->progress.totals.skipped++;
	report(sink, &result, file->path, file->path_bytes);
}

/* Counts and reports a file that is written, or in a dry run would be. */
static void note_file(
	struct wh_sink *sink, const struct wh_staged *file, struct wh_file_result result)
{
	if (file->kind != WH_ENTRY_FILE)
		return;
	result.kind = WH_ENTRY_FILE;
	result.bytes = wh_choice_bytes(&sink->config.choice, file->bytes);
	sink->progress.totals.files++;
	sink->progress.totals.bytes += result.bytes;
	report(sink, &result, file->path, file->path_bytes);
}

void wh_sink_tell_would(struct wh_sink *sink, const struct wh_staged *file)
{
	answer_outcome(sink, file->id, WH_OUTCOME_WOULD, 0, WH_DOING_NOTHING);
	note_file(sink, file, (struct wh_file_result){.would = true});
}

void wh_sink_tell_kept(struct wh_sink *sink, const struct wh_staged *file)
{
	answer_outcome(sink, file->id, WH_OUTCOME_KEPT, 0, WH_DOING_NOTHING);
	note_file(sink, file, (struct wh_file_result){.kept = true});
}

void wh_sink_note_written(struct wh_sink *sink, const struct wh_staged *file)
{
	note_file(sink, file, (struct wh_file_result){0});
}

bool wh_sink_tell_removed(struct wh_sink *sink, const char *path, enum wh_entry_kind kind)
{
	struct wh_record *record = &sink->answer;
	struct wh_file_result result = {
		.kind = kind,
		.would = wh_sink_is_dry(sink),
		.removed = true,
	};

	record->type = WH_RECORD_ITEM;
	record->item = (struct wh_item){
		.kind = kind == WH_ENTRY_FOLDER ? WH_ITEM_FOLDER : WH_ITEM_FILE,
		.path = path,
		.path_bytes = (uint16_t)strlen(path),
	};
	if (!wh_pack_has_room(&sink->answers, wh_record_bytes(record)))
		return false;
	wh_pack_put(&sink->answers, record);
	sink->progress.totals.removed++;
	report(sink, &result, path, record->item.path_bytes);
	return true;
}
