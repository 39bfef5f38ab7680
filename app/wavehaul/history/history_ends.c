/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/history_ends.h"

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

static void add(struct wh_ends_lanes *lanes, const struct wh_history_record *record)
{
	lanes->files += record->files;
	lanes->failed += record->failed;
	lanes->bytes += record->bytes;
	if (lanes->status == 0)
		lanes->status = record->status;
}

static void note_other(struct wh_ends *ends, const struct wh_history_record *record)
{
	struct wh_ends_lanes *lanes = find(ends, record->number);

	if (lanes == NULL) {
		lanes = &ends->lanes[ends->next++ % WH_ENDS_MAX];
		*lanes = (struct wh_ends_lanes){.number = record->number};
	}
	add(lanes, record);
}

bool wh_ends_take(
	struct wh_ends *ends, const struct wh_history_record *record, struct wh_hook_event *event)
{
	char print[WH_FINGERPRINT_BYTES];
	struct wh_ends_lanes *others = find(ends, record->number);
	struct wh_ends_lanes all = {0};

	if (record->side != WH_HISTORY_SERVED ||
		(strcmp(record->verb, "send") != 0 && strcmp(record->verb, "get") != 0))
		return false;
	if (record->lane != 0) {
		note_other(ends, record);
		return false;
	}
	if (others != NULL && others->number != 0) {
		all = *others;
		*others = (struct wh_ends_lanes){0};
	}
	add(&all, record);
	*event = (struct wh_hook_event){
		.files = all.files,
		.failed = all.failed,
		.bytes = all.bytes,
		.status = all.status,
	};
	snprintf(event->side, sizeof(event->side), "%s", wh_history_side_name(record->side));
	snprintf(event->state, sizeof(event->state), "%s", all.status == 0 ? "done" : "failed");
	snprintf(event->verb, sizeof(event->verb), "%.7s", record->verb);
	snprintf(event->peer, sizeof(event->peer), "%.255s", wh_history_who(record, print));
	snprintf(event->error, sizeof(event->error), "%s", record->why);
	snprintf(event->path, sizeof(event->path), "%s", record->path);
	return true;
}
