/* SPDX-License-Identifier: BSD-3-Clause */
#include "file/all_bytes.h"

#include <errno.h>
#include <unistd.h>

int wh_write_all(int fd, const void *bytes, size_t count)
{
	const char *left = bytes;

	while (count > 0) {
		ssize_t put = write(fd, left, count);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		left += put;
		count -= (size_t)put;
	}
	return 0;
}

ssize_t wh_read_all_at(int fd, void *bytes, size_t count, uint64_t from)
{
	size_t have = 0;

	while (have < count) {
		ssize_t got = pread(fd, (char *)bytes + have, count - have, (off_t)(from + have));

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			break;
		have += got > 0 ? (size_t)got : 0;
	}
	return (ssize_t)have;
}
