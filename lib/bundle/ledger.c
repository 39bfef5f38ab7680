/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/ledger.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define PATHS_AT_FIRST 16384

static_assert(PATHS_AT_FIRST >= 2 * (WH_PATH_BYTES_MAX + 1), "a path fits before or after the end");

static struct wh_ledger_entry *at(const struct wh_ledger *ledger, uint64_t id)
{
	return &ledger->entries[id & (ledger->entry_room - 1)];
}

/* Both rings have a power of two as size and hold everything from the oldest entry to the next. */
static void check(const struct wh_ledger *ledger)
{
	WH_ASSERT(ledger->first <= ledger->next);
	WH_ASSERT(ledger->next - ledger->first <= ledger->entry_room);
	WH_ASSERT((ledger->entry_room & (ledger->entry_room - 1)) == 0);
	WH_ASSERT(ledger->entry_room <= ledger->entries_max);
	WH_ASSERT((ledger->path_room & (ledger->path_room - 1)) == 0);
	WH_ASSERT(ledger->path_room <= WH_LEDGER_PATHS_MAX);
}

int wh_ledger_init(struct wh_ledger *ledger, uint32_t entries_max)
{
	WH_ASSERT(entries_max >= WH_LEDGER_ENTRIES_MIN && entries_max <= WH_LEDGER_ENTRIES_MAX);
	WH_ASSERT((entries_max & (entries_max - 1)) == 0);
	*ledger = (struct wh_ledger){
		.entries = malloc(WH_LEDGER_ENTRIES_MIN * sizeof(ledger->entries[0])),
		.paths = malloc(PATHS_AT_FIRST),
		.entry_room = WH_LEDGER_ENTRIES_MIN,
		.path_room = PATHS_AT_FIRST,
		.entries_max = entries_max,
	};
	if (ledger->entries != NULL && ledger->paths != NULL)
		return 0;
	wh_ledger_free(ledger);
	return -ENOMEM;
}

void wh_ledger_free(struct wh_ledger *ledger)
{
	free(ledger->entries);
	free(ledger->paths);
	*ledger = (struct wh_ledger){0};
}

/* Position for a path of that length: never across the end of the ring. */
static uint64_t place_path(uint64_t next, uint32_t room, uint32_t bytes)
{
	uint32_t to_end = room - (uint32_t)(next & (room - 1));

	return bytes <= to_end ? next : next + to_end;
}

static bool path_fits(const struct wh_ledger *ledger, uint32_t bytes)
{
	uint64_t oldest = ledger->first == ledger->next ? ledger->path_next
							: at(ledger, ledger->first)->path_at;
	uint64_t place = place_path(ledger->path_next, ledger->path_room, bytes);

	return place + bytes - oldest <= ledger->path_room;
}

static int grow_entries(struct wh_ledger *ledger)
{
	uint32_t room = ledger->entry_room * 2;

	if (room > ledger->entries_max)
		return -ENOBUFS;

	struct wh_ledger_entry *entries = malloc(room * sizeof(entries[0]));

	if (entries == NULL)
		return -ENOMEM;
	for (uint64_t id = ledger->first; id < ledger->next; id++)
		entries[id & (room - 1)] = *at(ledger, id);
	free(ledger->entries);
	ledger->entries = entries;
	ledger->entry_room = room;
	return 0;
}

/* Copies paths, since their positions depend on the size. */
static int grow_paths(struct wh_ledger *ledger)
{
	uint32_t room = ledger->path_room * 2;
	uint64_t next = 0;

	if (room > WH_LEDGER_PATHS_MAX)
		return -ENOBUFS;

	char *paths = malloc(room);

	if (paths == NULL)
		return -ENOMEM;
	for (uint64_t id = ledger->first; id < ledger->next; id++) {
		struct wh_ledger_entry *entry = at(ledger, id);
		uint32_t bytes = entry->path_bytes + UINT32_C(1);
		uint64_t place = place_path(next, room, bytes);

		memcpy(paths + (place & (room - 1)), wh_ledger_path(ledger, entry), bytes);
		entry->path_at = place;
		next = place + bytes;
	}
	WH_ASSERT(next <= room);
	free(ledger->paths);
	ledger->paths = paths;
	ledger->path_room = room;
	ledger->path_next = next;
	return 0;
}

int wh_ledger_reserve(struct wh_ledger *ledger, uint16_t path_bytes)
{
	int error = 0;

	WH_ASSERT(path_bytes <= WH_PATH_BYTES_MAX);
	if (ledger->next - ledger->first == ledger->entry_room)
		error = grow_entries(ledger);
	if (error == 0 && !path_fits(ledger, path_bytes + UINT32_C(1)))
		error = grow_paths(ledger);
	check(ledger);
	return error;
}

struct wh_ledger_entry *wh_ledger_add(
	struct wh_ledger *ledger, const char *path, uint16_t path_bytes)
{
	uint32_t bytes = path_bytes + UINT32_C(1);
	uint64_t place = place_path(ledger->path_next, ledger->path_room, bytes);
	char *copy = ledger->paths + (place & (ledger->path_room - 1));

	WH_ASSERT(ledger->next - ledger->first < ledger->entry_room);
	WH_ASSERT(path_fits(ledger, bytes));
	memcpy(copy, path, path_bytes);
	copy[path_bytes] = '\0';
	ledger->path_next = place + bytes;

	struct wh_ledger_entry *entry = at(ledger, ledger->next++);

	*entry = (struct wh_ledger_entry){
		.path_at = place,
		.path_bytes = path_bytes,
		.asked = WH_LEDGER_NO_ASKED,
	};
	check(ledger);
	return entry;
}

struct wh_ledger_entry *wh_ledger_find(struct wh_ledger *ledger, uint64_t id)
{
	return id >= ledger->first && id < ledger->next ? at(ledger, id) : NULL;
}

const char *wh_ledger_path(const struct wh_ledger *ledger, const struct wh_ledger_entry *entry)
{
	return ledger->paths + (entry->path_at & (ledger->path_room - 1));
}

void wh_ledger_drop_first(struct wh_ledger *ledger)
{
	WH_ASSERT(ledger->first < ledger->next);
	ledger->first++;
}
