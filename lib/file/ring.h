/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Shared by readers and writers of files: their io_uring and file flags. The ring has no SQPOLL
 * thread (it would spin beside the packet path) and no SINGLE_ISSUER (the opening core need not be
 * the polling one).
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

/* Outstanding requests per file: 8 MiB of chunks, enough to keep an NVMe drive busy. */
#define WH_RING_DEPTH 8

/* When closing: longest wait for each next outstanding request. */
#define WH_RING_CLOSE_S 10

static inline bool wh_retry_at_once(int rc)
{
	return rc == -EAGAIN || rc == -EINTR;
}

/* Sets or clears O_DIRECT of an open file; returns whether it is set now. */
static inline bool wh_file_direct(int fd, bool direct)
{
	if (direct && fcntl(fd, F_SETFL, O_DIRECT) == 0)
		return true;
	fcntl(fd, F_SETFL, 0);
	return false;
}

/* There is always room: each user limits its outstanding requests to the depth of the ring. */
static inline struct io_uring_sqe *wh_ring_request(struct io_uring *ring)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	WH_ASSERT(sqe != NULL);
	return sqe;
}

/* Submits prepared requests without waiting. 0 or a negative errno. */
static inline int wh_ring_submit(struct io_uring *ring)
{
	if (io_uring_sq_ready(ring) == 0)
		return 0;

	int rc = io_uring_submit(ring);

	/*
	 * Temporary (no memory for requests, completions not fetched): the next poll tries again.
	 */
	if (rc >= 0 || rc == -EBUSY || wh_retry_at_once(rc))
		return 0;
	return rc;
}

/*
 * Cancels requests where possible and waits for the rest of `in_air` prepared requests, so that the
 * kernel does not write into memory that was given away. Bounded, because a dead network file
 * system never answers. False: some are still outstanding.
 */
static inline bool wh_ring_drain(struct io_uring *ring, uint32_t in_air)
{
	struct io_uring_sync_cancel_reg cancel = {
		.fd = -1,
		.flags = IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL,
	};
	struct __kernel_timespec timeout = {.tv_sec = WH_RING_CLOSE_S};
	struct io_uring_cqe *cqe;

	/* Requests that were not submitted never run. */
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
