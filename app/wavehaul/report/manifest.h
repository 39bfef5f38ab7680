/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A checksum for each file of a transfer, calculated from this end's disk when the transfer is
 * over, in the format of md5sum(1): written to a file, or compared with one. The file appears only
 * when it is complete: md5sum would take a partial one for complete.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/settings.h"
#include "cli/whole_file.h"
#include "file/file_checksum.h"

struct wh_manifest_line {
	char *path;
	char sum[WH_CHECKSUM_TEXT_BYTES];
	bool seen;
};

struct wh_manifest {
	bool on;
	enum wh_checksum kind;
	uint64_t from;      /* of each file, what is from here on ... */
	uint64_t end;       /* ... to here */
	FILE *to;           /* NULL: none is written */
	bool appears_whole; /* `to` is whole.file; otherwise a pipe or a device */
	struct wh_whole_file whole;
	bool is_below; /* a folder: folder_fd is open, and whole.path uses it */
	int folder_fd;
	struct wh_manifest_line *expected; /* sorted by path */
	uint64_t expects;
	char **path; /* of the bundle: files that arrived, or existed already */
	uint64_t paths;
	uint64_t room;
	uint64_t summed;
	uint64_t compared;
	uint64_t unread; /* that could not be read again */
	uint64_t wrong;  /* a different sum, none, or not among the expected files */
	bool incomplete;
	_Atomic bool stop; /* may be set by any thread while the sums are calculated */
};

/*
 * Checks what the settings want, before any file is opened: 0, or an exit status after a complaint.
 */
int wh_manifest_judge(
	const struct wh_settings *settings, bool sends, enum wh_checksum *kind, bool *on);

/*
 * 0, or an exit status after a complaint. Opens and reads the files: with root_fd -1 by the
 * process's own paths, before the guard; otherwise below that folder, regular files only.
 */
int wh_manifest_open(
	struct wh_manifest *manifest, const struct wh_settings *settings, bool sends, int root_fd);

/* A file of the bundle is complete at the other end, or here. */
void wh_manifest_note(struct wh_manifest *manifest, const char *path);

/* Forgets the noted files: another try notes all of them again. */
void wh_manifest_forget(struct wh_manifest *manifest);

/*
 * Calculates the sums; opens each file of the bundle by `open_file`: a descriptor or a negative
 * errno. Returns the transfer's new exit status; WH_EXIT_INTERRUPTED: stopped.
 */
int wh_manifest_finish(struct wh_manifest *manifest,
	int (*open_file)(void *context, const char *path), void *context, int status);
void wh_manifest_free(struct wh_manifest *manifest);
