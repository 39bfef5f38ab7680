/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Two netifs on ports of rings, and transfers from the first to the second. What one sends comes
 * to the other by pair_carry, which looks at every frame; so does the test with a port alone.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>
#include <rte_ring.h>

#include "../rig/stream.h"
#include "port/netif.h"

#define RIG_NETIF_HZ     UINT64_C(1000000000)
#define RIG_NETIF_QUEUES 3
#define RIG_RING_PKTS    1024
#define RIG_TRANSFERS    6
#define RIG_CHUNK_BYTES  65536
#define RIG_CHUNKS       8

/* A port and the far ends of its queues. */
struct cable {
	struct rte_ring *in[RIG_NETIF_QUEUES];  /* to the port */
	struct rte_ring *out[RIG_NETIF_QUEUES]; /* from it */
	uint16_t queues;
	char name[16];
	struct wh_port *port;
};

void cable_open(struct cable *cable, const char *name, uint16_t queues, uint16_t mtu,
	struct rte_mempool *pool, const uint8_t mac[6]);
void cable_close(struct cable *cable);

/* What a session needs to send `mtu` bytes to a peer of that family. */
struct wh_session_config rig_session_config(uint8_t family, uint16_t mtu, uint8_t **memory);

/* The end of one session, as its users know it. */
struct side {
	_Atomic(struct wh_session *) session;
	uint8_t *memory;
	enum wh_release_status outcome;
	bool closed;
	atomic_bool gone;
};

struct transfer {
	uint64_t bytes;
	struct side sender;
	struct side receiver;
	struct wh_stream_source source; /* of a stream of its own */
	struct wh_stream_sink sink;
	bool sink_told;
};

struct pair_shape {
	uint16_t mtu;
	uint8_t family; /* of the sessions */
	bool alone;     /* neither end has an address of the other family */
	uint16_t vlan;
	uint32_t attach_bytes;
	bool linearises;     /* the ports send single segments only */
	bool sums;           /* the ports compute UDP sums over IPv6 */
	const char *profile; /* of the sender; NULL: as preset */
};

/* Frames that were carried. */
struct seen {
	uint64_t frames;
	uint64_t chains;      /* of two segments, the second one in the sender's chunk memory */
	uint64_t other_vlans; /* without a tag of this VLAN, or with one where there is none */
	uint64_t ipv4;
	uint64_t ipv6;
	uint64_t udp6;
	uint64_t summed; /* their UDP sum was the port's to complete */
	uint64_t lost;   /* no room at the other end */
};

struct pair {
	struct pair_shape shape;
	struct rte_mempool *pool;
	struct cable cable[2];
	struct wh_address address[2];
	struct wh_netif netif[2];
	struct transfer transfer[RIG_TRANSFERS];
	uint32_t transfers;
	struct seen seen;
};

void pair_open(struct pair *pair, const struct pair_shape *shape);
void pair_close(struct pair *pair);

/* A transfer of so many bytes begins. */
void pair_start(struct pair *pair, uint64_t bytes);

/* What waits in the cables goes to the other end's; returns how many. */
int32_t pair_carry(struct pair *pair);

/* The sources, sinks and owners of all transfers; returns how much work was done. */
int32_t pair_run_users(struct pair *pair);

/* Every session has left. */
bool pair_is_over(const struct pair *pair);

/* Every byte arrived and both ends know it. */
void pair_check(const struct pair *pair);
