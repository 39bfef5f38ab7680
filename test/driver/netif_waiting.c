/* SPDX-License-Identifier: BSD-3-Clause */

/* Packets to a peer whose MAC is asked for, in virtual time. */

#include <rte_ether.h>

#include "eal.h"
#include "neighbour_rig.h"
#include "netif_stub.h"
#include "session/session_internal.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/port/netif: what waits for a MAC";

#define MS   (RIG_NETIF_HZ / 1000)
#define TURN (MS / 4)

/* The OPENs that went to that MAC: of the calls from `first` on, `count` of them in order. */
static void expect_calls(struct stub *stub, const uint8_t mac[6], uint32_t first, uint32_t count)
{
	uint32_t opens = 0, right = 0;
	struct wh_packet packet;
	struct rte_mbuf *pkt;

	while (rte_ring_dequeue(stub->cable.out[0], (void **)&pkt) == 0) {
		const uint8_t *frame = rte_pktmbuf_mtod(pkt, const uint8_t *);
		const uint8_t *bytes =
			frame + sizeof(struct rte_ether_hdr) + WH_IPV4_BYTES + WH_UDP_BYTES;
		size_t length = rte_pktmbuf_data_len(pkt) - (size_t)(bytes - frame);

		if (frame[13] == 0 && wh_packet_peek(bytes, length, &packet) == WH_WIRE_OK &&
			wh_packet_read(bytes, length, &packet) == WH_WIRE_OK) {
			right += opens < count && memcmp(frame, mac, 6) == 0 &&
				 packet.open.params.initiator_cid ==
					 stub->session[first + opens]->local_cid;
			opens++;
		}
		rte_pktmbuf_free(pkt);
	}
	CU_ASSERT_EQUAL(opens, count);
	CU_ASSERT_EQUAL(right, count);
}

static void turn(struct stub *stub, uint32_t turns)
{
	for (uint32_t i = 0; i < turns; i++) {
		stub_run(stub, 1);
		stub->now -= MS - TURN;
	}
}

/* One a turn, so that their order is known. */
static void call(struct stub *stub, uint32_t count, uint8_t last)
{
	for (uint32_t i = 0; i < count; i++) {
		stub_call(stub, 0, rig_ip4(10, 0, 0, last));
		turn(stub, 1);
	}
}

/* What begins with a control packet and a train behind it reaches a peer that is asked first. */
static void in_order(void)
{
	static struct stub stub;

	stub_open(&stub, 1, WH_PORT_STEER_ONE_QUEUE);
	call(&stub, 40, 20);
	expect_calls(&stub, rig_peer, 0, 0);
	CU_ASSERT_EQUAL(stub.netif[0].waits, 40);
	stub_answer(&stub, 20, rig_peer);
	turn(&stub, 2);
	expect_calls(&stub, rig_peer, 0, 40);
	CU_ASSERT_EQUAL(stub.netif[0].waits, 0);
	CU_ASSERT_EQUAL(wh_netif_stats(&stub.netif[0]).unresolved_pkts, 0);
	stub_close(&stub);
}

/* All repetitions, after 50 ms, take the place of what they repeat; none waits behind it. */
static void repeated(void)
{
	static struct stub stub;

	stub_open(&stub, 1, WH_PORT_STEER_ONE_QUEUE);
	call(&stub, 40, 20);
	turn(&stub, 50 * MS / TURN);
	CU_ASSERT_EQUAL(stub.netif[0].waits, 40);
	CU_ASSERT_EQUAL(wh_netif_stats(&stub.netif[0]).unresolved_pkts, 40);
	stub_answer(&stub, 20, rig_peer);
	turn(&stub, 2);
	expect_calls(&stub, rig_peer, 0, 40);
	stub_close(&stub);
}

/* A peer that does not answer fills all places, and leaves them to others. */
static void silent(void)
{
	static struct stub stub;
	const struct wh_netif *netif = &stub.netif[0];

	stub_open(&stub, 1, WH_PORT_STEER_ONE_QUEUE);
	call(&stub, WH_NETIF_WAITING, 20);
	CU_ASSERT_EQUAL(netif->waits, WH_NETIF_WAITING);
	CU_ASSERT_EQUAL(wh_netif_stats(netif).unresolved_pkts, 0);
	call(&stub, 2, 21);
	call(&stub, 1, 22);
	CU_ASSERT_EQUAL(netif->waits, WH_NETIF_WAITING);
	CU_ASSERT_EQUAL(wh_netif_stats(netif).unresolved_pkts, 3);
	call(&stub, 1, 20);
	CU_ASSERT_EQUAL(wh_netif_stats(netif).unresolved_pkts, 4);
	stub_answer(&stub, 21, rig_other);
	turn(&stub, 2);
	expect_calls(&stub, rig_other, WH_NETIF_WAITING, 2);
	stub_answer(&stub, 22, rig_other);
	turn(&stub, 2);
	expect_calls(&stub, rig_other, WH_NETIF_WAITING + 2, 1);
	/* The first ones of the silent peer are those that waited. */
	stub_answer(&stub, 20, rig_peer);
	turn(&stub, 2);
	expect_calls(&stub, rig_peer, 0, WH_NETIF_WAITING - 3);
	CU_ASSERT_EQUAL(netif->waits, 0);
	stub_close(&stub);
}

/* More peers than packets may wait for, of whom one answers: the oldest go, then all. */
static void many(void)
{
	static struct stub stub;

	stub_open(&stub, 1, WH_PORT_STEER_ONE_QUEUE);
	for (uint8_t i = 0; i < WH_NETIF_WAITING + 3; i++)
		call(&stub, 1, 20 + i);
	CU_ASSERT_EQUAL(stub.netif[0].waits, WH_NETIF_WAITING);
	CU_ASSERT_EQUAL(wh_netif_stats(&stub.netif[0]).unresolved_pkts, 3);
	stub_answer(&stub, 20 + 3, rig_peer);
	turn(&stub, 2);
	expect_calls(&stub, rig_peer, 3, 1);
	CU_ASSERT_EQUAL(stub.netif[0].waits, WH_NETIF_WAITING - 1);

	/* Sessions that are not answered give up, and then the last OPENs have waited too long. */
	for (uint32_t ms = 0; ms < 40000 && stub.netif[0].waits > 0; ms++)
		stub_run(&stub, 1);
	CU_ASSERT_EQUAL(stub.netif[0].waits, 0);
	stub_close(&stub);
}

CU_TestInfo wh_tests[] = {
	{"the EAL starts", wh_test_eal_start},
	{"packets wait for the addresses of their targets", many},
	{"packets to one target wait in order", in_order},
	{"what waits too long for an order is replaced", repeated},
	{"a silent peer leaves room for others that wait", silent},
	{"the EAL ends", wh_test_eal_stop},
	CU_TEST_INFO_NULL,
};
