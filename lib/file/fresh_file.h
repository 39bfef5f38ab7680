/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FILE_FRESH_FILE_H
#define WH_FILE_FRESH_FILE_H

/*
 * A file on its way to its name: beside it, as NAME.XXXXXXXX.part, and locked by flock as long as
 * its descriptor (or a copy of that) is open. So what a process left that was killed is told from
 * what another one is writing.
 */

#include <limits.h>
#include <sys/types.h>

/* Removes what others have left on the way to `path`; its descriptor, or a negative errno. */
int wh_fresh_file_open(char fresh[PATH_MAX], const char *path, mode_t mode);

/* Removes it: regular files of this user, of that form, that nobody has locked. */
void wh_fresh_file_sweep(const char *path);

#endif
