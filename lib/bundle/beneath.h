/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Paths of a bundle, confined to a folder. Folders are opened by openat2(2) with RESOLVE_BENEATH
 * and RESOLVE_NO_SYMLINKS, so that no link is followed, whether it came with the bundle or existed
 * before. Names in a folder are used relative to its descriptor.
 *
 * Contents of staging folders, our own or another's, are not found (-ENOENT), by whatever path.
 *
 * The most recently used folders stay open. If somebody moves one of them meanwhile, operations
 * follow it, as for any process with an open folder; it remains below.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bundle/record.h"

#define WH_BENEATH_FOLDERS 16

struct wh_beneath_folder {
	int fd; /* O_PATH; -1: unused */
	uint16_t path_bytes;
	uint16_t found_bytes; /* of its path; the rest was missing when it was opened */
	bool was_empty;       /* when it was opened */
	bool is_new;          /* wh_beneath_is_new was not called yet */
	uint64_t used;        /* time of last use, by `uses` */
	char path[WH_PATH_BYTES_MAX + 1];
};

struct wh_beneath {
	int anchor_fd; /* borrowed */
	uint64_t uses;
	struct wh_beneath_folder *last;
	struct wh_beneath_folder folders[WH_BENEATH_FOLDERS];
};

/*
 * Opens a target or a part of a root, named by an operator or a peer. Links are followed as long as
 * they stay below `fd`; magic links (/proc) are not. A descriptor or a negative errno (-EXDEV: it
 * leads outside).
 */
int wh_beneath_resolve(int fd, const char *path, int flags);

void wh_beneath_init(struct wh_beneath *beneath, int anchor_fd);
void wh_beneath_free(struct wh_beneath *beneath);

/* Opens a path of a bundle. A descriptor, the caller's, or a negative errno (-ELOOP: a link). */
int wh_beneath_open(const struct wh_beneath *beneath, const char *path, int flags);

/*
 * The folder of this path ("" is the anchor), created if missing, like those above it, with mode
 * 0700. Returns an O_PATH descriptor owned by the cache and valid until the next call, or a
 * negative errno: -ENOTDIR if something else has the name.
 */
int wh_beneath_folder(struct wh_beneath *beneath, const char *path, size_t path_bytes);

/*
 * Whether the folder was empty when it was opened, by the descriptor of the last call. Then
 * everything in it came with the bundle, or at the same time, and need not be examined.
 */
bool wh_beneath_was_empty(const struct wh_beneath *beneath, int folder_fd);

/* True once after the folder was opened, for what needs to be done once. */
bool wh_beneath_is_new(struct wh_beneath *beneath, int folder_fd);

/*
 * How many bytes of the path of the last call's folder existed before that call created the rest.
 */
size_t wh_beneath_found_bytes(const struct wh_beneath *beneath, int folder_fd);

/* The folder has gone (-ENOENT): the next call looks it up again. */
void wh_beneath_forget(struct wh_beneath *beneath, const char *path, size_t path_bytes);

/* Length of the path of the folder that contains `path`; 0: the anchor. */
size_t wh_beneath_parent_bytes(const char *path, size_t path_bytes);

/*
 * The folder of parts (bundle/staging_name.h) in this one, made if it is missing: a descriptor of
 * the caller's, or a negative errno; -EPERM: another user has made it, and could exchange what is
 * in it.
 */
int wh_beneath_parts(int folder_fd);

/* Whether this is a file system in memory: nothing to sync, and reading and writing never block. */
bool wh_beneath_in_memory(int fd);
