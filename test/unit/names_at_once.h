/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * Whether a sink names small files there as soon as they are whole: in memory, and where this
 * kernel lets this user link what has no name (before Linux 6.10 only root).
 */
static inline bool names_at_once(const char *folder)
{
	char path[128];
	struct statfs status;
	int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	bool named;

	snprintf(path, sizeof(path), "%s/wh_named_%d", folder, (int)getpid());
	named = fd >= 0 && linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH) == 0;
	if (named)
		unlink(path);
	if (fd >= 0)
		close(fd);
	return named && statfs(folder, &status) == 0 &&
	       (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}
