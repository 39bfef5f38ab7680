/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The io_urings of a process, lent to sources and sinks. They are created before the process gives
 * up the right to create any, since io_uring bypasses filters of system calls. Each is restricted
 * to read, write and fallocate on open descriptors, even if an attacker controls the process.
 *
 * A ring that is returned with outstanding requests is not lent again: a dead file system never
 * answers. Users that get no ring read and write directly.
 */

#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"

#define WH_RINGS_MAX 128

/* All zeros: not opened, and each user creates its own ring. */
struct wh_rings {
	bool opened;
	struct wh_spin lock;
	uint32_t made; /* total; fewer than requested if the kernel refuses more */
	uint32_t idle;
	struct io_uring ring[WH_RINGS_MAX];
	struct io_uring *stack[WH_RINGS_MAX]; /* idle rings */
};

/* Creates `count` rings, at most WH_RINGS_MAX. Once, before any is taken. */
void wh_rings_open(struct wh_rings *rings, uint32_t count);

/* After all rings but lost ones were returned. */
void wh_rings_close(struct wh_rings *rings);

/* NULL: none is idle. Any core, like _give. */
struct io_uring *wh_rings_take(struct wh_rings *rings);

/* First ends outstanding requests, as wh_ring_drain does. */
void wh_rings_give(struct wh_rings *rings, struct io_uring *ring, uint32_t in_air);

/*
 * Restricts a ring made with IORING_SETUP_R_DISABLED to these requests, for good. 0 or a negative
 * errno.
 */
int wh_ring_restrict(struct io_uring *ring);
