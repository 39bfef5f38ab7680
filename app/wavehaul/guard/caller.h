/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Connects sockets for a process that is no longer permitted to: a child process, limited to one
 * socket path of this host and a type. On request it connects to the present listener and passes
 * the connected socket back. A datagram socket (SOCK_DGRAM) is passed once, and later connected
 * again in place. The child accepts no other request, is guarded like its parent except for this,
 * and ends with it.
 */

struct wh_caller {
	int fd; /* to the child; -1: none, or it does not answer */
};

/* While the process has one thread. 0 or a negative errno. */
int wh_caller_start(struct wh_caller *caller, const char *path, int kind);

/*
 * Call when the parent has entered the guard: the child changes to the same user, and gives up the
 * same rights.
 */
void wh_caller_guard(struct wh_caller *caller);

/* A connected, non-blocking descriptor; or a negative errno. One thread at a time. */
int wh_caller_call(struct wh_caller *caller);

/* After that, for SOCK_DGRAM: connects the same socket again. 0 or a negative errno. */
int wh_caller_again(struct wh_caller *caller);

void wh_caller_end(struct wh_caller *caller);
