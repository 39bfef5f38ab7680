/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Paths as a user or peer has given them, and the names in a bundle of what they lead to. */

#include <stdbool.h>
#include <stddef.h>

#include "bundle/record.h"

/* The last name of a path and its length; 0: none. */
size_t wh_path_last_name(const char *path, const char **name);

/*
 * The name of a given path in the bundle; `whole`: the whole path is the name. Returns its length.
 * 0: the contents of a folder without a name. -EINVAL: it would go up ("a/../b"). -ENAMETOOLONG.
 * Behind the first *above_bytes of the given path, the name is a path to the same file.
 */
int wh_path_in_bundle(
	const char *path, bool whole, char name[WH_PATH_BYTES_MAX + 1], size_t *above_bytes);

/*
 * What is kept of a path whose whole is a name: what is behind the first "/./", or all of it;
 * without '/' and "." at its beginning.
 */
const char *wh_path_kept(const char *path);
