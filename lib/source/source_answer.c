/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "source/source_internal.h"

/* Most records of the sink, and files whose outcome one of them reports, per poll. */
#define ANSWERS_PER_POLL 64

/* Instead of an outcome: COMMITTED has reported it. */
#define WRITTEN ((enum wh_outcome_status)0)

/* The announced file, which is answered now; NULL: there is none. */
static struct wh_source_asked *take_answer(struct wh_source *source, uint64_t id)
{
	const struct wh_ledger_entry *entry = wh_source_find_open(source, id);

	if (entry == NULL || entry->asked == WH_LEDGER_NO_ASKED)
		return NULL;

	struct wh_source_asked *file = &source->asked[entry->asked];

	if (file->state != WH_ASKED_OUT)
		return NULL;
	file->state = WH_ASKED_ANSWERED;
	WH_ASSERT(source->answered_count < WH_SOURCE_ASKED);
	source->answered[(source->answered_first + source->answered_count++) % WH_SOURCE_ASKED] =
		entry->asked;
	return file;
}

static bool take_have(struct wh_source *source, const struct wh_record *record)
{
	struct wh_source_asked *file = take_answer(source, record->have.id);

	if (file == NULL || file->is_segment || file->told_count > 0)
		return false;
	file->compare = true;
	file->digest = record->have.digest;
	return true;
}

/* Checks that the sink's data end within our segment, at a block boundary. */
static bool take_want(struct wh_source *source, const struct wh_record *record)
{
	struct wh_source_asked *file = take_answer(source, record->want.id);
	uint64_t offset = record->want.offset;

	if (file == NULL)
		return false;
	if (offset == 0)
		return true;
	if (record->want.resume == WH_RESUME_OFF) {
		file->is_taken = file->is_ahead;
		source->progress.bytes_read += offset;
		return file->is_taken;
	}
	if (file->told_count > 0 || offset <= file->segment.from || offset >= file->segment.end ||
		(offset - file->segment.from) % WH_DIRECT_BYTES != 0)
		return false;
	file->resume = (enum wh_resume)record->want.resume;
	file->resume_at = offset;
	file->digest = record->want.digest;
	file->seed = record->want.seed;
	return true;
}

static bool is_dry(const struct wh_source *source)
{
	return wh_choice_has(&source->config.choice, WH_CHOICE_DRY);
}

static void tell(struct wh_source *source, struct wh_ledger_entry *entry,
	enum wh_outcome_status status, int error, uint8_t doing)
{
	bool skipped = status == WH_OUTCOME_SKIPPED;

	if (entry->is_told)
		return;
	entry->is_told = true;
	wh_source_tell(source, &(struct wh_file_result){
				       .path = wh_ledger_path(&source->ledger, entry),
				       .kind = (enum wh_entry_kind)entry->kind,
				       .bytes = entry->size_bytes,
				       .skipped = skipped,
				       .would = is_dry(source) && !skipped && error == 0,
				       .kept = status == WH_OUTCOME_KEPT,
				       .error = error,
				       .doing = doing,
				       .at_peer = error != 0,
			       });
	entry->goes = wh_choice_has(&source->config.choice, WH_CHOICE_MOVE) && error == 0 &&
		      !is_dry(source) &&
		      (!skipped || entry->is_same || entry->is_compared ||
			      !wh_choice_believes(&source->config.choice));
}

/*
 * A sink may skip a file without comparing only if the wishes allow it, and before any bytes were
 * requested.
 */
static bool may_stay(const struct wh_source *source, const struct wh_source_asked *file)
{
	return (source->config.choice.wishes != 0 || wh_source_joins(source)) &&
	       file->state == WH_ASKED_OUT;
}

/* Only a range that was sent to its end is kept. */
static bool may_be_kept(const struct wh_source *source, const struct wh_ledger_entry *entry)
{
	return wh_source_joins(source) && entry->kind == WH_ENTRY_FILE &&
	       entry->asked == WH_LEDGER_NO_ASKED;
}

static bool take_outcome(struct wh_source *source, const struct wh_record *record)
{
	struct wh_ledger_entry *entry = wh_source_find_open(source, record->outcome.id);
	bool skipped = record->outcome.status == WH_OUTCOME_SKIPPED;

	if (entry == NULL || (record->outcome.status == WH_OUTCOME_WOULD && !is_dry(source)) ||
		(record->outcome.status == WH_OUTCOME_KEPT && !may_be_kept(source, entry)))
		return false;
	if (entry->asked != WH_LEDGER_NO_ASKED) {
		struct wh_source_asked *file = &source->asked[entry->asked];

		if (skipped && !file->is_segment && !may_stay(source, file))
			return false;
		if (file->state == WH_ASKED_OUT)
			wh_source_release(source, file);
		else
			file->is_cancelled = true;
	}
	entry->has_outcome = true;
	tell(source, entry, (enum wh_outcome_status)record->outcome.status, record->outcome.error,
		record->outcome.doing);
	return true;
}

static bool take_committed(struct wh_source *source, uint64_t below)
{
	if (below < source->committed || below > source->ids_out)
		return false;
	source->committed = below;
	return true;
}

/* Complete only if every entry's outcome is known, which COMMITTED reports. */
static bool take_totals(struct wh_source *source, const struct wh_totals *totals)
{
	source->has_totals = true;
	source->progress.totals.resumed_bytes = totals->resumed_bytes;
	source->progress.totals.sampled_bytes = totals->sampled_bytes;
	source->progress.totals.began_again = totals->began_again;
	source->progress.totals.removed = totals->removed;
	return source->finish_is_put && source->ids_out == source->ledger.next &&
	       source->asked_count == 0 && source->ledger.first == source->ledger.next;
}

/* Only after all else, with the wish, and no more than may be. */
static bool take_removed(struct wh_source *source, const struct wh_item *item)
{
	char path[WH_PATH_BYTES_MAX + 1];

	if (!source->finish_is_put || !wh_choice_has(&source->config.choice, WH_CHOICE_DELETE) ||
		source->progress.totals.removed >= source->config.choice.delete_max)
		return false;
	memcpy(path, item->path, item->path_bytes);
	path[item->path_bytes] = '\0';
	wh_source_tell(source,
		&(struct wh_file_result){
			.path = path,
			.kind = item->kind == WH_ITEM_FOLDER ? WH_ENTRY_FOLDER : WH_ENTRY_FILE,
			.would = is_dry(source),
			.removed = true,
		});
	return true;
}

static int take_refused(struct wh_source *source, const struct wh_record *record)
{
	snprintf(source->progress.refusal, sizeof(source->progress.refusal), "%.*s",
		(int)record->refused.text_bytes, record->refused.text);
	return -record->refused.error;
}

/* 0, or the negative errno that ends the job. */
static int take_record(struct wh_source *source, const struct wh_record *record)
{
	bool makes_sense = false;

	if (source->has_totals)
		return -EPROTO;
	switch (record->type) {
	case WH_RECORD_WANT:
		makes_sense = take_want(source, record);
		break;
	case WH_RECORD_BLOCKS:
		makes_sense = wh_source_take_blocks(source, record);
		break;
	case WH_RECORD_HAVE:
		makes_sense = take_have(source, record);
		break;
	case WH_RECORD_OUTCOME:
		makes_sense = take_outcome(source, record);
		break;
	case WH_RECORD_COMMITTED:
		makes_sense = take_committed(source, record->committed.below);
		break;
	case WH_RECORD_TOTALS:
		makes_sense = take_totals(source, &record->totals);
		break;
	case WH_RECORD_ITEM:
		makes_sense = take_removed(source, &record->item);
		break;
	case WH_RECORD_REFUSED:
		return take_refused(source, record);
	case WH_RECORD_WAITS:
		source->progress.waits_told++;
		source->progress.peer = record->waits;
		return 0;
	default:
		break;
	}
	return makes_sense ? 0 : -EPROTO;
}

/* The sink has finished with these files as well. */
static void leave_splits(struct wh_source *source)
{
	while (source->splits_count > 0) {
		struct wh_source_split *first = &source->splits[source->splits_first];

		if (first->id >= source->ledger.first)
			break;
		wh_split_leave(source->config.splits, first->split, source->config.lane);
		source->splits_first = (source->splits_first + 1) % WH_SPLITS_MAX;
		source->splits_count--;
	}
}

/* Removes from the ledger what COMMITTED covers. */
static int32_t follow(struct wh_source *source)
{
	struct wh_ledger *ledger = &source->ledger;
	int32_t told = 0;

	for (; told < ANSWERS_PER_POLL && ledger->first < source->committed; told++) {
		struct wh_ledger_entry *entry = wh_ledger_find(ledger, ledger->first);

		WH_ASSERT(entry != NULL); /* only sent entries are committed */
		if (entry->asked != WH_LEDGER_NO_ASKED && !entry->has_outcome) {
			wh_source_fail(source, -EPROTO);
			break;
		}
		tell(source, entry, entry->is_same ? WH_OUTCOME_SKIPPED : WRITTEN, 0,
			WH_DOING_NOTHING);
		if (entry->goes)
			wh_source_remove(source, entry);
		wh_ledger_drop_first(ledger);
	}
	leave_splits(source);
	return told;
}

static void give_back(struct wh_source *source, struct wh_chunk *chunk)
{
	bool pushed = wh_fifo_push(source->config.recycled, chunk);

	WH_ASSERT(pushed); /* it has room for all chunks of its session */
}

static void give_all_back(struct wh_source *source)
{
	struct wh_chunk *chunk = source->answers;

	source->answers = NULL;
	for (; chunk != NULL; chunk = wh_fifo_pop(source->config.deliver))
		if (!chunk->end) /* the marker belongs to its sender */
			give_back(source, chunk);
}

static void take_end(struct wh_source *source, const struct wh_chunk *end)
{
	struct wh_digest digest;

	wh_hasher_digest(&source->answer_hasher, &digest);
	if (!source->has_totals || source->progress.state != WH_SOURCE_SENT ||
		end->number != source->next_answers ||
		memcmp(&digest, &end->digest, sizeof(digest)) != 0) {
		wh_source_fail(source, -EPROTO);
		return;
	}
	source->progress.state = WH_SOURCE_DONE;
}

/* False: none. */
static bool next_chunk(struct wh_source *source)
{
	struct wh_chunk *chunk =
		source->config.deliver == NULL ? NULL : wh_fifo_pop(source->config.deliver);

	if (chunk == NULL)
		return false;
	if (chunk->end) {
		take_end(source, chunk);
		return false;
	}
	if (source->has_answers && chunk->number != source->next_answers) {
		wh_source_fail(source, -EPROTO);
		give_back(source, chunk);
		return false;
	}
	source->has_answers = true;
	source->next_answers = chunk->number + 1;
	if (!wh_pack_check_seal(&source->answer_hasher, chunk)) {
		wh_source_fail(source, -EBADMSG);
		give_back(source, chunk);
		return false;
	}
	WH_ASSERT(source->answers == NULL && chunk->bytes > 0);
	source->answers = chunk;
	source->answers_at = 0;
	return true;
}

/* Processes one record of the current chunk, which is given back after its last one. */
static void read_one(struct wh_source *source)
{
	struct wh_chunk *chunk = source->answers;
	uint32_t bytes = wh_record_decode(chunk->data + source->answers_at,
		chunk->bytes - source->answers_at, &source->record);
	int error = bytes == 0 ? -EPROTO : take_record(source, &source->record);

	if (error < 0) {
		wh_source_fail(source, error);
		return;
	}
	source->answers_at += bytes;
	WH_ASSERT(source->answers_at <= chunk->bytes);
	if (source->answers_at == chunk->bytes) {
		source->answers = NULL;
		give_back(source, chunk);
	}
}

static bool goes_on(const struct wh_source *source)
{
	return source->progress.state == WH_SOURCE_RUNNING ||
	       source->progress.state == WH_SOURCE_SENT;
}

int32_t wh_source_take_answers(struct wh_source *source)
{
	int32_t work = 0;

	while (goes_on(source) && work < ANSWERS_PER_POLL) {
		/* In order: records after COMMITTED may rely on it. */
		if (source->ledger.first < source->committed) {
			work += follow(source);
			continue;
		}
		if (source->answers == NULL && !next_chunk(source))
			break;
		read_one(source);
		work++;
	}
	if (!goes_on(source))
		give_all_back(source);
	return work;
}
