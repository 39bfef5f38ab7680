/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file/rings.h"

/* Debian 12's liburing declares both functions but does not define them: io_uring_register(2). */
static int tell(
	const struct io_uring *ring, unsigned int what, const void *words, unsigned int count)
{
	return syscall(SYS_io_uring_register, ring->ring_fd, what, words, count) < 0 ? -errno : 0;
}

int wh_ring_restrict(struct io_uring *ring)
{
	static const struct io_uring_restriction may[] = {
		{.opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = IORING_OP_READ},
		{.opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = IORING_OP_WRITE},
		{.opcode = IORING_RESTRICTION_SQE_OP, .sqe_op = IORING_OP_FALLOCATE},
		{.opcode = IORING_RESTRICTION_REGISTER_OP,
			.register_op = IORING_REGISTER_SYNC_CANCEL},
	};
	int rc = tell(ring, IORING_REGISTER_RESTRICTIONS, may, sizeof(may) / sizeof(may[0]));

	return rc < 0 ? rc : tell(ring, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
}
