/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Work that may wait for a disk longer than a polling core can afford: syncfs, the end of large
 * files, reading large folders. It runs on a detached thread of its own, which uses only data of
 * its own.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* 0; or a negative errno: no thread could be created, and nothing was run. */
int wh_background(void (*run)(void *argument), void *argument);

/*
 * Number of such threads now running in this process. Any thread; a process waits a while for them
 * when it ends.
 */
uint32_t wh_background_count(void);

/*
 * For memory that its owner shares with such a thread: the last of the two to be done with it frees
 * it. All zero when the thread is started.
 */
struct wh_background_shared {
	_Atomic int state;
};

enum wh_background_state {
	WH_BACKGROUND_RUNNING,
	WH_BACKGROUND_OVER, /* the thread is done with it */
	WH_BACKGROUND_LEFT, /* its owner is done with it */
};

/* The owner: whether the thread is done, and what it has found can be read. */
static inline bool wh_background_is_over(const struct wh_background_shared *shared)
{
	return atomic_load_explicit(&shared->state, memory_order_acquire) == WH_BACKGROUND_OVER;
}

/* The thread is done. True: it frees the memory. */
static inline bool wh_background_finish(struct wh_background_shared *shared)
{
	return atomic_exchange(&shared->state, WH_BACKGROUND_OVER) == WH_BACKGROUND_LEFT;
}

/* The owner is done, and does not wait for the thread. True: the owner frees the memory. */
static inline bool wh_background_leave(struct wh_background_shared *shared)
{
	return atomic_exchange(&shared->state, WH_BACKGROUND_LEFT) == WH_BACKGROUND_OVER;
}
