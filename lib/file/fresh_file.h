/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A file that is being written as NAME.XXXXXXXX.part beside its final name. flock holds it locked
 * as long as its descriptor (or a copy of it) is open. The lock tells it from files left by killed
 * processes.
 */

#include <limits.h>
#include <sys/types.h>

/* Removes such leftovers of `path`, then creates a file; its descriptor, or a negative errno. */
int wh_fresh_file_open(char fresh[PATH_MAX], const char *path, mode_t mode);

/* Removes leftovers: regular files of this user with a name of that form and without a lock. */
void wh_fresh_file_sweep(const char *path);
