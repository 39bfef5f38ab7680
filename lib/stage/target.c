/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/beneath.h"
#include "bundle/staging_name.h"

#define FOLDER_FLAGS (O_PATH | O_DIRECTORY)

/* The kernel's limit. */
#define LINKS_MAX 40

/* A target's path while links are followed. */
struct walk {
	char path[PATH_MAX];
	char above[PATH_MAX]; /* "a" of "a/b//", "." of "b" */
	char name[NAME_MAX + 1];
};

static int set_path(struct walk *walk, const char *above, const char *rest)
{
	size_t above_bytes = strlen(above);
	size_t rest_bytes = strlen(rest);

	if (above_bytes + 1 + rest_bytes >= sizeof(walk->path))
		return -ENAMETOOLONG;
	memcpy(walk->path, above, above_bytes);
	if (above_bytes > 0)
		walk->path[above_bytes++] = '/';
	memcpy(walk->path + above_bytes, rest, rest_bytes + 1);
	return 0;
}

/* Splits the path into `above` and `name`. */
static int split(struct walk *walk)
{
	const char *path = walk->path;
	size_t bytes = strlen(path);

	while (bytes > 0 && path[bytes - 1] == '/')
		bytes--;

	size_t above_bytes = wh_beneath_parent_bytes(path, bytes);
	const char *last = path + above_bytes + (path[above_bytes] == '/');
	size_t last_bytes = (size_t)(path + bytes - last);

	if (last_bytes > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(walk->above, path, above_bytes);
	strcpy(walk->above + above_bytes, above_bytes > 0 ? "" : ".");
	memcpy(walk->name, last, last_bytes);
	walk->name[last_bytes] = '\0';
	if (strcmp(walk->name, "") == 0 || strcmp(walk->name, ".") == 0 ||
		strcmp(walk->name, "..") == 0)
		return -ENOENT;
	return wh_path_has_staging_name(path, strlen(path)) ? -EPERM : 0;
}

/*
 * Lets the kernel resolve the link, which applies its own restrictions: an absolute one leads
 * nowhere, unless the root is that of the system.
 */
static int check_link(int root_fd, const char *path)
{
	int fd = wh_beneath_resolve(root_fd, path, O_PATH);

	if (fd < 0)
		return fd == -ENOENT ? -ENOLINK : fd;
	close(fd);
	return 0;
}

/* Follows one link: 1; 0: not a link, or nothing exists; or a negative errno. */
static int follow(int root_fd, int above_fd, struct walk *walk)
{
	char text[PATH_MAX];
	ssize_t bytes = readlinkat(above_fd, walk->name, text, sizeof(text));

	if (bytes < 0)
		return errno == EINVAL || errno == ENOENT ? 0 : -errno;
	if (bytes == (ssize_t)sizeof(text))
		return -ENAMETOOLONG;
	text[bytes] = '\0';

	int rc = check_link(root_fd, walk->path);

	if (rc == 0)
		rc = text[0] == '/' ? set_path(walk, "", text + strspn(text, "/"))
				    : set_path(walk, walk->above, text);
	return rc < 0 ? rc : 1;
}

/* Whether a file may replace what has the name. */
static int check_kind(int above_fd, const char *name)
{
	struct stat status;

	if (fstatat(above_fd, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : -errno;
	return S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ? 0 : -EEXIST;
}

/* Opens the folder of the path's last component. */
static int open_above(int root_fd, struct walk *walk)
{
	for (int i = 0; i < LINKS_MAX; i++) {
		int rc = split(walk);
		int fd = rc < 0 ? rc : wh_beneath_resolve(root_fd, walk->above, FOLDER_FLAGS);

		if (fd < 0)
			return fd;
		rc = follow(root_fd, fd, walk);
		if (rc == 0) {
			rc = check_kind(fd, walk->name);
			if (rc == 0)
				return fd;
		}
		close(fd);
		if (rc < 0)
			return rc;
	}
	return -ELOOP;
}

static int make_folder(int root_fd, struct walk *walk)
{
	int rc = split(walk);
	int above_fd = rc < 0 ? rc : wh_beneath_resolve(root_fd, walk->above, FOLDER_FLAGS);

	if (above_fd < 0)
		return above_fd;
	rc = mkdirat(above_fd, walk->name, 0777) != 0 && errno != EEXIST ? -errno : 0;
	close(above_fd);
	return rc;
}

/* Folders above the last component; one that cannot be made is noticed when it is opened. */
static void make_above(int root_fd, const char *path)
{
	struct walk step;
	char part[PATH_MAX];

	for (size_t end = strcspn(path, "/"); path[end] != '\0'; end += strcspn(path + end, "/")) {
		memcpy(part, path, end);
		part[end] = '\0';
		end += strspn(path + end, "/");
		if (path[end] == '\0')
			return;
		if (set_path(&step, "", part) == 0)
			(void)make_folder(root_fd, &step);
	}
}

int wh_target_open(
	int root_fd, const struct wh_target *target, char as[NAME_MAX + 1], enum wh_doing *doing)
{
	const char *path = target->path[0] == '\0' ? "." : target->path;
	bool into = target->into_folder || (!target->as_name && path[strlen(path) - 1] == '/');
	bool as_name = target->as_name || (target->blind && !into && strcmp(path, ".") != 0);
	struct walk walk;
	int fd = as_name ? -ENOENT : wh_beneath_resolve(root_fd, path, FOLDER_FLAGS);

	as[0] = '\0';
	*doing = WH_DOING_PATH;
	if (wh_path_has_staging_name(path, strlen(path)))
		return -EPERM;
	*doing = WH_DOING_OPENING;
	if (fd != -ENOENT && !(fd == -ENOTDIR && !into))
		return fd;

	int rc = set_path(&walk, "", path);

	if (rc < 0)
		return rc;
	if (target->blind)
		make_above(root_fd, walk.path);
	if (!into) {
		fd = open_above(root_fd, &walk);
		strcpy(as, fd < 0 ? "" : walk.name);
		return fd;
	}
	if (target->look)
		return -ENOENT;
	*doing = WH_DOING_CREATING;
	rc = make_folder(root_fd, &walk);
	if (rc < 0)
		return rc;
	*doing = WH_DOING_OPENING;
	fd = wh_beneath_resolve(root_fd, path, FOLDER_FLAGS);
	return fd == -ENOENT ? -ENOLINK : fd;
}
