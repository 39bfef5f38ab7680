/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"
#include "source/source_internal.h"

/* Begins an ENTRY for the item; kind, content and texts are still to be set. */
struct wh_entry *wh_source_begin_entry(struct wh_source *source, const struct stat *status)
{
	int fd = source->item.found == WH_WALK_FOLDER ? source->item.own_fd : source->item_fd;

	source->record.type = WH_RECORD_ENTRY;
	source->record.entry = (struct wh_entry){
		.id = source->ledger.next,
		.mode = status->st_mode & 07777,
		.mtime_s = status->st_mtim.tv_sec,
		.mtime_ns = (uint32_t)status->st_mtim.tv_nsec,
		.path = source->item.path,
		.path_bytes = source->item.path_bytes,
	};
	source->entry_inode = status->st_ino;
	wh_source_see_more(source, status, fd, &source->record.entry);
	return &source->record.entry;
}

/* Whether the current ENTRY can be put now. */
bool wh_source_entry_has_room(struct wh_source *source)
{
	int error = wh_ledger_reserve(&source->ledger, source->record.entry.path_bytes);

	if (error == -ENOMEM)
		wh_source_fail(source, error);
	source->ledger_is_full = error == -ENOBUFS;
	return error == 0 && wh_source_has_room(source, wh_record_bytes(&source->record));
}

struct wh_ledger_entry *wh_source_put_entry(struct wh_source *source)
{
	const struct wh_entry *entry = &source->record.entry;

	WH_ASSERT(source->record.type == WH_RECORD_ENTRY && entry->id == source->ledger.next);

	struct wh_ledger_entry *booked =
		wh_ledger_add(&source->ledger, entry->path, entry->path_bytes);

	booked->kind = entry->kind;
	booked->size_bytes = wh_choice_bytes(&source->config.choice, entry->size_bytes);
	booked->given = source->item.given;
	booked->mtime_s = entry->mtime_s;
	booked->mtime_ns = entry->mtime_ns;
	booked->inode = source->entry_inode;
	wh_source_put(source);
	if (entry->content != WH_CONTENT_SEGMENT)
		wh_source_add_left_out(source);
	source->entries++;
	booked->is_told = entry->content == WH_CONTENT_SEGMENT; /* its lead lane reports it */
	if (entry->kind == WH_ENTRY_FILE && entry->content != WH_CONTENT_SEGMENT) {
		source->progress.files_found++;
		source->progress.bytes_found += booked->size_bytes;
	}
	return booked;
}

/* Puts the current ENTRY, which asks, with room ensured; takes over the descriptor. */
void wh_source_put_asking(struct wh_source *source, struct wh_split *split, int fd)
{
	const struct wh_entry *entry = &source->record.entry;
	const struct wh_source_config *config = &source->config;
	struct wh_source_asked *file = source->asked;

	WH_ASSERT(source->asked_count < WH_SOURCE_ASKED);
	while (file->state != WH_ASKED_FREE)
		file++;
	*file = (struct wh_source_asked){
		.id = entry->id,
		.fd = fd < 0 ? -1 : fd,
		.error = fd < 0 ? -fd : 0,
		.state = WH_ASKED_OUT,
		.is_segment = entry->content == WH_CONTENT_SEGMENT,
		.is_stream = entry->content == WH_CONTENT_STREAM,
		.is_ahead = entry->content == WH_CONTENT_AHEAD,
		.status = source->item_status,
		.segment = {.end = entry->size_bytes},
		.base = entry->content == WH_CONTENT_ASK ? source->item_base : 0,
	};
	if (wh_source_joins(source)) {
		file->segment.from = source->item_base;
		file->segment.end =
			source->item_base + wh_choice_bytes(&config->choice, entry->size_bytes);
		file->base = 0;
	}
	if (split != NULL) {
		WH_ASSERT(source->splits_count < WH_SPLITS_MAX);
		file->segment = wh_segment_of(entry->size_bytes, config->lanes, config->lane);
		source->splits[(source->splits_first + source->splits_count++) % WH_SPLITS_MAX] =
			(struct wh_source_split){.split = split, .id = entry->id};
	}
	source->asked_count++;
	wh_source_put_entry(source)->asked = (uint16_t)(file - source->asked);
}
