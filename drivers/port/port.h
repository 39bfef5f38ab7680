/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A DPDK ethdev as one end of a path. Driver features are queried, never assumed: an offload that
 * it does not offer is not configured, and packets that it cannot send (chains, external memory)
 * are copied into one mbuf first.
 *
 * Ownership: wh_port_receive gives its mbufs to the caller. wh_port_send takes as many as it
 * returns; the port frees those, sent or not. Only one lcore at a time uses a queue and writes that
 * queue's backlog and counters; queues share no written state but that of the link.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include "port/nic_clock.h"
#include "port/nic_counters.h"
#include "port/packet_sockets.h"

/* DPDK's headers of packets are four fifths of what a source of the program would read. */
struct rte_mbuf;
struct rte_mempool;

#define WH_PORT_QUEUES_MAX 16

/* Packets that wait when the device is full; also the longest burst that is sure to be taken. */
#define WH_PORT_BACKLOG_PKTS 64

/* Enough for any message of wh_port_open. */
#define WH_PORT_WHY_BYTES 256

/* The largest MTU for which a frame's room easily fits an mbuf's 16-bit lengths. */
#define WH_PORT_MTU_MAX 32000

/* RX_MISSED and RX_ERROR are counted by wh_port_stats_total only. */
enum wh_port_drop {
	WH_PORT_RX_CHECKSUM = 0, /* the port says that the IP or UDP sum is wrong */
	WH_PORT_RX_CHAIN,        /* several segments, too long for one mbuf of the pool */
	WH_PORT_RX_NO_MBUF,      /* several segments, and no mbuf to copy them into */
	WH_PORT_RX_MISSED,       /* no free descriptor, in the device or the kernel below it */
	WH_PORT_RX_ERROR,        /* bad frames, dropped by the device */
	WH_PORT_TX_CHAIN,        /* too long for one mbuf, and the port sends no chains */
	WH_PORT_TX_LINK_DOWN,
	WH_PORT_TX_STOPPED, /* sent after wh_port_stop, or in the backlog then */
	WH_PORT_TX_REFUSED, /* by the kernel: too long, no route, filtered; of udp/udp.h only */
	WH_PORT_DROPS,
};

const char *wh_port_drop_name(enum wh_port_drop drop);

/* How packets are steered to the queue of their UDP port. */
enum wh_port_steering {
	WH_PORT_STEER_ONE_QUEUE = 0, /* there is only one */
	WH_PORT_STEER_PAIRED,        /* what the peer sends on queue q arrives on queue q */
	WH_PORT_STEER_RULES,         /* the device has a rule for each port */
	WH_PORT_STEER_HASH,          /* the device hashes only the port */
	WH_PORT_STEERINGS,
};

const char *wh_port_steering_name(enum wh_port_steering steering);

struct wh_port_stats {
	uint64_t rx_pkts; /* given to the caller */
	uint64_t rx_bytes;
	uint64_t tx_pkts; /* taken by the device */
	uint64_t tx_bytes;
	uint64_t tx_full;       /* bursts that the device did not take whole: not a loss */
	uint64_t tx_linearised; /* packets copied into one mbuf for sending */
	uint64_t tx_held;       /* wh_nic_counters_held, as of the last second; in total only */
	uint64_t dropped_pkts[WH_PORT_DROPS];
};

struct wh_port_config {
	uint16_t ethdev; /* id; see wh_port_find */
	uint16_t queues; /* pairs of a receiving and a sending queue */
	uint16_t mtu;
	uint16_t rx_descriptors;  /* 0: the driver's preference */
	uint16_t tx_descriptors;  /* 0: the driver's preference */
	struct rte_mempool *pool; /* mbufs with wh_port_room_bytes(mtu) of room */
	int socket;               /* of queues; SOCKET_ID_ANY: the device's */
	uint32_t link_wait_ms;    /* 0: the link need not be up; see wh_port_await_link */
	uint8_t mac[6];           /* zero: the device's own */
	bool transparent;         /* takes every frame, whatever its address and checksums */
	bool rejoins;             /* connects to a peer that may restart: port/rejoin.h */
	bool plain_tx;            /* packets to be sent: see wh_port_send */

	/* Needed with several queues that are not paired (enum wh_port_steering). */
	uint16_t udp_port; /* of queue 0; queue q has udp_port + q */
	bool ipv4;         /* families of received packets: one or both */
	bool ipv6;         /* also for its UDP checksums, even with one queue */
};

/* A tap is shown each burst that a queue receives or sends, on that queue's lcore. */
struct wh_port_tap {
	void (*see)(void *context, struct rte_mbuf *const *pkts, uint16_t count);
	void *context;
};

struct wh_port_queue {
	struct rte_mbuf *backlog[WH_PORT_BACKLOG_PKTS];
	uint16_t backlog_pkts;
	const struct wh_port_tap *rx_tap; /* NULL: none; see wh_port_set_tap */
	const struct wh_port_tap *tx_tap;
	struct wh_port_stats stats;
} __rte_cache_aligned;

struct wh_port {
	uint16_t ethdev;
	uint16_t queues;
	uint16_t mtu;
	uint16_t rx_descriptors; /* per queue: as asked for, within the device's limits */
	uint16_t tx_descriptors;
	enum wh_port_steering steering;
	bool multi_segment_tx; /* chains and external memory may be sent as they are */
	bool udp_sum_tx;       /* see wh_port_offload_udp6 */
	bool transparent;      /* as configured */
	bool tsc_stamps;       /* arrival stamps of this driver are cycles of the TSC */
	bool nic_stamps;       /* they are of nic_clock, by wh_port_watch_link */
	bool started;
	bool calm;           /* bursts only while the link cannot go down: port/calm.h */
	bool link_up;        /* written by wh_port_watch_link, read by every queue's lcore */
	bool asked_back;     /* its device is to be removed: port/removal.h */
	bool rejoins;        /* as configured, once it is open */
	bool joined;         /* its device is started: a link may come up */
	uint64_t rejoin_tsc; /* time of the next check */
	int socket;
	int stamp_offset; /* of the arrival time in an mbuf */
	uint64_t stamp_flag;
	struct wh_nic_clock nic_clock;
	struct wh_nic_counters nic_counters;
	struct wh_packet_sockets sockets; /* of net_af_packet; otherwise none */
	struct rte_mempool *pool;
	uint8_t mac[6]; /* to use in headers */
	struct wh_port_queue queue[WH_PORT_QUEUES_MAX];
};

/* Finds the ethdev of that name ("0000:3b:00.0", "net_memif0"): 0, or -ENODEV. */
int wh_port_find(const char *name, uint16_t *ethdev);

/* Data room of mbufs (including headroom) into which a frame of this MTU fits with every driver. */
uint16_t wh_port_room_bytes(uint16_t mtu);

/*
 * Configures and starts the ethdev. 0 and *opened; or a negative errno, and in `why` one sentence
 * that says what to do. After a failure the ethdev is stopped, and opening may be tried again.
 */
int wh_port_open(
	const struct wh_port_config *config, struct wh_port **opened, char *why, size_t why_bytes);

/*
 * Stops the device; the backlogs are freed and counted. Afterwards receive returns nothing, send
 * drops and counts. May be called twice; no lcore may use a queue meanwhile.
 */
void wh_port_stop(struct wh_port *port);

/* Stops and closes the ethdev, which then no longer exists, and frees the port. NULL is allowed. */
void wh_port_close(struct wh_port *port);

/*
 * Waits until the link is up: 0, or -ENETDOWN when it is still down after wait_ms. Where both
 * ends are in one process (memif), wait for each: the first packet is lost otherwise.
 */
int wh_port_await_link(struct wh_port *port, uint32_t wait_ms);

/*
 * Asks the device for the state of the link; true when up. To be called every few milliseconds
 * by one lcore: some drivers take microseconds to answer. Also reads the clock of a device that
 * stamps.
 */
bool wh_port_watch_link(struct wh_port *port);

/*
 * From now on `tap` is shown what the queue receives, or (`sent`) sends; NULL: none. May be called
 * on any thread; the queue's lcore may still be in the previous tap for one turn, and that tap must
 * stay valid until then. Packets to be sent are shown when the port takes them, before the device
 * does.
 */
void wh_port_set_tap(
	struct wh_port *port, uint16_t queue, bool sent, const struct wh_port_tap *tap);

/* Whether the device is to be removed, and waits for the port to be closed. On any thread. */
static inline bool wh_port_is_asked_back(const struct wh_port *port)
{
	return __atomic_load_n(&port->asked_back, __ATOMIC_ACQUIRE);
}

/* The link's rate according to the driver: software devices report any number. 0: unknown. */
uint64_t wh_port_line_bps(const struct wh_port *port);

/* What the device lets through beside its own address. */
enum wh_port_groups {
	WH_PORT_GROUPS_LISTED = 0,  /* those groups */
	WH_PORT_GROUPS_ALL,         /* every group */
	WH_PORT_GROUPS_PROMISCUOUS, /* every frame */
	WH_PORT_GROUPS_UNFILTERED,  /* it has no filter to set, and needs none */
	WH_PORT_GROUPS,
};

const char *wh_port_groups_name(enum wh_port_groups groups);

/*
 * Makes the device accept frames to these groups (wh_neighbour_groups), by the narrowest filter
 * that it offers; *groups tells which. Call after each opening; a list replaces the previous one. 0
 * or the device's negative errno.
 */
int wh_port_join_groups(const struct wh_port *port, const uint8_t (*macs)[6], uint32_t count,
	enum wh_port_groups *groups);

/*
 * The NUMA nodes of the device and of an lcore (-1: unknown), and whether they differ: each packet
 * then crosses from one to the other.
 */
bool wh_port_crosses_nodes(
	const struct wh_port *port, unsigned int lcore, int *port_node, int *lcore_node);

/* Receives up to `count` packets, each in one segment; returns how many. */
uint16_t wh_port_receive(
	struct wh_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t count);

/*
 * Returns how many of `pkts`, from the first, are the port's now: at least min(count,
 * wh_port_send_room()) unless mbufs to copy into run out. Those that the device does not take wait
 * in the backlog, which is sent first at the next call. While the link is down all are taken, freed
 * and counted, since they would be stale when it is up again.
 *
 * With `plain_tx` all packets are of the configured pool, and nobody else refers to them. Those in
 * several segments are copied.
 */
uint16_t wh_port_send(struct wh_port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t count);

/* Sends as much of the backlog as the device takes; returns how many packets still wait. */
uint16_t wh_port_flush(struct wh_port *port, uint16_t queue);

static inline uint16_t wh_port_send_room(const struct wh_port *port, uint16_t queue)
{
	return WH_PORT_BACKLOG_PKTS - port->queue[queue].backlog_pkts;
}

const struct wh_port_stats *wh_port_stats(const struct wh_port *port, uint16_t queue);

/* Counter by counter. */
static inline void wh_port_stats_add(struct wh_port_stats *sum, const struct wh_port_stats *stats)
{
	for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)stats)[i];
}

/*
 * Sum over the queues, with the device's own counters while it is started. On no core that moves
 * packets: a NIC may take some time to answer.
 */
void wh_port_stats_total(struct wh_port *port, struct wh_port_stats *total);

/*
 * Leaves the UDP checksum of a packet over IPv6 to a port with udp_sum_tx: flags it and writes the
 * sum of the pseudo-header (RFC 8200 8.1) where the device adds the rest. The headers are complete
 * and in the first segment; no extension headers.
 */
void wh_port_offload_udp6(struct rte_mbuf *pkt, uint16_t l2_bytes);
