/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Finds what is to be sent, step by step: given paths in their order, folders before their
 * contents, names sorted by bytes, so that every walk of the same tree is the same.
 *
 * The last component of a given path is the first one in the bundle: "a/b" and "a/b/" send "b" and
 * "b/...". A path without a last name of its own (".", "..", "/", "a/.", "a/..") sends the contents
 * of that folder, under their names.
 *
 * With keep_paths, names in the bundle are the whole paths as they were given, from their first
 * name on, or from the first name after "/./" ("/data/./a/b" sends "a/b"). Then the folders on the
 * way to a given path are found before it; their other contents are not.
 *
 * Below a root a given path that does not exist may contain wildcards, as in bundle/choice.h. It
 * stands for everything that matches, as if each had been given, except that links are found as
 * links.
 *
 * Given paths that are links are followed, but with keep_paths found as links, like those inside
 * folders. So there are no loops, and nothing outside of a given folder is reached.
 *
 * Staging folders of running transfers (stage/stage.h) are skipped in folders, and not found below
 * a root either.
 *
 * A step reads some 250 names of a folder, or returns the next item. WH_WALK_OPEN folders on the
 * current path stay open; others are reopened from below on the way back.
 *
 * The names of all folders on the current path are in memory, and charged beyond the first
 * WH_WALK_FREE_BYTES. A folder for whose names there is no more memory is a fault after those that
 * were read.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bundle/record.h"
#include "file/blocks.h"
#include "source/given.h"

#define WH_WALK_OPEN 32

/* Room for some two thousand short names. */
#define WH_WALK_FREE_BYTES (UINT64_C(64) << 10)

enum wh_walk_found {
	WH_WALK_NOTHING = 0, /* in this step */
	WH_WALK_FILE,        /* or was one: check after opening */
	WH_WALK_FOLDER,
	WH_WALK_LINK,
	WH_WALK_FAULT,
	WH_WALK_END,
};

/* Valid until the next step. */
struct wh_walk_item {
	enum wh_walk_found found;
	uint8_t doing; /* FAULT */
	uint16_t path_bytes;
	const char *path; /* in the bundle, NUL-terminated; FAULT: cut if it is too long */
	uint32_t given;   /* index of the given path that led here */
	bool is_given;    /* it is that given path itself */
	bool is_prefix;   /* FOLDER: on the way to a given path */
	int error;        /* FAULT: a positive errno */
	int folder_fd;    /* contains `name`; of a given path: the root, or AT_FDCWD */
	const char *name;
	struct stat status; /* FOLDER, from fstat */
	int own_fd;         /* FOLDER: its descriptor, open until the next step; -1: is_prefix */
};

struct wh_walk;

/*
 * root_fd: see struct wh_source_config. 0 or -ENOMEM. The strings must outlive it, as must the
 * account; NULL: unlimited.
 */
int wh_walk_open(struct wh_walk **walk, int root_fd, const char *const *paths, uint32_t path_count,
	bool recursive, const struct wh_blocks_account *account);
/* Whether the only path, which has a wildcard, is the name of something that exists. */
bool wh_walk_is_as_given(const struct wh_walk *walk);
/* Before the first step: names in the bundle are whole given paths. */
void wh_walk_keep_paths(struct wh_walk *walk);
void wh_walk_close(struct wh_walk *walk); /* NULL is allowed */

/* Skips the contents of the FOLDER found last, which is not on the way to a given path. */
void wh_walk_leave(struct wh_walk *walk);

void wh_walk_next(struct wh_walk *walk, struct wh_walk_item *item);

/* Opens a FILE for reading, without blocking. A descriptor or a negative errno. */
int wh_walk_open_file(const struct wh_walk *walk, const struct wh_walk_item *item);

/* Opens a LINK itself, for readlinkat(2) of "". A descriptor or a negative errno. */
int wh_walk_open_link(const struct wh_walk *walk, const struct wh_walk_item *item);
