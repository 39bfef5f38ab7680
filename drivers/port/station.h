/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PORT_STATION_H
#define WH_PORT_STATION_H

/*
 * Where packets and sessions meet: one queue of a port, and the endpoint behind it; beside it what
 * a host owes its link, ARP and echo. Its two processes run on two lcores, or on one in this order:
 *
 *   receive  burst in, Ethernet + IP + UDP off, each packet to the endpoint, then the receivers
 *            that are due; frames for the host go to the other process
 *   send     the transmitters that are due, the host's duties, what the sessions may send now,
 *            Ethernet + IP + UDP on, burst out
 *
 * Both read the clock themselves: a packet that came after the turn had begun would have arrived
 * before it was sent, by milliseconds where the core was taken from us meanwhile. So what they
 * measure may be too long, but not too short.
 *
 * The neighbour is the sending process's. An mbuf received is freed in the same call, since rcv
 * has copied its payload into a chunk, but for frames of the host, which the sending process frees.
 * An mbuf to be sent is the station's until the port takes it.
 *
 * Where a port steers by rules or by hash, UDP finds the queue of its port, and all else comes to
 * queue 0. So its station lets its siblings, those of the other queues, have the news of neighbours
 * that they cannot hear: wh_station_join. It alone answers questions.
 */

#include <stdint.h>

#include "neighbour/neighbour.h"
#include "port/port.h"
#include "session/endpoint.h"

#define WH_STATION_BURST 32
#define WH_STATION_RECEIVE_MAX                                                                     \
	512 /* in one turn of the loop: a whole default ring of descriptors */

/* Frames for the host on their way between the processes, 2^n - 1. */
#define WH_STATION_HOST_PKTS 63

/* News of neighbours on their way to a sibling, 2^n - 1. */
#define WH_STATION_NEWS_PKTS 15

/* Packets that wait for the MAC of their target, the last one to each (RFC 1122 2.3.2.2). */
#define WH_STATION_WAITING 8

/* How long they do, a question or two of ARP. */
#define WH_STATION_WAITS_MS 1500

/* Peers whose headers stand ready, one per place; a power of two. */
#define WH_STATION_WAYS 16

struct wh_station_config {
	struct wh_port *port;
	uint16_t queue;
	struct rte_mempool *pool; /* of packets to send: wh_port_room_bytes(mtu) of room */
	struct wh_address local4; /* ours of each family, with the UDP port; family 0: none */
	struct wh_address local6;
	uint16_t vlan;                        /* 0: frames are not tagged */
	uint32_t attach_bytes;                /* payloads from here on are sent from where they
					       * are, not copied; UINT32_MAX: none */
	struct wh_neighbour_config neighbour; /* nothing wrong with it; its vlan is set here, and
					       * its entries: one for each session */
	struct wh_endpoint_config endpoint;   /* its meters are charged for the port, too */
	uint64_t (*read_tsc)(void);           /* the clock, once a burst has come and before one
					       * goes; NULL: the time of the turn will do */
};

struct wh_station_stats {
	uint64_t not_ours_pkts[WH_ENCAP_REASONS]; /* by reason */
	uint64_t host_full_pkts;                  /* for a host, and more than wait at once */
	uint64_t no_mbuf_turns;                   /* turns without a packet to write into */
	uint64_t no_way_pkts; /* to peers whose MAC address is not known, or not yet */
};

/* The way to a peer as it was when packets went there last. */
struct wh_station_way {
	struct wh_encap encap; /* 0 bytes: to nobody yet */
	struct wh_address to;
	uint8_t mac[6];
	uint64_t looked_up_tsc; /* the turn in which the MAC was */
};

/* A packet that is the first to its target. */
struct wh_station_waiting {
	struct rte_mbuf *mbuf; /* has all of it behind `head_offset`; NULL: none */
	struct wh_address to;
	uint32_t head_bytes;
	uint32_t payload_bytes;
	uint64_t until_tsc;
};

struct wh_station {
	struct wh_station_config config;
	struct wh_endpoint endpoint;
	struct wh_fifo host_frames; /* mbufs: receive -> send; hash.usr has the enum wh_encap_reason
				     * by which they are no packets of ours */
	struct wh_fifo news;        /* mbufs that others may hold, too: receive of the station that
				     * this one has joined -> send */

	/* receive, its cache lines apart */
	uint8_t apart_receive[64];
	struct wh_station *sibling[WH_PORT_QUEUES_MAX - 1]; /* those who have joined */
	uint32_t siblings;
	struct wh_encap_known known; /* the headers of the packet before */
	uint32_t full_pkts;          /* in full bursts since one that was not */
	uint64_t missed_tsc;         /* receive -> send: when the port's ring last was full */
	struct wh_station_stats receive_stats;

	/* send */
	uint8_t apart_send[64];
	struct wh_neighbour neighbour;
	struct wh_station_way way[WH_STATION_WAYS]; /* by a hash of the peer's address */
	struct wh_encap back;                       /* of the answer to a stranger */
	struct wh_station_waiting waiting[WH_STATION_WAITING];
	uint32_t waits;                             /* so many of them */
	struct rte_mbuf *spare[WH_STATION_BURST];   /* allocated and not yet used, from 0 on */
	uint32_t spares;
	uint32_t head_offset; /* of a packet's head in its mbuf */
	struct wh_station_stats send_stats;
};

/* 0 or -ENOMEM. */
int wh_station_init(struct wh_station *station, const struct wh_station_config *config);
void wh_station_free(struct wh_station *station);

/*
 * What `first`, the station of queue 0, hears of neighbours is for `other` of the same port, too:
 * ARP replies and announcements, neighbour advertisements. Nothing to do where queues are paired.
 * Before either is polled; neither is freed while the other may still be.
 */
void wh_station_join(struct wh_station *first, struct wh_station *other);

/* The processes; `station` is a struct wh_station. */
int32_t wh_station_receive(void *station, uint64_t now_tsc);
int32_t wh_station_send(void *station, uint64_t now_tsc);

/* Packets that a station holds at once, at most. */
#define WH_STATION_MBUFS                                                                           \
	(WH_STATION_BURST + WH_PORT_BACKLOG_PKTS + WH_STATION_HOST_PKTS + WH_STATION_NEWS_PKTS +   \
		WH_STATION_WAITING)

/* Any core: of both processes together. */
struct wh_station_stats wh_station_stats(const struct wh_station *station);

/* Packets that were refused before a session saw them, whatever the reason. */
uint64_t wh_station_bad_pkts(const struct wh_station *station);

#endif
