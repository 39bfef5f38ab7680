/* SPDX-License-Identifier: BSD-3-Clause */
#include "power.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/prng.h"

#define WRITES_MAX 4096

/* A stretch that was written, by a descriptor of our own: theirs hold locks. */
struct written {
	uint32_t process;
	int fd;
	ino_t inode;
	off_t from;
	off_t end;
};

static struct {
	uint32_t count;
	struct written written[WRITES_MAX];
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

void power_written(uint32_t process, int fd, off_t offset, uint64_t bytes)
{
	ino_t inode = inode_of(fd);
	off_t end = offset + (off_t)bytes;
	char path[32];

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
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	int own_fd = open(path, O_WRONLY | O_CLOEXEC);

	WH_ASSERT(own_fd >= 0);
	power.written[power.count++] = (struct written){process, own_fd, inode, offset, end};
}

void power_synced(int fd)
{
	ino_t inode = power.count > 0 ? inode_of(fd) : 0;

	for (uint32_t i = 0; i < power.count;)
		if (power.written[i].inode == inode)
			drop(i);
		else
			i++;
}

void power_synced_all(uint32_t process)
{
	for (uint32_t i = 0; i < power.count;)
		if (power.written[i].process == process)
			drop(i);
		else
			i++;
}

void power_stays(uint32_t process)
{
	power_synced_all(process);
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
	power_synced_all(process);
}
