/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Which parts the jobs of this process use, by their rows. If a peer's process has died, or its
 * path was cut, its job here may go on waiting for a while. Meanwhile the peer's next job needs the
 * part and asks for it; the older job then notes what it has and lets go. Only the owner of a row
 * finds it, so no peer can ask for another one's part.
 *
 * Any core that polls: the lock is held for a moment.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"

/* A member of its user's state, where it stays: the list points to it. */
struct wh_hold {
	int64_t row; /* 0: holds nothing */
	_Atomic bool is_wanted;
	struct wh_hold *next;
};

struct wh_holds {
	struct wh_spin lock;
	struct wh_hold *first;
};

void wh_holds_init(struct wh_holds *holds);

/* Holds the row; `hold` holds nothing yet. */
void wh_holds_add(struct wh_holds *holds, struct wh_hold *hold, int64_t row);

/* No effect if it holds nothing. */
void wh_holds_remove(struct wh_holds *holds, struct wh_hold *hold);

/* Asks for the row. False: no job of this process holds it. */
bool wh_holds_want(struct wh_holds *holds, int64_t row);

/* A newer job has asked for it. */
static inline bool wh_hold_is_wanted(const struct wh_hold *hold)
{
	return atomic_load_explicit(&hold->is_wanted, memory_order_acquire);
}
