/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PROGRESS_H
#define WH_APP_PROGRESS_H

/* The line on a terminal that is written over while bytes move. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WH_PROGRESS_MS         250
#define WH_PROGRESS_TEXT_BYTES 256

struct wh_progress {
	uint64_t bytes;     /* that have arrived */
	uint64_t all_bytes; /* 0: not known (yet) */
	double all_s;       /* since the first */
	uint64_t new_bytes; /* of them, since the line before */
	double new_s;
	const char *words; /* what else there is to say; "": nothing */
};

/*
 * "1.00 GiB   50.0 %  now 9.84 Gb/s  mean 9.60 Gb/s  ETA 1 s  words", in `text`, returned. Where it
 * has more than `columns` columns, it goes without the mean, then without the words, and so on.
 */
const char *wh_progress_text(
	char text[WH_PROGRESS_TEXT_BYTES], uint32_t columns, const struct wh_progress *progress);

/* On stderr, in place of the line before; and the end of all lines. */
void wh_progress_show(const struct wh_progress *progress);
void wh_progress_clear(void);

/* Whether there is a terminal to show it on, one that can write over a line (not TERM=dumb). */
bool wh_progress_has_terminal(void);

#endif
