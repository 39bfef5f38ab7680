/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * An emulated link: two net_ring ports, A and B, joined by two directions of lib/lab/netem.
 *
 *   A's port -> ring -> netem[WH_EMULATOR_A] -> ring -> B's port
 *   A's port <- ring <- netem[WH_EMULATOR_B] <- ring <- B's port
 *
 * A packet that enters is copied into one mbuf of the link's own pool and the sender's mbuf is
 * freed at once, so that the ends share no memory, as with real hosts. The copy's arrival stamp
 * (wh_port_arrived_tsc) is the time at which it was due, however late it is received.
 *
 * One lcore polls; the ends may be on others. Order of calls:
 *
 *   pool = rte_pktmbuf_pool_create(.., wh_emulator_mbufs_needed(&config, frame_bytes) + what the
 *          receivers hold, WH_EMULATOR_POOL_CACHE, 0, wh_port_room_bytes(config.mtu), ..)
 *   wh_emulator_create, wh_port_open for each wh_emulator_ethdev, .. wh_emulator_poll ..,
 *   wh_port_close for each, wh_emulator_close, then the pools
 */

#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "lab/netem/netem.h"

#define WH_EMULATOR_RING_PKTS_DEFAULT 4096
#define WH_EMULATOR_NAME_MAX          16 /* letters */

/* Mbufs that an lcore may keep in its cache; wh_emulator_mbufs_needed includes them. */
#define WH_EMULATOR_POOL_CACHE 256

/* Packets that one poll takes from a sender. */
#define WH_EMULATOR_BURST 64

/* Enough for any message of wh_emulator_create. */
#define WH_EMULATOR_WHY_BYTES 256

/* An end; also names the direction that starts there. */
enum wh_emulator_end {
	WH_EMULATOR_A = 0,
	WH_EMULATOR_B,
	WH_EMULATOR_ENDS,
};

/* Losses beside the link's own drops (enum wh_netem_drop). */
enum wh_emulator_drop {
	/* Longer than MTU, Ethernet header and tag: does not enter the link. */
	WH_EMULATOR_DROP_OVERSIZE = 0,
	WH_EMULATOR_DROP_NO_MBUF,   /* copies for which the pool was empty */
	WH_EMULATOR_DROP_RING_FULL, /* copies for which the receiver had no room */
	WH_EMULATOR_DROPS,
};

/* Of one direction: sent = oversize + packets that entered the link. */
struct wh_emulator_stats {
	uint64_t sent_pkts; /* taken from the sender */
	uint64_t sent_bytes;
	uint64_t delivered_pkts; /* put into the receiver's ring */
	uint64_t dropped_pkts[WH_EMULATOR_DROPS];
};

struct wh_emulator_config {
	const char *name; /* the ports become net_ring_<name>_a and net_ring_<name>_b */
	struct wh_link_model netem[WH_EMULATOR_ENDS]; /* indexed by the sending end */
	uint32_t ring_pkts; /* capacity of each of the four rings; 0: the default */
	uint16_t mtu;
	struct rte_mempool *pool;   /* the caller's; used by this link and no other sender */
	uint64_t hz;                /* of the clock that wh_emulator_poll is given */
	uint64_t (*read_tsc)(void); /* that clock, after a burst came; NULL: the time of the turn */
	int socket;
};

struct wh_emulator; /* emulator.c */

/*
 * 0 and *created; or a negative errno, and in `why` one sentence that says what to do. The link's
 * outages are timed from now_tsc.
 */
int wh_emulator_create(const struct wh_emulator_config *config, uint64_t now_tsc,
	struct wh_emulator **created, char *why, size_t why_bytes);

/*
 * Frees packets in transit, the ports and the rings. The ports of both ends must be stopped or
 * closed before, and their senders' pools still exist. NULL is allowed.
 */
void wh_emulator_close(struct wh_emulator *emulator);

/* The ethdev of an end, for wh_port_open. */
uint16_t wh_emulator_ethdev(const struct wh_emulator *emulator, enum wh_emulator_end end);

/* A task: takes what was sent, hands over what is due; returns the number of packets moved. */
int32_t wh_emulator_poll(void *emulator, uint64_t now_tsc);

/*
 * The most mbufs that the emulator uses at once for frames of at least frame_bytes, including
 * those in the receivers' rings; add those that receivers hold afterwards. UINT32_MAX: unbounded
 * (see wh_netem_items_needed).
 */
uint32_t wh_emulator_mbufs_needed(const struct wh_emulator_config *config, uint32_t frame_bytes);

const struct wh_emulator_stats *wh_emulator_stats(
	const struct wh_emulator *emulator, enum wh_emulator_end sender);
const struct wh_netem_stats *wh_emulator_path_stats(
	const struct wh_emulator *emulator, enum wh_emulator_end sender);
uint32_t wh_emulator_held(const struct wh_emulator *emulator, enum wh_emulator_end sender);
