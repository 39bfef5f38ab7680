/* SPDX-License-Identifier: BSD-3-Clause */
#include "laboratory.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"

#define LABORATORY "wavehaul-lab"

/* The folder of this program's own executable, or "". */
static void own_folder(char *folder, size_t room)
{
	ssize_t length = readlink("/proc/self/exe", folder, room - 1);
	char *slash;

	folder[length > 0 ? length : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash != NULL)
		slash[1] = '\0';
	else
		folder[0] = '\0';
}

/* Runs the laboratory in its place; returns only if it is not there. */
static void become(const char *folder, const char *place, char **argv)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", folder, place);
	execv(path, argv);
	if (errno == ENOENT || errno == ENOTDIR)
		return;
	wh_complain("cannot run %s: %s", path, strerror(errno));
	_exit(WH_EXIT_OTHER);
}

int wh_laboratory_run(char **argv)
{
	char folder[PATH_MAX];

	own_folder(folder, sizeof(folder));
	if (folder[0] != '\0') {
		become(folder, LABORATORY, argv);
		become(folder, "../" LABORATORY "/" LABORATORY, argv); /* in a build folder */
	}
	become("", WH_LABORATORY_INSTALLED, argv);
	return wh_fail(WH_EXIT_OTHER,
		"wavehaul %s is of the laboratory, which is not installed: install the package "
		"wavehaul-lab",
		argv[1]);
}
