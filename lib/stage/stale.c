/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/stale.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/staging_name.h"
#include "file/background.h"

/* Deeper folders are skipped, because a descriptor is held for each level. */
#define DEPTH_MAX 64

struct search {
	int fd;          /* of the folder */
	bool below;      /* also in folders below it */
	int64_t parts_s; /* remove older ones */
};

static _Atomic bool stopped;

/* One search of a single folder at a time, since peers begin as many jobs in a large one. */
static _Atomic bool searching;

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Whether it contains only what staging folders contain. */
static bool looks_like_ours(DIR *folder)
{
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		struct stat status;

		if (is_dot(entry->d_name))
			continue;
		if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
			!(S_ISREG(status.st_mode) || S_ISLNK(status.st_mode)))
			return false;
	}
	rewinddir(folder);
	return true;
}

void wh_stale_unlink_all(DIR *folder)
{
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
		if (!is_dot(entry->d_name))
			unlinkat(dirfd(folder), entry->d_name, 0);
}

DIR *wh_stale_stream(int fd)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (again < 0)
		return NULL;

	DIR *stream = fdopendir(again);

	if (stream == NULL)
		close(again);
	return stream;
}

/*
 * Removes it if we own it and nobody has locked it. The lock is released last, with the descriptor.
 */
static void remove_stale(int folder_fd, const char *name)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return;

	bool is_ours = fstat(fd, &status) == 0 && status.st_uid == geteuid();
	DIR *stream = is_ours && flock(fd, LOCK_EX | LOCK_NB) == 0 ? wh_stale_stream(fd) : NULL;

	if (stream != NULL && looks_like_ours(stream)) {
		wh_stale_unlink_all(stream);
		unlinkat(folder_fd, name, AT_REMOVEDIR);
	}
	if (stream != NULL)
		closedir(stream);
	close(fd);
}

/* Judges age by the change time: the modification time of a complete one is its source's. */
static void remove_part(int parts_fd, const char *name, int64_t parts_s)
{
	int fd = openat(parts_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
		(status.st_ctim.tv_sec < parts_s || (status.st_mode & 07777) == WH_STALE_UNNOTED) &&
		flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(parts_fd, name, 0);
	close(fd);
}

/* Removes the folder, too, unless there are parts left. */
static void remove_parts(int folder_fd, int64_t parts_s)
{
	int fd =
		openat(folder_fd, WH_PARTS_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	bool is_ours = fd >= 0 && fstat(fd, &status) == 0 && status.st_uid == geteuid();
	DIR *stream = is_ours ? wh_stale_stream(fd) : NULL;

	if (stream != NULL) {
		for (const struct dirent *entry; (entry = readdir(stream)) != NULL;)
			if (!is_dot(entry->d_name))
				remove_part(fd, entry->d_name, parts_s);
		closedir(stream);
		unlinkat(folder_fd, WH_PARTS_FOLDER, AT_REMOVEDIR);
	}
	if (fd >= 0)
		close(fd);
}

/* Searches a folder; links are not folders. */
static void search_folder(int folder_fd, const struct search *search, uint32_t depth);

static void search_name(
	int folder_fd, const struct dirent *entry, const struct search *search, uint32_t depth)
{
	if (wh_is_staging_name(entry->d_name, strlen(entry->d_name))) {
		remove_stale(folder_fd, entry->d_name);
		return;
	}
	if (strcmp(entry->d_name, WH_PARTS_FOLDER) == 0) {
		if (search->parts_s != INT64_MIN)
			remove_parts(folder_fd, search->parts_s);
		return;
	}
	if (!search->below || depth == DEPTH_MAX || is_dot(entry->d_name) ||
		(entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
		return;

	int fd = openat(folder_fd, entry->d_name,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	search_folder(fd, search, depth + 1);
	close(fd);
}

static void search_folder(int folder_fd, const struct search *search, uint32_t depth)
{
	DIR *stream = wh_stale_stream(folder_fd);

	if (stream == NULL) /* permission to write but not to read: nothing can be found */
		return;
	for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
		if (search->below && atomic_load_explicit(&stopped, memory_order_relaxed))
			break;
		search_name(folder_fd, entry, search, depth);
	}
	closedir(stream);
}

static void run_search(void *argument)
{
	struct search *search = argument;

	/* Per thread in Linux: does not compete with other work. */
	setpriority(PRIO_PROCESS, 0, 19);
	search_folder(search->fd, search, 0);
	close(search->fd);
	if (!search->below)
		atomic_store(&searching, false);
	free(search);
}

/* False: it does not begin. */
static bool begin(int folder_fd, bool below, int64_t parts_s)
{
	struct search *search = malloc(sizeof(*search));

	WH_ASSERT(folder_fd >= 0);
	if (search == NULL)
		return false;
	search->below = below;
	search->parts_s = parts_s;
	search->fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (search->fd >= 0 && wh_background(run_search, search) == 0)
		return true;
	if (search->fd >= 0)
		close(search->fd);
	free(search);
	return false;
}

void wh_stale_remove_in(int folder_fd, int64_t parts_s)
{
	if (!atomic_exchange(&searching, true) && !begin(folder_fd, false, parts_s))
		atomic_store(&searching, false);
}

void wh_stale_remove_below(int root_fd, int64_t parts_s)
{
	atomic_store_explicit(&stopped, false, memory_order_relaxed);
	(void)begin(root_fd, true, parts_s);
}

void wh_stale_stop(void)
{
	atomic_store_explicit(&stopped, true, memory_order_relaxed);
}
