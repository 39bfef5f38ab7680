/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Interprets a target as scp does: an existing folder, or one to be created, or else a name in the
 * folder above. A link with this name is followed to its file, beneath the root: that file is
 * replaced, and the link stays. A dangling link, a pipe, a socket or a device is not a valid
 * target.
 */

#include <limits.h>
#include <stdbool.h>

#include "bundle/record.h"

struct wh_target {
	const char *path; /* below the root; "" or ".": the root itself */
	bool into_folder; /* it is a folder, even if it does not exist */
	bool as_name;     /* it is a name, even if it is an existing folder */
	bool look;        /* a missing folder is not created: -ENOENT */
	/*
	 * The peer that names it may not learn which folders exist. It is a folder if it is written
	 * as one, else a name, and what is missing above it is created.
	 */
	bool blind;
};

/*
 * Returns the descriptor of the folder that the entries go into, the caller's. Sets `as` to the new
 * first component of their paths; "": unchanged. Or a negative errno and what failed. -EXDEV: it
 * leads outside. -ENOLINK: a dangling link. -EEXIST: a pipe, socket or device.
 */
int wh_target_open(
	int root_fd, const struct wh_target *target, char as[NAME_MAX + 1], enum wh_doing *doing);
