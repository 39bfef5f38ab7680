/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_WHOLE_FILE_H
#define WH_APP_WHOLE_FILE_H

/*
 * A file that is there under its name once all of it is written, and until then what was there
 * before. Several may write one at once: the last one's is left. What a process left that was
 * killed on the way goes when the same file is written the next time.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct wh_whole_file {
	FILE *file;  /* what is written goes there */
	int lock_fd; /* keeps it locked until it has its name */
	char path[PATH_MAX];
	char fresh[PATH_MAX]; /* its name until it is whole */
};

/* 0 or a negative errno. */
int wh_whole_file_open(struct wh_whole_file *whole, const char *path);

/* `durable`: it outlives a power cut. 0 or a negative errno, and then nothing is left of it. */
int wh_whole_file_close(struct wh_whole_file *whole, bool durable);

/* Nothing is left of it. */
void wh_whole_file_drop(struct wh_whole_file *whole);

#endif
