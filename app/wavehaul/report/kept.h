/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What probes and transfers have measured about paths to peers, a file for each peer and port of
 * ours: a later run starts with it. Files are replaced atomically and survive a power cut; their
 * number and age are limited. An invalid file is treated as missing, and reported.
 */

#include <limits.h>
#include <stdbool.h>

#include "probe/findings.h"
#include "profile/profile.h"

#define WH_KEPT_WHEN_BYTES 32
#define WH_KEPT_BY_BYTES   32

/* The maximum age of values that a transfer starts with, and of a file; and the most files. */
#define WH_KEPT_PATH_DAYS 30
#define WH_KEPT_FILE_DAYS 365
#define WH_KEPT_FILES_MAX 1024

struct wh_kept_place {
	const char *folder; /* "": this user's default folder; "none": no folder */
	const char *peer;   /* address, as text */
	const char *port;   /* ours, as given by --port, and the queue if there are several */
};

struct wh_kept {
	struct wh_known_path path;      /* of the latest probe or transfer; capacity_bps 0: none */
	char path_by[WH_KEPT_BY_BYTES]; /* "probe", or the profile of a transfer */
	char path_when[WH_KEPT_WHEN_BYTES];
	double memory_bytes; /* the bottleneck's buffer, from a probe; 0: unknown */
	bool probed;
	struct wh_findings found;
	char found_when[WH_KEPT_WHEN_BYTES];
};

/* The folder's path, "": the default one of this user or service; false: no folder. */
bool wh_kept_where(const char *wanted, char folder[PATH_MAX]);

/* Creates the folder if it is missing: an O_PATH descriptor, the caller's; -1: no folder. */
int wh_kept_folder(const char *wanted);

/*
 * Locks the folder for one process that serves, until the returned descriptor is closed by the
 * caller: two such processes would run the same orders. -EBUSY: another process has it; other
 * negative errno: no such folder, or it cannot be locked.
 */
int wh_kept_hold(const char *wanted);

/* Path of another file in that folder; false: no folder. */
bool wh_kept_file(const char *wanted, const char *name, char path[PATH_MAX]);

/* False: nothing is known, and *kept is zeros. */
bool wh_kept_recall(const struct wh_kept_place *place, struct wh_kept *kept);

/* Stores the results of a probe, or of a transfer with that profile: 0 or a negative errno. */
int wh_kept_probe(const struct wh_kept_place *place, const struct wh_findings *found);
int wh_kept_transfer(const struct wh_kept_place *place, const struct wh_known_path *found,
	const struct wh_profile *profile);

/* Converts findings for a controller; capacity_bps 0: they are not sufficient. */
struct wh_known_path wh_kept_path_of(const struct wh_findings *found);
