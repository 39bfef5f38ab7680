/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * memif's driver (DPDK 22.11) learns on EAL's interrupt thread that the peer has gone, and unmaps
 * the rings immediately, even while a burst uses them. So while such a link is up that thread waits
 * in a callback of ours, and gets a turn every few milliseconds between bursts, when
 * wh_port_watch_link asks for the state of the link.
 *
 * A process has one such thread, and one such state for all ports. calm.c also has a sendmsg
 * that keeps the driver's server alive when a client connects and leaves at once.
 */

#include <stdbool.h>

#include <rte_rwlock.h>

struct wh_port;

/* Held for reading: a burst is in progress. For writing: the interrupt thread may have its turn. */
extern rte_rwlock_t wh_calm_bursts;
extern bool wh_calm_holds; /* the interrupt thread waits; under the lock */

/*
 * For each such port while it is started; after the last one leaves the thread is free again. 0, or
 * -ENOMEM: the thread cannot be made to wait, and the port has not joined.
 */
int wh_calm_join(void);
void wh_calm_leave(void);

/*
 * Gives the interrupt thread a turn, then asks whether the link is up. True: it stays up, and
 * bursts are safe, until the next call.
 */
bool wh_calm_turn(bool (*link_is_up)(const struct wh_port *port), const struct wh_port *port);

/*
 * Calls `act` while the interrupt thread is idle and no burst is in progress. Only while the link
 * is down.
 */
void wh_calm_act(void (*act)(struct wh_port *port), struct wh_port *port);

/* False: no burst now; never waits. If true, call wh_calm_end after it. */
static inline bool wh_calm_begin(void)
{
	if (rte_rwlock_read_trylock(&wh_calm_bursts) != 0)
		return false;
	if (wh_calm_holds)
		return true;
	rte_rwlock_read_unlock(&wh_calm_bursts);
	return false;
}

static inline void wh_calm_end(void)
{
	rte_rwlock_read_unlock(&wh_calm_bursts);
}
