/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A folder for a test, by name and open, and what lies in it. */

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../rig/remove_tree.h"
#include "await_background.h"
#include "unit.h"

struct folder {
	char path[64];
	int fd;
};

static inline struct folder folder_new(const char *base)
{
	struct folder folder;

	snprintf(folder.path, sizeof(folder.path), "%s/wh_folder_XXXXXX", base);
	CU_ASSERT_FATAL(mkdtemp(folder.path) != NULL);
	folder.fd = open(folder.path, O_PATH | O_DIRECTORY);
	CU_ASSERT_FATAL(folder.fd >= 0);
	return folder;
}

static inline void folder_free(struct folder *folder)
{
	await_background();
	close(folder->fd);
	remove_tree(folder->path);
}

static inline void folder_put(const struct folder *folder, const char *name, const char *text)
{
	int fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static inline bool folder_has(const struct folder *folder, const char *name)
{
	await_background();
	return faccessat(folder->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Names in it, without "." and "..". */
static inline int folder_count(const struct folder *folder)
{
	int count = -2;

	await_background();

	DIR *stream = opendir(folder->path);

	CU_ASSERT_FATAL(stream != NULL);
	while (readdir(stream) != NULL)
		count++;
	closedir(stream);
	return count;
}

/* Open descriptors of this process. */
static inline int folder_descriptors(void)
{
	const struct folder own = {.path = "/proc/self/fd"};

	return folder_count(&own) - 1;
}
