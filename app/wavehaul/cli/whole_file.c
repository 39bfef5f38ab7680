/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"

/* As a file that open makes: mkstemp gives it to its owner alone. */
static void open_to_others(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	(void)fchmod(fd, 0666 & ~mask);
}

int wh_whole_file_open(struct wh_whole_file *whole, const char *path)
{
	int length = snprintf(whole->path, sizeof(whole->path), "%s", path);
	int fd;

	whole->file = NULL;
	if (length >= PATH_MAX || snprintf(whole->fresh, PATH_MAX, "%s.XXXXXX", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = mkstemp(whole->fresh);
	if (fd < 0)
		return -errno;
	open_to_others(fd);
	whole->file = fdopen(fd, "w");
	if (whole->file != NULL)
		return 0;

	int error = errno;

	close(fd);
	unlink(whole->fresh);
	return -error;
}

void wh_whole_file_drop(struct wh_whole_file *whole)
{
	WH_ASSERT(whole->file != NULL);
	fclose(whole->file);
	whole->file = NULL;
	unlink(whole->fresh);
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
	return rc;
}
