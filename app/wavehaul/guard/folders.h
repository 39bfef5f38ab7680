/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Landlock: from then on this process can reach only files below the allowed folders. Open files
 * stay open. Kernels before 5.19 would also forbid every rename out of a staging folder, so there
 * it is not used. If the kernel supports it, the process can also no longer signal other processes
 * or reach their abstract sockets (since 6.12), or use new TCP connections (since 6.7).
 */

enum wh_let {
	WH_LET_READ,  /* files and names */
	WH_LET_WRITE, /* also create, rename and remove them */
	WH_LET_CLEAR, /* remove files, such as those of a driver or DPDK at the end */
};

/* An empty set of rules: a descriptor; or -ENOSYS, -EOPNOTSUPP: not supported by this kernel. */
int wh_folders_open(void);

/* Allows what `fd` (may be O_PATH) refers to, and everything below; 0 or a negative errno. */
int wh_folders_let(int rules_fd, int fd, enum wh_let let);

/*
 * Applies the rules to the calling thread, and those that it starts from then on. Makes only system
 * calls.
 */
int wh_folders_enter(int rules_fd);
