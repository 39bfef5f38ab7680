/* SPDX-License-Identifier: BSD-3-Clause */

/* Lists or sums up folders with their contents, or removes them: one name per step. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/beneath.h"
#include "bundle/choice.h"
#include "bundle/staging_name.h"
#include "rpc/rpc_internal.h"

/* The path in an ITEM: a given path itself is ".". */
static const char *told_path(const char *path)
{
	return path[0] != '\0' ? path : ".";
}

/* Removes a folder that was left; fd: its parent. */
static void remove_folder(struct wh_rpc *rpc, int fd, const char *name)
{
	if (unlinkat(fd, name, AT_REMOVEDIR) == 0) {
		rpc->tally.done++;
		if (rpc->depth > 0)
			wh_level_top(rpc)->passed--;
		return;
	}
	if (rpc->depth > 0)
		wh_level_top(rpc)->spoilt = true;
	wh_rpc_tell_fault(rpc, rpc->path, errno, WH_DOING_REMOVING);
}

/* Whether the folder just left was given, or has matched a given pattern. */
static bool was_meant(struct wh_rpc *rpc)
{
	return rpc->depth == 0 || wh_level_top(rpc)->pattern != NULL;
}

static void leave_removed(struct wh_rpc *rpc, const struct wh_level *left)
{
	const char *slash = strrchr(rpc->path, '/');

	/* Failures inside were reported: "not empty" would add nothing. */
	if (left->spoilt) {
		if (rpc->depth > 0)
			wh_level_top(rpc)->spoilt = true;
	} else if (rpc->depth > 0) {
		remove_folder(rpc, wh_level_top(rpc)->fd, slash != NULL ? slash + 1 : rpc->path);
	} else {
		remove_folder(rpc, rpc->base_fd, rpc->base_name);
	}
}

/* Adds its sums to its parent's. */
static void leave_summed(struct wh_rpc *rpc, const struct wh_level *left)
{
	if (rpc->depth > 0) {
		struct wh_rpc_sums *sums = &wh_level_top(rpc)->sums;

		sums->bytes += left->sums.bytes;
		sums->used_bytes += left->sums.used_bytes;
		sums->entries += left->sums.entries;
	}
	if (was_meant(rpc) || rpc->config.recursive)
		wh_rpc_tell_item(
			rpc, told_path(rpc->path), left->fd, ".", &left->status, &left->sums);
}

static void forget_base(struct wh_rpc *rpc)
{
	if (rpc->base_fd >= 0)
		close(rpc->base_fd);
	rpc->base_fd = -1;
}

/*
 * Reopens the parent of the folder that is left. It must be the folder that was open before: if
 * somebody has moved the one that is left, ".." leads elsewhere. Reading goes on behind the current
 * name: at its offset, or, since offsets may change while names are removed, behind the passed
 * names that still exist.
 */
static bool open_again(struct wh_rpc *rpc, struct wh_level *left)
{
	struct wh_level *level = wh_level_top(rpc);
	struct stat status;
	int fd = openat(left->fd, "..", WH_FOLDER_FLAGS);

	if (fd < 0)
		return false;
	if (fstat(fd, &status) != 0 || status.st_dev != level->status.st_dev ||
		status.st_ino != level->status.st_ino ||
		(!wh_rpc_removes(rpc) && lseek(fd, level->offset, SEEK_SET) < 0)) {
		close(fd);
		return false;
	}
	level->fd = fd;
	level->is_again = wh_rpc_removes(rpc);
	level->at = level->end = 0;
	level->is_read = false;
	level->piece = left->piece;
	left->piece = NULL;
	return true;
}

/* The folders above the one that is left cannot be reached any more. */
static void lose_way(struct wh_rpc *rpc)
{
	wh_rpc_tell_fault(rpc, rpc->path, ESTALE, WH_DOING_LISTING);
	rpc->depth = 0;
}

static void leave(struct wh_rpc *rpc)
{
	struct wh_level *left = wh_level_top(rpc);

	rpc->path[left->path_bytes] = '\0';
	rpc->depth--;
	if (rpc->depth > 0 && wh_level_top(rpc)->fd < 0 && !open_again(rpc, left))
		lose_way(rpc);
	else if (left->pattern != NULL)
		wh_rpc_match_end(rpc);
	else if (wh_rpc_removes(rpc))
		leave_removed(rpc, left);
	else if (rpc->config.verb == WH_JOB_USAGE)
		leave_summed(rpc, left);
	close(left->fd);
	if (rpc->depth == 0)
		forget_base(rpc);
}

static void take_name(struct wh_rpc *rpc, const char *name)
{
	struct wh_level *level = wh_level_top(rpc);
	struct stat status;

	/* Some file systems have names for which there is no room: cut, they are too long, too. */
	snprintf(rpc->path + level->path_bytes, sizeof(rpc->path) - level->path_bytes, "%s%s",
		level->path_bytes > 0 ? "/" : "", name);
	if (strlen(rpc->path) > WH_PATH_BYTES_MAX) {
		rpc->path[WH_PATH_BYTES_MAX] = '\0';
		wh_descent_spoil(rpc, ENAMETOOLONG, WH_DOING_PATH);
	} else if (fstatat(level->fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
		if (errno != ENOENT)
			wh_descent_spoil(rpc, errno, WH_DOING_OPENING);
		else
			level->passed--;
	} else if (level->pattern != NULL) {
		wh_rpc_match_name(rpc, name, &status);
	} else {
		wh_descent_take(rpc, name, &status);
	}
}

static bool is_seen(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       !wh_looks_like_staging(name, strlen(name));
}

static void read_piece(struct wh_rpc *rpc, struct wh_level *level)
{
	ssize_t bytes = getdents64(level->fd, level->piece, WH_RPC_PIECE_BYTES);
	int error = errno;

	if (level->is_again)
		level->skip = level->passed;
	level->is_again = false;
	level->at = 0;
	level->end = bytes > 0 ? (uint32_t)bytes : 0;
	level->is_read = bytes <= 0;
	if (bytes >= 0)
		return;
	rpc->path[level->path_bytes] = '\0';
	wh_descent_spoil(rpc, error, WH_DOING_LISTING);
}

void wh_descent_step(struct wh_rpc *rpc)
{
	struct wh_level *level = wh_level_top(rpc);

	if (level->at < level->end) {
		const struct dirent64 *entry = (const struct dirent64 *)(level->piece + level->at);

		level->at += entry->d_reclen;
		WH_ASSERT(level->at <= level->end);
		if (is_seen(entry->d_name) && level->skip > 0) {
			level->skip--;
		} else if (is_seen(entry->d_name)) {
			level->offset = entry->d_off;
			level->passed++;
			take_name(rpc, entry->d_name);
		}
	} else if (level->is_read) {
		leave(rpc);
	} else {
		read_piece(rpc, level);
	}
}

/* No shell has expanded wildcards: a path that does not exist may stand for others. */
static void find_missing(struct wh_rpc *rpc, int error, enum wh_doing doing)
{
	if (error == ENOENT && wh_path_has_wildcard(wh_rpc_given(rpc)))
		wh_rpc_match_begin(rpc);
	else
		wh_rpc_tell_fault(rpc, "", error, doing);
}

/* Begins to remove a given path; if it is a link, the link itself. */
static void begin_removal(struct wh_rpc *rpc, const char *given)
{
	struct stat status;
	int fd = wh_rpc_open_parent(rpc, given, O_PATH, rpc->base_name);

	if (fd < 0) {
		find_missing(rpc, -fd, WH_DOING_PATH);
		return;
	}
	rpc->base_fd = fd;
	if (wh_looks_like_staging(rpc->base_name, strlen(rpc->base_name)))
		wh_rpc_tell_fault(rpc, "", ENOENT, WH_DOING_REMOVING);
	else if (fstatat(fd, rpc->base_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		find_missing(rpc, errno, WH_DOING_REMOVING);
	else if (!S_ISDIR(status.st_mode) && unlinkat(fd, rpc->base_name, 0) == 0)
		rpc->tally.done++;
	else if (!S_ISDIR(status.st_mode))
		wh_rpc_tell_fault(rpc, "", errno, WH_DOING_REMOVING);
	else if (!rpc->config.recursive)
		wh_rpc_tell_fault(rpc, "", EISDIR, WH_DOING_REMOVING);
	else
		wh_descent_enter_given(
			rpc, openat(fd, rpc->base_name, WH_FOLDER_FLAGS | O_NOFOLLOW), NULL);
	if (rpc->depth == 0)
		forget_base(rpc);
}

static void begin_looking(struct wh_rpc *rpc, const char *given)
{
	struct stat status;
	int fd = wh_beneath_resolve(rpc->config.root_fd, given, O_PATH | O_CLOEXEC);

	if (fd < 0) {
		find_missing(rpc, -fd, WH_DOING_OPENING);
		return;
	}
	if (fstat(fd, &status) != 0)
		wh_rpc_tell_fault(rpc, "", errno, WH_DOING_OPENING);
	else if (S_ISDIR(status.st_mode))
		wh_descent_enter_given(rpc, openat(fd, ".", WH_FOLDER_FLAGS), NULL);
	else
		wh_rpc_tell_item(rpc, ".", fd, "", &status, NULL);
	close(fd);
}

void wh_descent_begin(struct wh_rpc *rpc)
{
	const char *given = wh_rpc_given(rpc);

	rpc->path[0] = '\0';
	rpc->is_pattern = rpc->matched = false;
	if (wh_rpc_removes(rpc))
		begin_removal(rpc, given);
	else
		begin_looking(rpc, given);
}

void wh_descent_close(struct wh_rpc *rpc)
{
	while (rpc->depth > 0 && wh_level_top(rpc)->fd >= 0)
		close(rpc->level[--rpc->depth]->fd);
	rpc->depth = 0;
	forget_base(rpc);
}
