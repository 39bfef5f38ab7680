/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * All names of trees, one after the other: files, links, and folders that have nothing in them. The
 * folders on the way to a name go with it (--relative).
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_scan_totals {
	uint64_t files;
	uint64_t links;
	uint64_t folders; /* empty ones */
	uint64_t bytes;
	uint64_t left_out; /* neither, or cannot be read; each was said */
};

/*
 * `name`: a path with "/./" before the part that is kept at the target; absolute, if it is here.
 * False: an end, after a complaint.
 */
typedef bool (*wh_scan_fn)(void *context, const char *name, uint64_t bytes);

/*
 * Trees that are here, in the order of wh_walk, whatever the number of threads: folders are read
 * ahead of the name that is told. -1, or an exit status after a complaint.
 */
int wh_fleet_scan(char *const *trees, uint32_t count, wh_scan_fn on_name, void *context,
	struct wh_scan_totals *totals);

/* Says so, and counts it. */
void wh_scan_leave_out(struct wh_scan_totals *totals, const char *path, const char *why);

#define WH_FAR_WORDS_MAX 250

struct wh_far_scan {
	char *own; /* this program */
	const char *host;
	char *const *words; /* options of `wavehaul ls` */
	uint32_t n_words;
};

/*
 * Trees at a server, as `wavehaul ls` lists them: names are relative to what it serves. A status of
 * WH_EXIT_NETWORK or WH_EXIT_STALLED before the first name: ask another server.
 */
int wh_fleet_scan_far(const struct wh_far_scan *far, char *const *trees, uint32_t count,
	wh_scan_fn on_name, void *context, struct wh_scan_totals *totals);
