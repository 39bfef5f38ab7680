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
 * freed at once, so that the ends share no byte, as on glass. The copy carries the moment at
 * which it is due as a NIC's arrival stamp (wh_port_arrived_tsc), whenever it is looked at.
 *
 * One lcore polls; the ends may be on others. Order of things:
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

/* Mbufs that an lcore may keep in its cache; wh_lambda_mbufs_needed reckons with it. */
#define WH_LAMBDA_POOL_CACHE 256

/* Shortest Ethernet frame, its frame check sequence not counted; a NIC pads to it. */
#define WH_LAMBDA_FRAME_BYTES_MIN 60

/* Packets that one poll takes from a sender. */
#define WH_LAMBDA_BURST 64

/* Room that any sentence of wh_lambda_create fits in. */
#define WH_LAMBDA_WHY_BYTES 256

/* An end, and the direction that starts there. */
enum wh_lambda_end {
	WH_LAMBDA_A = 0,
	WH_LAMBDA_B,
	WH_LAMBDA_ENDS,
};

/* What is lost beside the fibre's own drops (enum wh_fibre_drop). */
enum wh_lambda_drop {
	WH_LAMBDA_DROP_OVERSIZE = 0, /* longer than MTU, Ethernet header and tag: does not enter */
	WH_LAMBDA_DROP_NO_MBUF,      /* copies for which the pool was empty */
	WH_LAMBDA_DROP_RING_FULL,    /* copies for which the receiver had no room */
	WH_LAMBDA_DROPS,
};

/* Of one direction: sent = oversize + the fibre's entered packets. */
struct wh_lambda_stats {
	uint64_t sent_pkts; /* taken from the sender */
	uint64_t sent_bytes;
	uint64_t delivered_pkts; /* put into the receiver's ring */
	uint64_t dropped_pkts[WH_LAMBDA_DROPS];
};

struct wh_lambda_config {
	const char *name; /* the ports become net_ring_<name>_a and net_ring_<name>_b */
	struct wh_fibre_config fibre[WH_LAMBDA_ENDS]; /* by the end that sends */
	uint32_t ring_pkts; /* that each of the four rings holds; 0: the default */
	uint16_t mtu;
	struct rte_mempool *pool; /* the caller's; used by this lambda and no other sender */
	uint64_t hz;              /* of the clock that wh_lambda_poll is told */
	int socket;
};

struct wh_lambda; /* lambda.c */

/*
 * 0 and *created; or a negative errno, and in `why` one sentence that says what to do. The fibre's
 * outages count from now_tsc.
 */
int wh_lambda_create(const struct wh_lambda_config *config, uint64_t now_tsc,
	struct wh_lambda **created, char *why, size_t why_bytes);

/*
 * Frees all that is under way, the ports and the rings. The ports of both ends are stopped or
 * closed by then, and the pools of their senders still there. NULL is allowed.
 */
void wh_lambda_close(struct wh_lambda *lambda);

/* What wh_port_open is to be given for an end. */
uint16_t wh_lambda_ethdev(const struct wh_lambda *lambda, enum wh_lambda_end end);

/* A process: takes what was sent, hands over what is due; returns the packets that it moved. */
int32_t wh_lambda_poll(void *lambda, uint64_t now_tsc);

/*
 * Mbufs that a lambda uses at once when frames take at least frame_bytes, those waiting in the
 * receivers' rings included; what receivers hold after that is to be added. UINT32_MAX when there
 * is no bound (see wh_fibre_items_needed).
 */
uint32_t wh_lambda_mbufs_needed(const struct wh_lambda_config *config, uint32_t frame_bytes);

const struct wh_lambda_stats *wh_lambda_stats(
	const struct wh_lambda *lambda, enum wh_lambda_end sender);
const struct wh_fibre_stats *wh_lambda_path_stats(
	const struct wh_lambda *lambda, enum wh_lambda_end sender);
uint32_t wh_lambda_held(const struct wh_lambda *lambda, enum wh_lambda_end sender);

#endif
