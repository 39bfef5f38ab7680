/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_LAMBDA_LAMBDA_H
#define WH_LAMBDA_LAMBDA_H

/*
 * An emulated lambda: two net_ring ports, A and B, joined by two directions of lib/fibre.
 *
 *   A's port -> ring -> fibre[WH_LAMBDA_A] -> ring -> B's port
 *   A's port <- ring <- fibre[WH_LAMBDA_B] <- ring <- B's port
 *
 * A packet that enters is copied into one mbuf of the lambda's own pool and the sender's mbuf is
 * freed at once, so that the ends share no memory, as with real hosts. The copy's arrival stamp
 * (wh_port_arrived_tsc) is the time at which it was due, however late it is received.
 *
 * One lcore polls; the ends may be on others. Order of calls:
 *
 *   pool = rte_pktmbuf_pool_create(.., wh_lambda_mbufs_needed(&config, frame_bytes) + what the
 *          receivers hold, WH_LAMBDA_POOL_CACHE, 0, wh_port_room_bytes(config.mtu), ..)
 *   wh_lambda_create, wh_port_open for each wh_lambda_ethdev, .. wh_lambda_poll ..,
 *   wh_port_close for each, wh_lambda_close, then the pools
 */

#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "fibre/fibre.h"

#define WH_LAMBDA_RING_PKTS_DEFAULT 4096
#define WH_LAMBDA_NAME_MAX          16 /* letters */

/* Mbufs that an lcore may keep in its cache; wh_lambda_mbufs_needed includes them. */
#define WH_LAMBDA_POOL_CACHE 256

/* Shortest Ethernet frame without its frame check sequence; a NIC pads to it. */
#define WH_LAMBDA_FRAME_BYTES_MIN 60

/* Packets that one poll takes from a sender. */
#define WH_LAMBDA_BURST 64

/* Enough for any message of wh_lambda_create. */
#define WH_LAMBDA_WHY_BYTES 256

/* An end; also names the direction that starts there. */
enum wh_lambda_end {
	WH_LAMBDA_A = 0,
	WH_LAMBDA_B,
	WH_LAMBDA_ENDS,
};

/* Losses beside the fibre's own drops (enum wh_fibre_drop). */
enum wh_lambda_drop {
	WH_LAMBDA_DROP_OVERSIZE = 0, /* longer than MTU, Ethernet header and tag: does not enter */
	WH_LAMBDA_DROP_NO_MBUF,      /* copies for which the pool was empty */
	WH_LAMBDA_DROP_RING_FULL,    /* copies for which the receiver had no room */
	WH_LAMBDA_DROPS,
};

/* Of one direction: sent = oversize + packets that entered the fibre. */
struct wh_lambda_stats {
	uint64_t sent_pkts; /* taken from the sender */
	uint64_t sent_bytes;
	uint64_t delivered_pkts; /* put into the receiver's ring */
	uint64_t dropped_pkts[WH_LAMBDA_DROPS];
};

struct wh_lambda_config {
	const char *name; /* the ports become net_ring_<name>_a and net_ring_<name>_b */
	struct wh_fibre_config fibre[WH_LAMBDA_ENDS]; /* indexed by the sending end */
	uint32_t ring_pkts; /* capacity of each of the four rings; 0: the default */
	uint16_t mtu;
	struct rte_mempool *pool;   /* the caller's; used by this lambda and no other sender */
	uint64_t hz;                /* of the clock that wh_lambda_poll is given */
	uint64_t (*read_tsc)(void); /* that clock, after a burst came; NULL: the time of the turn */
	int socket;
};

struct wh_lambda; /* lambda.c */

/*
 * 0 and *created; or a negative errno, and in `why` one sentence that says what to do. The fibre's
 * outages are timed from now_tsc.
 */
int wh_lambda_create(const struct wh_lambda_config *config, uint64_t now_tsc,
	struct wh_lambda **created, char *why, size_t why_bytes);

/*
 * Frees packets in transit, the ports and the rings. The ports of both ends must be stopped or
 * closed before, and their senders' pools still exist. NULL is allowed.
 */
void wh_lambda_close(struct wh_lambda *lambda);

/* The ethdev of an end, for wh_port_open. */
uint16_t wh_lambda_ethdev(const struct wh_lambda *lambda, enum wh_lambda_end end);

/* A process: takes what was sent, hands over what is due; returns the number of packets moved. */
int32_t wh_lambda_poll(void *lambda, uint64_t now_tsc);

/*
 * The most mbufs that a lambda uses at once for frames of at least frame_bytes, including those in
 * the receivers' rings; add those that receivers hold afterwards. UINT32_MAX: unbounded (see
 * wh_fibre_items_needed).
 */
uint32_t wh_lambda_mbufs_needed(const struct wh_lambda_config *config, uint32_t frame_bytes);

const struct wh_lambda_stats *wh_lambda_stats(
	const struct wh_lambda *lambda, enum wh_lambda_end sender);
const struct wh_fibre_stats *wh_lambda_path_stats(
	const struct wh_lambda *lambda, enum wh_lambda_end sender);
uint32_t wh_lambda_held(const struct wh_lambda *lambda, enum wh_lambda_end sender);

#endif
