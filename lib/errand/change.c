/* SPDX-License-Identifier: BSD-3-Clause */

/* Creates folders and renames. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/beneath.h"
#include "errand/errand_internal.h"

/* Reduced by the umask. */
#define FOLDER_MODE 0777

/* Creates one folder; 0 or a positive errno. */
static int make_one(struct wh_errand *errand, const char *path, enum wh_doing *doing)
{
	char name[NAME_MAX + 1];
	int fd = wh_errand_open_parent(errand, path, O_PATH, name);
	int error = fd < 0 ? -fd : wh_errand_judge_name(errand, name, strlen(name), doing);

	if (fd < 0)
		*doing = WH_DOING_PATH;
	if (error == 0 && mkdirat(fd, name, FOLDER_MODE) != 0) {
		error = errno;
		*doing = WH_DOING_CREATING;
	}
	errand->tally.done += error == 0;
	if (fd >= 0)
		close(fd);
	return error;
}

/* 0: a folder of that path exists, perhaps by a link; or a positive errno. */
static int look_for_folder(const struct wh_errand *errand, const char *path)
{
	int fd = wh_beneath_resolve(errand->config.root_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : -fd;
}

/* Creates it if it does not exist. */
static int need_folder(struct wh_errand *errand, const char *path, enum wh_doing *doing)
{
	int error = look_for_folder(errand, path);

	*doing = WH_DOING_PATH;
	return error == ENOENT ? make_one(errand, path, doing) : error;
}

/* Creates missing folders above the last name, from the root downwards. */
static int make_above(struct wh_errand *errand, const char *path, enum wh_doing *doing)
{
	char above[WH_PATH_BYTES_MAX + 1];
	size_t bytes = strlen(path);
	int error = 0;

	WH_ASSERT(bytes < sizeof(above));
	memcpy(above, path, bytes + 1);
	for (char *slash = strchr(above, '/'); slash != NULL && error == 0;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (above[0] != '\0')
			error = need_folder(errand, above, doing);
		*slash = '/';
	}
	return error;
}

void wh_errand_make(struct wh_errand *errand)
{
	const char *path = wh_errand_given(errand);
	enum wh_doing doing = WH_DOING_CREATING;
	int error = errand->config.recursive ? make_above(errand, path, &doing) : 0;

	if (error == 0)
		error = errand->config.recursive ? need_folder(errand, path, &doing)
						 : make_one(errand, path, &doing);
	if (error != 0)
		wh_errand_tell_fault(errand, "", error, doing);
}

/* Opens the target's folder and sets `name`: in an existing folder the old name is kept. */
static int open_target(const struct wh_errand *errand, const char *own, char name[NAME_MAX + 1])
{
	const char *target = errand->config.paths[errand->config.path_count - 1];
	int fd = wh_beneath_resolve(
		errand->config.root_fd, target, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		strcpy(name, own);
		return fd;
	}
	if (errand->config.path_count > 2)
		return fd;
	return wh_errand_open_parent(errand, target, O_PATH, name);
}

void wh_errand_move(struct wh_errand *errand)
{
	char from_name[NAME_MAX + 1], to_name[NAME_MAX + 1];
	enum wh_doing doing = WH_DOING_PATH;
	int from_fd = wh_errand_open_parent(errand, wh_errand_given(errand), O_PATH, from_name);
	int to_fd = from_fd < 0 ? from_fd : open_target(errand, from_name, to_name);
	int error = to_fd < 0 ? -to_fd : 0;

	if (error == 0)
		error = wh_errand_judge_name(errand, from_name, strlen(from_name), &doing);
	if (error == 0)
		error = wh_errand_judge_name(errand, to_name, strlen(to_name), &doing);
	if (error == 0 && renameat(from_fd, from_name, to_fd, to_name) != 0) {
		error = errno;
		doing = WH_DOING_RENAMING;
	}
	errand->tally.done += error == 0;
	if (error != 0)
		wh_errand_tell_fault(errand, "", error, doing);
	if (from_fd >= 0)
		close(from_fd);
	if (to_fd >= 0)
		close(to_fd);
}
