/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/join.h"

#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_ring.h>

#include "eal.h"
#include "netem/partial_sum.h"
#include "unit.h"
#include "wire/encap.h"
#include "wire/internet.h"

const char wh_suite_name[] = "drivers/join";

#define HZ    UINT64_C(1000000000) /* virtual time: a cycle is a nanosecond */
#define START UINT64_C(5000)
#define MTU   1500
#define RING  64
#define MBUFS 1024
#define A     WH_EMULATOR_A
#define B     WH_EMULATOR_B

static uint64_t clock_tsc;

static uint64_t read_clock(void)
{
	return clock_tsc;
}

/* Two ports with rings in the place of cables, and the ways between them. */
struct rig {
	struct rte_ring *in[WH_EMULATOR_ENDS];  /* what the port receives */
	struct rte_ring *out[WH_EMULATOR_ENDS]; /* what it has sent */
	struct wh_port *port[WH_EMULATOR_ENDS];
	struct wh_join_direction direction[WH_EMULATOR_ENDS];
	struct rte_mempool *pool;
};

static struct wh_link_model clean(uint64_t rate_bps, uint64_t delay_ns)
{
	return (struct wh_link_model){.rate_bps = rate_bps, .delay_ns = delay_ns, .seed = 1};
}

static void open_port(struct rig *rig, uint32_t end)
{
	static const char *const names[WH_EMULATOR_ENDS][3] = {
		{"join_a", "in_a", "out_a"}, {"join_b", "in_b", "out_b"}};
	char why[WH_PORT_WHY_BYTES] = "";

	rig->in[end] = rte_ring_create(names[end][1], RING, SOCKET_ID_ANY, RING_F_EXACT_SZ);
	rig->out[end] = rte_ring_create(names[end][2], RING, SOCKET_ID_ANY, RING_F_EXACT_SZ);

	int ethdev = rte_eth_from_rings(
		names[end][0], &rig->in[end], 1, &rig->out[end], 1, SOCKET_ID_ANY);
	struct wh_port_config config = {.ethdev = (uint16_t)ethdev,
		.queues = 1,
		.mtu = MTU,
		.pool = rig->pool,
		.socket = SOCKET_ID_ANY,
		.link_wait_ms = 100,
		.transparent = true};

	CU_ASSERT_FATAL(ethdev >= 0);
	CU_ASSERT_EQUAL_FATAL(wh_port_open(&config, &rig->port[end], why, sizeof(why)), 0);
}

static void rig_up(struct rig *rig, struct wh_link_model netem, uint32_t items_max)
{
	*rig = (struct rig){.pool = wh_test_pool("frames", MBUFS, wh_port_room_bytes(4 * MTU))};
	clock_tsc = START;
	open_port(rig, A);
	open_port(rig, B);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		const struct wh_join_direction_config config = {
			.from = rig->port[end],
			.to = rig->port[WH_EMULATOR_ENDS - 1 - end],
			.pool = rig->pool,
			.netem = netem,
			.items_max = items_max,
			.hz = HZ,
			.clock = read_clock,
		};

		CU_ASSERT_EQUAL_FATAL(wh_join_direction_init(&rig->direction[end], &config), 0);
	}
}

static void rig_down(struct rig *rig)
{
	static const char *const names[WH_EMULATOR_ENDS] = {"net_ring_join_a", "net_ring_join_b"};

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		CU_ASSERT(wh_join_direction_adds_up(&rig->direction[end]));
		wh_join_direction_free(&rig->direction[end]);
	}
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		wh_port_close(rig->port[end]);
		(void)rte_vdev_uninit(names[end]);
		rte_ring_free(rig->in[end]);
		rte_ring_free(rig->out[end]);
	}
	wh_test_pool_free(rig->pool);
}

static void arrive_pkt(struct rig *rig, uint32_t end, struct rte_mbuf *pkt)
{
	CU_ASSERT_EQUAL_FATAL(rte_ring_enqueue(rig->in[end], pkt), 0);
}

static void arrive(struct rig *rig, uint32_t end, uint32_t number, uint32_t bytes)
{
	arrive_pkt(rig, end, wh_test_frame(rig->pool, number, bytes));
}

static int32_t poll_at(struct rig *rig, uint64_t now_tsc)
{
	clock_tsc = now_tsc;
	return wh_join_direction_poll(&rig->direction[A], 0) +
	       wh_join_direction_poll(&rig->direction[B], 0);
}

static struct rte_mbuf *sent(struct rig *rig, uint32_t end)
{
	void *pkt;

	return rte_ring_dequeue(rig->out[end], &pkt) == 0 ? pkt : NULL;
}

static bool sent_is(struct rig *rig, uint32_t end, uint32_t number, uint32_t bytes)
{
	struct rte_mbuf *pkt = sent(rig, end);
	bool is = pkt != NULL && pkt->pkt_len == bytes && wh_test_is_frame(pkt, number, bytes);

	rte_pktmbuf_free(pkt);
	return is;
}

static uint64_t drops(const struct rig *rig, uint32_t end, enum wh_join_drop drop)
{
	return rig->direction[end].stats.dropped_pkts[drop];
}

/* Any bytes, both ways, when they are due and not before. 1226 + 24 at 10 Gb/s last 1 us. */
static void test_bytes_and_times(void)
{
	static const uint32_t sizes[] = {14, 42, 60, 61, 590, 1226, 1514};
	struct rig rig;

	rig_up(&rig, clean(10 * HZ, 1000000), 256);
	for (uint32_t i = 0; i < RTE_DIM(sizes); i++) {
		arrive(&rig, A, i, sizes[i]);
		arrive(&rig, B, 100 + i, sizes[i]);
	}
	CU_ASSERT_EQUAL(poll_at(&rig, START), 2 * RTE_DIM(sizes));
	CU_ASSERT_PTR_NULL(sent(&rig, A));
	CU_ASSERT_PTR_NULL(sent(&rig, B));
	CU_ASSERT_EQUAL(poll_at(&rig, START + 2000000), 2 * RTE_DIM(sizes));
	for (uint32_t i = 0; i < RTE_DIM(sizes); i++) {
		CU_ASSERT(sent_is(&rig, B, i, sizes[i]));
		CU_ASSERT(sent_is(&rig, A, 100 + i, sizes[i]));
	}
	CU_ASSERT_EQUAL(rig.direction[A].stats.came_bytes, 3507);
	arrive(&rig, A, 1, 1226);
	poll_at(&rig, START + 3000000);
	CU_ASSERT_EQUAL(poll_at(&rig, START + 4000999), 0);
	CU_ASSERT_EQUAL(poll_at(&rig, START + 4001000), 1);
	CU_ASSERT(sent_is(&rig, B, 1, 1226));
	rig_down(&rig);
}

/* What comes is what goes: no copy, and none of the receiving port's flags; a bad sum passes. */
static void test_same_mbuf(void)
{
	struct rig rig;
	struct rte_mbuf *pkt;

	rig_up(&rig, clean(10 * HZ, 100), 64);
	pkt = wh_test_frame(rig.pool, 3, 100);
	pkt->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD | RTE_MBUF_F_RX_VLAN;
	arrive_pkt(&rig, A, pkt);
	poll_at(&rig, START);
	poll_at(&rig, START + 10000);

	struct rte_mbuf *went = sent(&rig, B);

	CU_ASSERT_PTR_EQUAL_FATAL(went, pkt);
	CU_ASSERT_EQUAL(went->ol_flags, 0);
	rte_pktmbuf_free(went);
	rig_down(&rig);
}

static void tag(struct rte_mbuf *pkt, uint32_t tags)
{
	uint8_t *frame = rte_pktmbuf_mtod(pkt, uint8_t *);
	static const uint8_t types[3][2] = {{0x88, 0xa8}, {0x81, 0x00}, {0x08, 0x00}};

	for (uint32_t i = 0; i <= tags; i++)
		memcpy(frame + 12 + 4 * i, types[i + 2 - tags], 2);
}

/* The MTU does not count a tag, nor a second one, and is not exceeded by a byte. */
static void test_oversize(void)
{
	struct rig rig;
	uint32_t passed = 0;
	struct rte_mbuf *pkt;

	rig_up(&rig, clean(10 * HZ, 100), 64);
	for (uint32_t tags = 0; tags <= 2; tags++) {
		for (uint32_t more = 0; more <= 1; more++) {
			pkt = wh_test_frame(rig.pool, 0, 1514 + 4 * tags + more);
			tag(pkt, tags);
			arrive_pkt(&rig, B, pkt);
		}
	}
	arrive(&rig, B, 1, 6000);
	poll_at(&rig, START);
	poll_at(&rig, START + 1000000);
	for (; (pkt = sent(&rig, A)) != NULL; passed++) {
		CU_ASSERT_EQUAL(pkt->pkt_len, 1514 + 4 * passed);
		rte_pktmbuf_free(pkt);
	}
	CU_ASSERT_EQUAL(passed, 3);
	CU_ASSERT_EQUAL(drops(&rig, B, WH_JOIN_DROP_OVERSIZE), 4);
	CU_ASSERT_EQUAL(drops(&rig, A, WH_JOIN_DROP_OVERSIZE), 0);
	rig_down(&rig);
}

/* What is lost for want of room is not the path's. */
static void test_no_room(void)
{
	struct rig rig;

	rig_up(&rig, clean(10 * HZ, 1000000), 20);
	for (uint32_t i = 0; i < 30; i++)
		arrive(&rig, A, i, 1000);
	poll_at(&rig, START);
	CU_ASSERT_EQUAL(drops(&rig, A, WH_JOIN_DROP_NO_ROOM), 10);
	CU_ASSERT_EQUAL(
		wh_netem_stats(rig.direction[A].netem)->dropped_pkts[WH_NETEM_DROP_QUEUE], 0);
	poll_at(&rig, START + 2000000);
	for (uint32_t i = 0; i < 20; i++)
		CU_ASSERT(sent_is(&rig, B, i, 1000));
	CU_ASSERT_PTR_NULL(sent(&rig, B));
	rig_down(&rig);
}

/* A port that takes no more holds up nothing: its ring, the backlog, and the rest is dropped. */
static void test_port_full(void)
{
	struct rig rig;
	uint32_t went = 0;

	rig_up(&rig, clean(0, 1000), 512);
	for (uint32_t i = 0; i < 5; i++) {
		for (uint32_t k = 0; k < 60; k++)
			arrive(&rig, A, 60 * i + k, 100);
		poll_at(&rig, START);
		poll_at(&rig, START);
	}
	poll_at(&rig, START + 1000);
	poll_at(&rig, START + 1000);
	poll_at(&rig, START + 1000);
	CU_ASSERT_EQUAL(drops(&rig, A, WH_JOIN_DROP_PORT_FULL), 300 - RING - WH_PORT_BACKLOG_PKTS);
	for (; sent_is(&rig, B, went, 100); went++)
		;
	CU_ASSERT_EQUAL(went, RING);
	poll_at(&rig, START + 1001);
	for (; sent_is(&rig, B, went, 100); went++)
		;
	CU_ASSERT_EQUAL(went, RING + WH_PORT_BACKLOG_PKTS);
	rig_down(&rig);
}

/* Bits in which a packet differs from what came. */
static uint32_t wrong_bits(const struct rte_mbuf *pkt, uint32_t number)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < pkt->pkt_len; i++)
		wrong += (uint32_t)__builtin_popcount(
			rte_pktmbuf_mtod(pkt, const uint8_t *)[i] ^ wh_test_byte(number, i));
	return wrong;
}

/* Each comes twice with one and the same wrong bit. */
static void test_copies(void)
{
	struct wh_link_model netem = clean(10 * HZ, 1000);
	struct rig rig;

	netem.corrupt = 1;
	netem.duplicate = 1;
	rig_up(&rig, netem, 512);
	for (uint32_t i = 0; i < 100; i++) {
		arrive(&rig, A, i, 200);
		poll_at(&rig, START + 10000 * i);
		poll_at(&rig, START + 10000 * i + 5000);

		struct rte_mbuf *first = sent(&rig, B);
		struct rte_mbuf *second = sent(&rig, B);

		CU_ASSERT_FATAL(first != NULL && second != NULL);
		CU_ASSERT_EQUAL(wrong_bits(first, i), 1);
		CU_ASSERT_EQUAL(memcmp(rte_pktmbuf_mtod(first, void *),
					rte_pktmbuf_mtod(second, void *), 200),
			0);
		rte_pktmbuf_free(first);
		rte_pktmbuf_free(second);
	}
	CU_ASSERT_EQUAL(rig.direction[A].stats.went_pkts, 200);
	CU_ASSERT_EQUAL(wh_netem_stats(rig.direction[A].netem)->duplicated_pkts, 100);
	rig_down(&rig);
}

/* IPv4 and IPv6, TCP and UDP, with tags and without: by the whole sum and by that of a kernel. */
static void test_partial_sums(void)
{
	for (uint32_t kind = 0; kind < 24; kind++) {
		bool v6 = kind % 2, udp = kind / 2 % 2, partial = kind / 4 % 2;
		uint32_t tags = kind / 8;
		struct rig rig;

		rig_up(&rig, clean(10 * HZ, 0), 64);

		struct rte_mbuf *pkt = wh_test_frame(rig.pool, kind, 200);
		uint8_t *frame = rte_pktmbuf_mtod(pkt, uint8_t *);
		uint32_t at = WH_ETHER_BYTES + 4 * tags;
		struct rte_ipv4_hdr ip4 = {.version_ihl = 0x45,
			.total_length = rte_cpu_to_be_16((uint16_t)(200 - at)),
			.next_proto_id = udp ? IPPROTO_UDP : IPPROTO_TCP,
			.src_addr = 1,
			.dst_addr = 2};
		struct rte_ipv6_hdr ip6 = {.payload_len = rte_cpu_to_be_16((uint16_t)(160 - at)),
			.proto = udp ? IPPROTO_UDP : IPPROTO_TCP,
			.src_addr = {1},
			.dst_addr = {2}};
		uint16_t pseudo = v6 ? rte_ipv6_phdr_cksum(&ip6, 0) : rte_ipv4_phdr_cksum(&ip4, 0);
		uint8_t *sum = frame + at + (v6 ? 40 : 20) + (udp ? 6 : 16);
		uint16_t value = partial ? pseudo : (uint16_t)(pseudo + 1);

		tag(pkt, tags);
		if (v6) {
			frame[at - 2] = 0x86;
			frame[at - 1] = 0xdd;
			memcpy(frame + at, &ip6, sizeof(ip6));
		} else {
			memcpy(frame + at, &ip4, sizeof(ip4));
		}
		memcpy(sum, &value, sizeof(value));
		arrive_pkt(&rig, A, pkt);
		poll_at(&rig, START);
		CU_ASSERT_EQUAL(rig.direction[A].stats.partial_sums, partial);
		rig_down(&rig);
	}
}

/* Nothing is read beyond a frame, of whatever bytes. */
static void test_sums_of_anything(void)
{
	struct rte_mempool *pool = wh_test_pool("any", 8, wh_port_room_bytes(MTU));

	for (uint32_t number = 0; number < 20000; number++) {
		struct rte_mbuf *pkt = wh_test_frame(pool, number, 14 + number % 80);
		uint8_t *frame = rte_pktmbuf_mtod(pkt, uint8_t *);

		frame[12] = number % 3 == 0 ? 0x86 : number % 3 == 1 ? 0x08 : 0x81;
		frame[13] = number % 3 == 0 ? 0xdd : 0x00;
		(void)wh_has_partial_sum(pkt);
		rte_pktmbuf_free(pkt);
	}
	wh_test_pool_free(pool);
}

static void test_losses(void)
{
	struct wh_link_model netem = clean(10 * HZ, 3000);
	struct rig rig;
	uint64_t went = 0;

	netem.loss = 0.1;
	netem.reorder = 0.02;
	rig_up(&rig, netem, 512);
	for (uint32_t i = 0; i < 20000; i++) {
		struct rte_mbuf *pkt;

		arrive(&rig, B, i, 100);
		poll_at(&rig, START + 1000 * (uint64_t)i);
		while ((pkt = sent(&rig, A)) != NULL) {
			rte_pktmbuf_free(pkt);
			went++;
		}
	}
	CU_ASSERT(wh_join_direction_adds_up(&rig.direction[B]));
	WH_ASSERT_NEAR(wh_netem_stats(rig.direction[B].netem)->dropped_pkts[WH_NETEM_DROP_LOSS],
		2000, 0.1); /* 4.7 standard deviations */
	CU_ASSERT_EQUAL(went, rig.direction[B].stats.went_pkts);
	for (uint32_t i = 0; i < WH_JOIN_DROPS; i++)
		CU_ASSERT_EQUAL(drops(&rig, B, i), 0);
	rig_down(&rig);
}

CU_TestInfo wh_tests[] = {
	{"the EAL starts", wh_test_eal_start},
	{"any bytes, both ways, when they are due", test_bytes_and_times},
	{"the mbuf that came goes, without its flags", test_same_mbuf},
	{"frames longer than the MTU, with tags and without", test_oversize},
	{"no room is not the path's loss", test_no_room},
	{"a port that is full", test_port_full},
	{"second copies and wrong bits", test_copies},
	{"the account of losses", test_losses},
	{"sums that are left to a NIC", test_partial_sums},
	{"sums of any frames", test_sums_of_anything},
	{"the EAL stops", wh_test_eal_stop},
	CU_TEST_INFO_NULL,
};
