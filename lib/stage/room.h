/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Space on file systems: promised to files that were admitted, and neither reserved nor written
 * yet. Shared by all sinks of a process on any core, so that no space is promised twice.
 */

#include <stdatomic.h>
#include <stdint.h>

/* Number of file systems tracked; on others each sink knows only its own promises. */
#define WH_ROOM_DEVICES 8

struct wh_room_device {
	_Atomic uint64_t device; /* st_dev; 0: none yet */
	_Atomic uint64_t promised_bytes;
};

/* All zeros to begin with. */
struct wh_room {
	struct wh_room_device device[WH_ROOM_DEVICES];
};

/* Limit for all sinks of one owner together, on all file systems. */
struct wh_room_share {
	uint64_t most_bytes;
	_Atomic uint64_t promised_bytes;
};

/* NULL: the table is full. */
struct wh_room_device *wh_room_find(struct wh_room *room, uint64_t device);

/*
 * Promises `bytes` on the file system of fd: 0, -ENOSPC, or another negative errno. Any core;
 * concurrent promises never exceed the free space.
 */
int wh_room_promise(struct wh_room_device *device, int fd, uint64_t bytes);

/* The amount by which all promises there exceed half of the free space. */
uint64_t wh_room_beyond_half(const struct wh_room_device *device, int fd);

/*
 * Withdraws promises of bytes that are written, and so counted by the file system, or will not be.
 */
void wh_room_take_back(struct wh_room_device *device, uint64_t bytes);
