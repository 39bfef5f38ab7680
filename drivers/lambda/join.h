/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_LAMBDA_JOIN_H
#define WH_LAMBDA_JOIN_H

/*
 * Two ports joined as by a lambda: what one receives the other sends, after a fibre for each
 * direction.
 *
 *   port A receives -> way[WH_LAMBDA_A] -> port B sends
 *   port A sends    <- way[WH_LAMBDA_B] <- port B receives
 *
 * Frames are held as the mbufs that they came in, and leave as they came: of what is above
 * Ethernet nothing is asked. The two ways share nothing that is written, so that each may have an
 * lcore of its own.
 *
 * The mbufs of a way are those of its `pool`, into which the port it comes from receives: as many
 * as wh_join_mbufs_needed says, so that this port never lacks one. A way that is full drops.
 */

#include <stdint.h>

#include "fibre/fibre.h"
#include "lambda/lambda.h"
#include "port/port.h"

/* Packets of one poll from a port. */
#define WH_JOIN_BURST 32

#define WH_JOIN_POOL_CACHE 256

/* Frames of a way whose sums are looked at: enough to know the kernel that they come from. */
#define WH_JOIN_LOOKS 256

/* What the delay may err by. */
#define WH_JOIN_LATE_NS 50000

/* What is lost beside the fibre's own drops (enum wh_fibre_drop) and what the ports tell. */
enum wh_join_drop {
	WH_JOIN_DROP_OVERSIZE = 0, /* longer than the MTU, Ethernet header and tags */
	WH_JOIN_DROP_NO_ROOM,      /* as many are held as there is memory for */
	WH_JOIN_DROP_NO_MBUF,      /* second copies, for which there was no mbuf */
	WH_JOIN_DROP_PORT_FULL,    /* due, and the port that sends did not take them */
	WH_JOIN_DROPS,
};

const char *wh_join_drop_name(enum wh_join_drop drop);

/* Of one way: came = oversize + the fibre's entered packets. */
struct wh_join_stats {
	uint64_t came_pkts;
	uint64_t came_bytes;
	uint64_t went_pkts; /* the sending port's now */
	uint64_t went_bytes;
	uint64_t dropped_pkts[WH_JOIN_DROPS];
	uint32_t oversize_bytes; /* the longest such frame, as far as the port gave it */
	uint64_t late_pkts;      /* handed over more than WH_JOIN_LATE_NS after they were due */
	uint32_t partial_sums;   /* of the first WH_JOIN_LOOKS frames (partial_sum.h) */
	uint64_t late_tsc_max;   /* of any packet */
};

/* Is shown each frame as it comes in, and as it is handed to the port that it leaves by. */
struct wh_join_tap {
	void (*frame)(void *context, const struct rte_mbuf *pkt, uint64_t now_tsc, bool leaves);
	void *context;
};

struct wh_join_way_config {
	struct wh_port *from;
	struct wh_port *to;
	struct rte_mempool *pool; /* what `from` receives into */
	struct wh_fibre_config fibre;
	uint32_t items_max;     /* packets held at once */
	struct wh_join_tap tap; /* none: NULL */
	uint64_t hz;
	uint64_t (*clock)(void); /* asked behind each burst, since a burst may take long */
};

struct wh_join_way {
	struct wh_port *from;
	struct wh_port *to;
	struct rte_mempool *pool;
	struct wh_fibre *fibre;
	uint64_t (*clock)(void);
	uint64_t late_tsc;
	struct wh_join_tap tap;
	uint32_t frame_bytes_max; /* of one without a tag */
	struct wh_join_stats stats;
} __rte_cache_aligned;

/* Mbufs for a way that holds items_max, with a port that has so many descriptors at either end. */
uint32_t wh_join_mbufs_needed(uint32_t items_max, uint32_t rx_descriptors, uint32_t tx_descriptors);

/* 0, -ENOMEM, or -EINVAL where the fibre makes no sense. The fibre's outages count from now. */
int wh_join_way_init(struct wh_join_way *way, const struct wh_join_way_config *config);

/* Frees what is under way. Before the ports are closed, and polled no more. */
void wh_join_way_free(struct wh_join_way *way);

/* A process: takes what came, sends what is due; returns the packets that it moved. */
int32_t wh_join_way_poll(void *way, uint64_t now_tsc);

/* Every packet that came is somewhere: false when the counters contradict each other. */
bool wh_join_way_adds_up(const struct wh_join_way *way);

#endif
