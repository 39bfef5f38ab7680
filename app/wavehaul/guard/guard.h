/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GUARD_GUARD_H
#define WH_APP_GUARD_GUARD_H

/*
 * What a process gives up once its port is open and before a peer's first packet is read: another
 * user, capabilities, new privileges, system calls that its loops do not need (calls.h), and all
 * files but those it is for (folders.h). It is the same whether it was started as root or with the
 * devices given; what a kernel has not is said, and no reason to stop.
 *
 *   wh_guard_init   a guard that lets nothing
 *   wh_guard_let    what its jobs read and write, again and again
 *   wh_guard_enter  holds for all threads from then on, and for those that they start
 */

#include <stdbool.h>

#include "guard/folders.h"
#include "port/spec.h"

/* The user of a server that is started as root, where there is one. */
#define WH_GUARD_USER "wavehaul"

#define WH_GUARD_TOLD_BYTES 512

struct wh_guard {
	bool off;
	const char *user;   /* to become; NULL: whoever we are */
	bool user_may_miss; /* where there is no such user */
	const struct wh_port_spec *port;
	bool owners;                    /* files may get owners, ... */
	bool set_ids;                   /* ... set-user-ID, set-group-ID */
	int rules_fd;                   /* -1: this kernel has no landlock */
	char told[WH_GUARD_TOLD_BYTES]; /* what holds, as one sentence */
};

/*
 * `user`: "" for the one that `serves` says: WH_GUARD_USER of a server, ourselves of a client,
 * whose files are those of who called it.
 */
void wh_guard_init(struct wh_guard *guard, bool off, const char *user, bool serves,
	const struct wh_port_spec *port);

/* What is behind fd, and below it; a path likewise, if there is something. */
void wh_guard_let(struct wh_guard *guard, int fd, enum wh_let let);
void wh_guard_let_path(struct wh_guard *guard, const char *path, enum wh_let let);

/* The folder of a file that is to be written at that path. */
void wh_guard_let_file(struct wh_guard *guard, const char *path);

/* Once. 0, or a negative errno after one sentence: what was asked for by name cannot be. */
int wh_guard_enter(struct wh_guard *guard);

#endif
