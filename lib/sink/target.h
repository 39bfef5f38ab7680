/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SINK_TARGET_H
#define WH_SINK_TARGET_H

/*
 * What a target stands for, as scp takes it: a folder that is there, or one to be made, or else a
 * name in the folder above. A link that has this name is followed to the file it leads to, beneath
 * the root like all: that one is replaced, and the link stays. What leads to nothing, and what is a
 * pipe, a socket or a device, is no target.
 */

#include <limits.h>
#include <stdbool.h>

#include "bundle/record.h"

struct wh_target {
	const char *path; /* below the root; "" or ".": the root itself */
	bool into_folder; /* it is a folder, whatever is there */
	bool as_name;     /* it is a name, even if a folder has it */
	bool look;        /* a folder that is missing is not made: -ENOENT */
};

/*
 * The descriptor of the folder that the entries go into, the caller's, and in `as` what their first
 * name becomes, "": it stays. Or a negative errno and what failed: -EXDEV: it leads outside,
 * -ENOLINK: a link to nothing, -EEXIST: a pipe, a socket or a device.
 */
int wh_target_open(
	int root_fd, const struct wh_target *target, char as[NAME_MAX + 1], enum wh_doing *doing);

#endif
