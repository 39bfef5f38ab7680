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

/* The sockets that a port's driver still makes. Whoever else tries is told that it may not. */
enum wh_calls_port {
	WH_CALLS_NO_SOCKET = 0,
	WH_CALLS_XDP,    /* netlink's, and bpf: to take a program off an interface */
	WH_CALLS_DEVICE, /* as DPDK writes it, who knows: they are connected, and to anybody */
};

/*
 * Only of the last kind is a packet sent to an address that comes with it. A signal goes to this
 * process alone. 0; -ENOSYS: not here (another CPU, a sanitizer that needs more); or another
 * negative errno.
 */
int wh_calls_enter(enum wh_calls_port port);

#endif
