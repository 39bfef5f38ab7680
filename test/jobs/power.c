/* SPDX-License-Identifier: BSD-3-Clause */
#include "power.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/prng.h"

#define WRITES_MAX  4096
#define CHANGES_MAX 16384
#define NAME_BYTES  64 /* of names in tests */

/* Where files are that have lost their name, until that is certain. */
#define LIMBO "/dev/shm/wh_power_XXXXXX"

/* A stretch that was written, by a descriptor of our own: theirs hold locks. */
struct written {
	uint32_t process;
	int fd;
	ino_t inode;
	off_t from;
	off_t end;
};

enum change_kind {
	CHANGE_ADDED, /* a name: it is removed */
	CHANGE_REMOVED,
	CHANGE_RENAMED,
	CHANGE_MODE,
	CHANGE_SIZE,
};

/* How a change is undone. */
struct change {
	uint32_t process;
	enum change_kind kind;
	bool is_folder;
	int from_fd; /* a folder, or the file; -1: none */
	int to_fd;
	ino_t from_inode;
	ino_t to_inode;
	char from[NAME_BYTES];
	char to[NAME_BYTES];
	uint32_t limbo; /* what lost its name is there by this one; 0: nothing */
	mode_t mode;
	off_t bytes;
};

static struct {
	uint32_t count;
	struct written written[WRITES_MAX];
	uint32_t changes; /* in order */
	struct change change[CHANGES_MAX];
	uint32_t limbos;
	int limbo_fd;
	char limbo[sizeof(LIMBO)];
} power;

static ino_t inode_of(int fd)
{
	struct stat status;

	WH_ASSERT(fstat(fd, &status) == 0);
	return status.st_ino;
}

static void drop(uint32_t i)
{
	close(power.written[i].fd);
	power.written[i] = power.written[--power.count];
}

static const char *limbo_name(char name[NAME_BYTES], uint32_t limbo)
{
	snprintf(name, NAME_BYTES, "%u", limbo);
	return name;
}

static bool is_of_names(const struct change *change)
{
	return change->kind <= CHANGE_RENAMED;
}

static void forget(struct change *change)
{
	char name[NAME_BYTES];

	if (change->from_fd >= 0)
		close(change->from_fd);
	if (change->to_fd >= 0)
		close(change->to_fd);
	if (change->limbo > 0)
		syscall(SYS_unlinkat, power.limbo_fd, limbo_name(name, change->limbo), 0);
}

static bool is_any(const struct change *change, const void *unused)
{
	(void)change;
	(void)unused;
	return true;
}

/* Those before `end` are certain, if they are of that process and the function says so. */
static void settle(uint32_t end, uint32_t process,
	bool (*is_settled)(const struct change *change, const void *context), const void *context)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < power.changes; i++) {
		struct change *change = &power.change[i];

		if (i < end && change->process == process && is_settled(change, context))
			forget(change);
		else
			power.change[left++] = *change;
	}
	power.changes = left;
	if (left == 0 && power.limbos > 0) {
		close(power.limbo_fd);
		WH_ASSERT(rmdir(power.limbo) == 0);
		power.limbos = 0;
	}
}

static struct change *add(uint32_t process, enum change_kind kind)
{
	WH_ASSERT(power.changes < CHANGES_MAX);

	struct change *change = &power.change[power.changes++];

	*change = (struct change){.process = process, .kind = kind, .from_fd = -1, .to_fd = -1};
	return change;
}

/* The same by a descriptor of our own. */
static int again(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, flags | O_CLOEXEC);
	WH_ASSERT(fd >= 0);
	return fd;
}

static void set_from(struct change *change, int folder_fd, const char *name)
{
	change->from_fd = again(folder_fd, O_PATH);
	change->from_inode = inode_of(folder_fd);
	WH_ASSERT(strlen(name) < sizeof(change->from));
	strcpy(change->from, name);
}

static void set_to(struct change *change, int folder_fd, const char *name)
{
	change->to_fd = again(folder_fd, O_PATH);
	change->to_inode = inode_of(folder_fd);
	WH_ASSERT(strlen(name) < sizeof(change->to));
	strcpy(change->to, name);
}

/* What has this name is to lose it. 0: nothing has. */
static uint32_t keep(int folder_fd, const char *name)
{
	char kept[NAME_BYTES];

	if (power.limbos == 0) {
		strcpy(power.limbo, LIMBO);
		WH_ASSERT(mkdtemp(power.limbo) != NULL);
		power.limbo_fd = open(power.limbo, O_PATH | O_DIRECTORY | O_CLOEXEC);
		WH_ASSERT(power.limbo_fd >= 0);
	}
	power.limbos++;
	return syscall(SYS_linkat, folder_fd, name, power.limbo_fd, limbo_name(kept, power.limbos),
		       0) == 0
		       ? power.limbos
		       : 0;
}

static void give_back(int folder_fd, const char *name, uint32_t limbo)
{
	char kept[NAME_BYTES];

	syscall(SYS_linkat, power.limbo_fd, limbo_name(kept, limbo), folder_fd, name, 0);
}

void power_written(uint32_t process, int fd, off_t offset, uint64_t bytes)
{
	ino_t inode = inode_of(fd);
	off_t end = offset + (off_t)bytes;

	for (uint32_t i = 0; i < power.count; i++) {
		struct written *written = &power.written[i];

		if (written->inode != inode || written->process != process ||
			offset > written->end || end < written->from)
			continue;
		written->from = offset < written->from ? offset : written->from;
		written->end = end > written->end ? end : written->end;
		return;
	}
	WH_ASSERT(power.count < WRITES_MAX);
	power.written[power.count++] =
		(struct written){process, again(fd, O_WRONLY), inode, offset, end};
}

int power_openat(uint32_t process, int folder_fd, const char *name, int flags, mode_t mode)
{
	int fd = (int)syscall(SYS_openat, folder_fd, name, flags, mode);

	/* O_EXCL: it was made by this. */
	if (fd >= 0 && process != 0 && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		set_to(add(process, CHANGE_ADDED), folder_fd, name);
	return fd;
}

int power_mkdirat(uint32_t process, int folder_fd, const char *name, mode_t mode)
{
	int rc = (int)syscall(SYS_mkdirat, folder_fd, name, mode);

	if (rc == 0 && process != 0) {
		struct change *change = add(process, CHANGE_ADDED);

		set_to(change, folder_fd, name);
		change->is_folder = true;
	}
	return rc;
}

int power_linkat(
	uint32_t process, int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	int rc = (int)syscall(SYS_linkat, from_fd, from, to_fd, to, flags);

	if (rc == 0 && process != 0)
		set_to(add(process, CHANGE_ADDED), to_fd, to);
	return rc;
}

/* A folder that loses its name was empty, and its mode is that of folders of ours. */
int power_unlinkat(uint32_t process, int folder_fd, const char *name, int flags)
{
	uint32_t limbo = process != 0 ? keep(folder_fd, name) : 0;
	int rc = (int)syscall(SYS_unlinkat, folder_fd, name, flags);

	if (process == 0)
		return rc;

	struct change *change = add(process, CHANGE_REMOVED);

	set_from(change, folder_fd, name);
	change->limbo = limbo;
	change->is_folder = (flags & AT_REMOVEDIR) != 0;
	if (rc != 0) {
		forget(change);
		power.changes--;
	}
	return rc;
}

int power_renameat(uint32_t process, int from_fd, const char *from, int to_fd, const char *to,
	unsigned int flags)
{
	uint32_t limbo = process != 0 ? keep(to_fd, to) : 0;
	int rc = (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);

	if (process == 0)
		return rc;

	struct change *change = add(process, CHANGE_RENAMED);

	set_from(change, from_fd, from);
	set_to(change, to_fd, to);
	change->limbo = limbo;
	if (rc != 0) {
		forget(change);
		power.changes--;
	}
	return rc;
}

static struct change *add_to_file(uint32_t process, enum change_kind kind, int fd, int flags)
{
	struct change *change = add(process, kind);
	struct stat status;

	WH_ASSERT(fstat(fd, &status) == 0);
	change->from_fd = again(fd, flags);
	change->from_inode = status.st_ino;
	change->mode = status.st_mode & 07777;
	change->bytes = status.st_size;
	return change;
}

int power_fchmod(uint32_t process, int fd, mode_t mode)
{
	if (process != 0)
		add_to_file(process, CHANGE_MODE, fd, O_PATH);
	return (int)syscall(SYS_fchmod, fd, mode);
}

void power_resizes(uint32_t process, int fd)
{
	if (process == 0)
		return;

	ino_t inode = inode_of(fd);

	for (uint32_t i = 0; i < power.changes; i++)
		if (power.change[i].kind == CHANGE_SIZE && power.change[i].from_inode == inode &&
			power.change[i].process == process)
			return;
	add_to_file(process, CHANGE_SIZE, fd, O_WRONLY);
}

struct synced {
	ino_t inode;
	bool mode;
};

static bool is_synced(const struct change *change, const void *context)
{
	const struct synced *synced = context;

	return change->from_inode == synced->inode &&
	       (change->kind == CHANGE_SIZE || (change->kind == CHANGE_MODE && synced->mode));
}

static bool is_name(const struct change *change, const void *unused)
{
	(void)unused;
	return is_of_names(change);
}

/* A folder's: what came before them is on the disk, too. */
static void names_synced(ino_t inode)
{
	for (uint32_t i = power.changes; i > 0; i--) {
		const struct change *change = &power.change[i - 1];

		if (!is_of_names(change) ||
			(change->from_inode != inode && change->to_inode != inode))
			continue;
		settle(i, change->process, is_name, NULL);
		return;
	}
}

void power_synced(int fd, bool mode)
{
	struct synced synced = {.mode = mode};
	struct stat status;

	if (power.count == 0 && power.changes == 0)
		return;
	WH_ASSERT(fstat(fd, &status) == 0);
	synced.inode = status.st_ino;
	if (S_ISDIR(status.st_mode)) {
		names_synced(synced.inode);
		return;
	}
	for (uint32_t i = 0; i < power.count;)
		if (power.written[i].inode == synced.inode)
			drop(i);
		else
			i++;
	for (uint32_t i = 0; i < power.changes; i++)
		if (is_synced(&power.change[i], &synced)) {
			settle(power.changes, power.change[i].process, is_synced, &synced);
			return;
		}
}

void power_synced_all(uint32_t process)
{
	for (uint32_t i = 0; i < power.count;)
		if (power.written[i].process == process)
			drop(i);
		else
			i++;
	settle(power.changes, process, is_any, NULL);
}

void power_stays(uint32_t process)
{
	power_synced_all(process);
}

static void undo(const struct change *change)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", change->from_fd);
	switch (change->kind) {
	case CHANGE_ADDED:
		syscall(SYS_unlinkat, change->to_fd, change->to,
			change->is_folder ? AT_REMOVEDIR : 0);
		break;
	case CHANGE_REMOVED:
		if (change->is_folder)
			syscall(SYS_mkdirat, change->from_fd, change->from, 0700);
		else
			give_back(change->from_fd, change->from, change->limbo);
		break;
	case CHANGE_RENAMED:
		syscall(SYS_renameat2, change->to_fd, change->to, change->from_fd, change->from, 0);
		give_back(change->to_fd, change->to, change->limbo);
		break;
	case CHANGE_MODE:
		WH_ASSERT(chmod(path, change->mode) == 0);
		break;
	case CHANGE_SIZE:
		WH_ASSERT(truncate(path, change->bytes) == 0);
		break;
	}
}

/* Names are lost from one moment on, what is of files from another. */
static void lose_changes(uint32_t process, struct wh_prng *prng)
{
	uint32_t names_end = (uint32_t)wh_prng_below(prng, power.changes + 1);
	uint32_t files_end = (uint32_t)wh_prng_below(prng, power.changes + 1);

	for (uint32_t i = power.changes; i > 0; i--) {
		const struct change *change = &power.change[i - 1];

		if (change->process == process && i > (is_of_names(change) ? names_end : files_end))
			undo(change);
	}
}

/* Some of it reached the disk all the same, in any order. */
static void lose(const struct written *written, struct wh_prng *prng)
{
	static const uint8_t zeros[4096];

	for (off_t at = written->from; at < written->end;) {
		size_t bytes = sizeof(zeros) - (size_t)at % sizeof(zeros);

		if ((off_t)bytes > written->end - at)
			bytes = (size_t)(written->end - at);
		if (wh_prng_below(prng, 2) == 0)
			WH_ASSERT(syscall(SYS_pwrite64, written->fd, zeros, bytes, at) ==
				  (long)bytes);
		at += (off_t)bytes;
	}
}

void power_fails(uint32_t process, struct wh_prng *prng)
{
	for (uint32_t i = 0; i < power.count; i++)
		if (power.written[i].process == process)
			lose(&power.written[i], prng);
	lose_changes(process, prng);
	power_synced_all(process);
}
