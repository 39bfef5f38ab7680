/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The sockets behind a net_af_packet port. The kernel drops packets when a socket's ring is full
 * and counts them per socket (packet(7), PACKET_STATISTICS); the driver (DPDK 22.11) does not read
 * that count. The sockets belong to this process and are found by the interface to which they are
 * bound.
 */

#include <stdint.h>

#define WH_PACKET_SOCKETS_MAX 16

struct wh_packet_sockets {
	uint32_t count;
	int fd[WH_PACKET_SOCKETS_MAX]; /* the driver's: invalid once the port is closed */
	uint64_t dropped_pkts;         /* so far; updated by each caller that reads it */
};

/* Finds the open sockets bound to that interface; if there are too many, only the first. */
void wh_packet_sockets_find(struct wh_packet_sockets *sockets, uint32_t if_index);

/* Packets dropped since the sockets were opened; may be called on any core. */
uint64_t wh_packet_sockets_dropped(struct wh_packet_sockets *sockets);
