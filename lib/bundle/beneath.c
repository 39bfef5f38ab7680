/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/beneath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/staging_name.h"

/*
 * Renames elsewhere can disturb a lookup that must stay below (-EAGAIN). So many in a row are no
 * accident.
 */
#define LOOKUP_TRIES 100

/* The kernel's path of a descriptor; "" if unknown. */
static size_t real_path(int fd, char path[PATH_MAX])
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);

	ssize_t bytes = readlink(link, path, PATH_MAX);

	return bytes > 0 && path[0] == '/' ? (size_t)bytes : 0;
}

/*
 * Whether `found` is in a staging folder below `fd`, reached by a link or by another spelling that
 * the file system considers equal.
 */
static bool leads_to_staging(int fd, int found)
{
	char above[PATH_MAX], path[PATH_MAX];
	size_t above_bytes = real_path(fd, above);
	size_t bytes = real_path(found, path);

	if (above_bytes == 0 || bytes <= above_bytes || memcmp(path, above, above_bytes) != 0)
		return false;
	return wh_path_has_staging_name(path + above_bytes, bytes - above_bytes);
}

static int check_found(int fd, int found)
{
	if (!leads_to_staging(fd, found))
		return found;
	close(found);
	return -ENOENT;
}

static int look_up(int fd, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)flags | O_CLOEXEC,
		.resolve = resolve | RESOLVE_NO_MAGICLINKS,
	};

	WH_ASSERT((flags & (O_CREAT | O_TRUNC)) == 0);
	if (wh_path_has_staging_name(path, strlen(path)))
		return -ENOENT;
	for (int i = 0; i < LOOKUP_TRIES; i++) {
		long found = syscall(SYS_openat2, fd, path, &how, sizeof(how));

		if (found >= 0)
			return check_found(fd, (int)found);
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}

/* Nothing is outside of the whole system. */
static bool is_system(int fd)
{
	struct stat status, system;

	return fstat(fd, &status) == 0 && stat("/", &system) == 0 &&
	       status.st_dev == system.st_dev && status.st_ino == system.st_ino;
}

int wh_beneath_resolve(int fd, const char *path, int flags)
{
	int found = look_up(fd, path, flags, RESOLVE_BENEATH);

	return found == -EXDEV && is_system(fd) ? look_up(fd, path, flags, RESOLVE_IN_ROOT) : found;
}

void wh_beneath_init(struct wh_beneath *beneath, int anchor_fd)
{
	WH_ASSERT(anchor_fd >= 0);
	beneath->anchor_fd = anchor_fd;
	beneath->uses = 0;
	beneath->last = &beneath->folders[0];
	for (uint32_t i = 0; i < WH_BENEATH_FOLDERS; i++)
		beneath->folders[i] = (struct wh_beneath_folder){.fd = -1};
}

static void drop(struct wh_beneath_folder *folder)
{
	if (folder->fd >= 0)
		close(folder->fd);
	folder->fd = -1;
	folder->used = 0;
}

void wh_beneath_free(struct wh_beneath *beneath)
{
	for (uint32_t i = 0; i < WH_BENEATH_FOLDERS; i++)
		drop(&beneath->folders[i]);
}

int wh_beneath_open(const struct wh_beneath *beneath, const char *path, int flags)
{
	return look_up(beneath->anchor_fd, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

static bool is(const struct wh_beneath_folder *folder, const char *path, size_t path_bytes)
{
	return folder->fd >= 0 && folder->path_bytes == path_bytes &&
	       memcmp(folder->path, path, path_bytes) == 0;
}

static struct wh_beneath_folder *find(
	struct wh_beneath *beneath, const char *path, size_t path_bytes)
{
	if (is(beneath->last, path, path_bytes))
		return beneath->last;
	for (uint32_t i = 0; i < WH_BENEATH_FOLDERS; i++)
		if (is(&beneath->folders[i], path, path_bytes))
			return &beneath->folders[i];
	return NULL;
}

/* An unused place, or that of the least recently used folder. */
static struct wh_beneath_folder *oldest(struct wh_beneath *beneath)
{
	struct wh_beneath_folder *found = &beneath->folders[0];

	for (uint32_t i = 1; i < WH_BENEATH_FOLDERS; i++)
		if (beneath->folders[i].used < found->used)
			found = &beneath->folders[i];
	return found;
}

/* Creates one folder in another. Returns an O_PATH descriptor, the caller's. */
static int make_one(int fd, const char *name, bool *was_there)
{
	*was_there = mkdirat(fd, name, 0700) != 0;
	if (*was_there && errno != EEXIST)
		return -errno;
	return look_up(fd, name, O_PATH | O_DIRECTORY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Creates every folder of the path, from the anchor downwards. */
static int make_all(int anchor_fd, const char *path, uint16_t *found_bytes)
{
	char rest[WH_PATH_BYTES_MAX + 1];
	bool was_there = true;
	int fd = anchor_fd;

	*found_bytes = 0;
	WH_ASSERT(strlen(path) < sizeof(rest));
	strcpy(rest, path);
	for (char *name = rest; fd >= 0 && name != NULL;) {
		char *slash = strchr(name, '/');

		if (slash != NULL)
			*slash++ = '\0';

		int next = make_one(fd, name, &was_there);

		if (was_there)
			*found_bytes = (uint16_t)(name - rest + (ptrdiff_t)strlen(name));

		if (fd != anchor_fd)
			close(fd);
		fd = next;
		name = slash;
	}
	return fd;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Without a DIR stream: one entry decides. */
static bool lists_nothing(int fd)
{
	_Alignas(struct dirent64) char entries[1024];
	ssize_t bytes;

	while ((bytes = getdents64(fd, entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < bytes;) {
			const struct dirent64 *entry = (const struct dirent64 *)(entries + at);

			if (!is_dot(entry->d_name))
				return false;
			at += entry->d_reclen;
		}
	return bytes == 0;
}

/* A folder that cannot be read does not count as empty. */
static bool is_empty(int folder_fd)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool empty = fd >= 0 && lists_nothing(fd);

	if (fd >= 0)
		close(fd);
	return empty;
}

int wh_beneath_folder(struct wh_beneath *beneath, const char *path, size_t path_bytes)
{
	WH_ASSERT(path_bytes <= WH_PATH_BYTES_MAX);
	if (path_bytes == 0)
		return beneath->anchor_fd;

	struct wh_beneath_folder *folder = find(beneath, path, path_bytes);

	if (folder == NULL) {
		folder = oldest(beneath);
		drop(folder);
		memcpy(folder->path, path, path_bytes);
		folder->path[path_bytes] = '\0';
		folder->path_bytes = folder->found_bytes = (uint16_t)path_bytes;
		folder->is_new = true;
		folder->fd = wh_beneath_open(beneath, folder->path, O_PATH | O_DIRECTORY);
		if (folder->fd == -ENOENT)
			folder->fd =
				make_all(beneath->anchor_fd, folder->path, &folder->found_bytes);
		folder->was_empty = folder->fd >= 0 && is_empty(folder->fd);
	}
	if (folder->fd < 0)
		return folder->fd;
	WH_ASSERT(folder->path_bytes == path_bytes);
	folder->used = ++beneath->uses;
	beneath->last = folder;
	return folder->fd;
}

bool wh_beneath_was_empty(const struct wh_beneath *beneath, int folder_fd)
{
	return beneath->last->fd == folder_fd && beneath->last->was_empty;
}

bool wh_beneath_is_new(struct wh_beneath *beneath, int folder_fd)
{
	struct wh_beneath_folder *last = beneath->last;
	bool is_new = last->fd == folder_fd && last->is_new;

	if (is_new)
		last->is_new = false;
	return is_new;
}

size_t wh_beneath_found_bytes(const struct wh_beneath *beneath, int folder_fd)
{
	WH_ASSERT(beneath->last->fd == folder_fd);
	return beneath->last->found_bytes;
}

void wh_beneath_forget(struct wh_beneath *beneath, const char *path, size_t path_bytes)
{
	struct wh_beneath_folder *folder = find(beneath, path, path_bytes);

	if (folder != NULL)
		drop(folder);
}

size_t wh_beneath_parent_bytes(const char *path, size_t path_bytes)
{
	const char *slash = memrchr(path, '/', path_bytes);

	return slash == NULL ? 0 : (size_t)(slash - path);
}

int wh_beneath_parts(int folder_fd)
{
	struct stat status;
	int fd;

	if (mkdirat(folder_fd, WH_PARTS_FOLDER, 0700) != 0 && errno != EEXIST)
		return -errno;
	fd = openat(folder_fd, WH_PARTS_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid())
		return fd;
	close(fd);
	return -EPERM;
}

bool wh_beneath_in_memory(int fd)
{
	struct statfs status;

	if (fstatfs(fd, &status) != 0)
		return false;
	return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}
