/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What the kernel keeps per thread (capabilities, landlock) must be given up in all of them,
 * including those of DPDK and its drivers. Each runs `act` in a signal handler, so it may only make
 * system calls.
 */

/* 0; or the first negative errno of an `act`, or -ETIME: a thread does not respond. */
int wh_threads_all(int (*act)(const void *argument), const void *argument);
