/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GUARD_CALLS_H
#define WH_APP_GUARD_CALLS_H

/*
 * seccomp: from then on all threads make the system calls that the running loops need, those of
 * DPDK's drivers counted, and no others. Whoever makes one ends the process, with a sentence on
 * stderr and by SIGSYS. What an io_uring does goes by it, so none can be made any more, and those
 * that there are can no more than they are for (file/rings.h).
 */

#include <stdbool.h>

/*
 * With `xdp` also those that take a program off an interface: bpf, and netlink's sockets. Without
 * `connects` no socket is connected any more, and none of this host's is made.
 * 0; -ENOSYS: not here (another CPU, a sanitizer that needs more); or another negative errno.
 */
int wh_calls_enter(bool xdp, bool connects);

#endif
