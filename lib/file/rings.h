/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FILE_RINGS_H
#define WH_FILE_RINGS_H

/*
 * The io_urings of a process, made before it gives up the right to make any (a ring goes by every
 * filter of system calls), and lent to sources and sinks. Each may read, write and punch holes by a
 * descriptor that is open, and nothing else, whoever has the process.
 *
 * One that still has requests in the air when it is given back is lent no more: a dead file system
 * answers never. Who gets none reads and writes directly.
 */

#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"

#define WH_RINGS_MAX 128

/* All zeros: not opened, and who wants a ring makes one for himself. */
struct wh_rings {
	bool opened;
	struct wh_spin lock;
	uint32_t made; /* how many there are: fewer than asked for where the kernel gives no more */
	uint32_t idle;
	struct io_uring ring[WH_RINGS_MAX];
	struct io_uring *stack[WH_RINGS_MAX]; /* those that are idle */
};

/* `count` of them, WH_RINGS_MAX at most. Once, and before any is taken. */
void wh_rings_open(struct wh_rings *rings, uint32_t count);

/* When all that are not lost have come back. */
void wh_rings_close(struct wh_rings *rings);

/* NULL: there is none. Any core; so is what follows. */
struct io_uring *wh_rings_take(struct wh_rings *rings);

/* Ends what is in the air first, as wh_ring_drain does. */
void wh_rings_give(struct wh_rings *rings, struct io_uring *ring, uint32_t in_air);

/*
 * Of a ring that was made with IORING_SETUP_R_DISABLED: from now on it takes those requests, and
 * never any other. 0 or a negative errno.
 */
int wh_ring_restrict(struct io_uring *ring);

#endif
