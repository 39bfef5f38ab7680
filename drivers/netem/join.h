/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Two ports joined by an emulated link: each sends what the other receives, through a netem per
 * direction.
 *
 *   port A receives -> direction[WH_EMULATOR_A] -> port B sends
 *   port A sends    <- direction[WH_EMULATOR_B] <- port B receives
 *
 * Frames are held in the mbufs in which they arrived and leave unchanged; nothing above Ethernet is
 * examined. The two directions share no written memory, so each may have an lcore of its own.
 *
 * A direction uses the mbufs of its `pool`, into which its `from` port receives. With
 * wh_join_mbufs_needed mbufs that port never runs out. A direction that is full drops.
 */

#include <stdint.h>

#include "lab/netem/netem.h"
#include "netem/emulator.h"
#include "port/port.h"

/* Packets of one poll from a port. */
#define WH_JOIN_BURST 32

#define WH_JOIN_POOL_CACHE 256

/*
 * Frames per direction whose checksums are examined: enough to detect a kernel that leaves them
 * partial.
 */
#define WH_JOIN_LOOKS 256

/* A hand-over later than this counts as late. */
#define WH_JOIN_LATE_NS 50000

/* Losses beside the link's own drops (enum wh_netem_drop) and those that the ports count. */
enum wh_join_drop {
	WH_JOIN_DROP_OVERSIZE = 0, /* longer than the MTU, Ethernet header and tags */
	WH_JOIN_DROP_NO_ROOM,      /* no memory to hold another packet */
	WH_JOIN_DROP_NO_MBUF,      /* duplicates for which there was no mbuf */
	WH_JOIN_DROP_PORT_FULL,    /* due, but not taken by the sending port */
	WH_JOIN_DROPS,
};

const char *wh_join_drop_name(enum wh_join_drop drop);

/* Of one direction: came_pkts = oversize + packets that entered the link. */
struct wh_join_stats {
	uint64_t came_pkts;
	uint64_t came_bytes;
	uint64_t went_pkts; /* handed to the sending port */
	uint64_t dropped_pkts[WH_JOIN_DROPS];
	uint64_t late_pkts;    /* handed over more than WH_JOIN_LATE_NS after they were due */
	uint32_t partial_sums; /* of the first WH_JOIN_LOOKS frames (partial_sum.h) */
	uint64_t late_tsc_max; /* of any packet */
};

/* Called for each frame as it arrives and as it is handed to the sending port. */
struct wh_join_tap {
	void (*frame)(void *context, const struct rte_mbuf *pkt, uint64_t now_tsc, bool leaves);
	void *context;
};

struct wh_join_direction_config {
	struct wh_port *from;
	struct wh_port *to;
	struct rte_mempool *pool; /* into which `from` receives */
	struct wh_link_model netem;
	uint32_t items_max;     /* packets held at once */
	struct wh_join_tap tap; /* none: NULL */
	uint64_t hz;
	uint64_t (*clock)(void); /* read after each burst, since a burst may take long */
};

struct wh_join_direction {
	struct wh_port *from;
	struct wh_port *to;
	struct rte_mempool *pool;
	struct wh_netem *netem;
	uint64_t (*clock)(void);
	uint64_t late_tsc;
	struct wh_join_tap tap;
	uint32_t frame_bytes_max; /* without a tag */
	struct wh_join_stats stats;
} __rte_cache_aligned;

/* Mbufs for a direction that holds items_max packets between ports with so many descriptors. */
uint32_t wh_join_mbufs_needed(uint32_t items_max, uint32_t rx_descriptors, uint32_t tx_descriptors);

/* 0, -ENOMEM, or -EINVAL for an invalid link. The link's outages are timed from now. */
int wh_join_direction_init(
	struct wh_join_direction *direction, const struct wh_join_direction_config *config);

/* Frees packets in transit. Call after the last poll and before the ports are closed. */
void wh_join_direction_free(struct wh_join_direction *direction);

/* A task: takes what arrived, sends what is due; returns the number of packets moved. */
int32_t wh_join_direction_poll(void *direction, uint64_t now_tsc);

/* Whether every packet that arrived is accounted for; false: the counters contradict each other. */
bool wh_join_direction_adds_up(const struct wh_join_direction *direction);
