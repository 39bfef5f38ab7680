/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_BENEATH_H
#define WH_BUNDLE_BENEATH_H

/*
 * Paths of a bundle, below the folder that they belong to and nowhere else. Folders are opened by
 * openat2(2) with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS: a link, whether it came with the bundle
 * or lay there before, leads nowhere. Names in a folder are used relative to its descriptor.
 *
 * What is in a staging folder, ours or another's, is not found (-ENOENT), whatever leads there.
 *
 * The folders used last stay open. Whoever moves one of them away meanwhile moves what is done
 * there with it, as for every process that has a folder open; it remains below.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bundle/record.h"

#define WH_BENEATH_FOLDERS 16

struct wh_beneath_folder {
	int fd; /* O_PATH; -1: unused */
	uint16_t path_bytes;
	bool was_empty; /* as it was opened */
	uint64_t used;  /* when, on wh_beneath's count */
	char path[WH_PATH_BYTES_MAX + 1];
};

struct wh_beneath {
	int anchor_fd; /* borrowed */
	uint64_t uses;
	struct wh_beneath_folder *last;
	struct wh_beneath_folder folders[WH_BENEATH_FOLDERS];
};

/*
 * What an operator or a peer named as a target or a root's part: links are followed as long as
 * they stay below `fd`; magic links (/proc) are not. A descriptor or a negative errno (-EXDEV: it
 * leads outside).
 */
int wh_beneath_resolve(int fd, const char *path, int flags);

void wh_beneath_init(struct wh_beneath *beneath, int anchor_fd);
void wh_beneath_free(struct wh_beneath *beneath);

/* Opens something of a bundle. A descriptor, the caller's, or a negative errno (-ELOOP: a link). */
int wh_beneath_open(const struct wh_beneath *beneath, const char *path, int flags);

/*
 * The folder of this path ("" is the anchor), made if it is missing, and those above it likewise,
 * with mode 0700. An O_PATH descriptor that stays the cache's and is good until the next call, or
 * a negative errno: -ENOTDIR where something else has the name.
 */
int wh_beneath_folder(struct wh_beneath *beneath, const char *path, size_t path_bytes);

/*
 * Whether nothing was in the folder when it was opened, by the descriptor of the last call: then
 * what is there now came with the bundle, or at the same time, and need not be looked at.
 */
bool wh_beneath_was_empty(const struct wh_beneath *beneath, int folder_fd);

/* It is gone from its place (-ENOENT): the next call looks it up again. */
void wh_beneath_forget(struct wh_beneath *beneath, const char *path, size_t path_bytes);

/* Bytes of the path of the folder that holds `path`; 0: the anchor does. */
size_t wh_beneath_parent_bytes(const char *path, size_t path_bytes);

/* Whether this is a file system in memory: nothing to sync, and reading and writing never wait. */
bool wh_beneath_in_memory(int fd);

#endif
