/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GUARD_THREADS_H
#define WH_APP_GUARD_THREADS_H

/*
 * What the kernel keeps for each thread by itself (capabilities, landlock) has to be given up in
 * all of them, those of DPDK and of its drivers too. They run `act` as a signal's handler, so it
 * makes system calls and nothing else.
 */

/* 0; or the first negative errno of an `act`, or -ETIME: a thread does not answer. */
int wh_threads_all(int (*act)(const void *argument), const void *argument);

#endif
