/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_STORE_TEMPORARY_H
#define WH_STORE_TEMPORARY_H

/*
 * Private to lib/store: a file under a name of its own until it is whole. All calls are relative
 * to the open folder, so that nobody can move the ground under them.
 */

#include <limits.h>
#include <stdbool.h>

struct wh_temporary {
	int folder_fd;
	int fd;
	bool exists; /* under its temporary name */
	char final_name[NAME_MAX + 1];
	char name[NAME_MAX + 1]; /* ".FINAL.XXXXXX.part", FINAL cut where it would be too long */
};

/*
 * 0 or a negative errno with nothing left: -EINVAL for a final name that is none in this folder,
 * -EISDIR when a folder has it, -ENAMETOOLONG.
 */
int wh_temporary_open(struct wh_temporary *temporary, const char *folder, const char *name);

/* Gives the file its final name, replacing an older one. 0 or a negative errno. */
int wh_temporary_rename(struct wh_temporary *temporary);

/* Removes the file if it still has its temporary name; its descriptor stays good. */
void wh_temporary_unlink(struct wh_temporary *temporary);

/* Unlinks and closes. */
void wh_temporary_close(struct wh_temporary *temporary);

#endif
