/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What is durable of a file whose ranges several jobs bring, perhaps to receivers on several hosts:
 * notes in a file beside the part, in the folder of parts, where all of them see it. (journal.h is
 * of one host.) There is at most one such file for an owner, a target and a version of the source.
 *
 * Its name is a hash of these, and its head has them in full. Behind it is a slot for each MiB of
 * the part. A range begins at a whole MiB and has the slot there: its end, and to where its bytes
 * are durable. Each slot is written by the job that brings this range, after a sync of the bytes.
 *
 * The part itself is locked (flock): shared by jobs that bring ranges, alone by the one that gives
 * it its name, and removes the notes then.
 *
 * All calls may block on a disk.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/split.h"
#include "journal/journal.h"

#define WH_RANGES_ALIGN_BYTES WH_SPLIT_ALIGN_BYTES

/* Identifies the file. */
struct wh_ranges_key {
	struct wh_journal_owner owner;
	struct wh_journal_target
		target; /* its path below the folder that has the folder of parts */
	struct wh_journal_source source;
};

struct wh_ranges {
	int fd;
	uint64_t hash;   /* of their name; never 0 */
	uint32_t number; /* of the part, in the same folder */
	uint64_t inode;
};

/*
 * Opens the notes of the file, in the folder of parts. 0, and notes->fd is the caller's; -ENOENT:
 * there are none; -EEXIST: those of another file have their name; or another negative errno. What
 * other hosts have written by then is seen, also on NFS, so they are opened for each use.
 */
int wh_ranges_open(int parts_fd, const struct wh_ranges_key *key, struct wh_ranges *notes);

/* Makes them, for a new part. 0; -EEXIST: somebody else has done so; or another negative errno. */
int wh_ranges_make(int parts_fd, const struct wh_ranges_key *key, uint32_t number, uint64_t inode);

/* To where the range is durable: from its beginning to its end. */
uint64_t wh_ranges_done(const struct wh_ranges *notes, const struct wh_segment *range);

/*
 * The range is durable up to `to`, which is never less than before, unless `anew`. 0 or a negative
 * errno.
 */
int wh_ranges_note(
	const struct wh_ranges *notes, const struct wh_segment *range, uint64_t to, bool anew);

/* Whether ranges from the first byte to the last are durable. */
bool wh_ranges_are_whole(const struct wh_ranges *notes, uint64_t size_bytes);

/* Removes the notes of a part that is gone. */
void wh_ranges_drop(int parts_fd, const struct wh_ranges *notes);

/* Removes the notes of a part that has its name. */
void wh_ranges_end(int parts_fd, uint64_t hash);
