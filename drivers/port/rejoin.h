/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PORT_REJOIN_H
#define WH_PORT_REJOIN_H

/*
 * memif's driver (DPDK 22.11) connects to its peer's socket when its device starts, and then no
 * more: a client whose server has gone stays without a link. So its device is stopped and started
 * again every little while, until a server takes it; quietly, and without waiting for anybody.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_port;

/*
 * From now on what connects is this: a descriptor that is connected to the socket of the one port
 * that rejoins, or a negative errno, at once. NULL: the driver itself.
 */
void wh_rejoin_by(int (*connects)(void));

/* It is open, and its driver has begun to connect. */
void wh_rejoin_begin(struct wh_port *port, uint64_t now_tsc);

/* Of a port that rejoins, and is started: with each look at its link. */
void wh_rejoin_watch(struct wh_port *port, bool link_is_up, uint64_t now_tsc);

#endif
