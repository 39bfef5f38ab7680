/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SINK_ROOM_H
#define WH_SINK_ROOM_H

/*
 * Room on file systems: what has been promised to files that were let in, and is neither reserved
 * nor written yet. Shared by all sinks of a process, whatever core polls them,
 * so that no two promise the same room.
 */

#include <stdatomic.h>
#include <stdint.h>

/* File systems that are told apart; beyond them each sink knows of its own promises only. */
#define WH_ROOM_DEVICES 8

struct wh_room_device {
	_Atomic uint64_t device; /* st_dev; 0: none yet */
	_Atomic uint64_t promised_bytes;
};

/* All zeros to begin with. */
struct wh_room {
	struct wh_room_device device[WH_ROOM_DEVICES];
};

/* What the sinks of one owner may have been promised together, on whatever file systems. */
struct wh_room_share {
	uint64_t most_bytes;
	_Atomic uint64_t promised_bytes;
};

/* NULL: too many others are known already. */
struct wh_room_device *wh_room_find(struct wh_room *room, uint64_t device);

/*
 * Promises so many bytes of the file system that fd is on: 0, -ENOSPC, or another negative errno.
 * Any core; concurrent promises never add up to more than there is.
 */
int wh_room_promise(struct wh_room_device *device, int fd, uint64_t bytes);

/* By how much all that is promised there exceeds half of what is free. */
uint64_t wh_room_beyond_half(const struct wh_room_device *device, int fd);

/* Promised bytes that are written, which the file system now counts, or will not be. */
void wh_room_take_back(struct wh_room_device *device, uint64_t bytes);

#endif
