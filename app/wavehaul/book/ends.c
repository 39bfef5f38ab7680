/* SPDX-License-Identifier: BSD-3-Clause */
#include "book/ends.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert(WH_PATH_BYTES_MAX < WH_HOOK_PATH_BYTES, "a path fits");

static struct wh_ends_lanes *find(struct wh_ends *ends, uint64_t number)
{
	for (uint32_t i = 0; i < WH_ENDS_MAX; i++)
		if (ends->lanes[i].number == number)
			return &ends->lanes[i];
	return NULL;
}

static void add(struct wh_ends_lanes *lanes, const struct wh_book_entry *entry)
{
	lanes->files += entry->files;
	lanes->failed += entry->failed;
	lanes->bytes += entry->bytes;
	if (lanes->status == 0)
		lanes->status = entry->status;
}

static void note_other(struct wh_ends *ends, const struct wh_book_entry *entry)
{
	struct wh_ends_lanes *lanes = find(ends, entry->number);

	if (lanes == NULL) {
		lanes = &ends->lanes[ends->next++ % WH_ENDS_MAX];
		*lanes = (struct wh_ends_lanes){.number = entry->number};
	}
	add(lanes, entry);
}

bool wh_ends_take(
	struct wh_ends *ends, const struct wh_book_entry *entry, struct wh_hook_event *event)
{
	char print[WH_FINGERPRINT_BYTES];
	struct wh_ends_lanes *others = find(ends, entry->number);
	struct wh_ends_lanes all = {0};

	if (entry->side != WH_ENTRY_SERVED ||
		(strcmp(entry->verb, "send") != 0 && strcmp(entry->verb, "get") != 0))
		return false;
	if (entry->lane != 0) {
		note_other(ends, entry);
		return false;
	}
	if (others != NULL && others->number != 0) {
		all = *others;
		*others = (struct wh_ends_lanes){0};
	}
	add(&all, entry);
	*event = (struct wh_hook_event){
		.files = all.files,
		.failed = all.failed,
		.bytes = all.bytes,
		.status = all.status,
	};
	snprintf(event->side, sizeof(event->side), "%s", wh_entry_side_name(entry->side));
	snprintf(event->state, sizeof(event->state), "%s", all.status == 0 ? "done" : "failed");
	snprintf(event->verb, sizeof(event->verb), "%.7s", entry->verb);
	snprintf(event->peer, sizeof(event->peer), "%.255s", wh_entry_who(entry, print));
	snprintf(event->error, sizeof(event->error), "%s", entry->why);
	snprintf(event->path, sizeof(event->path), "%s", entry->path);
	return true;
}
