/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * seccomp: from then on all threads may make only the system calls that the running loops and
 * DPDK's drivers need. Any other ends the process, with a sentence on stderr and SIGSYS. Operations
 * of an io_uring bypass this filter, so none can be created any more, and the existing ones are
 * restricted to their purpose (file/rings.h).
 */

#include <stdint.h>

/* What a port's driver still does with sockets. Anything else is refused with an error. */
enum wh_calls_port {
	/* Uses existing sockets, without sendmsg. */
	WH_CALLS_NO_SOCKET = 0,
	/* The same, but sends messages with descriptors on existing streams. */
	WH_CALLS_PASSES,
	/*
	 * Creates netlink sockets, and uses bpf without new programs: to remove its program from an
	 * interface.
	 */
	WH_CALLS_XDP,
	/* A device in DPDK's notation, of unknown needs: may connect to any address. */
	WH_CALLS_DEVICE,
};

#define WH_CALLS_MUTE_MAX   32
#define WH_CALLS_SENDER_MAX 32

/* Open sockets that would send to an address given with a message: datagrams. */
struct wh_calls_mute {
	uint32_t count;
	int fd[WH_CALLS_MUTE_MAX];
};

/*
 * Finds these sockets of this process, except those of netlink, which reach only the kernel. Call
 * before landlock, which hides /proc. 0; -EMFILE: there are more; or another negative errno.
 */
int wh_calls_mute_all(struct wh_calls_mute *mute);

/*
 * That socket is the port's: sendmmsg may send from it to any address, and from no other socket.
 * Call for each before wh_calls_enter, at most WH_CALLS_SENDER_MAX.
 */
void wh_calls_let_send(int fd);

/*
 * Only WH_CALLS_DEVICE and sockets of wh_calls_let_send allow sending to an address given with the
 * packet; `mute` is read for WH_CALLS_PASSES. Signals can go only to this process. 0; -ENOSYS: not
 * available (another CPU, a sanitizer that needs more); or another negative errno.
 */
int wh_calls_enter(enum wh_calls_port port, const struct wh_calls_mute *mute);
