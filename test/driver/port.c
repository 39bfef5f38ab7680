/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "eal.h"
#include "port/arrived.h"
#include "port/interrupts.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/port";

#define MTU         9000
#define FRAME_BYTES (MTU + 14)
#define RING_PKTS   32

/* A port whose queue receives what it sends: the driver passes mbufs on as they are. */
struct loop {
	struct rte_ring *ring;
	struct rte_mempool *pool;  /* of the port */
	struct rte_mempool *small; /* of senders: 256 bytes of data each */
	uint16_t ethdev;
	struct wh_port *port;
};

static void loop_open_with(struct loop *loop, const uint8_t mac[6])
{
	char why[WH_PORT_WHY_BYTES] = "";

	loop->pool = wh_test_pool("loop", 64, wh_port_room_bytes(MTU));
	loop->small = wh_test_pool("small", 512, RTE_PKTMBUF_HEADROOM + 256);
	loop->ring = rte_ring_create(
		"loop", RING_PKTS, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	CU_ASSERT_PTR_NOT_NULL_FATAL(loop->ring);

	int ethdev = rte_eth_from_ring(loop->ring);

	CU_ASSERT_FATAL(ethdev >= 0);
	loop->ethdev = (uint16_t)ethdev;

	struct wh_port_config config = {.ethdev = loop->ethdev,
		.queues = 1,
		.mtu = MTU,
		.pool = loop->pool,
		.socket = SOCKET_ID_ANY,
		.link_wait_ms = 100};

	memcpy(config.mac, mac, sizeof(config.mac));
	CU_ASSERT_EQUAL_FATAL(wh_port_open(&config, &loop->port, why, sizeof(why)), 0);
	CU_ASSERT_STRING_EQUAL(why, "");
}

static void loop_open(struct loop *loop)
{
	loop_open_with(loop, (const uint8_t[6]){0});
}

static void loop_close(struct loop *loop)
{
	struct rte_mbuf *pkt;

	wh_port_close(loop->port);
	CU_ASSERT_EQUAL(rte_vdev_uninit("net_ring_loop"), 0);
	while (rte_ring_dequeue(loop->ring, (void **)&pkt) == 0)
		rte_pktmbuf_free(pkt);
	rte_ring_free(loop->ring);
	wh_test_pool_free(loop->small);
	wh_test_pool_free(loop->pool);
}

static uint64_t dropped(const struct loop *loop, enum wh_port_drop reason)
{
	return wh_port_stats(loop->port, 0)->dropped_pkts[reason];
}

static uint16_t send_one(struct loop *loop, struct rte_mbuf *pkt)
{
	return wh_port_send(loop->port, 0, &pkt, 1);
}

/* Receives one frame and says whether it is that one. */
static bool receive_is(struct loop *loop, uint32_t number, uint32_t bytes)
{
	struct rte_mbuf *pkt;

	if (wh_port_receive(loop->port, 0, &pkt, 1) != 1)
		return false;

	bool is = pkt->pkt_len == bytes && wh_test_is_frame(pkt, number, bytes);

	rte_pktmbuf_free(pkt);
	return is;
}

static void test_open(void)
{
	struct loop loop;
	uint16_t ethdev = UINT16_MAX;

	loop_open(&loop);
	CU_ASSERT_EQUAL(wh_port_find("net_ring_loop", &ethdev), 0);
	CU_ASSERT_EQUAL(ethdev, loop.ethdev);
	CU_ASSERT_EQUAL(wh_port_find("net_ring_none", &ethdev), -ENODEV);
	CU_ASSERT(loop.port->multi_segment_tx);
	CU_ASSERT(loop.port->link_up);

	/* net_ring has no address of its own: one is made up, with the bit for "local" set */
	CU_ASSERT_EQUAL(loop.port->mac[0] & 3, 2);
	loop_close(&loop);
	CU_ASSERT_EQUAL(wh_port_find("net_ring_loop", &ethdev), -ENODEV);
}

/* net_ring refuses to set an address, and need not know the one that headers carry. */
static void test_given_mac(void)
{
	static const uint8_t mac[6] = {0x02, 1, 2, 3, 4, 5};
	struct loop loop;

	loop_open_with(&loop, mac);
	CU_ASSERT_EQUAL(memcmp(loop.port->mac, mac, sizeof(mac)), 0);
	loop_close(&loop);
}

static void test_room(void)
{
	/* headroom 128; 9000 + 26 rounded up to 9088, and 256 more; 2048 at the least */
	CU_ASSERT_EQUAL(wh_port_room_bytes(9000), 128 + 9088 + 256);
	CU_ASSERT_EQUAL(wh_port_room_bytes(1500), 128 + 2048);
	CU_ASSERT_EQUAL(wh_port_room_bytes(1), 128 + 2048);

	/* AF_XDP: a frame with a tag behind 256 bytes; and the whole, mbuf and all, in a page */
	for (uint16_t mtu = 1; mtu <= 3400; mtu++) {
		CU_ASSERT_FATAL(wh_port_room_bytes(mtu) >= 128 + 256 + 14 + 4 + mtu);
		CU_ASSERT_FATAL(wh_port_room_bytes(mtu) + sizeof(struct rte_mbuf) +
					sizeof(struct rte_mempool_objhdr) <=
				4096);
	}
}

static void test_impossible(void)
{
	struct loop loop;
	char why[WH_PORT_WHY_BYTES];

	loop_open(&loop);

	struct wh_port *port = NULL;
	struct wh_port_config good = {.ethdev = loop.ethdev,
		.queues = 1,
		.mtu = 1500,
		.pool = loop.pool,
		.socket = SOCKET_ID_ANY};
	struct {
		uint16_t ethdev, queues, mtu;
		struct rte_mempool *pool;
		int error;
		const char *says;
	} cases[] = {
		{31, 1, 1500, loop.pool, -ENODEV,
			"there is no port 31: bind a NIC to vfio-pci, or give a --vdev"},
		{loop.ethdev, 0, 1500, loop.pool, -EINVAL,
			"port net_ring_loop cannot have 0 queues: choose 1 to 16"},
		{loop.ethdev, 17, 1500, loop.pool, -EINVAL,
			"port net_ring_loop cannot have 17 queues: choose 1 to 16"},
		{loop.ethdev, 2, 1500, loop.pool, -EINVAL,
			"port net_ring_loop has 1 queues, not 2: ask for fewer"},
		{loop.ethdev, 1, 0, loop.pool, -EINVAL,
			"port net_ring_loop cannot have an MTU of 0: choose 1 to 32000"},
		{loop.ethdev, 1, 45, loop.pool, -EINVAL,
			"port net_ring_loop takes an MTU of 46 to 65535, not 45"},
		{loop.ethdev, 1, 1500, loop.small, -EINVAL,
			"port net_ring_loop at MTU 1500 needs mbufs of 2176 bytes, "
			"those of pool small have 384"},
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct wh_port_config config = good;

		config.ethdev = cases[i].ethdev;
		config.queues = cases[i].queues;
		config.mtu = cases[i].mtu;
		config.pool = cases[i].pool;
		why[0] = '\0';
		CU_ASSERT_EQUAL(wh_port_open(&config, &port, why, sizeof(why)), cases[i].error);
		CU_ASSERT_STRING_EQUAL(why, cases[i].says);
		CU_ASSERT_PTR_NULL(port);
	}

	/* In use: the sentence comes from the step that the driver refuses. */
	CU_ASSERT_EQUAL(wh_port_open(&good, &port, why, sizeof(why)), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "or close it first"));
	CU_ASSERT_PTR_NULL(port);
	loop_close(&loop);
}

static void test_checksum_flags(void)
{
	static const struct {
		uint64_t flags;
		bool kept;
		bool unknown;
	} cases[] = {
		{0, true, true},
		{RTE_MBUF_F_RX_L4_CKSUM_GOOD, true, false},
		{RTE_MBUF_F_RX_L4_CKSUM_NONE, true, false},
		{RTE_MBUF_F_RX_L4_CKSUM_BAD, false, false},
		{RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD, true, false},
		{RTE_MBUF_F_RX_IP_CKSUM_NONE, true, true},
		{RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_GOOD, false, false},
	};
	struct loop loop;
	uint64_t bad = 0;

	loop_open(&loop);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_mbuf *pkt = wh_test_frame(loop.small, i, 100);

		pkt->ol_flags = cases[i].flags;
		CU_ASSERT_EQUAL(send_one(&loop, pkt), 1);

		struct rte_mbuf *came;
		uint16_t kept = wh_port_receive(loop.port, 0, &came, 1);

		CU_ASSERT_EQUAL(kept, cases[i].kept);
		bad += !cases[i].kept;
		CU_ASSERT_EQUAL(dropped(&loop, WH_PORT_RX_CHECKSUM), bad);
		if (kept == 1) {
			CU_ASSERT_EQUAL(wh_port_udp_sum_unknown(came), cases[i].unknown);
			rte_pktmbuf_free(came);
		}
	}
	CU_ASSERT_EQUAL(bad, 2);
	loop_close(&loop);
}

/* Of four packets in one burst two are bad: the others close up. */
static void test_burst_closes_up(void)
{
	struct loop loop;
	struct rte_mbuf *pkts[4];

	loop_open(&loop);
	for (uint32_t i = 0; i < 4; i++) {
		pkts[i] = wh_test_frame(loop.small, i, 60 + i);
		if (i % 2 == 0)
			pkts[i]->ol_flags = RTE_MBUF_F_RX_L4_CKSUM_BAD;
	}
	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, pkts, 4), 4);
	CU_ASSERT_EQUAL_FATAL(wh_port_receive(loop.port, 0, pkts, 4), 2);
	CU_ASSERT(wh_test_is_frame(pkts[0], 1, 61));
	CU_ASSERT(wh_test_is_frame(pkts[1], 3, 63));
	rte_pktmbuf_free_bulk(pkts, 2);

	const struct wh_port_stats *stats = wh_port_stats(loop.port, 0);

	CU_ASSERT_EQUAL(stats->tx_pkts, 4);
	CU_ASSERT_EQUAL(stats->tx_bytes, 60 + 61 + 62 + 63);
	CU_ASSERT_EQUAL(stats->rx_pkts, 2);
	CU_ASSERT_EQUAL(stats->rx_bytes, 61 + 63);
	loop_close(&loop);
}

static void test_received_chains(void)
{
	struct loop loop;
	uint32_t room_bytes = wh_port_room_bytes(MTU) - RTE_PKTMBUF_HEADROOM;

	loop_open(&loop);
	CU_ASSERT_EQUAL(send_one(&loop, wh_test_chain(loop.small, 1, 9014, 256)), 1);
	CU_ASSERT(receive_is(&loop, 1, 9014));
	CU_ASSERT_EQUAL(send_one(&loop, wh_test_chain(loop.small, 2, 61, 60)), 1);
	CU_ASSERT(receive_is(&loop, 2, 61));

	/* the last byte that fits, and the first that does not */
	CU_ASSERT_EQUAL(send_one(&loop, wh_test_chain(loop.small, 3, room_bytes, 256)), 1);
	CU_ASSERT(receive_is(&loop, 3, room_bytes));
	CU_ASSERT_EQUAL(send_one(&loop, wh_test_chain(loop.small, 4, room_bytes + 1, 256)), 1);
	CU_ASSERT_FALSE(receive_is(&loop, 4, room_bytes + 1));
	CU_ASSERT_EQUAL(dropped(&loop, WH_PORT_RX_CHAIN), 1);
	CU_ASSERT_EQUAL(dropped(&loop, WH_PORT_RX_NO_MBUF), 0);

	struct rte_mbuf *all[64];

	CU_ASSERT_EQUAL_FATAL(rte_pktmbuf_alloc_bulk(loop.pool, all, 64), 0);
	CU_ASSERT_EQUAL(send_one(&loop, wh_test_chain(loop.small, 5, 300, 256)), 1);
	CU_ASSERT_FALSE(receive_is(&loop, 5, 300));
	CU_ASSERT_EQUAL(dropped(&loop, WH_PORT_RX_NO_MBUF), 1);
	rte_pktmbuf_free_bulk(all, 64);
	loop_close(&loop);
}

static void count_call(void *address, void *calls)
{
	(void)address;
	++*(unsigned int *)calls;
}

/* A header in an mbuf, the payload in memory of our own. */
static struct rte_mbuf *outside_frame(struct loop *loop, uint32_t number, uint8_t *payload,
	uint16_t payload_bytes, struct rte_mbuf_ext_shared_info *shared)
{
	struct rte_mbuf *head = wh_test_frame(loop->small, number, 60);
	struct rte_mbuf *body = rte_pktmbuf_alloc(loop->small);

	CU_ASSERT_PTR_NOT_NULL_FATAL(body);
	for (uint32_t i = 0; i < payload_bytes; i++)
		payload[i] = wh_test_byte(number, 60 + i);
	rte_mbuf_ext_refcnt_set(shared, 1);
	rte_pktmbuf_attach_extbuf(body, payload, RTE_BAD_IOVA, payload_bytes, shared);
	body->data_len = payload_bytes;
	body->pkt_len = payload_bytes;
	CU_ASSERT_EQUAL_FATAL(rte_pktmbuf_chain(head, body), 0);
	return head;
}

/* As on AF_XDP, which sends wrong bytes of chains and of outside memory. */
static void test_sending_without_segments(void)
{
	struct loop loop;
	static uint8_t payload[8954];
	unsigned int calls = 0;
	struct rte_mbuf_ext_shared_info shared = {.free_cb = count_call, .fcb_opaque = &calls};
	const struct wh_port_stats *stats;

	loop_open(&loop);
	loop.port->multi_segment_tx = false;
	stats = wh_port_stats(loop.port, 0);

	CU_ASSERT_EQUAL(send_one(&loop, wh_test_frame(loop.small, 1, 200)), 1);
	CU_ASSERT(receive_is(&loop, 1, 200));
	CU_ASSERT_EQUAL(stats->tx_linearised, 0);

	struct rte_mbuf *pkt = outside_frame(&loop, 2, payload, sizeof(payload), &shared);
	struct rte_mbuf *came;

	CU_ASSERT_EQUAL(send_one(&loop, pkt), 1);
	CU_ASSERT_EQUAL(stats->tx_linearised, 1);
	CU_ASSERT_EQUAL(calls, 1); /* the copy was made, the payload is ours again */
	memset(payload, 0, sizeof(payload));
	CU_ASSERT_EQUAL_FATAL(wh_port_receive(loop.port, 0, &came, 1), 1);
	CU_ASSERT_PTR_EQUAL(came->pool, loop.pool);
	CU_ASSERT_EQUAL(came->pkt_len, 9014);
	CU_ASSERT(wh_test_is_frame(came, 2, 9014));
	rte_pktmbuf_free(came);

	/* one that can never be sent does not stop those behind it */
	struct rte_mbuf *pkts[3] = {wh_test_chain(loop.small, 3, 100, 90),
		wh_test_chain(loop.small, 4, 9400, 256), wh_test_chain(loop.small, 5, 100, 90)};

	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, pkts, 3), 3);
	CU_ASSERT_EQUAL(dropped(&loop, WH_PORT_TX_CHAIN), 1);
	CU_ASSERT(receive_is(&loop, 3, 100));
	CU_ASSERT(receive_is(&loop, 5, 100));

	/* out of mbufs: what cannot be copied stays with the caller */
	struct rte_mbuf *all[64];

	CU_ASSERT_EQUAL_FATAL(rte_pktmbuf_alloc_bulk(loop.pool, all, 64), 0);
	pkts[0] = wh_test_frame(loop.small, 6, 100);
	pkts[1] = wh_test_chain(loop.small, 7, 100, 90);
	pkts[2] = wh_test_frame(loop.small, 8, 100);
	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, pkts, 3), 1);
	rte_pktmbuf_free_bulk(all, 64);
	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, &pkts[1], 2), 2);
	for (uint32_t number = 6; number <= 8; number++)
		CU_ASSERT(receive_is(&loop, number, 100));
	loop_close(&loop);
}

static void test_backlog(void)
{
	struct loop loop;
	struct rte_mbuf *pkts[200];
	const struct wh_port_stats *stats;
	uint32_t expected = 0;

	loop_open(&loop);
	stats = wh_port_stats(loop.port, 0);
	for (uint32_t i = 0; i < 200; i++)
		pkts[i] = wh_test_frame(loop.small, i, 100);

	/* 32 go into the ring, 8 wait; then 56 more may wait, then none */
	CU_ASSERT_EQUAL(wh_port_send_room(loop.port, 0), 64);
	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, &pkts[0], 40), 40);
	CU_ASSERT_EQUAL(wh_port_send_room(loop.port, 0), 56);
	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, &pkts[40], 100), 56);
	CU_ASSERT_EQUAL(wh_port_send_room(loop.port, 0), 0);
	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, &pkts[96], 1), 0);
	CU_ASSERT_EQUAL(stats->tx_pkts, 32);
	CU_ASSERT_EQUAL(stats->tx_full, 3);

	/* the backlog goes first, so that order is kept; 5 left the ring, 5 more are taken */
	for (; expected < 5; expected++)
		CU_ASSERT(receive_is(&loop, expected, 100));
	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, &pkts[96], 104), 5);
	for (uint32_t next = 101; expected < 200; expected++) {
		CU_ASSERT(receive_is(&loop, expected, 100));
		if (next < 200)
			next += wh_port_send(loop.port, 0, &pkts[next], (uint16_t)(200 - next));
		else
			wh_port_flush(loop.port, 0);
	}
	CU_ASSERT_EQUAL(wh_port_flush(loop.port, 0), 0);
	CU_ASSERT_EQUAL(stats->tx_pkts, 200);
	CU_ASSERT_EQUAL(stats->rx_pkts, 200);
	CU_ASSERT_EQUAL(stats->tx_bytes, 20000);
	for (uint32_t i = 0; i < WH_PORT_DROPS; i++)
		CU_ASSERT_EQUAL(stats->dropped_pkts[i], 0);
	loop_close(&loop);
}

static void test_link_down(void)
{
	struct loop loop;
	struct rte_mbuf *pkts[50];

	loop_open(&loop);
	for (uint32_t i = 0; i < 50; i++)
		pkts[i] = wh_test_frame(loop.small, i, 100);
	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, pkts, 40), 40);
	CU_ASSERT_EQUAL(rte_eth_dev_set_link_down(loop.ethdev), 0);
	CU_ASSERT_FALSE(wh_port_watch_link(loop.port));
	CU_ASSERT_EQUAL(wh_port_await_link(loop.port, 3), -ENETDOWN);

	/* 8 from the backlog, then 10 that come while it is down */
	CU_ASSERT_EQUAL(wh_port_flush(loop.port, 0), 0);
	CU_ASSERT_EQUAL(dropped(&loop, WH_PORT_TX_LINK_DOWN), 8);
	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, &pkts[40], 10), 10);
	CU_ASSERT_EQUAL(dropped(&loop, WH_PORT_TX_LINK_DOWN), 18);
	CU_ASSERT_EQUAL(wh_port_send_room(loop.port, 0), 64);

	for (uint32_t i = 0; i < 32; i++)
		CU_ASSERT(receive_is(&loop, i, 100));
	CU_ASSERT_EQUAL(rte_eth_dev_set_link_up(loop.ethdev), 0);
	CU_ASSERT_EQUAL(wh_port_await_link(loop.port, 3), 0);
	CU_ASSERT_EQUAL(send_one(&loop, wh_test_frame(loop.small, 99, 100)), 1);
	CU_ASSERT(receive_is(&loop, 99, 100));
	loop_close(&loop);
}

static void test_stopped(void)
{
	struct loop loop;
	struct rte_mbuf *pkts[40];
	struct wh_port_stats total;

	loop_open(&loop);
	for (uint32_t i = 0; i < 40; i++)
		pkts[i] = wh_test_frame(loop.small, i, 100);
	CU_ASSERT_EQUAL(wh_port_send(loop.port, 0, pkts, 40), 40);
	wh_port_stop(loop.port);
	CU_ASSERT_EQUAL(dropped(&loop, WH_PORT_TX_STOPPED), 8);
	CU_ASSERT_EQUAL(wh_port_receive(loop.port, 0, pkts, 40), 0);
	CU_ASSERT_EQUAL(send_one(&loop, wh_test_frame(loop.small, 1, 100)), 1);
	CU_ASSERT_FALSE(wh_port_watch_link(loop.port));
	wh_port_stop(loop.port);
	wh_port_stats_total(loop.port, &total);
	CU_ASSERT_EQUAL(total.dropped_pkts[WH_PORT_TX_STOPPED], 9);
	CU_ASSERT_EQUAL(total.tx_pkts, 32);
	CU_ASSERT_EQUAL(total.tx_bytes, 3200);
	loop_close(&loop);
}

/*
 * memif says that its longest frame is 1518 bytes, refuses to be configured for more, and carries
 * 9014. Its link is down until the peer is there.
 */
static void test_memif_jumbo(void)
{
	char args[2][96];
	const char *names[2] = {"net_memif0", "net_memif1"};
	const char *roles[2] = {"server", "client"};
	char why[WH_PORT_WHY_BYTES] = "";
	struct rte_mempool *pool = wh_test_pool("memif", 256, wh_port_room_bytes(MTU));
	struct wh_port *port[2] = {NULL, NULL};
	struct rte_mbuf *pkt = NULL;

	for (unsigned int i = 0; i < 2; i++) {
		struct wh_port_config config = {.queues = 1,
			.mtu = MTU,
			.pool = pool,
			.socket = SOCKET_ID_ANY,
			.link_wait_ms = i == 0 ? 2 : 2000};

		snprintf(args[i], sizeof(args[i]),
			"role=%s,bsize=2048,rsize=8,socket=@wh_driver_port_%d,socket-abstract=yes",
			roles[i], (int)getpid());
		CU_ASSERT_EQUAL_FATAL(rte_vdev_init(names[i], args[i]), 0);
		CU_ASSERT_EQUAL_FATAL(wh_port_find(names[i], &config.ethdev), 0);
		if (i == 0) {
			CU_ASSERT_EQUAL(
				wh_port_open(&config, &port[i], why, sizeof(why)), -ENETDOWN);
			CU_ASSERT_STRING_EQUAL(why, "the link of port net_memif0 is still down "
						    "after 2 ms: check cable and peer");
			CU_ASSERT_PTR_NULL(port[i]);
			config.link_wait_ms = 0;
		}
		CU_ASSERT_EQUAL_FATAL(wh_port_open(&config, &port[i], why, sizeof(why)), 0);
		CU_ASSERT_NOT_EQUAL(memcmp(port[i]->mac, (const uint8_t[6]){0}, 6), 0);
	}
	CU_ASSERT_EQUAL(wh_port_await_link(port[0], 2000), 0);

	struct rte_mbuf *sent = wh_test_frame(pool, 7, FRAME_BYTES);

	CU_ASSERT_EQUAL(wh_port_send(port[0], 0, &sent, 1), 1);

	/* what a memif server sends goes into buffers that the client offers when it receives */
	for (unsigned int tries = 0; tries < 1000 && pkt == NULL; tries++) {
		(void)wh_port_receive(port[1], 0, &pkt, 1);
		(void)wh_port_flush(port[0], 0);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(pkt);
	CU_ASSERT_EQUAL(pkt->pkt_len, FRAME_BYTES);
	CU_ASSERT(wh_test_is_frame(pkt, 7, FRAME_BYTES));
	rte_pktmbuf_free(pkt);

	/* the rings stay where they are until somebody asks for the link: a burst may be on them */
	struct rte_eth_link link;

	wh_port_close(port[1]);
	rte_delay_us_sleep(20000);
	CU_ASSERT_EQUAL(rte_eth_link_get_nowait(port[0]->ethdev, &link), 0);
	CU_ASSERT_EQUAL(link.link_status, RTE_ETH_LINK_UP);
	CU_ASSERT_EQUAL(wh_port_receive(port[0], 0, &pkt, 1), 0);

	/* the other end hears of it, and is closed at once */
	bool heard = false;

	for (unsigned int ms = 0; ms < 2000 && !heard; ms++, rte_delay_us_sleep(1000))
		heard = !wh_port_watch_link(port[0]);
	CU_ASSERT_TRUE(heard);
	wh_port_close(port[0]);
	for (unsigned int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(rte_vdev_uninit(names[i]), 0);
	wh_test_pool_free(pool);
}

static void test_names(void)
{
	for (unsigned int i = 0; i < WH_PORT_GROUPS; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(wh_port_groups_name(i));
		for (unsigned int j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(wh_port_groups_name(i), wh_port_groups_name(j));
	}
	for (unsigned int i = 0; i < WH_PORT_DROPS; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(wh_port_drop_name(i));
		for (unsigned int j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(wh_port_drop_name(i), wh_port_drop_name(j));
	}
}

static void count_alarm(void *count)
{
	atomic_fetch_add((atomic_uint *)count, 1);
}

/* Of three alarms, those that came within that time. */
static unsigned int count_of_alarms(unsigned int wait_ms)
{
	static atomic_uint count;

	atomic_store(&count, 0);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(rte_eal_alarm_set(1, count_alarm, &count), 0);
	for (unsigned int ms = 0; ms < wait_ms && atomic_load(&count) < 3; ms++)
		rte_delay_us_sleep(1000);
	return atomic_load(&count);
}

/* Were the thread not stopped it would look at memif's socket after the EAL's end. */
static void test_interrupts(void)
{
	CU_ASSERT_EQUAL(count_of_alarms(5000), 3);
	CU_ASSERT(wh_interrupts_park());
	CU_ASSERT_EQUAL(count_of_alarms(20), 0);
	CU_ASSERT(wh_interrupts_park());
}

struct seen {
	uint32_t calls;
	uint32_t pkts;
	uint64_t bytes;
};

static void see(void *context, struct rte_mbuf *const *pkts, uint16_t count)
{
	struct seen *seen = context;

	seen->calls++;
	seen->pkts += count;
	for (uint16_t i = 0; i < count; i++)
		seen->bytes += pkts[i]->pkt_len;
}

/* Each frame once, whether the device takes it at once, later or never; nobody looks afterwards. */
static void test_tap(void)
{
	struct seen sent = {0};
	struct seen got = {0};
	const struct wh_port_tap tx = {see, &sent};
	const struct wh_port_tap rx = {see, &got};
	struct rte_mbuf *pkts[64];
	struct loop loop;
	uint16_t taken = 0;

	loop_open(&loop);
	wh_port_set_tap(loop.port, 0, true, &tx);
	wh_port_set_tap(loop.port, 0, false, &rx);
	for (uint32_t i = 0; i < 64; i++) {
		pkts[i] = wh_test_frame(loop.small, i, 100);
		CU_ASSERT_PTR_NOT_NULL_FATAL(pkts[i]);
	}
	/* The ring takes 32; of the rest there is room for as many as are told. */
	taken = wh_port_send(loop.port, 0, pkts, 40);
	CU_ASSERT_EQUAL(taken, 40);
	taken += wh_port_send(loop.port, 0, &pkts[40], 24);
	CU_ASSERT_EQUAL(taken, 64);
	CU_ASSERT_EQUAL(sent.pkts, 64);
	CU_ASSERT_EQUAL(sent.bytes, 6400);
	for (uint32_t i = 0; i < 64; i++)
		CU_ASSERT_TRUE(receive_is(&loop, i, 100) ||
			       (wh_port_flush(loop.port, 0) < 64 && receive_is(&loop, i, 100)));
	CU_ASSERT_EQUAL(sent.pkts, 64);
	CU_ASSERT_EQUAL(got.pkts, 64);
	CU_ASSERT_EQUAL(got.calls, 64);
	wh_port_set_tap(loop.port, 0, true, NULL);
	wh_port_set_tap(loop.port, 0, false, NULL);
	CU_ASSERT_EQUAL(send_one(&loop, wh_test_frame(loop.small, 7, 100)), 1);
	CU_ASSERT_TRUE(receive_is(&loop, 7, 100));
	CU_ASSERT_EQUAL(sent.pkts + got.pkts, 128);
	loop_close(&loop);
}

CU_TestInfo wh_tests[] = {
	{"the EAL starts without hugepages", wh_test_eal_start},
	{"a port opens, is found by name, and is gone when closed", test_open},
	{"a given address is used where the device has none", test_given_mac},
	{"mbuf room for an MTU", test_room},
	{"impossible configurations get a sentence", test_impossible},
	{"checksum flags: bad is dropped, none and unknown are not", test_checksum_flags},
	{"what is kept of a burst closes up", test_burst_closes_up},
	{"received chains are made one segment, or counted", test_received_chains},
	{"without multi-segment sending packets are copied", test_sending_without_segments},
	{"a full device keeps packets waiting, in order", test_backlog},
	{"what a queue carries is seen once, and by nobody afterwards", test_tap},
	{"link down frees and counts", test_link_down},
	{"a stopped port is never called", test_stopped},
	{"memif carries jumbo frames that it would not be asked for", test_memif_jumbo},
	{"every drop and every filter has a name of its own", test_names},
	{"interrupts end before the EAL does", test_interrupts},
	{"the EAL ends", wh_test_eal_stop},
	CU_TEST_INFO_NULL,
};
