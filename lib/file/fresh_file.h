/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FILE_FRESH_FILE_H
#define WH_FILE_FRESH_FILE_H

/*
 * A file being written, beside its final name, as NAME.XXXXXXXX.part, and locked by flock as long
 * as its descriptor (or a copy of it) is open. The lock tells it from files left by killed
 * processes.
 */

#include <limits.h>
#include <sys/types.h>

/* Removes such leftovers of `path`, then creates a file; its descriptor, or a negative errno. */
int wh_fresh_file_open(char fresh[PATH_MAX], const char *path, mode_t mode);

/* Removes leftovers: regular files of this user with a name of that form and without a lock. */
void wh_fresh_file_sweep(const char *path);

#endif
