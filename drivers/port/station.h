/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PORT_STATION_H
#define WH_PORT_STATION_H

/*
 * Where packets and sessions meet: one queue of a port, and the endpoint behind it; beside it what
 * a host owes its link, ARP and echo. Its three processes run on one lcore, in this order:
 *
 *   receive  burst in, Ethernet + IP + UDP off, each packet to the endpoint, the rest to the host
 *   work     the sessions' processes that are due
 *   send     what the sessions may send now, Ethernet + IP + UDP on, burst out
 *
 * An mbuf received is freed in the same call, since rcv has copied its payload into a chunk. An
 * mbuf to be sent is the station's until the port takes it.
 */

#include <stdint.h>

#include "port/neighbour.h"
#include "port/port.h"
#include "session/endpoint.h"

#define WH_STATION_BURST 32
#define WH_STATION_RECEIVE_MAX                                                                     \
	512 /* in one turn of the loop: a whole default ring of descriptors */

struct wh_station_config {
	struct wh_port *port;
	uint16_t queue;
	struct rte_mempool *pool; /* of packets to send: wh_port_room_bytes(mtu) of room */
	struct wh_address local;
	struct wh_neighbour_config neighbour; /* subnets and gateways; nothing wrong with it */
	struct wh_endpoint_config endpoint;
};

struct wh_station_stats {
	uint64_t not_ours_pkts[WH_ENCAP_REASONS]; /* by reason */
	uint64_t no_mbuf_turns;                   /* turns without a packet to write into */
	uint64_t no_way_pkts; /* to peers whose MAC address is not known, or not yet */
};

struct wh_station {
	struct wh_station_config config;
	struct wh_endpoint endpoint;
	struct wh_neighbour neighbour;
	struct wh_encap encap; /* for the peer addressed last */
	struct wh_address encap_to;
	uint8_t encap_mac[6];
	uint64_t encap_tsc;                       /* the turn in which its MAC was looked up */
	struct rte_mbuf *spare[WH_STATION_BURST]; /* allocated and not yet used, from 0 on */
	uint32_t spares;
	struct wh_station_stats stats;
};

/* 0 or -ENOMEM. */
int wh_station_init(struct wh_station *station, const struct wh_station_config *config);
void wh_station_free(struct wh_station *station);

/* The processes; `station` is a struct wh_station. */
int32_t wh_station_receive(void *station, uint64_t now_tsc);
int32_t wh_station_work(void *station, uint64_t now_tsc);
int32_t wh_station_send(void *station, uint64_t now_tsc);

/* Packets that a station holds at once, at most. */
#define WH_STATION_MBUFS (WH_STATION_BURST + WH_PORT_BACKLOG_PKTS)

/* Packets that were refused before a session saw them, whatever the reason. */
uint64_t wh_station_bad_pkts(const struct wh_station *station);

#endif
