/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A lock held only briefly, by busy-polling cores; the packet path has none.
 *
 * WH_HOLD(&lock) takes it until the end of the block, whichever way that is left.
 */

#include <stdatomic.h>

#include <rte_pause.h>

struct wh_spin {
	atomic_flag taken;
};

static inline void wh_spin_init(struct wh_spin *spin)
{
	atomic_flag_clear(&spin->taken);
}

static inline void wh_spin_lock(struct wh_spin *spin)
{
	while (atomic_flag_test_and_set_explicit(&spin->taken, memory_order_acquire))
		rte_pause();
}

static inline void wh_spin_unlock(struct wh_spin *spin)
{
	atomic_flag_clear_explicit(&spin->taken, memory_order_release);
}

static inline void wh_spin_end(struct wh_spin **held)
{
	wh_spin_unlock(*held);
}

#define WH_HOLD(spin)                                                                              \
	struct wh_spin *held_spin __attribute__((cleanup(wh_spin_end))) = spin;                    \
	wh_spin_lock(held_spin)
