/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Removes what a test has made, however deep it is: nftw ends where a path is longer than PATH_MAX.
 * A folder that is not empty is emptied into the root, and so on, so that nothing is deeper than
 * two names.
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Links are removed, not followed. */
static inline bool remove_name(int folder_fd, const char *name)
{
	return unlinkat(folder_fd, name, 0) == 0 || unlinkat(folder_fd, name, AT_REMOVEDIR) == 0;
}

static inline bool is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Whoever is not root may neither list nor move a folder without these rights. */
static inline int open_for_removal(int folder_fd, const char *name)
{
	fchmodat(folder_fd, name, 0700, 0);
	return openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

static inline void remove_lifting(int root_fd, const char *name, unsigned int *lifted)
{
	int fd = open_for_removal(root_fd, name);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	char lifted_name[32];

	if (folder == NULL)
		return;
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		if (!is_name(entry) || remove_name(fd, entry->d_name))
			continue;
		fchmodat(fd, entry->d_name, 0700, 0);
		snprintf(lifted_name, sizeof(lifted_name), ".lifted-%u", (*lifted)++);
		renameat(fd, entry->d_name, root_fd, lifted_name);
	}
	closedir(folder);
	remove_name(root_fd, name);
}

static inline void remove_tree(const char *path)
{
	unsigned int lifted = 0, before;

	do {
		int fd = open_for_removal(AT_FDCWD, path);
		DIR *root = fd >= 0 ? fdopendir(fd) : NULL;

		if (root == NULL)
			return;
		before = lifted;
		for (struct dirent *entry; (entry = readdir(root)) != NULL;)
			if (is_name(entry) && !remove_name(fd, entry->d_name))
				remove_lifting(fd, entry->d_name, &lifted);
		closedir(root);
	} while (rmdir(path) != 0 && lifted > before);
}
