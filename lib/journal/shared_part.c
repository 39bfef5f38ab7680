/* SPDX-License-Identifier: BSD-3-Clause */
#include "journal/shared_part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/beneath.h"

#define TRIES_MAX  16
#define PART_MODE  0600 /* a journal knows it (stage/stale.h) */
#define NAME_CHARS 16

/* Whether the part still has its number there, and this inode. */
static bool is_there(int parts_fd, const char *name, uint64_t inode)
{
	struct stat status;

	return fstatat(parts_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_ino == inode;
}

static int open_part(int parts_fd, const char *name)
{
	int fd = openat(parts_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	/* A job that was killed while it gave the file its name may have set its mode. */
	if (fd < 0 && errno == EACCES && fchmodat(parts_fd, name, PART_MODE, 0) == 0)
		fd = openat(parts_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The part of these notes, locked; or a negative errno: -ENOENT: it is gone; -EBUSY. */
static int take(int parts_fd, const struct wh_ranges *notes, uint64_t size_bytes)
{
	char name[NAME_CHARS];
	struct stat status;
	int fd, rc = 0;

	snprintf(name, sizeof(name), "%u", notes->number);
	fd = open_part(parts_fd, name);
	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_SH | LOCK_NB) != 0)
		rc = -EBUSY;
	else if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
		 status.st_uid != geteuid() || (uint64_t)status.st_size < size_bytes ||
		 status.st_ino != notes->inode || !is_there(parts_fd, name, notes->inode))
		rc = -ENOENT;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* A part of that size with a number that is free. The descriptor, locked; or a negative errno. */
static int make_part(int parts_fd, uint64_t size_bytes, uint32_t *number, uint64_t *inode)
{
	char name[NAME_CHARS];
	struct stat status;
	int fd, rc = 0;

	if (getrandom(number, sizeof(*number), 0) != (ssize_t)sizeof(*number))
		return -EIO;
	snprintf(name, sizeof(name), "%u", *number);
	fd = openat(parts_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, PART_MODE);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_SH | LOCK_NB) != 0 || ftruncate(fd, (off_t)size_bytes) != 0 ||
		fsync(fd) != 0 || fstat(fd, &status) != 0)
		rc = -errno;
	if (rc == 0) {
		*inode = status.st_ino;
		return fd;
	}
	(void)unlinkat(parts_fd, name, 0);
	close(fd);
	return rc;
}

/* 0; -EEXIST: another job was faster; or another negative errno. */
static int make(int parts_fd, const struct wh_ranges_key *key, struct wh_shared_part *part)
{
	char name[NAME_CHARS];
	int rc;

	part->fd = make_part(parts_fd, key->source.size_bytes, &part->number, &part->inode);
	rc = part->fd < 0 ? part->fd : wh_ranges_make(parts_fd, key, part->number, part->inode);
	if (rc < 0 && part->fd >= 0) {
		snprintf(name, sizeof(name), "%u", part->number);
		(void)unlinkat(parts_fd, name, 0);
		close(part->fd);
	}
	return rc;
}

/* One attempt: 0, -EAGAIN: another one, or a negative errno. */
static int try_claim(int parts_fd, const struct wh_ranges_key *key, const struct wh_segment *range,
	struct wh_shared_part *part)
{
	struct wh_ranges notes;
	int rc = wh_ranges_open(parts_fd, key, &notes);

	part->notes = notes.hash;
	part->to = range->from;
	if (rc == -ENOENT) {
		rc = make(parts_fd, key, part);
		return rc == -EEXIST || rc == -ENOENT ? -EAGAIN : rc;
	}
	if (rc < 0)
		return rc;
	part->fd = take(parts_fd, &notes, key->source.size_bytes);
	part->number = notes.number;
	part->inode = notes.inode;
	part->to = wh_ranges_done(&notes, range);
	if (part->fd == -ENOENT)
		wh_ranges_drop(parts_fd, &notes);
	close(notes.fd);
	return part->fd >= 0 ? 0 : part->fd == -ENOENT ? -EAGAIN : part->fd;
}

int wh_shared_part_claim(int anchor_fd, const struct wh_ranges_key *key,
	const struct wh_segment *range, struct wh_shared_part *part)
{
	int rc = -EAGAIN;

	if (key->owner.bytes_max > 0 && key->source.size_bytes > key->owner.bytes_max)
		return -EFBIG;
	/* The folder goes with its last part, also while one is about to be made. */
	for (int i = 0; i < TRIES_MAX && (rc == -EAGAIN || rc == -ENOENT); i++) {
		int parts_fd = wh_beneath_parts(anchor_fd);

		rc = parts_fd < 0 ? parts_fd : try_claim(parts_fd, key, range, part);
		if (parts_fd >= 0)
			close(parts_fd);
	}
	return rc == -EAGAIN ? -EBUSY : rc;
}

/* A lock that cannot be made an exclusive one is lost, so of two who try one succeeds. */
static int lock_alone(int parts_fd, const struct wh_ranges *notes, int lock_fd, bool *is_whole)
{
	bool locked = flock(lock_fd, LOCK_EX | LOCK_NB) == 0;
	char name[NAME_CHARS];

	snprintf(name, sizeof(name), "%u", notes->number);
	if (!is_there(parts_fd, name, notes->inode))
		return 0; /* another one has given it its name */
	*is_whole = locked;
	return locked ? 0 : -EBUSY;
}

int wh_shared_part_note(int anchor_fd, const struct wh_ranges_key *key,
	const struct wh_segment *range, const struct wh_shared_note *note, bool *is_whole)
{
	struct wh_ranges notes;
	int parts_fd = wh_beneath_parts(anchor_fd);
	int rc = parts_fd < 0 ? parts_fd : wh_ranges_open(parts_fd, key, &notes);
	bool is_end = note->to == range->end;

	*is_whole = false;
	if (rc == 0) {
		if (!note->anew && !is_end && wh_ranges_done(&notes, range) == range->end)
			rc = -ECANCELED;
		else
			rc = wh_ranges_note(&notes, range, note->to, note->anew);
		if (rc == 0 && is_end && wh_ranges_are_whole(&notes, key->source.size_bytes))
			rc = lock_alone(parts_fd, &notes, note->lock_fd, is_whole);
		close(notes.fd);
	} else if (rc == -ENOENT) {
		rc = is_end ? 0 : -ECANCELED; /* the same, a moment ago */
	}
	if (parts_fd >= 0)
		close(parts_fd);
	return rc;
}
