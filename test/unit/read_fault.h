/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Files that change or fail while they are read: this definition of pread stands before the
 * library's in a test program.
 */

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "unit.h"

/* What happens in front of, or to, each of the next `times` reads, from the `after`-th on. */
static struct {
	int after;
	int times;
	int error;    /* the read fails with it, or if 0: */
	size_t least; /* the file ends here, whatever its status says, or if 0: */
	void (*change)(void);
} read_fault;

ssize_t pread(int fd, void *bytes, size_t count, off_t offset)
{
	if (read_fault.times > 0 && read_fault.after-- <= 0) {
		read_fault.times--;
		if (read_fault.error != 0) {
			errno = read_fault.error;
			return -1;
		}
		if (read_fault.least != 0)
			return (size_t)offset >= read_fault.least
				       ? 0
				       : syscall(SYS_pread64, fd, bytes,
						 read_fault.least - (size_t)offset, offset);
		read_fault.change();
	}
	return syscall(SYS_pread64, fd, bytes, count, offset);
}

static const char *victim;

static inline void grow_victim(void)
{
	int fd = open(victim, O_WRONLY | O_APPEND);

	CU_ASSERT_FATAL(fd >= 0 && write(fd, "more", 4) == 4 && close(fd) == 0);
}

static inline void touch_victim(void)
{
	struct stat status;
	struct timespec times[2];

	CU_ASSERT_FATAL(stat(victim, &status) == 0);
	times[0] = times[1] = status.st_mtim;
	times[1].tv_sec++;
	CU_ASSERT_FATAL(utimensat(AT_FDCWD, victim, times, 0) == 0);
}
