/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdatomic.h>

#include "base/assert.h"
#include "base/clock.h"
#include "sink/sink_internal.h"

struct wh_staged wh_large_entry(const struct wh_sink *sink, const struct wh_large *file)
{
	return (struct wh_staged){
		.id = file->id,
		.bytes = file->size_bytes,
		.number = file->number,
		.identity = file->identity,
		.kept = file->kept,
		.only_new = file->only_new,
		.row = file->row,
		.ranges = file->ranges,
		.lock_fd = -1,
		.path = sink->large_paths[file - sink->large],
		.path_bytes = file->path_bytes,
		.kind = WH_ENTRY_FILE,
	};
}

struct wh_large *wh_sink_find_large(struct wh_sink *sink, uint64_t id)
{
	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX; i++)
		if (sink->large[i].state != WH_LARGE_NONE && sink->large[i].id == id)
			return &sink->large[i];
	return NULL;
}

struct wh_large *wh_sink_first_large(struct wh_sink *sink, enum wh_large_state state)
{
	struct wh_large *first = NULL;

	for (uint32_t i = 0; i < WH_SINK_LARGE_MAX; i++) {
		struct wh_large *file = &sink->large[i];

		if (file->state == state && !file->failed &&
			(first == NULL || file->id < first->id))
			first = file;
	}
	return first;
}

uint64_t wh_sink_least_large_id(const struct wh_sink *sink)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; sink->large_count > 0 && i < WH_SINK_LARGE_MAX; i++)
		if (sink->large[i].state != WH_LARGE_NONE)
			least = wh_min_u64(least, sink->large[i].id);
	return least;
}

/* Reduces the promise to what is still needed. */
static void take_back_to(struct wh_sink *sink, struct wh_large *file, uint64_t needed)
{
	if (file->promised <= needed)
		return;

	uint64_t bytes = file->promised - needed;

	wh_room_take_back(sink->room, bytes);
	if (sink->config.share != NULL)
		atomic_fetch_sub(&sink->config.share->promised_bytes, bytes);
	file->promised = needed;
}

void wh_large_take_back(struct wh_sink *sink, struct wh_large *file, uint64_t bytes)
{
	take_back_to(sink, file, file->promised - wh_min_u64(bytes, file->promised));
}

void wh_large_wrote(struct wh_sink *sink, struct wh_large *file, uint32_t bytes)
{
	if (file->reserved == file->from)
		wh_large_take_back(sink, file, bytes);
}

static void went_on(struct wh_sink *sink, struct wh_large *file, uint32_t bytes)
{
	file->offset += bytes;
	WH_ASSERT(file->offset <= file->end);
	take_back_to(sink, file, file->end - file->offset);
}

void wh_large_give_up_room(struct wh_sink *sink, struct wh_large *file)
{
	take_back_to(sink, file, 0);
}

void wh_ahead_note(struct wh_sink *sink, struct wh_large *file, const uint8_t *bytes)
{
	sink->ahead.file = file;
	wh_hasher_init(&sink->ahead.hasher);
	wh_hasher_add(&sink->ahead.hasher, bytes, WH_INLINE_BYTES_MAX);
	went_on(sink, file, WH_INLINE_BYTES_MAX);
}

void wh_ahead_drop(struct wh_sink *sink, const struct wh_large *file)
{
	if (sink->ahead.file != file)
		return;
	free(sink->ahead.bytes);
	sink->ahead = (struct wh_sink_ahead){0};
}

void wh_sink_raw_done(struct wh_sink *sink, uint32_t bytes)
{
	struct wh_intake *intake = &sink->intake;

	WH_ASSERT(bytes <= intake->extent_bytes && intake->raw);
	intake->extent_bytes -= bytes;
	went_on(sink, intake->file, bytes);
	intake->raw = false;
}

bool wh_sink_keeps(const struct wh_sink *sink, const struct wh_large *file)
{
	return file->is_shared ||
	       (sink->keep.on && !wh_large_is_segment(file) && !file->is_stream &&
		       file->size_bytes > sink->config.keeping.batch_bytes);
}

bool wh_large_stays(const struct wh_large *file)
{
	return file->is_shared || (file->kept && file->row != 0 &&
					  (file->error == -ECANCELED || wh_is_full(file->error)));
}

/* The row of a split file belongs to its lead lane. */
int64_t wh_large_row(const struct wh_large *file)
{
	return wh_large_is_segment(file) ? wh_assembly_row(file->assembly) : file->row;
}

/* End of the file's verified data of which nothing is in a slot. */
uint64_t wh_large_below_slots(const struct wh_sink *sink, const struct wh_large *file)
{
	uint64_t down = file->proved;

	for (uint32_t i = 0; i < WH_RING_DEPTH; i++)
		if (sink->slots[i].chunk != NULL && sink->slots[i].file == file &&
			(sink->written & UINT32_C(1) << i) == 0)
			down = wh_min_u64(down, sink->slots[i].offset);
	return down;
}

/*
 * Remembers for the last note what is written. A slot whose write failed is outstanding no more,
 * but its bytes are missing.
 */
static void note_last(struct wh_sink *sink, struct wh_large *file)
{
	if (wh_large_is_segment(file) ? wh_large_row(file) == 0 : !wh_sink_keeps(sink, file))
		return;
	file->proved = wh_large_below_slots(sink, file);
	file->yields = true;
}

void wh_large_fail(struct wh_sink *sink, struct wh_large *file, int error, enum wh_doing doing)
{
	WH_ASSERT(error < 0);
	if (file->failed)
		return;
	file->failed = true;
	file->error = error;
	file->doing = (uint8_t)doing;
	if (wh_is_full(error))
		note_last(sink, file);
	wh_large_give_up_room(sink, file);
	sink->keep.lets_go = true;
	sink->untold++;
	if (sink->reserving == file)
		sink->reserving = NULL;
	if (file->assembly != NULL)
		wh_assembly_fail(sink->config.assemblies, file->assembly, error, doing);
}

/* The folder that the file goes into; sets sink->place. */
static int place(struct wh_sink *sink, const struct wh_large *file)
{
	struct wh_staged entry = wh_large_entry(sink, file);
	enum wh_doing doing;

	return wh_sink_place(sink, entry.path, entry.path_bytes, &doing);
}

int wh_large_open_existing(struct wh_sink *sink, const struct wh_large *file, struct stat *status)
{
	int folder_fd = place(sink, file);

	return folder_fd < 0 ? folder_fd : wh_sink_open_existing(sink, folder_fd, status);
}
