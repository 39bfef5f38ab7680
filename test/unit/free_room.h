/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Says what is free on a file system in place of the machine, on which others write, too. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FREE_ROOM_BLOCK_BYTES 4096

static struct {
	bool told;
	uint64_t blocks; /* 0: mounted without a limit */
	uint64_t free_blocks;
	void (*during)(void); /* once, while the kernel is asked; NULL: nothing happens */
} free_room;

int fstatfs(int fd, struct statfs *status)
{
	int rc = (int)syscall(SYS_fstatfs, fd, status);

	if (rc != 0 || !free_room.told)
		return rc;
	status->f_blocks = free_room.blocks;
	status->f_bavail = free_room.free_blocks;
	status->f_bsize = FREE_ROOM_BLOCK_BYTES;

	void (*during)(void) = free_room.during;

	free_room.during = NULL;
	if (during != NULL)
		during();
	return 0;
}
