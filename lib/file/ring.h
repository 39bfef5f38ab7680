/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FILE_RING_H
#define WH_FILE_RING_H

/*
 * What reading and writing files have in common with their
 * io_uring and their file. The ring has no SQPOLL thread (it would spin beside the packet path)
 * and no SINGLE_ISSUER (the core that opens need not be the one that polls).
 */

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"

/* Offset, length and memory of O_DIRECT requests are multiples of this: the largest logical
 * block in use. */
#define WH_DIRECT_BYTES 4096

/* Requests of one file in the air: 8 MiB of chunks, which an NVMe drive keeps busy. */
#define WH_RING_DEPTH 8

/* Closing waits so long for each next request that is in the air, and no longer. */
#define WH_RING_CLOSE_S 10

static inline bool wh_try_again(int rc)
{
	return rc == -EAGAIN || rc == -EINTR;
}

/* Sets the flags of an open file to O_DIRECT, or to none; whether O_DIRECT is on now. */
static inline bool wh_file_direct(int fd, bool direct)
{
	if (direct && fcntl(fd, F_SETFL, O_DIRECT) == 0)
		return true;
	fcntl(fd, F_SETFL, 0);
	return false;
}

/* There is always room: a user has at most the ring's depth of requests outstanding. */
static inline struct io_uring_sqe *wh_ring_request(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	WH_ASSERT(sqe != NULL);
	return sqe;
}

/* Hands over what was prepared, without waiting. 0 or a negative errno. */
static inline int wh_ring_submit(struct io_uring *ring)
{
	if (io_uring_sq_ready(ring) == 0)
		return 0;

	int rc = io_uring_submit(ring);

	/* Not taken now (no memory for requests, completions not fetched): the next poll tries. */
	if (rc >= 0 || rc == -EBUSY || wh_try_again(rc))
		return 0;
	return rc;
}

/*
 * Cancels what can be cancelled and waits for the rest of `in_air` prepared requests, so that the
 * kernel does not write into memory whose owner has changed. Bounded: a dead network file system
 * answers never. False: some still are in the air.
 */
static inline bool wh_ring_drain(struct io_uring *ring, uint32_t in_air)
{
	struct io_uring_sync_cancel_reg cancel = {
		.fd = -1,
		.flags = IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL,
	};
	struct __kernel_timespec timeout = {.tv_sec = WH_RING_CLOSE_S};
	struct io_uring_cqe *cqe;

	/* What was never handed over never runs. */
	WH_ASSERT(in_air >= io_uring_sq_ready(ring));
	in_air -= io_uring_sq_ready(ring);
	if (in_air > 0)
		io_uring_register_sync_cancel(ring, &cancel); /* since Linux 6.0; else just wait */
	while (in_air > 0) {
		int rc = io_uring_wait_cqe_timeout(ring, &cqe, &timeout);

		if (rc == -EINTR)
			continue;
		if (rc < 0)
			return false;
		io_uring_cqe_seen(ring, cqe);
		in_air--;
	}
	return true;
}

#endif
