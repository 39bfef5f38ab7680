/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What a process gives up when its port is open, before a peer's first packet is read: its user,
 * capabilities, new privileges, system calls that its loops do not need (calls.h), and all files
 * but those for its work (folders.h). The result is the same whether it was started as root or with
 * access to its devices; features that the kernel lacks are reported, and do not stop the process.
 *
 *   wh_guard_init   a guard that allows no files
 *   wh_guard_let    allows files that its jobs read or write; repeatable
 *   wh_guard_enter  applies to all threads, and to those started later
 */

#include <stdbool.h>

#include "guard/folders.h"
#include "port/spec.h"

/* The user of a server that is started as root, if it exists. */
#define WH_GUARD_USER "wavehaul"

#define WH_GUARD_TOLD_BYTES 512

struct wh_guard {
	bool off;
	const char *user;                /* to become; NULL: unchanged */
	bool user_may_miss;              /* continue if it does not exist */
	const struct wh_port_spec *port; /* all of one kind */
	uint32_t ports;
	bool owners;                    /* files may get other owners */
	bool set_ids;                   /* files may be set-user-ID and set-group-ID */
	int rules_fd;                   /* -1: this kernel has no landlock */
	char told[WH_GUARD_TOLD_BYTES]; /* the restrictions, as one sentence */
};

/*
 * `user`: "" for the default by `serves`: WH_GUARD_USER for a server, unchanged for a client, whose
 * files belong to its caller.
 */
void wh_guard_init(struct wh_guard *guard, bool off, const char *user, bool serves,
	const struct wh_port_spec *port, uint32_t ports);

/* Allows what fd refers to, or a path if it exists, and everything below. */
void wh_guard_let(struct wh_guard *guard, int fd, enum wh_let let);
void wh_guard_let_path(struct wh_guard *guard, const char *path, enum wh_let let);

/* Allows the folder of a file that will be written at that path. */
void wh_guard_let_file(struct wh_guard *guard, const char *path);

/*
 * Call once. 0, or a negative errno after one sentence: a restriction that the operator has asked
 * for is not possible.
 */
int wh_guard_enter(struct wh_guard *guard);
