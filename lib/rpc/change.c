/* SPDX-License-Identifier: BSD-3-Clause */

/* Creates folders and renames. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/beneath.h"
#include "rpc/rpc_internal.h"

/* Reduced by the umask. */
#define FOLDER_MODE 0777

/* Creates a folder in an open one; 0 or a positive errno. */
static int make_in(struct wh_rpc *rpc, int above_fd, const char *name, enum wh_doing *doing)
{
	int error = wh_rpc_judge_name(rpc, name, strlen(name), doing);

	if (error == 0 && mkdirat(above_fd, name, FOLDER_MODE) != 0) {
		error = errno;
		*doing = WH_DOING_CREATING;
	}
	rpc->tally.done += error == 0;
	return error;
}

/* The same, by a path. */
static int make_one(struct wh_rpc *rpc, const char *path, enum wh_doing *doing)
{
	char name[NAME_MAX + 1];
	int fd = wh_rpc_open_parent(rpc, path, O_PATH, name);
	int error = fd < 0 ? -fd : make_in(rpc, fd, name, doing);

	if (fd < 0)
		*doing = WH_DOING_PATH;
	if (fd >= 0)
		close(fd);
	return error;
}

/*
 * The folder of that name, perhaps by a link; `path` leads there from the root, and is used where
 * the way from the folder above leads up.
 */
static int enter(const struct wh_rpc *rpc, int above_fd, const char *name, const char *path)
{
	const int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	int fd = wh_beneath_resolve(above_fd, name, flags);

	return fd == -EXDEV ? wh_beneath_resolve(rpc->config.root_fd, path, flags) : fd;
}

/* Creates it if it does not exist, and enters it. A descriptor or a negative errno. */
static int need_folder(
	struct wh_rpc *rpc, int above_fd, const char *name, const char *path, enum wh_doing *doing)
{
	int fd = enter(rpc, above_fd, name, path);
	int error;

	*doing = WH_DOING_PATH;
	if (fd != -ENOENT)
		return fd;
	error = make_in(rpc, above_fd, name, doing);
	return error != 0 ? -error : enter(rpc, above_fd, name, path);
}

/* Creates what is missing of the path, from the root downwards; 0 or a positive errno. */
static int make_all(struct wh_rpc *rpc, const char *path, enum wh_doing *doing)
{
	char part[WH_PATH_BYTES_MAX + 1];
	int fd = path[0] == '/' ? -EXDEV : rpc->config.root_fd;

	*doing = WH_DOING_PATH;
	WH_ASSERT(strlen(path) < sizeof(part));
	strcpy(part, path);
	for (char *name = part; fd >= 0 && name != NULL;) {
		char *slash = strchr(name, '/');
		int above_fd = fd;

		if (slash != NULL)
			*slash = '\0';
		if (name[0] != '\0') {
			fd = need_folder(rpc, above_fd, name, part, doing);
			if (above_fd != rpc->config.root_fd)
				close(above_fd);
		}
		if (slash != NULL)
			*slash = '/';
		name = slash != NULL ? slash + 1 : NULL;
	}
	if (fd >= 0 && fd != rpc->config.root_fd)
		close(fd);
	return fd < 0 ? -fd : 0;
}

void wh_rpc_make(struct wh_rpc *rpc)
{
	const char *path = wh_rpc_given(rpc);
	enum wh_doing doing = WH_DOING_CREATING;
	int error =
		rpc->config.recursive ? make_all(rpc, path, &doing) : make_one(rpc, path, &doing);

	if (error != 0)
		wh_rpc_tell_fault(rpc, "", error, doing);
}

/* Opens the target's folder and sets `name`: in an existing folder the old name is kept. */
static int open_target(const struct wh_rpc *rpc, const char *own, char name[NAME_MAX + 1])
{
	const char *target = rpc->config.paths[rpc->config.path_count - 1];
	int fd = wh_beneath_resolve(rpc->config.root_fd, target, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		strcpy(name, own);
		return fd;
	}
	if (rpc->config.path_count > 2)
		return fd;
	return wh_rpc_open_parent(rpc, target, O_PATH, name);
}

/* How many folders are above that one below the root. Its path does not tell: it may go up. */
static int depth_of(const struct wh_rpc *rpc, int folder_fd, uint32_t *depth)
{
	struct stat root, at;
	int fd = dup(folder_fd);

	*depth = 0;
	while (fd >= 0 && fstat(rpc->config.root_fd, &root) == 0 && fstat(fd, &at) == 0) {
		if (at.st_ino == root.st_ino && at.st_dev == root.st_dev) {
			close(fd);
			return 0;
		}

		int above_fd = ++*depth > WH_PATH_BYTES_MAX
				       ? -1
				       : openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		close(fd);
		fd = above_fd;
	}
	if (fd >= 0)
		close(fd);
	return EPERM;
}

/* A link that leads inside, or one in a folder, may lead outside from further up. */
static int judge_links(const struct wh_rpc *rpc, int from_fd, const char *name, int to_fd)
{
	uint32_t from_depth, to_depth;
	struct stat status;

	if (!rpc->config.links_inside ||
		(fstatat(from_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
			!S_ISLNK(status.st_mode) && !S_ISDIR(status.st_mode)))
		return 0;
	if (depth_of(rpc, from_fd, &from_depth) != 0 || depth_of(rpc, to_fd, &to_depth) != 0)
		return EPERM;
	return to_depth < from_depth ? EPERM : 0;
}

void wh_rpc_move(struct wh_rpc *rpc)
{
	char from_name[NAME_MAX + 1], to_name[NAME_MAX + 1];
	enum wh_doing doing = WH_DOING_PATH;
	int from_fd = wh_rpc_open_parent(rpc, wh_rpc_given(rpc), O_PATH, from_name);
	int to_fd = from_fd < 0 ? from_fd : open_target(rpc, from_name, to_name);
	int error = to_fd < 0 ? -to_fd : 0;

	if (error == 0)
		error = wh_rpc_judge_name(rpc, from_name, strlen(from_name), &doing);
	if (error == 0)
		error = wh_rpc_judge_name(rpc, to_name, strlen(to_name), &doing);
	if (error == 0) {
		error = judge_links(rpc, from_fd, from_name, to_fd);
		doing = WH_DOING_LINKING;
	}
	if (error == 0 && renameat(from_fd, from_name, to_fd, to_name) != 0) {
		error = errno;
		doing = WH_DOING_RENAMING;
	}
	rpc->tally.done += error == 0;
	if (error != 0)
		wh_rpc_tell_fault(rpc, "", error, doing);
	if (from_fd >= 0)
		close(from_fd);
	if (to_fd >= 0)
		close(to_fd);
}
