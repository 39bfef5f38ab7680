/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The part of a file whose ranges several jobs bring (range_notes.h), as one of these jobs has it.
 * Nothing here waits for another job, but all calls may block on a disk.
 */

#include <stdbool.h>
#include <stdint.h>

#include "journal/range_notes.h"

struct wh_shared_part {
	int fd; /* locked, together with other jobs */
	uint32_t number;
	uint64_t inode;
	uint64_t to;    /* the range is durable up to here */
	uint64_t notes; /* the hash of their name */
};

/*
 * Finds the part, or makes it, in the folder of parts below this one. 0, and part->fd is the
 * caller's; -EBUSY: it is getting its name just now; -EFBIG: its owner may not leave as much here;
 * or another negative errno.
 */
int wh_shared_part_claim(int anchor_fd, const struct wh_ranges_key *key,
	const struct wh_segment *range, struct wh_shared_part *part);

struct wh_shared_note {
	int lock_fd; /* of the part */
	uint64_t to;
	bool anew;
};

/*
 * Notes that the range is durable to that byte, which was synced; with `anew` not to a later one,
 * either. If all ranges are there then, the part is locked for this job alone, by lock_fd, and
 * *is_whole. 0, also if another job has given the file its name; -EBUSY: all ranges are there, but
 * another job goes on using the part: to be called again; -ECANCELED: another job has brought the
 * whole range, by which one whose peer is dead learns so; or another negative errno.
 */
int wh_shared_part_note(int anchor_fd, const struct wh_ranges_key *key,
	const struct wh_segment *range, const struct wh_shared_note *note, bool *is_whole);
