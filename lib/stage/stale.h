/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Cleans up after dead processes: staging folders that nobody has locked, that we own and that
 * contain only files and links. They are found and removed in the background (file/background.h);
 * links are not followed. Without memory or a thread, or while another folder is searched, they
 * remain until the next time.
 */

#include <dirent.h>
#include <stdint.h>

/*
 * Modes of parts. As long as the journal has no row for a part, it has the sticky bit, which means
 * nothing for a file.
 */
#define WH_STALE_UNNOTED 01600
#define WH_STALE_NOTED   0600

/*
 * Searches this folder, which the caller may close. Also removes parts kept there (WH_PARTS_FOLDER)
 * that are not locked, if by their mode no journal knows them, or if they have not changed since
 * `parts_s`, by the calendar: the journal has no rows that old. INT64_MIN: no parts.
 */
void wh_stale_remove_in(int folder_fd, int64_t parts_s);

/* Searches all folders below it, with low priority; wh_stale_stop ends that soon. */
void wh_stale_remove_below(int root_fd, int64_t parts_s);
void wh_stale_stop(void);

/*
 * A stream over a duplicate of the descriptor, so that locks and closing stay the caller's. NULL:
 * see errno.
 */
DIR *wh_stale_stream(int fd);

/* Unlinks everything in it except folders. */
void wh_stale_unlink_all(DIR *folder);
