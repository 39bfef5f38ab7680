/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PORT_PACKET_SOCKETS_H
#define WH_PORT_PACKET_SOCKETS_H

/*
 * The sockets behind a net_af_packet port. The kernel drops what finds their ring full and counts
 * it per socket (packet(7), PACKET_STATISTICS); the driver (DPDK 22.11) does not ask for it. They
 * are sockets of this process, and known by the interface that they are bound to.
 */

#include <stdint.h>

#define WH_PACKET_SOCKETS_MAX 16

struct wh_packet_sockets {
	uint32_t count;
	int fd[WH_PACKET_SOCKETS_MAX]; /* the driver's: gone when the port is closed */
	uint64_t dropped_pkts;         /* so far; added to by whoever asks */
};

/* Those bound to that interface of which there are open ones; the first of them, if too many. */
void wh_packet_sockets_find(struct wh_packet_sockets *sockets, uint32_t if_index);

/* Packets dropped since the sockets were opened; any core may ask. */
uint64_t wh_packet_sockets_dropped(struct wh_packet_sockets *sockets);

#endif
