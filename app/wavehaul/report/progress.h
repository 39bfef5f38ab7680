/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PROGRESS_H
#define WH_APP_PROGRESS_H

/* The line on a terminal that is written over while bytes move. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WH_PROGRESS_MS         250
#define WH_PROGRESS_TEXT_BYTES 256

/* What a line says. */
struct wh_progress_line {
	uint64_t bytes;        /* that have arrived */
	uint64_t passed_bytes; /* of all, that need not move */
	uint64_t all_bytes;    /* 0: not known (yet) */
	double all_s;          /* since the first */
	uint64_t new_bytes;    /* of them, since the line before */
	double new_s;
	const char *words; /* what else there is to say; "": nothing */
};

/*
 * "1.00 GiB   50.0 %  now 9.84 Gb/s  mean 9.60 Gb/s  ETA 1 s  words", in `text`, returned. Where it
 * has more than `columns` columns, it goes without the mean, then without the words, and so on.
 */
const char *wh_progress_text(
	char text[WH_PROGRESS_TEXT_BYTES], uint32_t columns, const struct wh_progress_line *line);

/* What is left of a transfer. */
struct wh_left {
	uint64_t files;
	uint64_t bytes;
	bool at_least; /* more may be found */
};

/* "12 files, 30 and 3.00 GiB left", or "at least 30 and 3.00 GiB left", of files that are there. */
const char *wh_progress_left(
	char text[WH_PROGRESS_TEXT_BYTES], uint64_t files, const struct wh_left *left);

/* Seconds, by the mean of what has moved; below 0: nobody knows. */
double wh_progress_eta_s(const struct wh_left *left, uint64_t bytes, double all_s);

/* When bytes of a transfer began to move, and what was told of them last. */
struct wh_progress {
	uint64_t hz;
	uint64_t began_tsc; /* 0: they have not */
	uint64_t next_tsc;
	uint64_t last_tsc;
	uint64_t last_bytes;
	bool line_open;
};

double wh_progress_s(const struct wh_progress *progress, uint64_t from_tsc, uint64_t to_tsc);

/* Whether to tell of it again; the first time is when bytes begin to move. */
bool wh_progress_is_due(struct wh_progress *progress, uint64_t now_tsc, uint64_t every_ms);

/* The line on stderr, in place of the one before; and the end of all lines. */
void wh_progress_show(struct wh_progress *progress, uint64_t now_tsc, uint64_t bytes,
	uint64_t passed_bytes, uint64_t all_bytes, const char *words);
void wh_progress_clear(struct wh_progress *progress);

/* What the next time is told from. */
void wh_progress_told(struct wh_progress *progress, uint64_t now_tsc, uint64_t bytes);

/* Whether there is a terminal to show it on, one that can write over a line (not TERM=dumb). */
bool wh_progress_has_terminal(void);

#endif
