/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GUARD_CALLS_H
#define WH_APP_GUARD_CALLS_H

/*
 * seccomp: from then on all threads may make only the system calls that the running loops and
 * DPDK's drivers need. Any other ends the process, with a sentence on stderr and SIGSYS. Operations
 * of an io_uring bypass this filter, so none can be created any more, and the existing ones are
 * restricted to their purpose (file/rings.h).
 */

#include <stdbool.h>

/* Sockets that a port's driver still creates. Others are refused with an error. */
enum wh_calls_port {
	WH_CALLS_NO_SOCKET = 0,
	WH_CALLS_XDP,    /* netlink's, and bpf: to remove a program from an interface */
	WH_CALLS_DEVICE, /* a device in DPDK's notation, of unknown needs: they may connect to
			  * any address */
};

/*
 * Only WH_CALLS_DEVICE allows sending to an address given with the packet. Signals only to this
 * process. 0; -ENOSYS: not available (another CPU, a sanitizer that needs more); or another
 * negative errno.
 */
int wh_calls_enter(enum wh_calls_port port);

#endif
