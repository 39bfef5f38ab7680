/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GUARD_FOLDERS_H
#define WH_APP_GUARD_FOLDERS_H

/*
 * Landlock: from then on this process reaches no file but those below what it was let. What is open
 * already stays open. Kernels before 5.19 would forbid every rename out of a staging folder, too:
 * there it is left. Where the kernel can (since 6.12) it reaches no other process by a signal or an
 * abstract name of a socket either, and by TCP nobody (since 6.7).
 */

#include <stdbool.h>

enum wh_let {
	WH_LET_READ,  /* files and names */
	WH_LET_WRITE, /* and make, rename and remove them */
	WH_LET_CLEAR, /* remove files: what a driver or DPDK clears away at its end */
};

/* A set of rules, empty so far: a descriptor; or -ENOSYS, -EOPNOTSUPP: this kernel has it not. */
int wh_folders_open(void);

/* Adds what `fd` (O_PATH will do) is, and all below it; 0 or a negative errno. */
int wh_folders_let(int rules_fd, int fd, enum wh_let let);

/* The calling thread, and those that it starts from then on. Makes system calls, nothing else. */
int wh_folders_enter(int rules_fd);

#endif
