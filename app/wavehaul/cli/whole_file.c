/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/whole_file.h"

#include <errno.h>
#include <unistd.h>

#include "base/assert.h"
#include "file/fresh_file.h"

int wh_whole_file_open(struct wh_whole_file *whole, const char *path)
{
	int length = snprintf(whole->path, sizeof(whole->path), "%s", path);
	int fd;

	whole->file = NULL;
	if (length >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = wh_fresh_file_open(whole->fresh, path, 0666);
	if (fd < 0)
		return fd;
	whole->lock_fd = dup(fd);
	whole->file = whole->lock_fd >= 0 ? fdopen(fd, "w") : NULL;
	if (whole->file != NULL)
		return 0;

	int error = errno;

	close(fd);
	if (whole->lock_fd >= 0)
		close(whole->lock_fd);
	unlink(whole->fresh);
	return -error;
}

void wh_whole_file_drop(struct wh_whole_file *whole)
{
	WH_ASSERT(whole->file != NULL);
	fclose(whole->file);
	whole->file = NULL;
	unlink(whole->fresh);
	close(whole->lock_fd);
}

static int flush(FILE *file, bool durable)
{
	errno = 0;
	if (fflush(file) != 0 || ferror(file) != 0 || (durable && fsync(fileno(file)) != 0))
		return errno != 0 ? -errno : -EIO;
	return 0;
}

int wh_whole_file_close(struct wh_whole_file *whole, bool durable)
{
	int rc = flush(whole->file, durable);

	if (fclose(whole->file) != 0 && rc == 0)
		rc = errno != 0 ? -errno : -EIO;
	whole->file = NULL;
	if (rc == 0 && rename(whole->fresh, whole->path) != 0)
		rc = -errno;
	if (rc != 0)
		unlink(whole->fresh);
	close(whole->lock_fd);
	return rc;
}
