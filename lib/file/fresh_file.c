/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/fresh_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".part"
#define DIGITS 8

/* A sweep at the same time may remove a file between its creation and its lock. */
#define TRIES 16

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static DIR *folder_of(const char *path)
{
	const char *last = last_of(path);
	char folder[PATH_MAX] = ".";

	if ((size_t)(last - path) >= sizeof(folder))
		return NULL;
	if (last != path)
		snprintf(folder, sizeof(folder), "%.*s", (int)(last - path), path);
	return opendir(folder);
}

static bool is_fresh(const char *name, const char *last)
{
	size_t bytes = strlen(last);

	return strncmp(name, last, bytes) == 0 && name[bytes] == '.' &&
	       strspn(name + bytes + 1, "0123456789abcdef") == DIGITS &&
	       strcmp(name + bytes + 1 + DIGITS, SUFFIX) == 0;
}

static void remove_left(int folder_fd, const char *name)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat facts;

	if (fd < 0)
		return;
	if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
		flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)unlinkat(folder_fd, name, 0);
	close(fd);
}

void wh_fresh_file_sweep(const char *path)
{
	DIR *folder = folder_of(path);
	const struct dirent *entry;

	while (folder != NULL && (entry = readdir(folder)) != NULL)
		if (is_fresh(entry->d_name, last_of(path)))
			remove_left(dirfd(folder), entry->d_name);
	if (folder != NULL)
		closedir(folder);
}

/* -EAGAIN: a sweep removed it. */
static int open_one(char fresh[PATH_MAX], const char *path, mode_t mode)
{
	struct stat facts;
	uint32_t drawn;

	if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
		return -EIO;
	if (snprintf(fresh, PATH_MAX, "%s.%08x" SUFFIX, path, drawn) >= PATH_MAX)
		return -ENAMETOOLONG;

	int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return -errno;
	/* Where a file system has no locks, sweeps remove nothing. */
	(void)flock(fd, LOCK_EX);
	if (fstat(fd, &facts) == 0 && facts.st_nlink > 0)
		return fd;
	close(fd);
	return -EAGAIN;
}

int wh_fresh_file_open(char fresh[PATH_MAX], const char *path, mode_t mode)
{
	int fd = -EAGAIN;

	wh_fresh_file_sweep(path);
	for (int i = 0; i < TRIES && fd == -EAGAIN; i++)
		fd = open_one(fresh, path, mode);
	return fd;
}
