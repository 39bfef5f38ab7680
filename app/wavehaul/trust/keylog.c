/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/keylog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "seal/seal.h"

#define LINE_BYTES_MAX 256

/* Cores that open sessions write whole lines; if a disk is full lines are lost, not sessions. */
static void write_line(void *context, const char *line)
{
	int fd = (int)(intptr_t)context;
	char whole[LINE_BYTES_MAX];
	int bytes = snprintf(whole, sizeof(whole), "%s\n", line);

	WH_ASSERT(bytes > 0 && (size_t)bytes < sizeof(whole));
	if (write(fd, whole, (size_t)bytes) != bytes)
		wh_complain("cannot write the keys of a session: %s", strerror(errno));
}

/* Do not write keys to a file that others could read, or that is a link. */
static bool is_ours_alone(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	       (status.st_mode & 077) == 0;
}

int wh_keylog_open(const char *path)
{
	if (path[0] == '\0')
		return 0;

	int fd = open(
		path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (fd < 0)
		return wh_fail(WH_EXIT_NO_FILE,
			"cannot write keys to %s: %s; --keylog needs a path where a file can be "
			"created, and no symbolic link",
			path, strerror(errno));
	if (!is_ours_alone(fd)) {
		wh_complain("%s is not a private file; run `chmod 600` on it, or choose another "
			    "name for --keylog",
			path);
		close(fd);
		return WH_EXIT_USAGE;
	}
	wh_say("the keys of all sessions are written to %s: anyone with that file can read their "
	       "data",
		path);
	wh_seal_set_keylog(write_line, (void *)(intptr_t)fd);
	return 0;
}
