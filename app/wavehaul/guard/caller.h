/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GUARD_CALLER_H
#define WH_APP_GUARD_CALLER_H

/*
 * Connects for a process that may not any more: a child of its own that knows one socket of this
 * host, by its path and kind (SOCK_DGRAM or another). Asked, it connects to who listens there now
 * and passes the connected socket back. It hears nothing but that question, is as guarded as who
 * asks but for this, and ends with it.
 */

struct wh_caller {
	int fd; /* to the child; -1: there is none, or it does not answer */
};

/* While the process has one thread. 0 or a negative errno. */
int wh_caller_start(struct wh_caller *caller, const char *path, int kind);

/* Its maker has entered the guard: it becomes the same user, and gives up likewise. */
void wh_caller_guard(struct wh_caller *caller);

/* A connected descriptor, whose end does not block; or a negative errno. One thread at a time. */
int wh_caller_call(struct wh_caller *caller);

void wh_caller_end(struct wh_caller *caller);

#endif
