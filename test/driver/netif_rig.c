/* SPDX-License-Identifier: BSD-3-Clause */
#include "netif_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_eth_ring.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "../rig/end.h"
#include "eal.h"
#include "unit.h"

#define POOL_MBUFS  8191
#define POOL_CACHE  256
#define PLACES      64
#define WINDOW_PKTS 512
#define RATE_BPS    UINT64_C(10000000000)

static struct rte_ring *make_ring(const char *cable, const char *header, uint16_t queue)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%s_%u", cable, header, queue);

	struct rte_ring *ring = rte_ring_create(name, RIG_RING_PKTS, SOCKET_ID_ANY,
		RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);

	CU_ASSERT_PTR_NOT_NULL_FATAL(ring);
	return ring;
}

void cable_open(struct cable *cable, const char *name, uint16_t queues, uint16_t mtu,
	struct rte_mempool *pool, const uint8_t mac[6])
{
	char why[WH_PORT_WHY_BYTES] = "";

	*cable = (struct cable){.queues = queues};
	snprintf(cable->name, sizeof(cable->name), "net_ring_%s", name);
	for (uint16_t queue = 0; queue < queues; queue++) {
		cable->in[queue] = make_ring(name, "in", queue);
		cable->out[queue] = make_ring(name, "out", queue);
	}

	int ethdev = rte_eth_from_rings(
		name, cable->in, queues, cable->out, queues, (unsigned int)SOCKET_ID_ANY);

	CU_ASSERT_FATAL(ethdev >= 0);

	struct wh_port_config config = {
		.ethdev = (uint16_t)ethdev,
		.queues = queues,
		.mtu = mtu,
		.pool = pool,
		.socket = SOCKET_ID_ANY,
		.link_wait_ms = 100,
	};

	memcpy(config.mac, mac, sizeof(config.mac));
	CU_ASSERT_EQUAL_FATAL(wh_port_open(&config, &cable->port, why, sizeof(why)), 0);
	CU_ASSERT_STRING_EQUAL(why, "");
}

static void drain(struct rte_ring *ring)
{
	struct rte_mbuf *pkt;

	while (rte_ring_dequeue(ring, (void **)&pkt) == 0)
		rte_pktmbuf_free(pkt);
	rte_ring_free(ring);
}

void cable_close(struct cable *cable)
{
	wh_port_close(cable->port);
	CU_ASSERT_EQUAL(rte_vdev_uninit(cable->name), 0);
	for (uint16_t queue = 0; queue < cable->queues; queue++) {
		drain(cable->in[queue]);
		drain(cable->out[queue]);
	}
}

struct wh_session_config rig_session_config(uint8_t family, uint16_t mtu, uint8_t **memory)
{
	struct wh_session_config config;

	*memory = aligned_alloc(WH_CHUNK_ALIGN, RIG_CHUNKS * RIG_CHUNK_BYTES);
	WH_ASSERT(*memory != NULL);
	wh_rig_session_config(&config, RIG_NETIF_HZ, RIG_CHUNK_BYTES, RIG_CHUNKS, WINDOW_PKTS);
	wh_rig_session_mtu(&config, (enum wh_family)family, mtu);
	config.chunk_memory = *memory;
	config.rate_bps = RATE_BPS;
	config.initial_rtt_ns = 1000000;
	return config;
}

/* CUnit counts in one thread only; what the endpoints call may run in others. */
static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	const struct pair *pair = context;

	(void)now_tsc;
	(void)sa;
	WH_ASSERT(params->chunk_bytes == RIG_CHUNK_BYTES);
	WH_ASSERT(wh_address_equal(peer, &pair->address[0]));
	*buffer_chunks = RIG_CHUNKS;
	return WH_STATUS_PENDING;
}

/* By its name it is known which transfer's it is. */
static struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t cid,
	const struct wh_address *peer, const struct wh_sa *sa, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	struct pair *pair = context;
	uint64_t number = strtoul(params->name, NULL, 10);

	(void)sa;
	WH_ASSERT(number < pair->transfers);

	struct side *side = &pair->transfer[number].receiver;

	WH_ASSERT(atomic_load(&side->session) == NULL);

	struct wh_session_config config =
		rig_session_config(pair->shape.family, pair->shape.mtu, &side->memory);

	wh_session_config_profile(&config, wh_profile_by_number(params->profile));

	struct wh_session *session =
		wh_session_accept(&config, now_tsc, cid, peer, params, rtt_tsc);

	WH_ASSERT(session != NULL);
	wh_session_set_context(session, side);
	atomic_store(&side->session, session);
	return session;
}

static void session_gone(void *context, struct wh_session *session)
{
	struct side *side = wh_session_context(session);

	(void)context;
	atomic_store(&side->gone, true);
}

static void open_end(struct pair *pair, uint32_t end)
{
	const struct pair_shape *shape = &pair->shape;
	const uint8_t mac[6] = {2, 0, 0, 0, 0, (uint8_t)(end + 1)};
	const uint8_t last = (uint8_t)(end + 1);
	bool ipv4 = shape->family == WH_IPV4 || !shape->alone;
	bool ipv6 = shape->family == WH_IPV6 || !shape->alone;

	cable_open(&pair->cable[end], end == 0 ? "a" : "b", 1, shape->mtu, pair->pool, mac);
	if (shape->linearises)
		pair->cable[end].port->multi_segment_tx = false;
	pair->cable[end].port->udp_sum_tx = shape->sums;

	struct wh_netif_config config = {
		.port = pair->cable[end].port,
		.pool = pair->pool,
		.vlan = shape->vlan,
		.attach_bytes = shape->attach_bytes,
		.neighbour = {.hz = RIG_NETIF_HZ, .mtu = shape->mtu},
		.endpoint =
			{
				.hz = RIG_NETIF_HZ,
				.places = PLACES,
				.welcome = end == 1 ? welcome : NULL,
				.accept = end == 1 ? accept_session : NULL,
				.gone = session_gone,
				.context = pair,
			},
	};

	memcpy(config.neighbour.mac, mac, sizeof(mac));
	if (ipv4) {
		config.local4 = (struct wh_address){
			.family = WH_IPV4, .ip = {10, 0, 0, last}, .port = 5760};
		config.neighbour.ipv4.prefix_bits = 24;
		memcpy(config.neighbour.ipv4.ip, config.local4.ip, 4);
	}
	if (ipv6) {
		config.local6 = (struct wh_address){
			.family = WH_IPV6, .ip = {0xfd, [15] = last}, .port = 5760};
		config.neighbour.ipv6.prefix_bits = 64;
		memcpy(config.neighbour.ipv6.ip, config.local6.ip, 16);
	}
	pair->address[end] = shape->family == WH_IPV4 ? config.local4 : config.local6;
	CU_ASSERT_EQUAL_FATAL(wh_netif_init(&pair->netif[end], &config), 0);
}

void pair_open(struct pair *pair, const struct pair_shape *shape)
{
	memset(pair, 0, sizeof(*pair));
	pair->shape = *shape;
	pair->pool = rte_pktmbuf_pool_create(
		"pair", POOL_MBUFS, POOL_CACHE, 0, wh_port_room_bytes(shape->mtu), SOCKET_ID_ANY);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pair->pool);
	for (uint32_t end = 0; end < 2; end++)
		open_end(pair, end);
}

/* Chunk memory goes last: payloads that no one takes any more may still point into it. */
void pair_close(struct pair *pair)
{
	for (uint32_t end = 0; end < 2; end++)
		wh_netif_free(&pair->netif[end]);
	for (uint32_t end = 0; end < 2; end++)
		cable_close(&pair->cable[end]);
	for (uint32_t i = 0; i < pair->transfers; i++) {
		struct transfer *transfer = &pair->transfer[i];

		wh_stream_source_close(&transfer->source);
		wh_stream_sink_close(&transfer->sink);
		free(transfer->sender.memory);
		free(transfer->receiver.memory);
	}
	wh_test_pool_free(pair->pool);
}

void pair_start(struct pair *pair, uint64_t bytes)
{
	CU_ASSERT_FATAL(pair->transfers < RIG_TRANSFERS);

	uint32_t number = pair->transfers++;
	struct transfer *transfer = &pair->transfer[number];
	struct wh_session_config config =
		rig_session_config(pair->shape.family, pair->shape.mtu, &transfer->sender.memory);
	char name[16];

	snprintf(name, sizeof(name), "%u", number);
	config.seed = number + 1;
	if (pair->shape.profile != NULL)
		wh_session_config_profile(&config, wh_profile_find(pair->shape.profile));

	struct wh_session *session = wh_session_open(&config, &pair->address[1], name, bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	transfer->bytes = bytes;
	wh_session_set_context(session, &transfer->sender);
	atomic_store(&transfer->sender.session, session);
	wh_stream_source_open(&transfer->source, bytes, number + 1, RIG_CHUNK_BYTES, false,
		wh_session_free_chunks(session), wh_session_ready_chunks(session));
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_open(&pair->netif[0].endpoint, session), 0);
}

static bool is_in_chunks(const struct pair *pair, const void *bytes)
{
	for (uint32_t i = 0; i < pair->transfers; i++) {
		const uint8_t *memory = pair->transfer[i].sender.memory;

		if ((const uint8_t *)bytes >= memory &&
			(const uint8_t *)bytes < memory + RIG_CHUNKS * RIG_CHUNK_BYTES)
			return true;
	}
	return false;
}

static void look_at(struct pair *pair, const struct rte_mbuf *pkt)
{
	const uint8_t *frame = rte_pktmbuf_mtod(pkt, const uint8_t *);
	const uint8_t *type = &frame[12];
	struct seen *seen = &pair->seen;
	uint16_t vlan = 0;

	seen->frames++;
	if (type[0] == 0x81 && type[1] == 0x00) {
		vlan = (uint16_t)(type[2] << 8 | type[3]);
		type += 4;
	}
	seen->other_vlans += vlan != pair->shape.vlan;
	seen->ipv4 += type[0] == 0x08 && type[1] == 0x00;
	seen->ipv6 += type[0] == 0x86 && type[1] == 0xdd;
	seen->udp6 += type[0] == 0x86 && type[1] == 0xdd && type[2 + 6] == 17;
	seen->chains += pkt->nb_segs == 2 &&
			pkt->pkt_len == (uint32_t)pkt->data_len + pkt->next->data_len &&
			is_in_chunks(pair, rte_pktmbuf_mtod(pkt->next, const void *));
}

/* What a device does that was left a UDP sum: to the pseudo-header's it adds all from UDP on. */
static void complete_sum(struct pair *pair, struct rte_mbuf *pkt)
{
	const uint64_t asked = RTE_MBUF_F_TX_UDP_CKSUM | RTE_MBUF_F_TX_IPV6;
	uint32_t udp_at = (uint32_t)(pkt->l2_len + pkt->l3_len);
	uint16_t sum = 0;

	if ((pkt->ol_flags & asked) != asked)
		return;
	WH_ASSERT(rte_raw_cksum_mbuf(pkt, udp_at, pkt->pkt_len - udp_at, &sum) == 0);
	sum = (uint16_t)~sum;
	rte_pktmbuf_mtod_offset(pkt, struct rte_udp_hdr *, udp_at)->dgram_cksum =
		sum == 0 ? UINT16_MAX : sum;
	pkt->ol_flags &= ~asked;
	pair->seen.summed++;
}

int32_t pair_carry(struct pair *pair)
{
	int32_t carried = 0;
	struct rte_mbuf *pkt;

	for (uint32_t end = 0; end < 2; end++) {
		while (rte_ring_sc_dequeue(pair->cable[end].out[0], (void **)&pkt) == 0) {
			carried++;
			look_at(pair, pkt);
			complete_sum(pair, pkt);
			if (rte_ring_sp_enqueue(pair->cable[1 - end].in[0], pkt) == 0)
				continue;
			pair->seen.lost++;
			rte_pktmbuf_free(pkt);
		}
	}
	return carried;
}

/* The outcome is known now, and the user has yet to let go. */
static bool is_decided(struct side *side)
{
	if (side->closed)
		return false;
	side->outcome = wh_session_news(atomic_load(&side->session)).outcome;
	return side->outcome != WH_STATUS_PENDING;
}

static int32_t let_go(struct side *side)
{
	side->closed = true;
	wh_session_ask(atomic_load(&side->session), WH_WISH_CLOSE, WH_STATUS_PENDING);
	return 1;
}

/* No core holds it any more: it is destroyed. */
static int32_t bury(struct side *side)
{
	if (!side->closed || !atomic_load(&side->gone))
		return 0;
	wh_session_destroy(atomic_load(&side->session));
	atomic_store(&side->session, NULL);
	return 1;
}

static int32_t run_sender(struct transfer *transfer)
{
	struct side *side = &transfer->sender;
	struct wh_session *session = atomic_load(&side->session);
	int32_t work = 0;

	if (session == NULL)
		return 0;
	if (!side->closed && (work = wh_stream_source_poll(&transfer->source, UINT64_MAX)) > 0)
		wh_session_kick(session);
	if (is_decided(side))
		work += let_go(side);
	return work + bury(side);
}

static int32_t take_down(struct transfer *transfer, struct wh_session *session)
{
	int32_t work = wh_stream_sink_poll(&transfer->sink);

	if (work > 0)
		wh_session_kick(session);
	if (transfer->sink.done != WH_STREAM_RUNNING && !transfer->sink_told) {
		transfer->sink_told = true;
		wh_session_ask(session, WH_WISH_SINK_DONE,
			transfer->sink.done == WH_STREAM_OK ? WH_STATUS_VERIFIED
							    : WH_STATUS_MISMATCH);
	}
	return work;
}

static int32_t run_receiver(struct transfer *transfer, uint64_t seed)
{
	struct side *side = &transfer->receiver;
	struct wh_session *session = atomic_load(&side->session);
	int32_t work = 0;

	if (session == NULL)
		return 0;
	if (transfer->sink.deliver == NULL)
		wh_stream_sink_open(&transfer->sink, transfer->bytes, seed,
			wh_session_deliver_chunks(session), wh_session_recycled_chunks(session));
	if (!side->closed)
		work = take_down(transfer, session);
	if (is_decided(side))
		work += let_go(side);
	return work + bury(side);
}

int32_t pair_run_users(struct pair *pair)
{
	int32_t work = 0;

	for (uint32_t i = 0; i < pair->transfers; i++)
		work += run_sender(&pair->transfer[i]) + run_receiver(&pair->transfer[i], i + 1);
	return work;
}

bool pair_is_over(const struct pair *pair)
{
	for (uint32_t i = 0; i < pair->transfers; i++) {
		const struct transfer *transfer = &pair->transfer[i];

		if (!atomic_load(&transfer->sender.gone) ||
			!atomic_load(&transfer->receiver.gone) ||
			atomic_load(&transfer->sender.session) != NULL ||
			atomic_load(&transfer->receiver.session) != NULL)
			return false;
	}
	return true;
}

void pair_check(const struct pair *pair)
{
	for (uint32_t i = 0; i < pair->transfers; i++) {
		const struct transfer *transfer = &pair->transfer[i];

		CU_ASSERT_EQUAL(transfer->sender.outcome, WH_STATUS_VERIFIED);
		CU_ASSERT_EQUAL(transfer->receiver.outcome, WH_STATUS_VERIFIED);
		CU_ASSERT_EQUAL(transfer->sink.bytes, transfer->bytes);
	}
}
