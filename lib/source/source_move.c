/* SPDX-License-Identifier: BSD-3-Clause */

/* Removes moved files from their origin. Folders stay. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/beneath.h"
#include "file/background.h"
#include "source/source_internal.h"

/* Removing a file from this size on may take long. */
#define BACKGROUND_BYTES (UINT64_C(64) << 20)

/* The file-system path of a bundle's path; false: longer than a path can be. */
static bool find_path(const struct wh_source *source, const struct wh_ledger_entry *entry,
	char path[2 * WH_PATH_BYTES_MAX])
{
	const char *given = source->config.paths[entry->given];
	char name[WH_PATH_BYTES_MAX + 1];
	size_t above_bytes;
	int name_bytes = wh_path_in_bundle(given,
		wh_choice_has(&source->config.choice, WH_CHOICE_RELATIVE), name, &above_bytes);
	int bytes = snprintf(path, (size_t)2 * WH_PATH_BYTES_MAX, "%.*s%s%s", (int)above_bytes,
		given, name_bytes > 0 ? "" : "/", wh_ledger_path(&source->ledger, entry));

	return bytes < 2 * WH_PATH_BYTES_MAX;
}

/* Opens the folder and returns the name in it; or a negative errno. */
static int open_above(const struct wh_source *source, char *path, const char **name)
{
	char *slash = strrchr(path, '/');
	const char *above = slash == path ? "/" : path;
	int fd;

	*name = slash == NULL ? path : slash + 1;
	if (slash == NULL)
		above = ".";
	else
		*slash = '\0';
	if (source->config.root_fd >= 0) {
		while (*above == '/')
			above++;
		return wh_beneath_resolve(
			source->config.root_fd, *above == '\0' ? "." : above, O_PATH | O_DIRECTORY);
	}
	fd = open(slash == path ? "/" : above, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_same(const struct wh_ledger_entry *entry, const struct stat *status)
{
	return status->st_ino == entry->inode && status->st_mtim.tv_sec == entry->mtime_s &&
	       (uint32_t)status->st_mtim.tv_nsec == entry->mtime_ns &&
	       (entry->kind == WH_ENTRY_LINK
			       ? S_ISLNK(status->st_mode)
			       : S_ISREG(status->st_mode) &&
					 (uint64_t)status->st_size == entry->size_bytes);
}

static void close_background(void *argument)
{
	close((int)(intptr_t)argument);
}

/*
 * The descriptor ensures that the file checked is the one removed; it also delays freeing the data.
 */
static int remove_same(const struct wh_ledger_entry *entry, int folder_fd, const char *name)
{
	int fd = openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	int error = 0;

	if (fd < 0)
		return errno;
	if (fstat(fd, &status) != 0)
		error = errno;
	else if (!is_same(entry, &status))
		error = EBUSY;
	else if (unlinkat(folder_fd, name, 0) != 0)
		error = errno;
	if (entry->size_bytes < BACKGROUND_BYTES ||
		wh_background(close_background, (void *)(intptr_t)fd) != 0)
		close(fd);
	return error;
}

static void tell_kept(struct wh_source *source, const struct wh_ledger_entry *entry, int error,
	enum wh_doing doing)
{
	wh_source_tell(source, &(struct wh_file_result){
				       .path = wh_ledger_path(&source->ledger, entry),
				       .kind = (enum wh_entry_kind)entry->kind,
				       .error = error,
				       .doing = (uint8_t)doing,
			       });
}

void wh_source_remove(struct wh_source *source, const struct wh_ledger_entry *entry)
{
	char path[2 * WH_PATH_BYTES_MAX];
	const char *name;
	int fd;
	int error = ENAMETOOLONG;

	if (entry->kind != WH_ENTRY_FILE && entry->kind != WH_ENTRY_LINK)
		return;
	WH_ASSERT(entry->given < source->config.path_count);
	if (wh_source_is_contested(source, wh_ledger_path(&source->ledger, entry))) {
		tell_kept(source, entry, EEXIST, WH_DOING_SHARING);
		return;
	}
	if (find_path(source, entry, path)) {
		fd = open_above(source, path, &name);
		error = fd < 0 ? -fd : remove_same(entry, fd, name);
		if (fd >= 0)
			close(fd);
	}
	if (error != 0)
		tell_kept(source, entry, error,
			error == EBUSY ? WH_DOING_CHANGED : WH_DOING_REMOVING);
}
