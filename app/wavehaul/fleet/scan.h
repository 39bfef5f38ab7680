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
 * `name`: an absolute path with "/./" before the part that is kept at the target. False: an end,
 * after a complaint.
 */
typedef bool (*wh_scan_fn)(void *context, const char *name, uint64_t bytes);

/* -1, or an exit status after a complaint. */
int wh_fleet_scan(char *const *trees, uint32_t count, wh_scan_fn on_name, void *context,
	struct wh_scan_totals *totals);
