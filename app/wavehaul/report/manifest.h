/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_MANIFEST_H
#define WH_APP_MANIFEST_H

/*
 * A checksum for each file of a transfer, of the bytes that are on this end's disk when it is over,
 * in the form of md5sum(1): written to a file, or compared with one. The file appears when it is
 * complete: md5sum takes the first half of one for a whole.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/settings.h"
#include "cli/whole_file.h"
#include "report/checksum.h"

struct wh_manifest_line {
	char *path;
	char sum[WH_CHECKSUM_TEXT_BYTES];
	bool seen;
};

struct wh_manifest {
	bool on;
	enum wh_checksum kind;
	FILE *to;           /* NULL: none is written */
	bool appears_whole; /* `to` is whole.file; else a pipe or a device */
	struct wh_whole_file whole;
	bool is_below; /* a folder: folder_fd is open, whole.path goes by it */
	int folder_fd;
	struct wh_manifest_line *expected; /* by path */
	uint64_t expects;
	char **path; /* of the bundle: what came, or was there */
	uint64_t paths;
	uint64_t room;
	uint64_t summed;
	uint64_t compared;
	uint64_t wrong; /* another sum, none, or no such file among those expected */
	bool incomplete;
	_Atomic bool stop; /* any thread's wish, while it is finished */
};

/*
 * 0, or an exit status after a complaint. Files are opened and read: before the guard, where they
 * are as the process sees them (root_fd -1); or below a folder, and are plain files then.
 */
int wh_manifest_open(
	struct wh_manifest *manifest, const struct wh_settings *settings, bool sends, int root_fd);

/* A file of the bundle is whole at the other end, or here. */
void wh_manifest_note(struct wh_manifest *manifest, const char *path);

/* What was noted: another try notes all of it again. */
void wh_manifest_forget(struct wh_manifest *manifest);

/*
 * Opens the file of the bundle that is here, by `open`: a descriptor or a negative errno. What the
 * transfer's exit status becomes; WH_EXIT_INTERRUPTED: it was stopped.
 */
int wh_manifest_finish(struct wh_manifest *manifest,
	int (*open_file)(void *context, const char *path), void *context, int status);
void wh_manifest_free(struct wh_manifest *manifest);

#endif
