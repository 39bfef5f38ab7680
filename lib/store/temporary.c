/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"

#define RANDOM_LETTERS 6
#define SUFFIX         ".part"

/* More than enough while 26^6 names are free; an end if the folder plays tricks. */
#define NAME_TRIES 100

static int check_name(const char *name)
{
	if (name[0] == '\0' || strchr(name, '/') != NULL)
		return -EINVAL;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -EINVAL;
	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	return 0;
}

/* Bytes of `name` that fit into the temporary name, not cutting a UTF-8 character in two. */
static size_t fitting_bytes(const char *name)
{
	const size_t room = NAME_MAX - (sizeof(".") - 1) - (sizeof(".") - 1) - RANDOM_LETTERS -
			    (sizeof(SUFFIX) - 1);
	size_t bytes = strlen(name);

	if (bytes <= room)
		return bytes;
	bytes = room;
	while (bytes > 0 && ((unsigned char)name[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

static int make_name(struct wh_temporary *temporary)
{
	unsigned char random[RANDOM_LETTERS];
	char letters[RANDOM_LETTERS + 1] = "";

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	for (int i = 0; i < RANDOM_LETTERS; i++)
		letters[i] = (char)('a' + random[i] % 26);

	int bytes = snprintf(temporary->name, sizeof(temporary->name), ".%.*s.%s" SUFFIX,
		(int)fitting_bytes(temporary->final_name), temporary->final_name, letters);

	WH_ASSERT(bytes > 0 && bytes <= NAME_MAX);
	return 0;
}

static int create(struct wh_temporary *temporary)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		int rc = make_name(temporary);

		if (rc < 0)
			return rc;
		temporary->fd = openat(temporary->folder_fd, temporary->name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (temporary->fd >= 0) {
			temporary->exists = true;
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int wh_temporary_open(struct wh_temporary *temporary, const char *folder, const char *name)
{
	int rc = check_name(name);
	struct stat status;

	if (rc < 0)
		return rc;
	strcpy(temporary->final_name, name);
	temporary->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (temporary->folder_fd < 0)
		return -errno;

	/* The rename at the end would fail, after hours of transfer. */
	if (fstatat(temporary->folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISDIR(status.st_mode))
		rc = -EISDIR;
	else
		rc = create(temporary);
	if (rc < 0)
		close(temporary->folder_fd);
	return rc;
}

int wh_temporary_rename(struct wh_temporary *temporary)
{
	WH_ASSERT(temporary->exists);
	if (renameat(temporary->folder_fd, temporary->name, temporary->folder_fd,
		    temporary->final_name) != 0)
		return -errno;
	temporary->exists = false;
	return 0;
}

void wh_temporary_unlink(struct wh_temporary *temporary)
{
	if (temporary->exists)
		unlinkat(temporary->folder_fd, temporary->name, 0);
	temporary->exists = false;
}

void wh_temporary_close(struct wh_temporary *temporary)
{
	wh_temporary_unlink(temporary);
	close(temporary->fd);
	close(temporary->folder_fd);
}
