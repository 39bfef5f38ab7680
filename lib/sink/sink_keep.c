/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sink/sink_internal.h"

void wh_sink_keep_init(struct wh_sink *sink)
{
	struct wh_sink_keep *keep = &sink->keep;
	char link[32];

	if (sink->config.keeping.batch_bytes == 0)
		sink->config.keeping.batch_bytes = WH_KEEP_BATCH_BYTES;
	keep->on = sink->config.keeping.journal != NULL &&
		   sink->config.keeping.resume != WH_RESUME_OFF;
	if (!keep->on)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", sink->anchor_fd);

	ssize_t bytes = readlink(link, keep->place, sizeof(keep->place) - 1);

	keep->place[bytes > 0 ? bytes : 0] = '\0';
}

/*
 * Identifies the file to the journal; sink->place.path is its path. 0, or a negative errno: it has
 * no place.
 */
static int name_file(
	struct wh_sink *sink, const struct wh_large *file, struct wh_keeping_file *named)
{
	struct wh_staged entry = wh_large_entry(sink, file);
	enum wh_doing doing;
	int rc = wh_sink_place(sink, entry.path, entry.path_bytes, &doing);

	if (rc < 0)
		return rc;
	*named = (struct wh_keeping_file){
		.anchor_fd = sink->anchor_fd,
		.target = {.device = sink->device,
			.folder = sink->anchor_inode,
			.path = sink->place.path,
			.path_bytes = (uint16_t)sink->place.bytes},
		.source = file->source,
		.range = {file->first, file->end},
	};
	if (file->is_shared)
		strcpy(named->join, sink->config.choice.join);
	return 0;
}

void wh_large_resume(
	struct wh_sink *sink, struct wh_large *file, const struct wh_recalled_lane *lane)
{
	bool dense = file->data_bytes == file->end - file->from;

	WH_ASSERT(file->from == file->first && file->offset == file->from && !file->let_in);
	if (lane->to <= file->first)
		return;
	WH_ASSERT(lane->to < file->end && (lane->to - file->first) % sink->config.chunk_bytes == 0);
	file->from = file->offset = file->reserved = lane->to;
	file->proved = file->noted = lane->to;
	file->likeness = lane->digest;
	file->seed = lane->seed;
	if (dense)
		file->data_bytes = file->end - file->from;
}

static struct wh_holds *holds(const struct wh_sink *sink)
{
	return wh_journal_holds(sink->config.keeping.journal);
}

static void set_row(struct wh_sink *sink, struct wh_large *file, int64_t row)
{
	if (file->hold.row != row) {
		wh_holds_remove(holds(sink), &file->hold);
		if (row != 0)
			wh_holds_add(holds(sink), &file->hold, row);
	}
	file->row = row;
}

/* Makes the part from an earlier job the staged file. */
static void take_over(struct wh_sink *sink, struct wh_large *file, struct wh_recalled *found)
{
	if (wh_stage_open_parts(sink->stage) < 0) {
		close(found->fd);
		return;
	}
	file->kept_fd = found->fd;
	file->staged = true;
	file->kept = true;
	file->padded = true;
	file->number = found->part.number;
	file->identity.inode = found->part.inode;
	file->ranges = found->ranges;
	if (!file->is_shared)
		set_row(sink, file, found->part.row);
	if (file->is_lead)
		wh_assembly_resume(file->assembly, file->row, found->lane);
	wh_large_resume(sink, file, &found->lane[file->is_lead ? sink->config.lane : 0]);
}

static bool may_list_part(const struct wh_sink *sink, const struct wh_large *file)
{
	return file->staged && file->assembly == NULL &&
	       wh_choice_has(&sink->config.choice, WH_CHOICE_BLOCKS);
}

static void see_recalled(struct wh_sink *sink, struct wh_recalled *found)
{
	struct wh_large *file = sink->keep.recalling;
	bool resumes = false;

	/* The job that had the part may have finished the file meanwhile. */
	if (sink->keep.waited)
		file->may_compare = !sink->config.anew;

	if (file->is_shared && found->fd < 0) {
		wh_large_fail(
			sink, file, found->error < 0 ? found->error : -EBUSY, WH_DOING_CREATING);
		return;
	}
	sink->progress.totals.began_again += found->changed;
	if (found->fd >= 0 && !file->failed)
		take_over(sink, file, found);
	else if (found->fd >= 0)
		close(found->fd);
	resumes = file->staged;
	/*
	 * A part without a span is compared by blocks. So is an existing file; or as a whole, if
	 * nothing is resumed.
	 */
	if (file->from == file->first && (file->may_list || may_list_part(sink, file)))
		file->state = WH_LARGE_LIST;
	else
		file->state = file->may_compare && !resumes ? WH_LARGE_COMPARE : WH_LARGE_RESERVE;
}

static void ask_journal(struct wh_sink *sink)
{
	struct wh_sink_keep *keep = &sink->keep;
	struct wh_keeping_file named;

	keep->recalled_bytes = 0;
	keep->recall_error = name_file(sink, keep->recalling, &named);
	if (keep->recall_error == 0)
		keep->recall = wh_recall_begin(&sink->config.keeping, &named,
			keep->recalling->is_lead ? sink->config.lanes : 1,
			sink->config.chunk_bytes);
}

static uint64_t ms_to_tsc(const struct wh_sink *sink, uint64_t ms)
{
	return wh_us_to_tsc(sink->config.hz, ms * UINT64_C(1000));
}

static int32_t recall(struct wh_sink *sink, uint64_t now_tsc)
{
	struct wh_sink_keep *keep = &sink->keep;
	struct wh_recalled found;
	uint64_t before = keep->recalled_bytes;

	if (keep->again_tsc > now_tsc)
		return 0;
	if (keep->again_tsc > 0) {
		keep->again_tsc = 0;
		ask_journal(sink);
		return 1;
	}

	if (keep->recall != NULL &&
		wh_recall_end(keep->recall, &found, &keep->recalled_bytes) == -EINPROGRESS)
		return keep->recalled_bytes != before;
	if (keep->recall == NULL)
		found = (struct wh_recalled){
			.fd = -1, .error = keep->recall_error < 0 ? keep->recall_error : -ENOMEM};
	wh_recall_free(keep->recall);
	keep->recall = NULL;
	if (found.busy && found.part.row != 0 && wh_holds_want(holds(sink), found.part.row))
		keep->recall_tsc = now_tsc;
	if (found.busy && now_tsc - keep->recall_tsc < ms_to_tsc(sink, WH_KEEP_WAIT_MS)) {
		keep->again_tsc = now_tsc + ms_to_tsc(sink, WH_KEEP_BUSY_MS);
		keep->waited = true;
		return 1;
	}
	see_recalled(sink, &found);
	keep->recalling = NULL;
	return 1;
}

static int32_t recall_next(struct wh_sink *sink, uint64_t now_tsc)
{
	struct wh_sink_keep *keep = &sink->keep;
	struct wh_large *file = wh_sink_first_large(sink, WH_LARGE_RECALL);

	if (file == NULL)
		return 0;
	keep->recalling = file;
	keep->recall_tsc = now_tsc;
	keep->waited = false;
	ask_journal(sink);
	return 1;
}

/* End of the file's data that were submitted for writing and verified. */
static uint64_t down_to(const struct wh_sink *sink, const struct wh_large *file)
{
	return file->in_air > 0 ? wh_large_below_slots(sink, file) : file->proved;
}

/* By the way the job learns whether another one has brought the range. */
static bool is_shared_due(const struct wh_sink *sink, const struct wh_large *file, bool due)
{
	uint64_t down = down_to(sink, file);

	if (!file->kept || file->failed || file->noted == file->end ||
		file->again_tsc > sink->keep.now_tsc)
		return false;
	return due || file->retracts || down == file->end ||
	       down >= file->noted + sink->config.keeping.batch_bytes;
}

static bool is_noteworthy(const struct wh_sink *sink, const struct wh_large *file, bool due)
{
	uint64_t down;

	if (file->state != WH_LARGE_NONE && file->is_shared)
		return is_shared_due(sink, file, due);
	if (file->state == WH_LARGE_NONE || file->failed || file->fd < 0 || file->unkept ||
		(wh_large_is_segment(file) ? wh_large_row(file) == 0 : !wh_sink_keeps(sink, file)))
		return false;
	if (file->basis != NULL)
		return due && file->row == 0 && !wh_basis_is_busy(file);
	down = down_to(sink, file);
	if (file->is_lead && file->row == 0)
		return true;
	return down >= file->noted + sink->config.keeping.batch_bytes ||
	       (due && down > file->noted);
}

static void forget_rows(struct wh_sink *sink, struct wh_note *note)
{
	struct wh_sink_keep *keep = &sink->keep;

	note->names_fd = sink->anchor_fd;
	note->over = keep->over_count;
	memcpy(note->row, keep->over, keep->over_count * sizeof(keep->over[0]));
	keep->over_count = 0;
}

/* The first time, moves the file to the folder of parts. */
static bool become_part(struct wh_sink *sink, struct wh_large *file)
{
	if (!wh_large_is_segment(file) && !file->kept)
		file->kept = wh_stage_keep(sink->stage, file->fd, &file->number) == 0;
	return file->kept || wh_large_is_segment(file);
}

/*
 * A newer job of the same peer wants the file's part. Notes for that job what is written at this
 * moment; an outstanding write may still fail.
 */
static void yield(struct wh_sink *sink, struct wh_large *file)
{
	file->proved = down_to(sink, file);
	wh_large_fail(sink, file, -ECANCELED, WH_DOING_YIELDING);
	file->yields = true;
}

static bool has_last_note(const struct wh_large *file)
{
	return file->yields && file->in_air == 0 && file->fd >= 0 && file->basis == NULL &&
	       !file->unkept && file->proved > file->noted;
}

bool wh_sink_keeps_notes(const struct wh_sink *sink)
{
	if (sink->keep.noting != NULL)
		return true;
	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX; i++)
		if (sink->large[i].state != WH_LARGE_NONE && has_last_note(&sink->large[i]))
			return true;
	return false;
}

static bool is_to_let_go(const struct wh_large *file)
{
	return file->state != WH_LARGE_NONE && file->failed &&
	       (wh_large_stays(file) || wh_large_is_segment(file)) &&
	       (file->fd >= 0 || file->kept_fd >= 0);
}

static bool is_at_work(const struct wh_sink *sink, const struct wh_large *file)
{
	return file->in_air > 0 || wh_sink_notes(sink, file) || has_last_note(file);
}

static void let_go(struct wh_sink *sink, struct wh_large *file)
{
	wh_basis_stop(sink, file);
	wh_sink_unkeep(sink, file);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/*
 * A file that failed and stays needs no descriptor any more, whether its source goes on or is
 * silent. Closing it unlocks the part.
 */
static int32_t let_go_all(struct wh_sink *sink)
{
	struct wh_sink_keep *keep = &sink->keep;
	int32_t work = 0;

	keep->lets_go = false;
	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX; i++) {
		struct wh_large *file = &sink->large[i];

		if (!is_to_let_go(file))
			continue;
		if (is_at_work(sink, file)) {
			keep->lets_go = true;
			continue;
		}
		let_go(sink, file);
		work++;
	}
	return work;
}

static int32_t yield_wanted(struct wh_sink *sink, uint64_t now_tsc)
{
	struct wh_sink_keep *keep = &sink->keep;
	int32_t work = 0;

	if (now_tsc - keep->looked_tsc < ms_to_tsc(sink, WH_KEEP_BUSY_MS) / 4)
		return 0;
	keep->looked_tsc = now_tsc;
	for (uint32_t i = 0; sink->large_count > 0 && i < WH_SINK_LARGE_MAX; i++) {
		struct wh_large *file = &sink->large[i];

		if (file->state == WH_LARGE_NONE || file->failed || file->hold.row == 0 ||
			!wh_hold_is_wanted(&file->hold))
			continue;
		yield(sink, file);
		work++;
	}
	return work;
}

/* Starts noting how much of the file is written, and which rows are finished. */
static bool begin_note(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_sink_keep *keep = &sink->keep;
	struct wh_note note = {.fd = -1, .lock_fd = -1};
	struct wh_keeping_file named;

	if (file != NULL) {
		uint64_t down = down_to(sink, file);

		if (!become_part(sink, file) || name_file(sink, file, &named) < 0) {
			file->unkept = true;
			return false;
		}
		note.fd = file->fd;
		if (file->is_shared) {
			note.fd = file->fd >= 0 ? file->fd : file->kept_fd;
			note.lock_fd = wh_large_lock_fd(file);
			note.anew = file->retracts;
			file->retracts = false;
		}
		note.part = (struct wh_journal_part){
			.row = wh_large_row(file),
			.number = file->number,
			.inode = file->identity.inode,
			/*
			 * Transferred by blocks, any data may be there: the next job compares them.
			 */
			.spans = file->basis == NULL && down > file->first,
			.span = {{file->first, down}},
		};
		keep->noted_to = down;
	}
	forget_rows(sink, &note);
	keep->noting = wh_noting_begin(
		&sink->config.keeping, file != NULL ? &named : NULL, keep->place, &note);
	keep->file = keep->noting != NULL ? file : NULL;
	return keep->noting != NULL;
}

static bool begin_retract(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_sink_keep *keep = &sink->keep;
	struct wh_note note = {
		.fd = -1,
		.lock_fd = -1,
		.retract_row = wh_large_row(file),
		.retracted = {file->first, file->end},
	};

	keep->noting = wh_noting_begin(&sink->config.keeping, NULL, keep->place, &note);
	keep->file = keep->noting != NULL ? file : NULL;
	return keep->noting != NULL;
}

/* All ranges are there, but another job has the part still: its peer may be gone. */
static bool may_wait(struct wh_sink *sink, struct wh_large *file)
{
	uint64_t now_tsc = sink->keep.now_tsc;

	if (file->again_tsc == 0)
		file->waits_tsc = now_tsc;
	file->again_tsc = now_tsc + ms_to_tsc(sink, WH_KEEP_BUSY_MS);
	return now_tsc - file->waits_tsc < ms_to_tsc(sink, WH_KEEP_WAIT_MS);
}

static void see_shared(
	struct wh_sink *sink, struct wh_large *file, int rc, const struct wh_noted *noted)
{
	if (rc == -EBUSY && may_wait(sink, file))
		return;
	file->noted = sink->keep.noted_to;
	file->is_whole = noted->is_whole;
	if (rc < 0)
		wh_large_fail(sink, file, rc,
			rc == -ECANCELED ? WH_DOING_YIELDING
			: rc == -EBUSY   ? WH_DOING_RENAMING
					 : WH_DOING_SYNCING);
}

static void see_noted(struct wh_sink *sink, int rc, const struct wh_noted *noted)
{
	struct wh_sink_keep *keep = &sink->keep;
	struct wh_large *file = keep->file;

	keep->file = NULL;
	if (file == NULL) { /* failed meanwhile */
		if (keep->dropped && rc == 0 && noted->row != 0)
			wh_sink_row_is_over(sink, noted->row);
	} else if (file->retracts) {
		file->retracts = false;
		if (rc < 0)
			wh_large_fail(sink, file, rc, WH_DOING_WRITING);
	} else if (file->is_shared) {
		see_shared(sink, file, rc, noted);
	} else if (rc == 0) {
		file->unkept = noted->row == 0;
		file->noted = keep->noted_to;
		if (!wh_large_is_segment(file))
			set_row(sink, file, noted->row);
		if (file->is_lead)
			wh_assembly_set_row(file->assembly, noted->row);
	}
	keep->dropped = false;
}

static int32_t note_next(struct wh_sink *sink, uint64_t now_tsc)
{
	struct wh_sink_keep *keep = &sink->keep;
	bool due = now_tsc - keep->noted_tsc >= ms_to_tsc(sink, WH_KEEP_BATCH_MS);

	for (uint32_t i = 0; sink->large_count > 0 && i < WH_SINK_LARGE_MAX; i++) {
		struct wh_large *file = &sink->large[i];

		if (file->state != WH_LARGE_NONE && file->retracts && !file->failed &&
			!file->is_shared) {
			if (begin_retract(sink, file))
				return 1;
			file->retracts = false;
			wh_large_fail(sink, file, -ENOMEM, WH_DOING_WRITING);
		} else if (file->state != WH_LARGE_NONE && has_last_note(file)) {
			file->yields = false;
			return begin_note(sink, file);
		} else if (is_noteworthy(sink, file, due)) {
			keep->noted_tsc = now_tsc;
			return begin_note(sink, file);
		}
	}
	return keep->over_count > 0 && begin_note(sink, NULL);
}

int32_t wh_sink_poll_keep(struct wh_sink *sink, uint64_t now_tsc)
{
	struct wh_sink_keep *keep = &sink->keep;
	struct wh_noted noted;
	int32_t work = 0;

	if (!keep->on && !wh_sink_joins(sink))
		return 0;
	keep->now_tsc = now_tsc;
	if (keep->recalling != NULL)
		work += recall(sink, now_tsc);
	if (keep->recalling == NULL && wh_sink_is_running(sink))
		work += recall_next(sink, now_tsc);
	if (keep->on)
		work += yield_wanted(sink, now_tsc);
	if (keep->lets_go)
		work += let_go_all(sink);
	if (keep->noting == NULL)
		return work + note_next(sink, now_tsc);

	int rc = wh_noting_end(keep->noting, &noted);

	if (rc == -EINPROGRESS)
		return work;
	wh_noting_free(keep->noting);
	keep->noting = NULL;
	see_noted(sink, rc, &noted);
	return work + 1;
}

/* Rows beyond the limit are removed when they are found unusable. */
void wh_sink_row_is_over(struct wh_sink *sink, int64_t row)
{
	struct wh_sink_keep *keep = &sink->keep;

	if (row != 0 && keep->over_count < WH_NOTE_ROWS_MAX)
		keep->over[keep->over_count++] = row;
}

void wh_sink_unkeep(struct wh_sink *sink, struct wh_large *file)
{
	struct wh_sink_keep *keep = &sink->keep;

	if (keep->recalling == file && file != NULL) {
		wh_recall_free(keep->recall);
		keep->recall = NULL;
		keep->recalling = NULL;
		keep->again_tsc = 0;
	}
	if (keep->file == file && file != NULL) {
		keep->file = NULL;
		keep->dropped = !wh_large_is_segment(file);
	}
	if (keep->on)
		wh_holds_remove(holds(sink), &file->hold);
	if (file->kept_fd >= 0)
		close(file->kept_fd);
	file->kept_fd = -1;
}

void wh_large_begin_again(struct wh_sink *sink, struct wh_large *file)
{
	WH_ASSERT(file->from > file->first && file->state == WH_LARGE_ANSWERED);
	wh_large_give_up_room(sink, file);
	file->let_in = false;
	if (file->data_bytes == file->end - file->from)
		file->data_bytes = file->end - file->first;
	file->from = file->offset = file->reserved = file->first;
	file->proved = file->noted = file->first;
	file->retracts = file->is_shared || wh_large_row(file) != 0;
	sink->progress.totals.began_again++;
}

/* Removes a file without a row, or one that failed. */
static void leave_part(struct wh_sink *sink, const struct wh_large *file)
{
	struct wh_staged entry = wh_large_entry(sink, file);

	if (file->is_shared || (file->row != 0 && (!file->failed || wh_large_stays(file))))
		return;
	wh_stage_discard(sink->stage, &entry);
	wh_sink_row_is_over(sink, file->row);
}

/* At the sink's end: notes what is written and not noted yet. */
void wh_sink_end_keep(struct wh_sink *sink)
{
	struct wh_sink_keep *keep = &sink->keep;

	if (!keep->on && !wh_sink_joins(sink))
		return;
	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX; i++) {
		struct wh_large *file = &sink->large[i];

		if (file->state == WH_LARGE_NONE)
			continue;
		if (keep->noting == NULL && is_noteworthy(sink, file, true))
			begin_note(sink, file);
		if (file->kept && keep->file != file)
			leave_part(sink, file);
		wh_sink_unkeep(sink, file);
	}
	if (keep->noting == NULL && keep->over_count > 0)
		begin_note(sink, NULL);
	wh_noting_free(keep->noting);
	keep->noting = NULL;
}
