/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Two netifs in one process, a sender's and a receiver's, on ports made of rings; one session. */

#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_debug.h>
#include <rte_eth_ring.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "../rig/end.h"
#include "../rig/sas.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/meter.h"
#include "port/netif.h"

#define PAIR_MBUF_CACHE 256
#define PAIR_OPENING_NS (5 * WH_NS_PER_S)

enum side {
	SENDER,
	RECEIVER,
	SIDES,
};

struct pair {
	/* The caller's to fill in, and rings and pools to free. */
	struct wh_session_config config; /* of both ends, but for the chunks' memory */
	uint32_t attach_bytes;           /* of the netifs */
	enum wh_cipher cipher;           /* 0: nothing is sealed */
	struct rte_mempool *pool[SIDES];
	struct rte_ring *in[SIDES]; /* frames to a side, and from it */
	struct rte_ring *out[SIDES];
	struct wh_meter *rx_meter[SIDES]; /* NULL: not metered */
	struct wh_meter *tx_meter[SIDES];

	struct wh_rig_sadb sadb; /* with a cipher */
	struct wh_port *port[SIDES];
	uint8_t *chunks[SIDES];
	struct wh_netif netif[SIDES];
	struct wh_session *session[SIDES]; /* the receiver's: NULL before it has been accepted */
};

static inline struct wh_address pair_address(enum side side)
{
	return (struct wh_address){
		.family = WH_IPV4,
		.ip = {192, 0, 2, (uint8_t)(side + 1)},
		.port = WH_UDP_PORT_DEFAULT,
	};
}

/* At a fixed rate, 0: as fast as the window lets. */
static inline struct wh_session_config pair_config(uint16_t mtu, uint64_t rate_bps)
{
	struct wh_session_config config;

	wh_rig_session_config(&config, rte_get_tsc_hz(), 0, 0, 0);
	wh_rig_session_mtu(&config, WH_IPV4, mtu);
	config.rate_bps = rate_bps;
	return config;
}

static inline struct rte_ring *pair_ring(const char *name, uint32_t pkts)
{
	struct rte_ring *ring = rte_ring_create(
		name, pkts, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);

	if (ring == NULL)
		rte_exit(EXIT_FAILURE, "no memory for rings\n");
	return ring;
}

static inline void pair_ring_free(struct rte_ring *ring)
{
	void *mbuf = NULL;

	while (rte_ring_dequeue(ring, &mbuf) == 0)
		rte_pktmbuf_free(mbuf);
	rte_ring_free(ring);
}

static inline struct rte_mempool *pair_pool(const char *name, uint32_t mbufs, uint16_t mtu)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		name, mbufs, PAIR_MBUF_CACHE, 0, wh_port_room_bytes(mtu), SOCKET_ID_ANY);

	if (pool == NULL)
		rte_exit(EXIT_FAILURE, "no memory for packets\n");
	return pool;
}

static inline uint64_t pair_read_tsc(void)
{
	return rte_rdtsc();
}

static inline struct wh_session_config pair_config_of(const struct pair *pair, enum side side)
{
	struct wh_session_config config = pair->config;

	config.chunk_memory = pair->chunks[side];
	return config;
}

static inline enum wh_release_status pair_welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	const struct pair *pair = context;

	(void)now_tsc;
	(void)params;
	(void)peer;
	(void)sa;
	*buffer_chunks = pair->config.chunks;
	return WH_STATUS_PENDING;
}

static inline struct wh_session *pair_accept(void *context, uint64_t now_tsc, uint32_t cid,
	const struct wh_address *peer, const struct wh_sa *sa, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	struct pair *pair = context;
	struct wh_session_config config = pair_config_of(pair, RECEIVER);

	(void)sa;
	WH_ASSERT(pair->session[RECEIVER] == NULL);
	pair->session[RECEIVER] = wh_session_accept(&config, now_tsc, cid, peer, params, rtt_tsc);
	return pair->session[RECEIVER];
}

static inline void pair_open_port(struct pair *pair, enum side side)
{
	static const char *const names[SIDES] = {[SENDER] = "sender", [RECEIVER] = "receiver"};
	char why[WH_PORT_WHY_BYTES];
	int ethdev = rte_eth_from_rings(
		names[side], &pair->in[side], 1, &pair->out[side], 1, (unsigned int)SOCKET_ID_ANY);
	struct wh_port_config config = {
		.ethdev = (uint16_t)ethdev,
		.queues = 1,
		.mtu = (uint16_t)pair->config.packet_bytes,
		.pool = pair->pool[side],
		.socket = SOCKET_ID_ANY,
		.link_wait_ms = 100,
		.mac = {0x02, 'w', 'h', 0, 0, (uint8_t)(side + 1)},
	};

	if (ethdev < 0)
		rte_exit(EXIT_FAILURE, "no ring port\n");
	if (wh_port_open(&config, &pair->port[side], why, sizeof(why)) != 0)
		rte_exit(EXIT_FAILURE, "%s\n", why);
}

static inline void pair_open_netif(struct pair *pair, enum side side)
{
	struct wh_netif_config config = {
		.port = pair->port[side],
		.pool = pair->pool[side],
		.local4 = pair_address(side),
		.attach_bytes = pair->attach_bytes,
		.neighbour =
			{
				.hz = pair->config.hz,
				.mtu = (uint16_t)pair->config.packet_bytes,
				.ipv4 = {.prefix_bits = 24},
			},
		.endpoint =
			{
				.hz = pair->config.hz,
				.places = WH_ENDPOINT_PLACES_MIN,
				.rx_meter = pair->rx_meter[side],
				.tx_meter = pair->tx_meter[side],
				.sadb = pair->cipher != 0 ? &pair->sadb.sadb[side] : NULL,
			},
		.read_tsc = pair_read_tsc,
	};

	memcpy(config.neighbour.mac, &pair->port[side]->mac, sizeof(config.neighbour.mac));
	memcpy(config.neighbour.ipv4.ip, config.local4.ip, 4);
	if (side == RECEIVER) {
		config.endpoint.welcome = pair_welcome;
		config.endpoint.accept = pair_accept;
		config.endpoint.context = pair;
	}
	if (wh_netif_init(&pair->netif[side], &config) != 0)
		rte_exit(EXIT_FAILURE, "no memory for a netif\n");
}

/* Both ends, and the sender's session on its way; it opens as they are polled. */
static inline void pair_open(struct pair *pair, const char *name)
{
	size_t bytes = (size_t)pair->config.chunks * pair->config.chunk_bytes;

	if (pair->cipher != 0)
		wh_rig_sadb_open(&pair->sadb, 1, pair->cipher);
	for (enum side side = 0; side < SIDES; side++) {
		pair->chunks[side] = rte_zmalloc("chunks", bytes, WH_CHUNK_ALIGN);
		if (pair->chunks[side] == NULL)
			rte_exit(EXIT_FAILURE, "no memory for chunks\n");
		pair_open_port(pair, side);
		pair_open_netif(pair, side);
	}

	struct wh_session_config config = pair_config_of(pair, SENDER);
	struct wh_address to = pair_address(RECEIVER);

	config.sa = pair->sadb.sa[SENDER];

	pair->session[SENDER] = wh_session_open(&config, &to, name, WH_OBJECT_BYTES_UNKNOWN);
	if (pair->session[SENDER] == NULL ||
		wh_endpoint_open(&pair->netif[SENDER].endpoint, pair->session[SENDER]) != 0)
		rte_exit(EXIT_FAILURE, "no memory for a session\n");
}

static inline void pair_close(struct pair *pair)
{
	static const char *const devices[SIDES] = {"net_ring_sender", "net_ring_receiver"};

	for (enum side side = 0; side < SIDES; side++) {
		wh_netif_free(&pair->netif[side]);
		wh_session_destroy(pair->session[side]);
		wh_port_close(pair->port[side]);
		(void)rte_vdev_uninit(devices[side]);
		rte_free(pair->chunks[side]);
	}
	if (pair->cipher != 0)
		wh_rig_sadb_close(&pair->sadb);
}
