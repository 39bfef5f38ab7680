/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_KEPT_H
#define WH_APP_KEPT_H

/*
 * What was learnt of the ways to peers, by probes and by transfers, a file for each peer and port
 * of ours: a later run begins with it. Files are written as a whole and outlive a power cut; they
 * are bounded in number and age. What is no such file is as good as none, and told of.
 */

#include <limits.h>
#include <stdbool.h>

#include "probe/findings.h"
#include "profile/profile.h"

#define WH_KEPT_WHEN_BYTES 32
#define WH_KEPT_BY_BYTES   32

/* What a transfer may begin with is no older, and no file; nor are there more files. */
#define WH_KEPT_PATH_DAYS 30
#define WH_KEPT_FILE_DAYS 365
#define WH_KEPT_FILES_MAX 1024

struct wh_kept_place {
	const char *folder; /* "": where this user keeps such things; "none": nowhere */
	const char *peer;   /* address, as text */
	const char *port;   /* ours, as --port has it, and the queue with more than one */
};

struct wh_kept {
	struct wh_known_path path;      /* by whichever of both came last; capacity_bps 0: none */
	char path_by[WH_KEPT_BY_BYTES]; /* "probe", or the profile of a transfer */
	char path_when[WH_KEPT_WHEN_BYTES];
	double memory_bytes; /* the bottleneck's, of a probe; 0: unknown */
	bool probed;
	struct wh_findings found;
	char found_when[WH_KEPT_WHEN_BYTES];
};

/* The folder's path, "": where this user, or a service, keeps such things; false: nowhere. */
bool wh_kept_where(const char *wanted, char folder[PATH_MAX]);

/* Makes the folder where it is missing: an O_PATH descriptor, the caller's; or -1: nowhere. */
int wh_kept_folder(const char *wanted);

/*
 * Of processes that serve one has the folder, as long as the descriptor is open, which is the
 * caller's: two would run the same orders. -EBUSY: another has it; another negative errno: there is
 * no such folder, or none that can be locked.
 */
int wh_kept_hold(const char *wanted);

/* Another file of that folder; false: nowhere. */
bool wh_kept_file(const char *wanted, const char *name, char path[PATH_MAX]);

/* False: nothing is known, and *kept is zeros. */
bool wh_kept_recall(const struct wh_kept_place *place, struct wh_kept *kept);

/* What a probe, or a transfer by that profile, has found: 0 or a negative errno. */
int wh_kept_probe(const struct wh_kept_place *place, const struct wh_findings *found);
int wh_kept_transfer(const struct wh_kept_place *place, const struct wh_known_path *found,
	const struct wh_profile *profile);

/* What findings say to a controller; capacity_bps 0: too little. */
struct wh_known_path wh_kept_path_of(const struct wh_findings *found);

#endif
