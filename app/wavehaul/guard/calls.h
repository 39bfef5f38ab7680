/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GUARD_CALLS_H
#define WH_APP_GUARD_CALLS_H

/*
 * seccomp: from then on all threads make the system calls that the running loops need, those of
 * io_uring and of DPDK's drivers counted, and no others. Whoever makes one ends the process, with
 * a sentence on stderr and by SIGSYS.
 */

#include <stdbool.h>

/*
 * With `xdp` also those that take a program off an interface: bpf, and netlink's sockets.
 * 0; -ENOSYS: not here (another CPU, a sanitizer that needs more); or another negative errno.
 */
int wh_calls_enter(bool xdp);

#endif
