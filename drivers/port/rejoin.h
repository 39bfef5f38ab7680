/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * memif's driver (DPDK 22.11) connects to its peer's socket only when its device starts: a client
 * whose server has gone stays without a link. So its device is stopped and started again at
 * intervals until a server accepts it, without log messages and without blocking.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_port;

/*
 * From now on `connects` makes connections: it returns at once a descriptor connected to the socket
 * of the one port that rejoins, or a negative errno. NULL: the driver connects itself.
 */
void wh_rejoin_by(int (*connects)(void));

/* The port is open, and its driver has begun to connect. */
void wh_rejoin_begin(struct wh_port *port, uint64_t now_tsc);

/* For a started port that rejoins: call at each check of its link. */
void wh_rejoin_watch(struct wh_port *port, bool link_is_up, uint64_t now_tsc);
