/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A disk that misbehaves on request. This definition of io_uring_peek_batch_cqe stands before the
 * library's in a test program, and may change the results that the kernel reports: nothing in
 * the code under test knows of it. Likewise fcntl, for file systems without O_DIRECT.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"

static struct {
	int after;          /* so many good results first, then */
	int times;          /* so many bad ones: */
	int result;         /* this negative errno, or 0, */
	int at_most;        /* or, if not 0, what the kernel said but no more than this */
	bool refuse_direct; /* O_DIRECT cannot be set: */
	int refused;        /* so often */
	int dropped;        /* so often it was set, and taken away again */
} ring_fault;

/* The kernel must not be at work on memory that the caller is free to give away after closing. */
void io_uring_queue_exit(struct io_uring *ring)
{
	static void (*real)(struct io_uring *);

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "io_uring_queue_exit");
	CU_ASSERT(*ring->sq.khead == *ring->cq.khead); /* as many taken as completed */
	real(ring);
}

unsigned int io_uring_peek_batch_cqe(
	struct io_uring *ring, struct io_uring_cqe **cqes, unsigned int count)
{
	static unsigned int (*real)(struct io_uring *, struct io_uring_cqe **, unsigned int);

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "io_uring_peek_batch_cqe");

	unsigned int got = real(ring, cqes, count);

	for (unsigned int i = 0; i < got && ring_fault.times > 0; i++) {
		if (ring_fault.after-- > 0)
			continue;
		ring_fault.times--;
		if (ring_fault.at_most == 0)
			cqes[i]->res = ring_fault.result;
		else if (cqes[i]->res > ring_fault.at_most)
			cqes[i]->res = ring_fault.at_most;
	}
	return got;
}

int fcntl(int fd, int command, ...)
{
	va_list arguments;

	va_start(arguments, command);
	long argument = va_arg(arguments, long);
	va_end(arguments);

	bool direct = command == F_SETFL && (argument & O_DIRECT) != 0;

	if (direct && ring_fault.refuse_direct) {
		ring_fault.refused++;
		errno = EINVAL;
		return -1;
	}
	if (command == F_SETFL && !direct && (syscall(SYS_fcntl, fd, F_GETFL) & O_DIRECT) != 0)
		ring_fault.dropped++;
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

/* Whether the tests' folder is on a file system that has O_DIRECT. */
static inline bool direct_here(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_DIRECT, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
