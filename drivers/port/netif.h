/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Joins one queue of a port to the endpoint behind it, and does a host's duties on its link, ARP
 * and echo. Its two tasks run on two lcores, or on one in this order:
 *
 *   receive  takes a burst, strips Ethernet + IP + UDP, gives each packet to the endpoint, then
 *            runs receivers that are due; frames for the host go to the other task
 *   send     runs transmitters that are due, the host's duties, takes packets that sessions may
 *            send now, adds Ethernet + IP + UDP, sends the burst
 *
 * Both read the clock themselves: with the time of the turn's begin, a packet that came later would
 * seem to have arrived before it was sent, by milliseconds if the core was preempted. So their
 * measurements may be too long, but not too short.
 *
 * The neighbour belongs to the sending task. A received mbuf is freed in the same call, since
 * rcv has copied its payload into a chunk, except frames for the host, which the sending task
 * frees. An mbuf to be sent is the netif's until the port takes it.
 *
 * If a port steers by rules or by hash, UDP goes to the queue of its port, and everything else to
 * queue 0. So the netif of queue 0 forwards news of neighbours to its siblings, the netifs of
 * the other queues, which do not receive them: wh_netif_join. It alone answers questions.
 */

#include <stdint.h>

#include "endpoint/endpoint.h"
#include "neighbour/neighbour.h"
#include "port/port.h"

#define WH_NETIF_BURST       32
#define WH_NETIF_RECEIVE_MAX 512 /* in one turn of the loop: a whole default ring of descriptors */

/* Capacity for frames for the host on their way between the tasks, 2^n - 1. */
#define WH_NETIF_HOST_PKTS 63

/* Capacity for news of neighbours on their way to a sibling, 2^n - 1. */
#define WH_NETIF_NEWS_PKTS 15

/*
 * Packets that wait for the MAC of their target. A server first asks for a client's when the
 * session of its answers begins: with CONFIRM, and behind it a first train of data.
 */
#define WH_NETIF_WAITING 64

/* How long they wait: long enough for one or two ARP requests. */
#define WH_NETIF_WAITS_MS 1500

/* One that waits longer goes once another comes, the repetition of it or of what follows. */
#define WH_NETIF_IN_ORDER_MS 50

/* Peers whose headers are kept ready, one per place; a power of two. */
#define WH_NETIF_HEADERS 16

struct wh_netif_config {
	struct wh_port *port;
	uint16_t queue;
	struct rte_mempool *pool; /* of packets to send: wh_port_room_bytes(mtu) of room */
	struct wh_address local4; /* ours of each family, with the UDP port; family 0: none */
	struct wh_address local6;
	uint16_t vlan; /* 0: frames are not tagged */
	uint8_t dscp;  /* of packets of sessions; those of neighbours have 0 */
	/* Payloads of this size or more go from their chunks, uncopied; UINT32_MAX: none. */
	uint32_t attach_bytes;
	/* Valid. The netif sets its vlan, and its number of entries: one for each session. */
	struct wh_neighbour_config neighbour;
	struct wh_endpoint_config endpoint; /* its meters also count the port's time */
	/* The clock, read after receiving a burst and before sending; NULL: the turn's time. */
	uint64_t (*read_tsc)(void);
};

struct wh_netif_stats {
	uint64_t not_ours_pkts[WH_ENCAP_REASONS]; /* by reason */
	uint64_t host_full_pkts;                  /* for the host, beyond those that may wait */
	uint64_t no_mbuf_turns;                   /* turns without an mbuf to write into */
	uint64_t unresolved_pkts; /* to peers whose MAC address is not known (yet) */
};

/* The headers to a peer as of the last packet to it. */
struct wh_netif_header {
	struct wh_encap encap; /* 0 bytes: unused */
	struct wh_address to;
	uint8_t mac[6];
	uint64_t looked_up_tsc; /* the turn in which the MAC was looked up */
};

/* A packet that waits for its target's MAC. */
struct wh_netif_waiting {
	struct rte_mbuf *mbuf; /* the whole packet from `head_offset` on */
	struct wh_address to;
	uint32_t nth; /* of those to its target, from 1 */
	uint32_t head_bytes;
	uint32_t payload_bytes;
	uint64_t since_tsc;
};

struct wh_netif {
	struct wh_netif_config config;
	struct wh_endpoint endpoint;
	/* Mbufs: receive -> send; hash.usr: why it is no packet of ours (enum wh_encap_reason). */
	struct wh_fifo host_frames;
	/* Mbufs, perhaps shared: receive of queue 0's netif (wh_netif_join) -> send of this one. */
	struct wh_fifo news;

	/* receive, its cache lines apart */
	uint8_t apart_receive[64];
	struct wh_netif *sibling[WH_PORT_QUEUES_MAX - 1]; /* the netifs that have joined */
	uint32_t siblings;
	struct wh_encap_known known; /* the headers of the previous packet */
	uint32_t full_pkts;          /* packets in successive full bursts */
	uint64_t missed_tsc;         /* receive -> send: when the port's ring was last full */
	struct wh_netif_stats receive_stats;

	/* send */
	uint8_t apart_send[64];
	struct wh_neighbour neighbour;
	struct wh_netif_header header[WH_NETIF_HEADERS];   /* by a hash of the peer's address */
	struct wh_encap back;                              /* of the answer to a stranger */
	struct wh_netif_waiting waiting[WH_NETIF_WAITING]; /* in order */
	uint32_t waits;                                    /* their number */
	struct rte_mbuf *spare[WH_NETIF_BURST]; /* allocated and not yet used, from index 0 */
	uint32_t spares;
	uint32_t head_offset; /* offset of a packet's head in its mbuf */
	struct wh_netif_stats send_stats;
};

/* 0 or -ENOMEM. */
int wh_netif_init(struct wh_netif *netif, const struct wh_netif_config *config);
void wh_netif_free(struct wh_netif *netif);

/*
 * What `first`, the netif of queue 0, receives about neighbours goes also to `other` of the same
 * port: ARP replies and announcements, neighbour advertisements. Does nothing if queues are paired.
 * Call before either is polled; neither may be freed while the other is still polled.
 */
void wh_netif_join(struct wh_netif *first, struct wh_netif *other);

/* The tasks; `netif` is a struct wh_netif. */
int32_t wh_netif_receive(void *netif, uint64_t now_tsc);
int32_t wh_netif_send(void *netif, uint64_t now_tsc);

/* The most packets that a netif holds at once. */
#define WH_NETIF_MBUFS                                                                             \
	(WH_NETIF_BURST + WH_PORT_BACKLOG_PKTS + WH_NETIF_HOST_PKTS + WH_NETIF_NEWS_PKTS +         \
		WH_NETIF_WAITING)

/* Sum of both tasks; may be called on any core. */
struct wh_netif_stats wh_netif_stats(const struct wh_netif *netif);

/* Packets that were refused before a session received them, for any reason. */
uint64_t wh_netif_bad_pkts(const struct wh_netif *netif);
