/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SOURCE_WALK_H
#define WH_SOURCE_WALK_H

/*
 * What is to be sent, found step by step: the given paths in their order, folders before what is
 * in them, names sorted by their bytes, so that every walk of the same tree is the same.
 *
 * The last name of a given path is the first one in the bundle: "a/b" and "a/b/" send "b" and
 * "b/...". A path without a last name of its own (".", "..", "/", "a/.", "a/..") sends what is in
 * that folder, under those names.
 *
 * Below a root a given path that is not there may have wildcards in its names, as bundle/choice.h
 * has them: it stands for all that match, as if each had been given, but that links are found as
 * links.
 *
 * Links among the given paths are followed; those inside folders are found as links. So there
 * are no loops, and nothing outside of a given folder is reached.
 *
 * Staging folders of transfers under way (sink/stage.h) are not seen in folders, and below a root
 * not found either.
 *
 * A step reads some 250 names of a folder, or gives the next item. Of the folders on the way down
 * WH_WALK_OPEN stay open; others are opened again from below when the walk comes back.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bundle/record.h"

#define WH_WALK_OPEN 32

enum wh_walk_found {
	WH_WALK_NOTHING = 0, /* in this step */
	WH_WALK_FILE,        /* or was one: see what was opened */
	WH_WALK_FOLDER,
	WH_WALK_LINK,
	WH_WALK_FAULT,
	WH_WALK_END,
};

/* Good until the next step. */
struct wh_walk_item {
	enum wh_walk_found found;
	uint8_t doing; /* FAULT */
	uint16_t path_bytes;
	const char *path; /* in the bundle, closed by NUL; FAULT: cut where it is too long */
	uint32_t given;   /* which of the given paths led here */
	bool is_given;    /* it is that path itself */
	int error;        /* FAULT: a positive errno */
	int folder_fd;    /* with `name`, where it is; of a given path: of the root, or AT_FDCWD */
	const char *name;
	struct stat status; /* FOLDER, as of: */
	int own_fd;         /* it, open until the next step */
};

struct wh_walk;

/* root_fd: see struct wh_source_config. 0 or -ENOMEM. The strings must outlive it. */
int wh_walk_open(struct wh_walk **walk, int root_fd, const char *const *paths, uint32_t path_count,
	bool recursive);
void wh_walk_close(struct wh_walk *walk); /* NULL is allowed */

/* What is in the FOLDER that was found last is not. */
void wh_walk_leave(struct wh_walk *walk);

void wh_walk_next(struct wh_walk *walk, struct wh_walk_item *item);

/* Opens a FILE for reading, without waiting for anything. A descriptor or a negative errno. */
int wh_walk_open_file(const struct wh_walk *walk, const struct wh_walk_item *item);

/* Whether it may stand for several. */
bool wh_path_has_wildcard(const char *path);

/* The last name of a path and its length; 0: it has none of its own. */
size_t wh_path_last_name(const char *path, const char **name);

#endif
