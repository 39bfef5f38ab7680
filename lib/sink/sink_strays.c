/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files in the bundle's folders that the source does not have: found by a walk after everything
 * received is durable, counted, and removed only if all else succeeded and the number is within the
 * limit. Files that the choice excludes are not considered and stay.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sink/sink_internal.h"
#include "source/walk.h"

#define STEPS_PER_POLL 32

/* Most folders that are searched: given paths, or contents of a given folder. */
#define TOPS_MAX 4096

/* Not charged: some hundreds of strays. */
#define FREE_BYTES (UINT64_C(64) << 10)

/* Of malloc(3) for each path. */
#define BESIDE_BYTES 16

static bool is_wished(const struct wh_sink *sink)
{
	return wh_choice_has(&sink->config.choice, WH_CHOICE_DELETE) && !sink->config.is_pipe;
}

/* A target that is a name is no folder for the contents of another, whatever a peer says. */
static bool whole_target(const struct wh_sink *sink)
{
	return wh_choice_has(&sink->config.choice, WH_CHOICE_DELETE_TOP) && sink->as_bytes == 0;
}

static uint64_t number_of(const char *path, size_t path_bytes, bool is_folder)
{
	struct wh_hasher hasher;
	struct wh_digest digest;
	uint64_t number;

	wh_hasher_init(&hasher);
	wh_hasher_add(&hasher, path, path_bytes);
	wh_hasher_digest(&hasher, &digest);
	memcpy(&number, digest.bytes, sizeof(number));
	return (number & ~UINT64_C(1)) | is_folder;
}

static void note_number(struct wh_sink *sink, uint64_t number)
{
	struct wh_strays *strays = &sink->strays;
	size_t bytes_max = sink->config.folder_log_max_bytes;

	if (strays->error != 0)
		return;
	if (strays->known_count == strays->known_room) {
		size_t room = strays->known_room == 0 ? 1024 : 2 * strays->known_room;
		uint64_t *known = bytes_max > 0 && room * sizeof(known[0]) > bytes_max
					  ? NULL
					  : realloc(strays->known, room * sizeof(known[0]));

		if (known == NULL) {
			strays->error = ENOMEM;
			return;
		}
		strays->known = known;
		strays->known_room = room;
	}
	strays->known[strays->known_count++] = number;
}

/* A copy of the path with `more` behind it. NULL: no memory. */
static char *keep_path(
	struct wh_strays *strays, const char *path, size_t path_bytes, const char *more)
{
	size_t bytes = path_bytes + strlen(more) + 1;
	char *kept;

	if (!wh_blocks_memory_take(&strays->memory, bytes + BESIDE_BYTES))
		return NULL;
	kept = malloc(bytes);
	if (kept == NULL) {
		wh_blocks_memory_give(&strays->memory, bytes + BESIDE_BYTES);
		return NULL;
	}
	memcpy(kept, path, path_bytes);
	strcpy(kept + path_bytes, more);
	return kept;
}

/* NULL is allowed. */
static void drop_path(struct wh_strays *strays, char *kept)
{
	if (kept != NULL)
		wh_blocks_memory_give(&strays->memory, strlen(kept) + 1 + BESIDE_BYTES);
	free(kept);
}

/* Room for one more element. */
static bool make_room(
	struct wh_strays *strays, void *elements, size_t *room, size_t count, size_t bytes)
{
	size_t wanted = *room == 0 ? 64 : 2 * *room;
	uint64_t more_bytes = (wanted - *room) * bytes;
	void *more;

	if (count < *room)
		return true;
	if (!wh_blocks_memory_take(&strays->memory, more_bytes))
		return false;
	more = realloc(*(void **)elements, wanted * bytes);
	if (more == NULL) {
		wh_blocks_memory_give(&strays->memory, more_bytes);
		return false;
	}
	*(void **)elements = more;
	*room = wanted;
	return true;
}

static void note_top(struct wh_strays *strays, const char *path, size_t path_bytes)
{
	char *name = NULL;

	if (strays->tops < TOPS_MAX && make_room(strays, &strays->top, &strays->top_room,
					       strays->tops, sizeof(strays->top[0])))
		name = keep_path(strays, path, path_bytes, "");
	if (name != NULL)
		strays->top[strays->tops++] = name;
	else
		strays->error = ENOMEM;
}

/* Whether the path is in the folder found last: a folder comes before what is in it. */
static bool is_in_last_top(const struct wh_strays *strays, const char *path, size_t path_bytes)
{
	const char *last = strays->tops > 0 ? strays->top[strays->tops - 1] : NULL;
	size_t bytes = last != NULL ? strlen(last) : 0;

	return last != NULL && path_bytes >= bytes && memcmp(path, last, bytes) == 0 &&
	       (path_bytes == bytes || path[bytes] == '/');
}

void wh_sink_note_name(
	struct wh_sink *sink, const char *path, size_t path_bytes, enum wh_entry_kind kind)
{
	struct wh_strays *strays = &sink->strays;
	const char *slash = memchr(path, '/', path_bytes);
	size_t first_bytes = slash == NULL ? path_bytes : (size_t)(slash - path);
	char whole[2 * WH_PATH_BYTES_MAX];
	size_t bytes = sink->as_bytes;

	if (!is_wished(sink) || path_bytes == 0 || first_bytes > NAME_MAX)
		return;
	memcpy(strays->first, path, first_bytes);
	strays->first[first_bytes] = '\0';
	if (sink->as_bytes > 0) {
		memcpy(whole, sink->as, bytes);
		memcpy(whole + bytes, path + first_bytes, path_bytes - first_bytes);
		bytes += path_bytes - first_bytes;
	} else {
		memcpy(whole, path, path_bytes);
		bytes = path_bytes;
	}
	note_number(sink, number_of(whole, bytes, wh_entry_is_folder((uint8_t)kind)));
	if (kind == WH_ENTRY_FOLDER && !whole_target(sink) && !is_in_last_top(strays, whole, bytes))
		note_top(strays, whole, bytes);
}

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a;
	uint64_t other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static bool is_known(
	const struct wh_strays *strays, const struct wh_walk_item *item, bool is_folder)
{
	uint64_t number = number_of(item->path, item->path_bytes, is_folder);

	return bsearch(&number, strays->known, strays->known_count, sizeof(number), compare) !=
	       NULL;
}

/* By its path in the bundle, as the choice sees it. */
static bool is_chosen(const struct wh_sink *sink, const struct wh_walk_item *item)
{
	const struct wh_choice *choice = &sink->config.choice;
	bool is_folder = item->found == WH_WALK_FOLDER;
	size_t skipped = sink->as_bytes;
	size_t first_bytes = strlen(sink->strays.first);
	char path[2 * WH_PATH_BYTES_MAX];
	struct stat status;

	if (skipped > 0) {
		memcpy(path, sink->strays.first, first_bytes);
		memcpy(path + first_bytes, item->path + skipped, item->path_bytes - skipped);
	} else {
		first_bytes = 0;
		memcpy(path, item->path, item->path_bytes);
	}
	if (!wh_choice_takes_path(
		    choice, path, first_bytes + item->path_bytes - skipped, is_folder))
		return false;
	if (item->found != WH_WALK_FILE || !choice->by_status)
		return true;
	return fstatat(item->folder_fd, item->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       wh_choice_takes_file(choice, &status);
}

static void add_stray(struct wh_strays *strays, const struct wh_walk_item *item)
{
	char *path = NULL;

	if (make_room(
		    strays, &strays->path, &strays->room, strays->count, sizeof(strays->path[0])) &&
		make_room(strays, &strays->open, &strays->open_room, strays->opens,
			sizeof(strays->open[0])))
		path = keep_path(strays, item->path, item->path_bytes,
			item->found == WH_WALK_FOLDER ? "/" : "");
	if (path == NULL) {
		strays->error = ENOMEM;
		return;
	}
	if (item->found == WH_WALK_FOLDER)
		strays->open[strays->opens++] =
			(struct wh_open_stray){strays->count, item->path_bytes};
	strays->path[strays->count++] = path;
}

/* Leaves the folders that the walk has left: this item is not in them. */
static void leave_folders(struct wh_strays *strays, const struct wh_walk_item *item)
{
	while (strays->opens > 0) {
		size_t bytes = strays->open[strays->opens - 1].bytes;

		if (item->path_bytes > bytes && item->path[bytes] == '/')
			break;
		strays->opens--;
	}
	if (strays->opens_staying > strays->opens)
		strays->opens_staying = strays->opens;
}

/* What the walk has found stays, and with it all folders that it is in. */
static void stay(struct wh_strays *strays)
{
	for (; strays->opens_staying < strays->opens; strays->opens_staying++) {
		char **path = &strays->path[strays->open[strays->opens_staying].index];

		drop_path(strays, *path);
		*path = NULL;
		strays->staying++;
	}
}

/* Does not count folders that may still turn out to stay. */
static bool are_too_many(const struct wh_sink *sink)
{
	const struct wh_strays *strays = &sink->strays;

	return strays->count - strays->staying - (strays->opens - strays->opens_staying) >
	       sink->config.choice.delete_max;
}

/* Contents of a stray folder are stray, too. */
static void look_at(struct wh_sink *sink, const struct wh_walk_item *item)
{
	struct wh_strays *strays = &sink->strays;
	bool is_folder = item->found == WH_WALK_FOLDER;

	if (item->is_prefix)
		return;
	leave_folders(strays, item);
	if (strays->opens == 0 &&
		(is_known(strays, item, is_folder) || is_known(strays, item, !is_folder)))
		return;
	if (!is_chosen(sink, item)) {
		stay(strays);
		if (is_folder)
			wh_walk_leave(strays->walk);
		return;
	}
	add_stray(strays, item);
	if (are_too_many(sink))
		wh_sink_break(sink, -EDQUOT, WH_DOING_SPARING);
}

/* 1: more to search. */
static int32_t look(struct wh_sink *sink)
{
	struct wh_strays *strays = &sink->strays;
	struct wh_walk_item item;

	wh_walk_next(strays->walk, &item);
	switch (item.found) {
	case WH_WALK_END:
		strays->opens = strays->opens_staying = 0;
		if (are_too_many(sink))
			wh_sink_break(sink, -EDQUOT, WH_DOING_SPARING);
		return 0;
	case WH_WALK_NOTHING:
		return 1;
	case WH_WALK_FAULT:
		/* A pipe, socket or device is never stray. */
		if (item.doing != WH_DOING_PASSING) {
			strays->error = item.error;
			return 1;
		}
		leave_folders(strays, &item);
		stay(strays);
		return 1;
	default:
		look_at(sink, &item);
		return 1;
	}
}

/* 0 or a positive errno. */
static int remove_stray(struct wh_sink *sink, const char *path)
{
	char above[WH_PATH_BYTES_MAX + 1];
	size_t above_bytes = wh_beneath_parent_bytes(path, strlen(path));
	const char *name = path + above_bytes + (above_bytes > 0);
	int fd = sink->anchor_fd;
	int error = 0;

	memcpy(above, path, above_bytes);
	above[above_bytes] = '\0';
	if (above_bytes > 0)
		fd = wh_beneath_open(&sink->beneath, above, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return -fd;
	if (unlinkat(fd, name, 0) != 0)
		error = errno;
	if (error == EISDIR)
		error = unlinkat(fd, name, AT_REMOVEDIR) != 0 ? errno : 0;
	if (fd != sink->anchor_fd)
		close(fd);
	return error;
}

static void fail_stray(struct wh_sink *sink, const char *path, int error)
{
	const struct wh_staged stray = {
		.path = path,
		.path_bytes = (uint16_t)strlen(path),
		.kind = WH_ENTRY_FILE,
	};

	wh_sink_note_failed(sink, &stray, -error, WH_DOING_REMOVING, false);
	wh_sink_break(sink, -error, WH_DOING_REMOVING);
}

/*
 * Removes the last stray and reports its name, or in a dry run only reports it. A folder stays if
 * something has been put into it meanwhile. False: there is no room for the name yet.
 */
static bool remove_stored(struct wh_sink *sink, const char *stored)
{
	struct wh_strays *strays = &sink->strays;
	char path[WH_PATH_BYTES_MAX + 2];
	size_t bytes = strlen(stored);
	bool is_folder = stored[bytes - 1] == '/';
	int error = 0;

	memcpy(path, stored, bytes + 1);
	if (is_folder)
		path[bytes - 1] = '\0';
	if (!wh_sink_is_dry(sink) && !strays->is_gone)
		error = remove_stray(sink, path);
	strays->is_gone = error == 0;
	if (error == 0 &&
		!wh_sink_tell_removed(sink, path, is_folder ? WH_ENTRY_FOLDER : WH_ENTRY_FILE))
		return false;
	strays->is_gone = false;
	if (error != 0 && error != ENOENT && error != ENOTEMPTY && error != EEXIST)
		fail_stray(sink, path, error);
	return true;
}

static bool may_remove(const struct wh_sink *sink)
{
	const struct wh_sink_config *config = &sink->config;

	return wh_sink_is_dry(sink) || sink->strays.is_gone || config->may_remove == NULL ||
	       config->may_remove(config->context);
}

static bool remove_last(struct wh_sink *sink)
{
	struct wh_strays *strays = &sink->strays;
	char *stored = strays->path[strays->count - 1];

	if (stored != NULL && (!may_remove(sink) || !remove_stored(sink, stored)))
		return false;
	drop_path(strays, stored);
	strays->count--;
	return true;
}

static int32_t begin(struct wh_sink *sink)
{
	static const char *const whole[] = {"."};
	struct wh_strays *strays = &sink->strays;
	bool top = whole_target(sink);
	int rc;

	strays->is_sorted = true;
	if (strays->known_count > 0)
		qsort(strays->known, strays->known_count, sizeof(strays->known[0]), compare);
	if (!top && strays->tops == 0)
		return 0;
	rc = wh_walk_open(&strays->walk, sink->anchor_fd,
		top ? whole : (const char *const *)strays->top, top ? 1 : strays->tops, true,
		&sink->config.account);
	if (rc != 0)
		strays->error = -rc;
	else if (!top)
		wh_walk_keep_paths(strays->walk);
	return rc == 0;
}

int32_t wh_sink_clear(struct wh_sink *sink)
{
	struct wh_strays *strays = &sink->strays;
	int32_t work = 0;

	if (!is_wished(sink) || sink->progress.totals.failed > 0 || sink->nothing_there)
		return 0;
	if (!strays->is_sorted && begin(sink) == 0 && strays->error == 0)
		return 0;
	while (strays->walk != NULL && work < STEPS_PER_POLL && wh_sink_is_running(sink)) {
		if (look(sink) == 0) {
			wh_walk_close(strays->walk);
			strays->walk = NULL;
		}
		work++;
	}
	if (strays->walk == NULL && strays->error != 0)
		wh_sink_break(sink, -strays->error, WH_DOING_LISTING);
	while (strays->walk == NULL && strays->count > 0 && work < STEPS_PER_POLL &&
		wh_sink_is_running(sink) && remove_last(sink))
		work++;
	return work;
}

void wh_strays_init(struct wh_strays *strays, const struct wh_blocks_account *account)
{
	strays->memory = (struct wh_blocks_memory){.account = account, .free_bytes = FREE_BYTES};
}

void wh_strays_free(struct wh_strays *strays)
{
	wh_walk_close(strays->walk);
	for (uint32_t i = 0; i < strays->tops; i++)
		free(strays->top[i]);
	while (strays->count > 0)
		free(strays->path[--strays->count]);
	wh_blocks_memory_give(&strays->memory, strays->memory.bytes);
	free(strays->top);
	free(strays->path);
	free(strays->open);
	free(strays->known);
}
