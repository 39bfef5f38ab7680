/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A file that appears under its name only when it is complete; until then a previous file stays. If
 * several processes write it at once, the last one wins. A temporary file left by a killed process
 * is removed when the same file is written the next time.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct wh_whole_file {
	FILE *file;  /* write to it */
	int lock_fd; /* keeps the temporary file locked until it is renamed */
	char path[PATH_MAX];
	char fresh[PATH_MAX]; /* its temporary name */
};

/* 0 or a negative errno. */
int wh_whole_file_open(struct wh_whole_file *whole, const char *path);

/* `durable`: it survives a power cut. 0 or a negative errno; then nothing is left of it. */
int wh_whole_file_close(struct wh_whole_file *whole, bool durable);

/* Discards it. */
void wh_whole_file_drop(struct wh_whole_file *whole);
