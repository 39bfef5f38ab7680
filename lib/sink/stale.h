/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SINK_STALE_H
#define WH_SINK_STALE_H

/*
 * What dead processes left: staging folders whose lock nobody holds, which are ours by owner and
 * hold nothing but files and links. They are looked for and removed aside (file/aside.h); links
 * are not followed. No memory or no thread: they stay for the next time.
 */

#include <dirent.h>
#include <stdint.h>

/*
 * In this folder, which the caller may close. Of parts that are kept there (WH_PARTS_FOLDER) those
 * go that nobody holds and nothing was added to since `parts_s`, by the calendar: a journal knows
 * none so old, and whoever died between making one and noting it left it unknown. INT64_MIN: none.
 */
void wh_stale_remove_in(int folder_fd, int64_t parts_s);

/* In all folders below it, at leisure; wh_stale_stop ends that soon. */
void wh_stale_remove_below(int root_fd, int64_t parts_s);
void wh_stale_stop(void);

/* A stream over another descriptor of the folder: locks and closing stay the caller's. NULL:
 * errno says why. */
DIR *wh_stale_stream(int fd);

/* Unlinks everything in it that is no folder. */
void wh_stale_unlink_all(DIR *folder);

#endif
