/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/scan/tree_ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/assert.h"
#include "bundle/record.h"
#include "source/walk.h"

#define ABOVE_BYTES (PATH_MAX + 4)

TAILQ_HEAD(folders, ahead_folder);

/* An entry as it is kept: this, its name and a NUL. */
struct kept {
	uint64_t bytes; /* FAULT: its errno */
	uint8_t kind;
};

#define KEPT_FOLDER (WH_AHEAD_FAULT + 1) /* the first one inside that is not told */

enum state {
	UNREAD = 0, /* in `unread` of all */
	BEING_READ,
	READ,
};

/* Who reads a folder owns it; before that and after it belongs to who tells. */
struct ahead_folder {
	TAILQ_ENTRY(ahead_folder) next_unread;
	TAILQ_ENTRY(ahead_folder) next_inside;
	enum state state;           /* under the lock */
	bool is_short;              /* of memory: entries are missing */
	struct ahead_folder *above; /* NULL: of a given path */
	struct folders inside;      /* not told yet, in their order */
	char *kept;
	size_t kept_bytes, kept_room, told_bytes;
	char path[]; /* in the bundle */
};

struct wh_tree_ahead {
	pthread_mutex_t lock;
	pthread_cond_t may_read, was_read;
	struct folders unread; /* the first is told first */
	uint64_t held_bytes;   /* of folders that are read */
	bool is_over;

	char above[ABOVE_BYTES];
	const char *tree;
	struct ahead_folder *told; /* its entries are told */
	uint32_t threads;
	pthread_t thread[WH_TREE_AHEAD_THREADS];
};

static struct ahead_folder *make_folder(struct ahead_folder *above, const char *name)
{
	const char *folder = above != NULL ? above->path : "";
	size_t bytes = strlen(folder) + 1 + strlen(name) + 1;
	struct ahead_folder *made = calloc(1, sizeof(*made) + bytes);

	if (made == NULL)
		return NULL;
	made->above = above;
	TAILQ_INIT(&made->inside);
	snprintf(made->path, bytes, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
	return made;
}

/* With all that is inside. */
static void free_folder(struct ahead_folder *folder)
{
	struct ahead_folder *one;

	while ((one = TAILQ_FIRST(&folder->inside)) != NULL) {
		TAILQ_REMOVE(&folder->inside, one, next_inside);
		TAILQ_CONCAT(&folder->inside, &one->inside, next_inside);
		free(one->kept);
		free(one);
	}
	free(folder->kept);
	free(folder);
}

static bool keep(struct ahead_folder *folder, uint8_t kind, const char *name, uint64_t bytes)
{
	size_t chars = strlen(name) + 1;
	struct kept kept = {bytes, kind};

	if (folder->kept_bytes + sizeof(kept) + chars > folder->kept_room) {
		size_t room = 2 * folder->kept_room + sizeof(kept) + chars;
		char *more = realloc(folder->kept, room);

		if (more == NULL)
			return false;
		folder->kept = more;
		folder->kept_room = room;
	}
	memcpy(folder->kept + folder->kept_bytes, &kept, sizeof(kept));
	memcpy(folder->kept + folder->kept_bytes + sizeof(kept), name, chars);
	folder->kept_bytes += sizeof(kept) + chars;
	return true;
}

static bool keep_folder(struct ahead_folder *folder, const char *name)
{
	struct ahead_folder *inside = make_folder(folder, name);

	if (inside == NULL || !keep(folder, KEPT_FOLDER, "", 0)) {
		free(inside);
		return false;
	}
	TAILQ_INSERT_TAIL(&folder->inside, inside, next_inside);
	return true;
}

static bool keep_item(
	struct ahead_folder *folder, const struct wh_walk_item *item, const char *name)
{
	struct stat status;

	if (strlen(folder->path) + 1 + strlen(name) > WH_PATH_BYTES_MAX)
		return keep(folder, WH_AHEAD_FAULT, "", ENAMETOOLONG);
	switch (item->found) {
	case WH_WALK_FILE:
		if (fstatat(item->folder_fd, item->name, &status,
			    item->is_given ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
			return keep(folder, WH_AHEAD_FAULT, name, (uint64_t)errno);
		return keep(folder, WH_AHEAD_FILE, name, (uint64_t)status.st_size);
	case WH_WALK_LINK:
		return keep(folder, WH_AHEAD_LINK, name, 0);
	case WH_WALK_FOLDER:
		return keep_folder(folder, name);
	default:
		return keep(folder, WH_AHEAD_FAULT, name, (uint64_t)item->error);
	}
}

/* All of a folder, or a given path itself, but not what is in the folders found there. */
static void read_folder(const struct wh_tree_ahead *ahead, struct ahead_folder *folder)
{
	char path[ABOVE_BYTES + WH_PATH_BYTES_MAX + 3];
	const char *given = ahead->tree;
	struct wh_walk *walk = NULL;
	struct wh_walk_item item;
	bool is_itself; /* it cannot be read */

	if (folder->above != NULL) {
		snprintf(path, sizeof(path), "%s%s/.", ahead->above, folder->path);
		given = path;
	}
	folder->is_short = wh_walk_open(&walk, -1, &given, 1, true, NULL) != 0;
	while (!folder->is_short) {
		wh_walk_next(walk, &item);
		if (item.found == WH_WALK_END)
			break;
		if (item.found == WH_WALK_NOTHING)
			continue;
		is_itself = folder->above != NULL &&
			    (strcmp(item.path, given) == 0 || strcmp(item.path, ".") == 0);
		if (item.found == WH_WALK_FOLDER)
			wh_walk_leave(walk);
		folder->is_short = !keep_item(folder, &item, is_itself ? "" : item.path);
	}
	wh_walk_close(walk);
	if (folder->above != NULL && folder->kept_bytes == 0 && !folder->is_short)
		folder->is_short = !keep(folder, WH_AHEAD_EMPTY, "", 0);
}

/* Under the lock, which others have meanwhile. */
static void read_unread(struct wh_tree_ahead *ahead, struct ahead_folder *folder)
{
	struct ahead_folder *inside;

	WH_ASSERT(folder->state == UNREAD);
	TAILQ_REMOVE(&ahead->unread, folder, next_unread);
	folder->state = BEING_READ;
	pthread_mutex_unlock(&ahead->lock);
	read_folder(ahead, folder);
	pthread_mutex_lock(&ahead->lock);
	TAILQ_FOREACH_REVERSE(inside, &folder->inside, folders, next_inside)
	{
		TAILQ_INSERT_HEAD(&ahead->unread, inside, next_unread);
		pthread_cond_signal(&ahead->may_read);
	}
	ahead->held_bytes += folder->kept_bytes;
	folder->state = READ;
	pthread_cond_signal(&ahead->was_read);
}

static void *read_ahead(void *context)
{
	struct wh_tree_ahead *ahead = context;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->is_over) {
		if (TAILQ_EMPTY(&ahead->unread) || ahead->held_bytes >= WH_TREE_AHEAD_BYTES)
			pthread_cond_wait(&ahead->may_read, &ahead->lock);
		else
			read_unread(ahead, TAILQ_FIRST(&ahead->unread));
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

/* Reads it, or waits until it is read. */
static void have_read(struct wh_tree_ahead *ahead, struct ahead_folder *folder)
{
	pthread_mutex_lock(&ahead->lock);
	if (folder->state == UNREAD)
		read_unread(ahead, folder);
	while (folder->state != READ)
		pthread_cond_wait(&ahead->was_read, &ahead->lock);
	pthread_mutex_unlock(&ahead->lock);
}

static void end_folder(struct wh_tree_ahead *ahead, struct ahead_folder *folder)
{
	pthread_mutex_lock(&ahead->lock);
	if (ahead->held_bytes >= WH_TREE_AHEAD_BYTES)
		pthread_cond_broadcast(&ahead->may_read);
	ahead->held_bytes -= folder->kept_bytes;
	pthread_mutex_unlock(&ahead->lock);
	ahead->told = folder->above;
	free_folder(folder);
}

static struct ahead_folder *next_inside(struct ahead_folder *folder)
{
	struct ahead_folder *inside = TAILQ_FIRST(&folder->inside);

	WH_ASSERT(inside != NULL);
	TAILQ_REMOVE(&folder->inside, inside, next_inside);
	return inside;
}

/* False: it is at its end. */
static bool tell(
	struct wh_tree_ahead *ahead, struct ahead_folder *folder, struct wh_ahead_entry *entry)
{
	const char *at = folder->kept + folder->told_bytes;
	struct kept kept;

	*entry = (struct wh_ahead_entry){WH_AHEAD_FAULT, ENOMEM, 0, folder->path, ""};
	if (folder->told_bytes == folder->kept_bytes) {
		bool is_short = folder->is_short;

		folder->is_short = false;
		return is_short;
	}
	memcpy(&kept, at, sizeof(kept));
	entry->name = at + sizeof(kept);
	folder->told_bytes += sizeof(kept) + strlen(entry->name) + 1;
	entry->kind = (enum wh_ahead_kind)kept.kind;
	entry->error = kept.kind == WH_AHEAD_FAULT ? (int)kept.bytes : 0;
	entry->bytes = kept.bytes;
	if (kept.kind == KEPT_FOLDER)
		ahead->told = next_inside(folder);
	return true;
}

bool wh_tree_ahead_next(struct wh_tree_ahead *ahead, struct wh_ahead_entry *entry)
{
	while (ahead->told != NULL) {
		struct ahead_folder *folder = ahead->told;

		if (folder->told_bytes == 0)
			have_read(ahead, folder);
		if (!tell(ahead, folder, entry))
			end_folder(ahead, folder);
		else if (ahead->told == folder)
			return true;
	}
	return false;
}

bool wh_tree_ahead_begin(struct wh_tree_ahead *ahead, const char *tree, const char *above)
{
	struct ahead_folder *given = make_folder(NULL, "");

	WH_ASSERT(ahead->told == NULL && TAILQ_EMPTY(&ahead->unread));
	if (given == NULL)
		return false;
	pthread_mutex_lock(&ahead->lock);
	snprintf(ahead->above, sizeof(ahead->above), "%s", above);
	ahead->tree = tree;
	ahead->told = given;
	TAILQ_INSERT_HEAD(&ahead->unread, given, next_unread);
	pthread_mutex_unlock(&ahead->lock);
	return true;
}

struct wh_tree_ahead *wh_tree_ahead_open(void)
{
	struct wh_tree_ahead *ahead = calloc(1, sizeof(*ahead));

	if (ahead == NULL)
		return NULL;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->may_read, NULL);
	pthread_cond_init(&ahead->was_read, NULL);
	TAILQ_INIT(&ahead->unread);
	while (ahead->threads < WH_TREE_AHEAD_THREADS &&
		pthread_create(&ahead->thread[ahead->threads], NULL, read_ahead, ahead) == 0)
		ahead->threads++;
	return ahead;
}

void wh_tree_ahead_close(struct wh_tree_ahead *ahead)
{
	if (ahead == NULL)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->is_over = true;
	pthread_cond_broadcast(&ahead->may_read);
	pthread_mutex_unlock(&ahead->lock);
	while (ahead->threads > 0)
		pthread_join(ahead->thread[--ahead->threads], NULL);
	while (ahead->told != NULL) {
		struct ahead_folder *folder = ahead->told;

		ahead->told = folder->above;
		free_folder(folder);
	}
	free(ahead);
}
