/* SPDX-License-Identifier: BSD-3-Clause */
#include "source/walk.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/beneath.h"
#include "bundle/choice.h"
#include "bundle/staging_name.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* O_NONBLOCK: does not wait if the file has become a pipe meanwhile. */
#define FILE_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Bytes of a folder's names read and sorted in one step. */
#define PIECE_BYTES 8192
static_assert(PIECE_BYTES >= sizeof(struct dirent64), "any name fits");

/* Memory for names that a folder passes on to the next one at its depth. */
#define NAMES_KEPT_BYTES (1 << 20)

/* Sorted names of one piece: indices [next, end) into `order`. */
struct run {
	uint32_t next;
	uint32_t end;
};

/*
 * An open folder on the path to the current item. Each name is preceded by a byte for its type and
 * ends with a NUL. Pieces are sorted as they are read and merged as names are taken, by a heap of
 * runs, so that no step sorts a large folder.
 */
struct folder {
	int fd;    /* -1: reopened when it is needed */
	int error; /* while reading its names */
	dev_t dev;
	ino_t ino;
	uint16_t path_bytes; /* of its path in the bundle with a trailing '/', 0: none */
	bool is_read;
	const char *pattern; /* the rest of a given path, from its names on; NULL: all names */
	char *names;
	uint32_t *order; /* offsets into `names` */
	struct run *runs;
	size_t names_bytes, names_room;
	size_t order_count, order_room;
	size_t run_count, run_room;
};

struct wh_walk {
	int root_fd;
	const char *const *paths;
	uint32_t path_count;
	uint32_t given; /* number of given paths begun */
	bool recursive;
	bool whole;     /* names in the bundle are whole given paths */
	bool holds;     /* `held` follows the folders on its way */
	bool matched;   /* some name has matched the given path's wildcards */
	uint32_t depth; /* folders open or to be reopened */
	uint32_t folder_room;
	struct folder *folders;
	struct wh_blocks_memory memory; /* of the folders and their names */
	char path[WH_PATH_BYTES_MAX + 1 + NAME_MAX + 2];
	struct wh_walk_item held;
	size_t prefix_bytes;                /* of its path, the beginning of `prefix` */
	char prefix[WH_PATH_BYTES_MAX + 1]; /* the folder of the last given path */
	uint8_t piece[PIECE_BYTES] __attribute__((aligned(_Alignof(struct dirent64))));
};

static void free_names(struct wh_walk *walk, struct folder *folder)
{
	wh_blocks_memory_give(&walk->memory, folder->names_room +
						     folder->order_room * sizeof(folder->order[0]) +
						     folder->run_room * sizeof(folder->runs[0]));
	free(folder->names);
	free(folder->order);
	free(folder->runs);
	*folder = (struct folder){.fd = folder->fd};
}

/* Rather than refusing it frees what folders that were left have passed on. */
static bool take_memory(struct wh_walk *walk, uint64_t bytes)
{
	if (wh_blocks_memory_take(&walk->memory, bytes))
		return true;
	for (uint32_t i = walk->depth; i < walk->folder_room; i++)
		free_names(walk, &walk->folders[i]);
	return wh_blocks_memory_take(&walk->memory, bytes);
}

/* Ensures room for `count` elements; false: no memory. */
static bool reserve(
	struct wh_walk *walk, void **memory, size_t *room, size_t count, size_t element_bytes)
{
	size_t wanted = *room == 0 ? 64 : *room;

	if (count <= *room)
		return true;
	while (wanted < count)
		wanted *= 2;

	uint64_t more_bytes = (wanted - *room) * element_bytes;

	if (!take_memory(walk, more_bytes))
		return false;

	void *more = realloc(*memory, wanted * element_bytes);

	if (more == NULL) {
		wh_blocks_memory_give(&walk->memory, more_bytes);
		return false;
	}
	WH_ASSERT(wanted >= count);
	*memory = more;
	*room = wanted;
	return true;
}

static struct folder *top(struct wh_walk *walk)
{
	WH_ASSERT(walk->depth > 0);
	return &walk->folders[walk->depth - 1];
}

static void found(struct wh_walk *walk, struct wh_walk_item *item, enum wh_walk_found what)
{
	item->found = what;
	item->path = walk->path;
	item->path_bytes = (uint16_t)strlen(walk->path);
	WH_ASSERT(item->path_bytes <= WH_PATH_BYTES_MAX && walk->given > 0);
	item->given = walk->given - 1;
}

static void fault(struct wh_walk *walk, struct wh_walk_item *item, int error, enum wh_doing doing)
{
	WH_ASSERT(error > 0);
	walk->path[WH_PATH_BYTES_MAX] = '\0';
	if (walk->path[0] == '\0') /* a given folder without a name of its own */
		strcpy(walk->path, ".");
	found(walk, item, WH_WALK_FAULT);
	item->error = error;
	item->doing = (uint8_t)doing;
}

/* Takes over `fd` of the folder at walk->path. 0 or a negative errno. */
static int enter(struct wh_walk *walk, int fd, struct stat *status)
{
	size_t room = walk->folder_room;
	size_t path_bytes = strlen(walk->path);
	void *folders = walk->folders;
	int error = 0;

	if (fstat(fd, status) != 0)
		error = -errno;
	else if (!reserve(walk, &folders, &room, walk->depth + 1, sizeof(struct folder)))
		error = -ENOMEM;
	if (error < 0) {
		close(fd);
		return error;
	}
	walk->folders = folders;
	for (; walk->folder_room < room; walk->folder_room++)
		walk->folders[walk->folder_room] = (struct folder){.fd = -1};
	if (walk->depth >= WH_WALK_OPEN) {
		struct folder *far = &walk->folders[walk->depth - WH_WALK_OPEN];

		if (far->fd >= 0)
			close(far->fd);
		far->fd = -1;
	}

	WH_ASSERT(walk->depth < walk->folder_room);

	struct folder *folder = &walk->folders[walk->depth++];

	folder->fd = fd;
	folder->error = 0;
	folder->dev = status->st_dev;
	folder->ino = status->st_ino;
	folder->path_bytes = (uint16_t)(path_bytes > 0 ? path_bytes + 1 : 0);
	folder->is_read = false;
	folder->pattern = NULL;
	folder->names_bytes = folder->order_count = folder->run_count = 0;
	return 0;
}

/* Reopens the parent folder by way of this one; it must still be the same. */
static void reopen(struct folder *above, int fd)
{
	struct stat status;
	int again = fd < 0 ? -1 : openat(fd, "..", FOLDER_FLAGS);

	if (again >= 0 && fstat(again, &status) == 0 && status.st_dev == above->dev &&
		status.st_ino == above->ino) {
		above->fd = again;
		return;
	}
	if (again >= 0)
		close(again);
}

/* Leaves this folder; a parent that was moved meanwhile is abandoned. */
static void leave(struct wh_walk *walk)
{
	struct folder *folder = top(walk);
	struct folder *above = walk->depth > 1 ? folder - 1 : NULL;

	if (above != NULL && above->fd < 0) {
		reopen(above, folder->fd);
		if (above->fd < 0) {
			above->error = ESTALE;
			above->run_count = 0;
		}
	}
	if (folder->fd >= 0)
		close(folder->fd);
	folder->fd = -1;
	if (folder->names_room > NAMES_KEPT_BYTES)
		free_names(walk, folder);
	walk->depth--;
}

static const char *name_of(const struct folder *folder, uint32_t place)
{
	return folder->names + folder->order[place] + 1;
}

static int compare_names(const void *a, const void *b, void *names)
{
	const char *base = names;

	return strcmp(base + *(const uint32_t *)a + 1, base + *(const uint32_t *)b + 1);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* 0 or a positive errno. */
static int add_name(struct wh_walk *walk, struct folder *folder, const struct dirent64 *entry)
{
	size_t bytes = strlen(entry->d_name) + 2;

	if (folder->names_bytes + bytes > UINT32_MAX)
		return EOVERFLOW;
	if (!reserve(walk, (void **)&folder->names, &folder->names_room,
		    folder->names_bytes + bytes, 1) ||
		!reserve(walk, (void **)&folder->order, &folder->order_room,
			folder->order_count + 1, sizeof(folder->order[0])))
		return ENOMEM;
	folder->names[folder->names_bytes] = (char)entry->d_type;
	memcpy(folder->names + folder->names_bytes + 1, entry->d_name, bytes - 1);
	folder->order[folder->order_count++] = (uint32_t)folder->names_bytes;
	folder->names_bytes += bytes;
	return 0;
}

/* Sorts names from index `first` on into a run. 0 or a positive errno. */
static int add_run(struct wh_walk *walk, struct folder *folder, uint32_t first)
{
	uint32_t end = (uint32_t)folder->order_count;

	if (first == end)
		return 0;
	if (!reserve(walk, (void **)&folder->runs, &folder->run_room, folder->run_count + 1,
		    sizeof(folder->runs[0])))
		return ENOMEM;
	qsort_r(folder->order + first, end - first, sizeof(folder->order[0]), compare_names,
		folder->names);
	WH_ASSERT(folder->run_count < folder->run_room && first < end);
	folder->runs[folder->run_count++] = (struct run){first, end};
	return 0;
}

static bool goes_before(const struct folder *folder, size_t a, size_t b)
{
	return strcmp(name_of(folder, folder->runs[a].next),
		       name_of(folder, folder->runs[b].next)) < 0;
}

static void sift_down(struct folder *folder, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
			if (child < folder->run_count && goes_before(folder, child, least))
				least = child;
		if (least == at)
			return;

		struct run run = folder->runs[at];

		folder->runs[at] = folder->runs[least];
		folder->runs[least] = run;
		at = least;
	}
}

static void read_piece(struct wh_walk *walk, struct folder *folder)
{
	uint32_t first = (uint32_t)folder->order_count;
	ssize_t bytes = getdents64(folder->fd, walk->piece, sizeof(walk->piece));
	int error = bytes < 0 ? errno : 0;

	for (ssize_t at = 0; at < bytes && error == 0;) {
		const struct dirent64 *entry = (const struct dirent64 *)(walk->piece + at);

		if (!is_dots(entry->d_name) &&
			!wh_looks_like_staging(entry->d_name, strlen(entry->d_name)))
			error = add_name(walk, folder, entry);
		at += entry->d_reclen;
	}

	int run_error = add_run(walk, folder, first);

	if (error == 0)
		error = run_error;
	if (bytes > 0 && error == 0)
		return;
	folder->error = error;
	folder->is_read = true;
	for (size_t i = folder->run_count / 2; i-- > 0;)
		sift_down(folder, i);
}

/* The next name; the byte before it is its type. */
static const char *take_name(struct folder *folder)
{
	struct run *run = &folder->runs[0];

	WH_ASSERT(folder->run_count > 0 && run->next < run->end);
	const char *name = name_of(folder, run->next);

	if (++run->next == run->end)
		*run = folder->runs[--folder->run_count];
	sift_down(folder, 0);
	return name;
}

static void find_folder(struct wh_walk *walk, struct wh_walk_item *item, int fd)
{
	int error = enter(walk, fd, &item->status);

	item->own_fd = fd;
	if (error < 0)
		fault(walk, item, -error, WH_DOING_LISTING);
	else if (walk->path[0] != '\0')
		found(walk, item, WH_WALK_FOLDER);
}

static uint8_t type_of(int folder_fd, const char *name)
{
	struct stat status;

	if (name[-1] != DT_UNKNOWN)
		return (uint8_t)name[-1];
	if (fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return DT_REG; /* opening it returns the reason */
	return IFTODT(status.st_mode);
}

/* Some file systems have names for which there is no room: cut, they make too long a path. */
static void put_name(struct wh_walk *walk, size_t at, const char *name)
{
	snprintf(walk->path + at, sizeof(walk->path) - at, "%s", name);
}

static void find_name(struct wh_walk *walk, struct wh_walk_item *item, const char *name)
{
	struct folder *folder = top(walk);
	int fd;

	/* A path that is too long is cut later, by fault(). */
	put_name(walk, folder->path_bytes, name);
	if (strlen(walk->path) > WH_PATH_BYTES_MAX) {
		fault(walk, item, ENAMETOOLONG, WH_DOING_PATH);
		return;
	}
	item->folder_fd = folder->fd;
	item->name = name;
	switch (type_of(folder->fd, name)) {
	case DT_REG:
		found(walk, item, WH_WALK_FILE);
		return;
	case DT_LNK:
		found(walk, item, WH_WALK_LINK);
		return;
	case DT_DIR:
		fd = openat(folder->fd, name, FOLDER_FLAGS | O_NOFOLLOW);
		if (fd < 0)
			fault(walk, item, errno, WH_DOING_LISTING);
		else
			find_folder(walk, item, fd);
		return;
	default:
		fault(walk, item, EOPNOTSUPP, WH_DOING_PASSING);
	}
}

static void fault_given(
	struct wh_walk *walk, struct wh_walk_item *item, int error, enum wh_doing doing);

/* Sets walk->path to a name in the current folder. */
static void set_name(struct wh_walk *walk, const char *name, bool is_kept)
{
	size_t bytes = is_kept ? top(walk)->path_bytes : 0;

	if (bytes > 0)
		walk->path[bytes - 1] = '/'; /* replaces the NUL behind the folder's own path */
	put_name(walk, bytes, is_kept ? name : "");
}

/* Enters a folder that is only on the way, and not part of the bundle. */
static void pass_through(struct wh_walk *walk, struct wh_walk_item *item, const char *name,
	bool is_kept, const char *pattern)
{
	struct stat status;
	int fd = openat(top(walk)->fd, name, FOLDER_FLAGS | O_NOFOLLOW);
	int error;

	if (fd < 0)
		return; /* not a folder, or not accessible */
	set_name(walk, name, is_kept);
	if (strlen(walk->path) > WH_PATH_BYTES_MAX) {
		close(fd);
		fault(walk, item, ENAMETOOLONG, WH_DOING_PATH);
		return;
	}
	error = enter(walk, fd, &status);
	if (error < 0)
		fault(walk, item, -error, WH_DOING_LISTING);
	else
		top(walk)->pattern = pattern;
}

static void find_match(struct wh_walk *walk, struct wh_walk_item *item, const char *name)
{
	const char *pattern = top(walk)->pattern;
	size_t bytes = strcspn(pattern, "/");
	const char *rest = pattern + bytes + strspn(pattern + bytes, "/");
	bool is_kept = walk->whole && pattern >= wh_path_kept(walk->paths[walk->given - 1]);

	if (!wh_wildcard_matches(pattern, bytes, name))
		return;
	while (rest[0] == '.' && rest[1] == '/')
		rest += 1 + strspn(rest + 1, "/");
	if (*rest != '\0') {
		pass_through(walk, item, name, is_kept, rest);
		return;
	}
	walk->matched = true;
	if (top(walk)->path_bytes > 0)
		walk->path[top(walk)->path_bytes - 1] = '/';
	if (!walk->recursive && type_of(top(walk)->fd, name) == DT_DIR) {
		put_name(walk, top(walk)->path_bytes, name);
		fault(walk, item, EISDIR, WH_DOING_KIND);
	} else {
		find_name(walk, item, name);
	}
}

static void step_in_folder(struct wh_walk *walk, struct wh_walk_item *item)
{
	struct folder *folder = top(walk);

	if (!folder->is_read) {
		read_piece(walk, folder);
		return;
	}
	if (folder->run_count > 0 && folder->pattern != NULL) {
		find_match(walk, item, take_name(folder));
		return;
	}
	if (folder->run_count > 0) {
		/* Replaces the NUL behind the folder's own path. */
		if (folder->path_bytes > 0)
			walk->path[folder->path_bytes - 1] = '/';
		find_name(walk, item, take_name(folder));
		return;
	}
	if (folder->error != 0) {
		walk->path[folder->path_bytes > 0 ? folder->path_bytes - 1 : 0] = '\0';
		fault(walk, item, folder->error, WH_DOING_LISTING);
	} else if (folder->pattern != NULL && walk->depth == 1 && !walk->matched) {
		fault_given(walk, item, ENOENT, WH_DOING_OPENING);
	}
	leave(walk);
}

/* The path to look up: below a root all paths are relative. */
static const char *lookup_path(const struct wh_walk *walk, const char *path)
{
	if (walk->root_fd < 0)
		return path;
	while (*path == '/')
		path++;
	return *path == '\0' ? "." : path;
}

static int open_given(const struct wh_walk *walk, const char *path, int flags)
{
	int fd;

	if (walk->root_fd >= 0)
		return wh_beneath_resolve(walk->root_fd, path, flags);
	fd = open(path, flags | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

bool wh_walk_is_as_given(const struct wh_walk *walk)
{
	if (walk->path_count != 1 || walk->root_fd < 0 || !wh_path_has_wildcard(walk->paths[0]))
		return false;

	int fd = open_given(walk, lookup_path(walk, walk->paths[0]), O_PATH);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Errors about a given path are reported under that path. */
static void fault_given(
	struct wh_walk *walk, struct wh_walk_item *item, int error, enum wh_doing doing)
{
	const char *path = walk->paths[walk->given - 1];

	walk->path[0] = '\0';
	strncat(walk->path, path, WH_PATH_BYTES_MAX);
	fault(walk, item, error, doing);
}

static void find_given_folder(struct wh_walk *walk, struct wh_walk_item *item, int path_fd)
{
	int fd;

	if (!walk->recursive) {
		fault_given(walk, item, EISDIR, WH_DOING_KIND);
		return;
	}
	fd = openat(path_fd, ".", FOLDER_FLAGS);
	if (fd < 0)
		fault_given(walk, item, errno, WH_DOING_LISTING);
	else
		find_folder(walk, item, fd);
}

/* Everything before the first name with a wildcard is resolved like any folder. */
static void find_wildcard(struct wh_walk *walk, struct wh_walk_item *item, const char *path)
{
	char above[WH_PATH_BYTES_MAX + 1] = ".";
	size_t base_bytes = wh_wildcard_base_bytes(path);
	size_t above_bytes;
	struct stat status;
	int fd;

	if (base_bytes > 1) {
		memcpy(above, path, base_bytes - 1);
		above[base_bytes - 1] = '\0';
	}
	fd = wh_beneath_resolve(walk->root_fd, above, FOLDER_FLAGS);
	walk->path[0] = '\0';
	if (fd >= 0 && walk->whole && wh_path_kept(path) < path + base_bytes &&
		wh_path_in_bundle(above, true, walk->path, &above_bytes) < 0) {
		close(fd);
		fd = -EINVAL;
	}
	walk->matched = false;
	if (fd >= 0)
		fd = enter(walk, fd, &status);
	if (fd < 0)
		fault_given(walk, item, -fd, WH_DOING_OPENING);
	else
		top(walk)->pattern = path + base_bytes;
}

static void find_given(struct wh_walk *walk, struct wh_walk_item *item)
{
	const char *path = lookup_path(walk, walk->paths[walk->given++]);
	char name[WH_PATH_BYTES_MAX + 1];
	size_t above_bytes;
	int name_bytes = wh_path_in_bundle(path, walk->whole, name, &above_bytes);
	int fd = open_given(walk, path, O_PATH | (walk->whole ? O_NOFOLLOW : 0));
	struct stat status;

	/* Below a root no shell has expanded wildcards. */
	if (fd == -ENOENT && walk->root_fd >= 0 && wh_path_has_wildcard(path)) {
		find_wildcard(walk, item, path);
		return;
	}
	if (fd < 0) {
		fault_given(walk, item, -fd, WH_DOING_OPENING);
		return;
	}
	if (name_bytes < 0) {
		fault_given(walk, item, -name_bytes, WH_DOING_PATH);
		close(fd);
		return;
	}
	strcpy(walk->path, name);
	item->folder_fd = walk->root_fd >= 0 ? walk->root_fd : AT_FDCWD;
	item->name = path;
	item->is_given = true;
	if (fstat(fd, &status) != 0)
		fault_given(walk, item, errno, WH_DOING_OPENING);
	else if (S_ISDIR(status.st_mode))
		find_given_folder(walk, item, fd);
	else if (S_ISREG(status.st_mode))
		found(walk, item, WH_WALK_FILE);
	else if (S_ISLNK(status.st_mode))
		found(walk, item, WH_WALK_LINK);
	else
		fault_given(walk, item, EOPNOTSUPP, WH_DOING_KIND);
	close(fd);
}

static bool is_prefix(const struct wh_walk *walk, const char *path, size_t bytes)
{
	return strncmp(walk->prefix, path, bytes) == 0 &&
	       (walk->prefix[bytes] == '/' || walk->prefix[bytes] == '\0');
}

/* Status of a folder on the way, the first bytes of an item's path. False: it cannot be told. */
static bool look_at_prefix(
	const struct wh_walk *walk, const char *path, size_t bytes, struct stat *status)
{
	const char *given = lookup_path(walk, walk->paths[walk->given - 1]);
	char whole[2 * WH_PATH_BYTES_MAX + 2];
	int above_bytes = (int)(wh_path_kept(given) - given);
	int fd = -1;

	/* Not for reading: a guard may let us read the given file, but not its folder. */
	if (snprintf(whole, sizeof(whole), "%.*s%.*s", above_bytes, given, (int)bytes, path) <
		(int)sizeof(whole))
		fd = open_given(walk, lookup_path(walk, whole), O_PATH | O_DIRECTORY);
	if (fd < 0)
		return false;

	bool told = fstat(fd, status) == 0;

	close(fd);
	return told;
}

/*
 * Finds the next folder on the way to the held item that was not on the way to the one before.
 * False: all are found. One that cannot be opened is left to the sink.
 */
static bool find_prefix(struct wh_walk *walk, struct wh_walk_item *item)
{
	const struct wh_walk_item *held = &walk->held;
	const char *slash;

	while ((slash = strchr(held->path + walk->prefix_bytes + (walk->prefix_bytes > 0), '/')) !=
		NULL) {
		size_t bytes = (size_t)(slash - held->path);
		bool is_known = is_prefix(walk, held->path, bytes);

		walk->prefix_bytes = bytes;
		if (is_known)
			continue;
		memcpy(walk->prefix, held->path, bytes);
		walk->prefix[bytes] = '\0';
		if (!look_at_prefix(walk, held->path, bytes, &item->status))
			continue;
		item->found = WH_WALK_FOLDER;
		item->is_prefix = true;
		item->given = held->given;
		item->path = walk->prefix;
		item->path_bytes = (uint16_t)bytes;
		item->own_fd = -1;
		return true;
	}
	return false;
}

static void step(struct wh_walk *walk, struct wh_walk_item *item)
{
	bool has_prefix = walk->whole && (walk->depth == 0 || top(walk)->pattern != NULL);

	item->found = WH_WALK_NOTHING;
	item->is_given = item->is_prefix = false;
	if (walk->depth > 0)
		step_in_folder(walk, item);
	else if (walk->given < walk->path_count)
		find_given(walk, item);
	else
		item->found = WH_WALK_END;
	if (!has_prefix || (item->found != WH_WALK_FILE && item->found != WH_WALK_FOLDER &&
				   item->found != WH_WALK_LINK))
		return;
	walk->held = *item;
	walk->holds = true;
	walk->prefix_bytes = 0;
	item->found = WH_WALK_NOTHING;
}

void wh_walk_next(struct wh_walk *walk, struct wh_walk_item *item)
{
	if (!walk->holds)
		step(walk, item);
	if (!walk->holds || find_prefix(walk, item))
		return;
	walk->holds = false;
	*item = walk->held;
}

void wh_walk_leave(struct wh_walk *walk)
{
	WH_ASSERT(!top(walk)->is_read);
	leave(walk);
}

int wh_walk_open_file(const struct wh_walk *walk, const struct wh_walk_item *item)
{
	int fd;

	WH_ASSERT(item->found == WH_WALK_FILE);
	if (item->is_given)
		return open_given(walk, item->name, FILE_FLAGS);
	fd = openat(item->folder_fd, item->name, FILE_FLAGS | O_NOFOLLOW);
	return fd >= 0 ? fd : -errno;
}

int wh_walk_open_link(const struct wh_walk *walk, const struct wh_walk_item *item)
{
	int fd;

	WH_ASSERT(item->found == WH_WALK_LINK);
	if (item->is_given)
		return open_given(walk, item->name, O_PATH | O_NOFOLLOW);
	fd = openat(item->folder_fd, item->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

int wh_walk_open(struct wh_walk **walk, int root_fd, const char *const *paths, uint32_t path_count,
	bool recursive, const struct wh_blocks_account *account)
{
	struct wh_walk *made = malloc(sizeof(*made));

	WH_ASSERT(root_fd >= -1);
	if (made == NULL)
		return -ENOMEM;
	*made = (struct wh_walk){
		.root_fd = root_fd,
		.paths = paths,
		.path_count = path_count,
		.recursive = recursive,
		.memory = {.account = account, .free_bytes = WH_WALK_FREE_BYTES},
	};
	*walk = made;
	return 0;
}

void wh_walk_keep_paths(struct wh_walk *walk)
{
	WH_ASSERT(walk->given == 0);
	walk->whole = true;
}

void wh_walk_close(struct wh_walk *walk)
{
	if (walk == NULL)
		return;
	for (uint32_t i = 0; i < walk->folder_room; i++) {
		if (walk->folders[i].fd >= 0)
			close(walk->folders[i].fd);
		free_names(walk, &walk->folders[i]);
	}
	wh_blocks_memory_give(&walk->memory, walk->folder_room * sizeof(walk->folders[0]));
	WH_ASSERT(walk->memory.bytes == 0);
	free(walk->folders);
	free(walk);
}
