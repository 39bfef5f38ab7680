/* SPDX-License-Identifier: BSD-3-Clause */
#include "netif_stub.h"

#include <stdlib.h>
#include <string.h>

#include "eal.h"
#include "neighbour_rig.h"
#include "unit.h"

#define MS (RIG_NETIF_HZ / 1000)

static void open_netif(struct stub *stub, uint16_t queue)
{
	struct wh_netif_config config = {
		.port = stub->cable.port,
		.queue = queue,
		.pool = stub->pool,
		.local4 = rig_ip4(10, 0, 0, 1),
		.local6 = rig_ip6(rig_us6),
		.attach_bytes = UINT32_MAX,
		.neighbour = rig_config(),
		.endpoint = {.hz = RIG_NETIF_HZ, .places = 256},
	};

	config.local4.port += queue;
	config.local6.port += queue;
	CU_ASSERT_EQUAL_FATAL(wh_netif_init(&stub->netif[queue], &config), 0);
	if (queue > 0)
		wh_netif_join(&stub->netif[0], &stub->netif[queue]);
}

void stub_open(struct stub *stub, uint16_t queues, enum wh_port_steering steering)
{
	memset(stub, 0, sizeof(*stub));
	stub->now = RIG_NETIF_HZ;
	stub->pool = wh_test_pool("stub", 1024, wh_port_room_bytes(1500));
	cable_open(&stub->cable, "stub", queues, 1500, stub->pool, rig_us);
	stub->cable.port->steering = steering;
	for (uint16_t queue = 0; queue < queues; queue++)
		open_netif(stub, queue);
}

void stub_close(struct stub *stub)
{
	for (uint16_t queue = 0; queue < stub->cable.queues; queue++)
		wh_netif_free(&stub->netif[queue]);
	for (uint32_t i = 0; i < stub->calls; i++) {
		wh_session_destroy(stub->session[i]);
		free(stub->memory[i]);
	}
	cable_close(&stub->cable);
	wh_test_pool_free(stub->pool);
}

void stub_call(struct stub *stub, uint16_t queue, struct wh_address peer)
{
	uint32_t call = stub->calls++;
	struct wh_session_config config =
		rig_session_config(peer.family, 1500, &stub->memory[call]);

	stub->session[call] = wh_session_open(&config, &peer, "call", WH_OBJECT_BYTES_UNKNOWN);
	CU_ASSERT_PTR_NOT_NULL_FATAL(stub->session[call]);
	CU_ASSERT_EQUAL_FATAL(
		wh_endpoint_open(&stub->netif[queue].endpoint, stub->session[call]), 0);
}

void stub_put(struct stub *stub, uint16_t queue, const uint8_t *frame, size_t bytes)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(stub->pool);

	CU_ASSERT_PTR_NOT_NULL_FATAL(pkt);
	memcpy(rte_pktmbuf_append(pkt, (uint16_t)bytes), frame, bytes);
	CU_ASSERT_EQUAL_FATAL(rte_ring_enqueue(stub->cable.in[queue], pkt), 0);
}

void stub_answer(struct stub *stub, uint8_t last, const uint8_t mac[6])
{
	const uint8_t ip[4] = {10, 0, 0, last};
	uint8_t frame[RIG_BYTES];

	stub_put(stub, 0, frame, rig_arp(frame, rig_us, 2, mac, ip, rig_us, rig_us4));
}

void stub_run(struct stub *stub, uint32_t turns_of_1ms)
{
	for (uint32_t i = 0; i < turns_of_1ms; i++) {
		for (uint16_t queue = 0; queue < stub->cable.queues; queue++)
			(void)wh_netif_receive(&stub->netif[queue], stub->now);
		for (uint16_t queue = 0; queue < stub->cable.queues; queue++)
			(void)wh_netif_send(&stub->netif[queue], stub->now);
		stub->now += MS;
	}
}

struct tally stub_take(struct stub *stub, uint16_t queue, const uint8_t mac[6])
{
	struct tally tally = {0};
	struct rte_mbuf *pkt;

	while (rte_ring_dequeue(stub->cable.out[queue], (void **)&pkt) == 0) {
		const uint8_t *frame = rte_pktmbuf_mtod(pkt, const uint8_t *);
		bool udp4 = frame[12] == 0x08 && frame[13] == 0x00 && frame[23] == 17;
		bool udp6 = frame[12] == 0x86 && frame[20] == 17;
		const uint8_t *port = &frame[udp4 ? 34 : 54];

		CU_ASSERT_EQUAL(memcmp(&frame[6], rig_us, 6), 0);
		if (udp4 || udp6) {
			tally.udp++;
			tally.right += memcmp(frame, mac, 6) == 0;
			CU_ASSERT_EQUAL(port[0] << 8 | port[1], 5760 + queue);
		} else {
			tally.host++;
		}
		rte_pktmbuf_free(pkt);
	}
	return tally;
}

void stub_expect(
	struct stub *stub, uint16_t queue, const uint8_t mac[6], uint32_t host, uint32_t udp)
{
	struct tally tally = stub_take(stub, queue, mac);

	CU_ASSERT_EQUAL(tally.host, host);
	CU_ASSERT_EQUAL(tally.udp, udp);
	CU_ASSERT_EQUAL(tally.right, udp);
}
