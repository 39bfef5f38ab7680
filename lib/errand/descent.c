/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists or sums up folders with their contents, or removes them: one name per step. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/beneath.h"
#include "bundle/choice.h"
#include "bundle/staging_name.h"
#include "errand/errand_internal.h"

/* The path in an ITEM: a given path itself is ".". */
static const char *told_path(const char *path)
{
	return path[0] != '\0' ? path : ".";
}

/* Removes a folder that was left; fd: its parent. */
static void remove_folder(struct wh_errand *errand, int fd, const char *name)
{
	if (unlinkat(fd, name, AT_REMOVEDIR) == 0) {
		errand->tally.done++;
		if (errand->depth > 0)
			wh_level_top(errand)->passed--;
		return;
	}
	if (errand->depth > 0)
		wh_level_top(errand)->spoilt = true;
	wh_errand_tell_fault(errand, errand->path, errno, WH_DOING_REMOVING);
}

/* Whether the folder just left was given, or has matched a given pattern. */
static bool was_meant(struct wh_errand *errand)
{
	return errand->depth == 0 || wh_level_top(errand)->pattern != NULL;
}

static void leave_removed(struct wh_errand *errand, const struct wh_level *left)
{
	const char *slash = strrchr(errand->path, '/');

	/* Failures inside were reported: "not empty" would add nothing. */
	if (left->spoilt) {
		if (errand->depth > 0)
			wh_level_top(errand)->spoilt = true;
	} else if (errand->depth > 0) {
		remove_folder(
			errand, wh_level_top(errand)->fd, slash != NULL ? slash + 1 : errand->path);
	} else {
		remove_folder(errand, errand->base_fd, errand->base_name);
	}
}

/* Adds its sums to its parent's. */
static void leave_summed(struct wh_errand *errand, const struct wh_level *left)
{
	if (errand->depth > 0) {
		struct wh_errand_sums *sums = &wh_level_top(errand)->sums;

		sums->bytes += left->sums.bytes;
		sums->used_bytes += left->sums.used_bytes;
		sums->entries += left->sums.entries;
	}
	if (was_meant(errand) || errand->config.recursive)
		wh_errand_tell_item(
			errand, told_path(errand->path), left->fd, ".", &left->status, &left->sums);
}

static void forget_base(struct wh_errand *errand)
{
	if (errand->base_fd >= 0)
		close(errand->base_fd);
	errand->base_fd = -1;
}

/*
 * It must be the folder that was open before: if somebody has moved the one that is left, ".."
 * leads elsewhere. Names go on behind the current one: at its offset, or, since offsets may change
 * while names are removed, behind those that were passed and are still there.
 */
static bool open_again(struct wh_errand *errand, struct wh_level *left)
{
	struct wh_level *level = wh_level_top(errand);
	struct stat status;
	int fd = openat(left->fd, "..", WH_FOLDER_FLAGS);

	if (fd < 0)
		return false;
	if (fstat(fd, &status) != 0 || status.st_dev != level->status.st_dev ||
		status.st_ino != level->status.st_ino ||
		(!wh_errand_removes(errand) && lseek(fd, level->offset, SEEK_SET) < 0)) {
		close(fd);
		return false;
	}
	level->fd = fd;
	level->is_again = wh_errand_removes(errand);
	level->at = level->end = 0;
	level->is_read = false;
	level->piece = left->piece;
	left->piece = NULL;
	return true;
}

/* Nothing above the folder that is left can be reached any more. */
static void lose_way(struct wh_errand *errand)
{
	wh_errand_tell_fault(errand, errand->path, ESTALE, WH_DOING_LISTING);
	errand->depth = 0;
}

static void leave(struct wh_errand *errand)
{
	struct wh_level *left = wh_level_top(errand);

	errand->path[left->path_bytes] = '\0';
	errand->depth--;
	if (errand->depth > 0 && wh_level_top(errand)->fd < 0 && !open_again(errand, left))
		lose_way(errand);
	else if (left->pattern != NULL)
		wh_errand_match_end(errand);
	else if (wh_errand_removes(errand))
		leave_removed(errand, left);
	else if (errand->config.verb == WH_JOB_USAGE)
		leave_summed(errand, left);
	close(left->fd);
	if (errand->depth == 0)
		forget_base(errand);
}

static void take_name(struct wh_errand *errand, const char *name)
{
	struct wh_level *level = wh_level_top(errand);
	struct stat status;

	errand->path[level->path_bytes] = '\0';
	if (level->path_bytes > 0)
		strcat(errand->path, "/");
	strcat(errand->path, name);
	if (strlen(errand->path) > WH_PATH_BYTES_MAX) {
		errand->path[WH_PATH_BYTES_MAX] = '\0';
		wh_descent_spoil(errand, ENAMETOOLONG, WH_DOING_PATH);
	} else if (fstatat(level->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
		if (errno != ENOENT)
			wh_descent_spoil(errand, errno, WH_DOING_OPENING);
		else
			level->passed--;
	} else if (level->pattern != NULL) {
		wh_errand_match_name(errand, name, &status);
	} else {
		wh_descent_take(errand, name, &status);
	}
}

static bool is_seen(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       !wh_looks_like_staging(name, strlen(name));
}

static void read_piece(struct wh_errand *errand, struct wh_level *level)
{
	ssize_t bytes = getdents64(level->fd, level->piece, WH_ERRAND_PIECE_BYTES);
	int error = errno;

	if (level->is_again)
		level->skip = level->passed;
	level->is_again = false;
	level->at = 0;
	level->end = bytes > 0 ? (uint32_t)bytes : 0;
	level->is_read = bytes <= 0;
	if (bytes >= 0)
		return;
	errand->path[level->path_bytes] = '\0';
	wh_descent_spoil(errand, error, WH_DOING_LISTING);
}

void wh_descent_step(struct wh_errand *errand)
{
	struct wh_level *level = wh_level_top(errand);

	if (level->at < level->end) {
		const struct dirent64 *entry = (const struct dirent64 *)(level->piece + level->at);

		level->at += entry->d_reclen;
		WH_ASSERT(level->at <= level->end);
		if (is_seen(entry->d_name) && level->skip > 0) {
			level->skip--;
		} else if (is_seen(entry->d_name)) {
			level->offset = entry->d_off;
			level->passed++;
			take_name(errand, entry->d_name);
		}
	} else if (level->is_read) {
		leave(errand);
	} else {
		read_piece(errand, level);
	}
}

/* No shell has expanded wildcards: a path that does not exist may stand for others. */
static void find_missing(struct wh_errand *errand, int error, enum wh_doing doing)
{
	if (error == ENOENT && wh_path_has_wildcard(wh_errand_given(errand)))
		wh_errand_match_begin(errand);
	else
		wh_errand_tell_fault(errand, "", error, doing);
}

/* Begins to remove a given path; if it is a link, the link itself. */
static void begin_removal(struct wh_errand *errand, const char *given)
{
	struct stat status;
	int fd = wh_errand_open_parent(errand, given, O_PATH, errand->base_name);

	if (fd < 0) {
		find_missing(errand, -fd, WH_DOING_PATH);
		return;
	}
	errand->base_fd = fd;
	if (wh_looks_like_staging(errand->base_name, strlen(errand->base_name)))
		wh_errand_tell_fault(errand, "", ENOENT, WH_DOING_REMOVING);
	else if (fstatat(fd, errand->base_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		find_missing(errand, errno, WH_DOING_REMOVING);
	else if (!S_ISDIR(status.st_mode) && unlinkat(fd, errand->base_name, 0) == 0)
		errand->tally.done++;
	else if (!S_ISDIR(status.st_mode))
		wh_errand_tell_fault(errand, "", errno, WH_DOING_REMOVING);
	else if (!errand->config.recursive)
		wh_errand_tell_fault(errand, "", EISDIR, WH_DOING_REMOVING);
	else
		wh_descent_enter_given(
			errand, openat(fd, errand->base_name, WH_FOLDER_FLAGS | O_NOFOLLOW), NULL);
	if (errand->depth == 0)
		forget_base(errand);
}

static void begin_looking(struct wh_errand *errand, const char *given)
{
	struct stat status;
	int fd = wh_beneath_resolve(errand->config.root_fd, given, O_PATH | O_CLOEXEC);

	if (fd < 0) {
		find_missing(errand, -fd, WH_DOING_OPENING);
		return;
	}
	if (fstat(fd, &status) != 0)
		wh_errand_tell_fault(errand, "", errno, WH_DOING_OPENING);
	else if (S_ISDIR(status.st_mode))
		wh_descent_enter_given(errand, openat(fd, ".", WH_FOLDER_FLAGS), NULL);
	else
		wh_errand_tell_item(errand, ".", fd, "", &status, NULL);
	close(fd);
}

void wh_descent_begin(struct wh_errand *errand)
{
	const char *given = wh_errand_given(errand);

	errand->path[0] = '\0';
	errand->is_pattern = errand->matched = false;
	if (wh_errand_removes(errand))
		begin_removal(errand, given);
	else
		begin_looking(errand, given);
}

void wh_descent_close(struct wh_errand *errand)
{
	while (errand->depth > 0 && wh_level_top(errand)->fd >= 0)
		close(errand->level[--errand->depth]->fd);
	errand->depth = 0;
	forget_base(errand);
}
