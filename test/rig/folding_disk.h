/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A file system that ignores the case of ASCII letters and keeps that of the first name, below one
 * folder: these definitions of the calls that take names stand before those of the library. A
 * kernel that has such a file system is rare. Folders are the real ones, so that a name in another
 * case is looked for in a list. Included by one file of a program.
 */

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The folder, without '/' at its end; "": none ignores case. */
static char folding_root[PATH_MAX];

static inline long folding_call(long number, long a, long b, long c, long d, long e)
{
	static long (*call)(long, ...);

	if (call == NULL)
		*(void **)&call = dlsym(RTLD_NEXT, "syscall");
	return call(number, a, b, c, d, e);
}

static inline bool folding_covers(int fd, const char *path)
{
	char link[32], at[PATH_MAX];
	size_t bytes = strlen(folding_root);

	if (bytes == 0)
		return false;
	if (path[0] == '/')
		return strncmp(path, folding_root, bytes) == 0 && path[bytes] == '/';
	if (fd == AT_FDCWD)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);

	ssize_t count = readlink(link, at, sizeof(at) - 1);

	at[count < 0 ? 0 : count] = '\0';
	return strncmp(at, folding_root, bytes) == 0 && (at[bytes] == '/' || at[bytes] == '\0');
}

/* Spells the last component of `path` as the folder does. */
static inline void folding_spell(int fd, char *path, char *name)
{
	char above[PATH_MAX];
	struct stat status;
	int folder_fd;

	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		folding_call(
			SYS_newfstatat, fd, (long)path, (long)&status, AT_SYMLINK_NOFOLLOW, 0) == 0)
		return;
	snprintf(above, sizeof(above), "%.*s", (int)(name - path), path);
	folder_fd = (int)folding_call(SYS_openat, fd, (long)(above[0] == '\0' ? "." : above),
		O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0);

	DIR *stream = folder_fd < 0 ? NULL : fdopendir(folder_fd);

	for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;)
		if (strcasecmp(entry->d_name, name) == 0)
			memcpy(name, entry->d_name, strlen(name));
	if (stream != NULL)
		closedir(stream);
}

/* The path in the spelling of what is there. */
static inline const char *folding_path(int fd, const char *path, char found[PATH_MAX])
{
	int error = errno;
	char *name = found;

	if (!folding_covers(fd, path))
		return path;
	snprintf(found, PATH_MAX, "%s", path);
	if (found[0] == '/')
		name += strlen(folding_root) + 1;
	for (char *slash; name != NULL; name = slash) {
		slash = strchr(name, '/');
		if (slash != NULL)
			*slash = '\0';
		folding_spell(fd, found, name);
		if (slash != NULL)
			*slash++ = '/';
	}
	errno = error;
	return found;
}

long syscall(long number, ...)
{
	char found[PATH_MAX];
	long values[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		values[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_openat2)
		values[1] = (long)folding_path((int)values[0], (const char *)values[1], found);
	return folding_call(number, values[0], values[1], values[2], values[3], values[4]);
}

int openat(int fd, const char *path, int flags, ...)
{
	char found[PATH_MAX];
	va_list list;

	va_start(list, flags);

	long mode = va_arg(list, int);

	va_end(list);
	return (int)folding_call(
		SYS_openat, fd, (long)folding_path(fd, path, found), flags, mode, 0);
}

int fstatat(int fd, const char *path, struct stat *status, int flags)
{
	char found[PATH_MAX];

	return (int)folding_call(
		SYS_newfstatat, fd, (long)folding_path(fd, path, found), (long)status, flags, 0);
}

ssize_t readlinkat(int fd, const char *path, char *text, size_t bytes)
{
	char found[PATH_MAX];

	return folding_call(SYS_readlinkat, fd, (long)folding_path(fd, path, found), (long)text,
		(long)bytes, 0);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
	char found[PATH_MAX];

	return (int)folding_call(
		SYS_mkdirat, fd, (long)folding_path(fd, path, found), (long)mode, 0, 0);
}

int unlinkat(int fd, const char *path, int flags)
{
	char found[PATH_MAX];

	return (int)folding_call(
		SYS_unlinkat, fd, (long)folding_path(fd, path, found), flags, 0, 0);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	char here[PATH_MAX], there[PATH_MAX];

	return (int)folding_call(SYS_linkat, from_fd, (long)folding_path(from_fd, from, here),
		to_fd, (long)folding_path(to_fd, to, there), flags);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags)
{
	char here[PATH_MAX], there[PATH_MAX];

	return (int)folding_call(SYS_renameat2, from_fd, (long)folding_path(from_fd, from, here),
		to_fd, (long)folding_path(to_fd, to, there), (long)flags);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return renameat2(from_fd, from, to_fd, to, 0);
}
