/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The progress line on a terminal, overwritten while bytes move. */

#include <stdbool.h>
#include <stdint.h>

#define WH_PROGRESS_MS         250
#define WH_PROGRESS_TEXT_BYTES 256

/* Contents of a line. */
struct wh_progress_line {
	uint64_t bytes;        /* arrived so far */
	uint64_t passed_bytes; /* of all_bytes, those that need not be sent */
	uint64_t all_bytes;    /* 0: unknown (yet) */
	double all_s;          /* since the first byte */
	uint64_t new_bytes;    /* arrived since the previous line */
	double new_s;
	const char *words; /* further text; "": none */
};

/*
 * Writes "1.00 GiB   50.0 %  now 9.84 Gb/s  mean 9.60 Gb/s  ETA 1 s  words" into `text`, and
 * returns it. If it is wider than `columns`, the mean is omitted, then the words, and so on.
 */
const char *wh_progress_text(
	char text[WH_PROGRESS_TEXT_BYTES], uint32_t columns, const struct wh_progress_line *line);

/* The remaining part of a transfer. */
struct wh_left {
	uint64_t files;
	uint64_t bytes;
	bool at_least; /* more may be found */
};

/* "12 files, 30 and 3.00 GiB left", or "at least 30 and 3.00 GiB left"; `files`: those complete. */
const char *wh_progress_left(
	char text[WH_PROGRESS_TEXT_BYTES], uint64_t files, const struct wh_left *left);

/* Seconds, from the mean rate so far; negative: unknown. */
double wh_progress_eta_s(const struct wh_left *left, uint64_t bytes, double all_s);

/* When the bytes of a transfer began to move, and what was reported last. */
struct wh_progress {
	uint64_t hz;
	uint64_t began_tsc; /* 0: not yet */
	uint64_t next_tsc;
	uint64_t last_tsc;
	uint64_t last_bytes;
	bool line_open;
};

double wh_progress_s(const struct wh_progress *progress, uint64_t from_tsc, uint64_t to_tsc);

/* Whether another report is due; the first one is due when bytes begin to move. */
bool wh_progress_is_due(struct wh_progress *progress, uint64_t now_tsc, uint64_t every_ms);

/* Writes the line on stderr over the previous one; and clears it. */
void wh_progress_show(struct wh_progress *progress, uint64_t now_tsc, uint64_t bytes,
	uint64_t passed_bytes, uint64_t all_bytes, const char *words);
void wh_progress_clear(struct wh_progress *progress);

/* Notes what was reported, for the next report's difference. */
void wh_progress_told(struct wh_progress *progress, uint64_t now_tsc, uint64_t bytes);

/* Whether stderr is a terminal that can overwrite a line (not TERM=dumb). */
bool wh_progress_has_terminal(void);
