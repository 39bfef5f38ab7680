/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/emulator.h"

#include <errno.h>
#include <string.h>

#include "eal.h"
#include "port/arrived.h"
#include "unit.h"
#include "wire/encap.h"

const char wh_suite_name[] = "drivers/netem";

#define HZ          UINT64_C(1000000000) /* virtual time: a cycle is a nanosecond */
#define START       UINT64_C(5000)
#define MTU         9024
#define FRAME_BYTES (MTU + 14)
#define A           WH_EMULATOR_A
#define B           WH_EMULATOR_B

/* An emulated link with a port at each end, all pools counted when it is taken down. */
struct rig {
	struct wh_emulator *emulator;
	struct wh_port *port[WH_EMULATOR_ENDS];
	struct rte_mempool *pool;   /* of the link */
	struct rte_mempool *sender; /* of both ends */
	uint64_t now_tsc;
};

static struct wh_link_model clean(uint64_t rate_bps, uint64_t delay_ns)
{
	return (struct wh_link_model){.rate_bps = rate_bps, .delay_ns = delay_ns, .seed = 1};
}

static struct wh_emulator_config both_ways(struct wh_link_model netem)
{
	return (struct wh_emulator_config){.name = "rig",
		.netem = {netem, netem},
		.mtu = MTU,
		.hz = HZ,
		.socket = SOCKET_ID_ANY};
}

static void rig_up(struct rig *rig, struct wh_emulator_config config, unsigned int mbufs)
{
	char why[WH_PORT_WHY_BYTES] = "";

	rig->now_tsc = START;
	rig->pool = wh_test_pool("link", mbufs, wh_port_room_bytes(MTU));
	rig->sender = wh_test_pool("sender", 1024, wh_port_room_bytes(MTU));
	config.pool = rig->pool;
	CU_ASSERT_EQUAL_FATAL(
		wh_emulator_create(&config, START, &rig->emulator, why, sizeof(why)), 0);
	for (unsigned int end = 0; end < WH_EMULATOR_ENDS; end++) {
		struct wh_port_config port = {.ethdev = wh_emulator_ethdev(rig->emulator, end),
			.queues = 1,
			.mtu = config.mtu,
			.pool = rig->sender,
			.socket = SOCKET_ID_ANY,
			.link_wait_ms = 100};

		CU_ASSERT_EQUAL_FATAL(wh_port_open(&port, &rig->port[end], why, sizeof(why)), 0);
	}
	CU_ASSERT_STRING_EQUAL(why, "");
}

static void rig_down(struct rig *rig)
{
	for (unsigned int end = 0; end < WH_EMULATOR_ENDS; end++)
		wh_port_close(rig->port[end]);
	wh_emulator_close(rig->emulator);
	wh_test_pool_free(rig->sender);
	wh_test_pool_free(rig->pool);
}

static void send_pkt(struct rig *rig, enum wh_emulator_end from, struct rte_mbuf *pkt)
{
	CU_ASSERT_EQUAL_FATAL(wh_port_send(rig->port[from], 0, &pkt, 1), 1);
}

static void send_frame(struct rig *rig, enum wh_emulator_end from, uint32_t number, uint32_t bytes)
{
	send_pkt(rig, from, wh_test_frame(rig->sender, number, bytes));
}

static int32_t poll_at(struct rig *rig, uint64_t now_tsc)
{
	rig->now_tsc = now_tsc;
	return wh_emulator_poll(rig->emulator, now_tsc);
}

/* The packet at the end, or NULL. */
static struct rte_mbuf *receive(struct rig *rig, enum wh_emulator_end at)
{
	struct rte_mbuf *pkt;

	return wh_port_receive(rig->port[at], 0, &pkt, 1) == 1 ? pkt : NULL;
}

static bool receive_is(struct rig *rig, enum wh_emulator_end at, uint32_t number, uint32_t bytes)
{
	struct rte_mbuf *pkt = receive(rig, at);

	if (pkt == NULL)
		return false;

	bool is = pkt->pkt_len == bytes && wh_test_is_frame(pkt, number, bytes);

	rte_pktmbuf_free(pkt);
	return is;
}

static uint64_t own_drops(
	const struct rig *rig, enum wh_emulator_end from, enum wh_emulator_drop drop)
{
	return wh_emulator_stats(rig->emulator, from)->dropped_pkts[drop];
}

static void test_bytes(void)
{
	static const uint32_t sizes[] = {60, 61, 64, 127, 590, 1514, 2048, 8990, 9014, FRAME_BYTES};
	struct rig rig;

	rig_up(&rig, both_ways(clean(100 * HZ, 1000000)), 256);
	for (uint32_t i = 0; i < RTE_DIM(sizes); i++) {
		send_frame(&rig, A, i, sizes[i]);
		send_frame(&rig, B, 100 + i, sizes[i]);
	}
	CU_ASSERT_EQUAL(poll_at(&rig, START), 2 * RTE_DIM(sizes));
	CU_ASSERT_PTR_NULL(receive(&rig, A));
	CU_ASSERT_PTR_NULL(receive(&rig, B));
	CU_ASSERT_EQUAL(poll_at(&rig, START + 2000000), 2 * RTE_DIM(sizes));
	for (uint32_t i = 0; i < RTE_DIM(sizes); i++) {
		CU_ASSERT(receive_is(&rig, B, i, sizes[i]));
		CU_ASSERT(receive_is(&rig, A, 100 + i, sizes[i]));
	}
	CU_ASSERT_PTR_NULL(receive(&rig, A));
	CU_ASSERT_PTR_NULL(receive(&rig, B));
	CU_ASSERT_EQUAL(wh_emulator_stats(rig.emulator, A)->sent_bytes, 31506);
	CU_ASSERT_EQUAL(wh_emulator_stats(rig.emulator, B)->delivered_pkts, RTE_DIM(sizes));
	rig_down(&rig);
}

/* A short frame arrives as a NIC would send it: 60 bytes, the rest zero. */
static void test_padding(void)
{
	struct rig rig;
	struct rte_mbuf *pkt;

	rig_up(&rig, both_ways(clean(0, 0)), 64);
	send_frame(&rig, A, 1, FRAME_BYTES); /* leaves other bytes in the mbuf */
	poll_at(&rig, START);
	CU_ASSERT(receive_is(&rig, B, 1, FRAME_BYTES));
	for (uint32_t i = 0; i < 64; i++) {
		send_frame(&rig, A, i, 42);
		poll_at(&rig, START);
		pkt = receive(&rig, B);
		CU_ASSERT_PTR_NOT_NULL_FATAL(pkt);
		CU_ASSERT_EQUAL(pkt->pkt_len, 60);
		CU_ASSERT(wh_test_is_frame(pkt, i, 42));
		for (uint32_t j = 42; j < 60; j++)
			CU_ASSERT_EQUAL(rte_pktmbuf_mtod(pkt, uint8_t *)[j], 0);
		rte_pktmbuf_free(pkt);
	}
	rig_down(&rig);
}

/* What a receiver may rely on in an mbuf from a NIC. */
static void test_mbuf_fields(void)
{
	struct rig rig;
	struct rte_mbuf *pkt;

	rig_up(&rig, both_ways(clean(0, 70)), 64);
	pkt = wh_test_frame(rig.sender, 3, 100);
	pkt->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD | RTE_MBUF_F_TX_IPV4;
	send_pkt(&rig, B, pkt);
	poll_at(&rig, START);
	poll_at(&rig, START + 70);
	pkt = receive(&rig, A);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pkt);
	CU_ASSERT_PTR_EQUAL(pkt->pool, rig.pool);
	CU_ASSERT_EQUAL(pkt->port, wh_emulator_ethdev(rig.emulator, A));
	CU_ASSERT_EQUAL(pkt->nb_segs, 1);
	CU_ASSERT_EQUAL(pkt->ol_flags, rig.port[A]->stamp_flag);
	CU_ASSERT_EQUAL(rte_mbuf_refcnt_read(pkt), 1);
	CU_ASSERT_EQUAL(wh_port_arrived_tsc(rig.port[A], pkt, 1), START + 70);
	pkt->ol_flags = 0;
	CU_ASSERT_EQUAL(wh_port_arrived_tsc(rig.port[A], pkt, 1), 1);
	rte_pktmbuf_free(pkt);
	rig_down(&rig);
}

static void count_call(void *address, void *calls)
{
	(void)address;
	++*(unsigned int *)calls;
}

/* The sender's memory is free after the poll, and what is written there later does not arrive. */
static void test_nothing_is_shared(void)
{
	static uint8_t payload[8000];
	unsigned int calls = 0;
	struct rte_mbuf_ext_shared_info shared = {.free_cb = count_call, .fcb_opaque = &calls};
	struct rig rig;
	struct rte_mbuf *pkts[3];

	rig_up(&rig, both_ways(clean(0, 1000)), 64);
	pkts[0] = wh_test_frame(rig.sender, 0, 1514);
	pkts[1] = wh_test_chain(rig.sender, 1, 1514, 500);
	pkts[2] = wh_test_frame(rig.sender, 2, 62);

	struct rte_mbuf *body = rte_pktmbuf_alloc(rig.sender);

	for (uint32_t i = 0; i < sizeof(payload); i++)
		payload[i] = wh_test_byte(2, 62 + i);
	rte_mbuf_ext_refcnt_set(&shared, 1);
	rte_pktmbuf_attach_extbuf(body, payload, RTE_BAD_IOVA, sizeof(payload), &shared);
	body->data_len = sizeof(payload);
	body->pkt_len = sizeof(payload);
	CU_ASSERT_EQUAL(rte_pktmbuf_chain(pkts[2], body), 0);

	/* a sender that keeps a reference for retransmission */
	rte_mbuf_refcnt_set(pkts[0], 2);
	CU_ASSERT_EQUAL(wh_port_send(rig.port[A], 0, pkts, 3), 3);
	poll_at(&rig, START);
	CU_ASSERT_EQUAL(rte_mbuf_refcnt_read(pkts[0]), 1);
	CU_ASSERT_EQUAL(rte_mempool_avail_count(rig.sender), 1023);
	CU_ASSERT_EQUAL(calls, 1);

	memset(rte_pktmbuf_mtod(pkts[0], void *), 0xEE, 1514);
	memset(payload, 0xEE, sizeof(payload));
	rte_pktmbuf_free(pkts[0]);

	struct rte_mbuf *all[1024];

	CU_ASSERT_EQUAL_FATAL(rte_pktmbuf_alloc_bulk(rig.sender, all, 1024), 0);
	for (uint32_t i = 0; i < 1024; i++)
		memset(all[i]->buf_addr, 0xEE, all[i]->buf_len);
	poll_at(&rig, START + 1000);
	CU_ASSERT(receive_is(&rig, B, 0, 1514));
	CU_ASSERT(receive_is(&rig, B, 1, 1514));
	CU_ASSERT(receive_is(&rig, B, 2, 8062));
	rte_pktmbuf_free_bulk(all, 1024);
	rig_down(&rig);
}

/* `count` frames sent at once: the due time of each, polled just in time and just too early. */
static void check_stamps(struct rig *rig, enum wh_emulator_end from, uint32_t bytes, uint32_t count,
	const uint64_t *due_tsc)
{
	enum wh_emulator_end at = from == A ? B : A;

	for (uint32_t i = 0; i < count; i++)
		send_frame(rig, from, i, bytes);
	poll_at(rig, rig->now_tsc);
	for (uint32_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL(poll_at(rig, due_tsc[i] - 1), 0);
		CU_ASSERT_EQUAL(poll_at(rig, due_tsc[i]), 1);

		struct rte_mbuf *pkt = receive(rig, at);

		CU_ASSERT_PTR_NOT_NULL_FATAL(pkt);
		CU_ASSERT_EQUAL(wh_port_arrived_tsc(rig->port[at], pkt, 0), due_tsc[i]);
		rte_pktmbuf_free(pkt);
	}
	CU_ASSERT_EQUAL(poll_at(rig, due_tsc[count - 1] + 1000000000), 0);
}

static void test_stamps(void)
{
	struct wh_emulator_config config = both_ways(clean(10 * HZ, 1000000));
	uint64_t due_tsc[25];
	struct rig rig;

	config.netem[B] = clean(100 * HZ, 250);
	rig_up(&rig, config, 256);

	/* 1226 + 24 bytes at 10 Gb/s are 1000 ns each */
	for (uint32_t i = 0; i < 10; i++)
		due_tsc[i] = START + 1000000 + 1000 * (i + 1);
	check_stamps(&rig, A, 1226, 10, due_tsc);

	/* 60 + 24 bytes, also of a shorter frame: 67.2 ns, so 336 for five */
	static const uint64_t short_ns[5] = {68, 135, 202, 269, 336};

	for (uint32_t i = 0; i < 5; i++)
		due_tsc[i] = rig.now_tsc + 1000000 + short_ns[i];
	check_stamps(&rig, A, 42, 5, due_tsc);

	/* 9014 + 24 bytes at 100 Gb/s are 723.04 ns: the 25th leaves after 18076 */
	for (uint32_t i = 0; i < 25; i++)
		due_tsc[i] = rig.now_tsc + 250 + ((i + 1) * 72304 + 99) / 100;
	CU_ASSERT_EQUAL(due_tsc[24], rig.now_tsc + 250 + 18076);
	check_stamps(&rig, B, 9014, 25, due_tsc);
	rig_down(&rig);
}

/* Polled late, a packet still says when it was due. */
static void test_late_poll(void)
{
	struct rig rig;
	struct rte_mbuf *pkt;

	rig_up(&rig, both_ways(clean(10 * HZ, 1000)), 64);
	send_frame(&rig, A, 0, 1226);
	send_frame(&rig, A, 1, 1226);
	poll_at(&rig, START);
	CU_ASSERT_EQUAL(poll_at(&rig, START + 700000), 2);
	for (uint64_t i = 1; i <= 2; i++) {
		pkt = receive(&rig, B);
		CU_ASSERT_PTR_NOT_NULL_FATAL(pkt);
		CU_ASSERT_EQUAL(wh_port_arrived_tsc(rig.port[B], pkt, 0), START + 1000 + 1000 * i);
		rte_pktmbuf_free(pkt);
	}
	rig_down(&rig);
}

static uint64_t clock_tsc;

static uint64_t read_clock(void)
{
	return clock_tsc;
}

/*
 * The lcore was away between the beginning of its turn and the poll, and meanwhile a packet was
 * sent: it enters when it is taken in. Counted from the turn's beginning the path would be shorter
 * than it is, for one packet, and a profile that trusts the least round trip would see a queue for
 * ever after.
 */
static void test_away_before_the_poll(void)
{
	struct wh_emulator_config config = both_ways(clean(10 * HZ, 1000));
	struct rig rig;
	struct rte_mbuf *pkt;

	config.read_tsc = read_clock;
	rig_up(&rig, config, 64);
	send_frame(&rig, A, 0, 1226);
	clock_tsc = START + 5000;
	CU_ASSERT_EQUAL(poll_at(&rig, START), 1);
	clock_tsc = START + 20000;
	CU_ASSERT_EQUAL(poll_at(&rig, START + 6999), 0);
	CU_ASSERT_EQUAL(poll_at(&rig, START + 7000), 1);
	pkt = receive(&rig, B);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pkt);
	CU_ASSERT_EQUAL(wh_port_arrived_tsc(rig.port[B], pkt, 0), START + 5000 + 1000 + 1000);
	rte_pktmbuf_free(pkt);
	rig_down(&rig);
}

/* After a pause one poll hands over four times 128, the next the rest. */
static void test_catching_up(void)
{
	struct rig rig;
	int32_t moved = 0;

	rig_up(&rig, both_ways(clean(0, 1000)), 1024);
	for (uint32_t i = 0; i < 600; i++) {
		send_frame(&rig, A, i, 60);
		if (i % 64 == 63)
			moved += poll_at(&rig, START);
	}
	moved += poll_at(&rig, START);
	CU_ASSERT_EQUAL(moved, 600);
	CU_ASSERT_EQUAL(wh_emulator_held(rig.emulator, A), 600);
	CU_ASSERT_EQUAL(poll_at(&rig, START + 1000), 512);
	CU_ASSERT_EQUAL(poll_at(&rig, START + 1000), 88);
	for (uint32_t i = 0; i < 600; i++)
		CU_ASSERT(receive_is(&rig, B, i, 60));
	rig_down(&rig);
}

/* Sends `count` frames of 100 bytes from A and returns how many copies B has received. */
static uint64_t run(struct rig *rig, uint32_t count)
{
	uint64_t received = 0;
	struct rte_mbuf *pkts[128];
	uint16_t came;

	for (uint32_t sent = 0; sent < count || wh_emulator_held(rig->emulator, A) > 0;) {
		for (uint32_t i = 0; i < 32 && sent < count; i++)
			send_frame(rig, A, sent++, 100);
		poll_at(rig, rig->now_tsc + 1000);
		came = wh_port_receive(rig->port[B], 0, pkts, 128);
		received += came;
		rte_pktmbuf_free_bulk(pkts, came);
	}
	return received;
}

static void test_loss_account(void)
{
	struct wh_link_model netem = clean(100 * HZ, 3000);
	struct rig rig;

	netem.loss = 0.1;
	netem.duplicate = 0.05;
	netem.reorder = 0.02;
	netem.corrupt = 0.01;
	rig_up(&rig, both_ways(netem), 1024);

	uint64_t received = run(&rig, 20000);
	const struct wh_netem_stats *stats = wh_emulator_path_stats(rig.emulator, A);
	const struct wh_emulator_stats *own = wh_emulator_stats(rig.emulator, A);
	uint64_t lost = stats->dropped_pkts[WH_NETEM_DROP_LOSS];

	CU_ASSERT_EQUAL(own->sent_pkts, 20000);
	CU_ASSERT_EQUAL(stats->entered_pkts, 20000);
	CU_ASSERT_EQUAL(20000 + stats->duplicated_pkts, received + lost);
	CU_ASSERT_EQUAL(own->delivered_pkts, received);
	WH_ASSERT_NEAR(lost, 2000, 0.1); /* 4.7 standard deviations */
	WH_ASSERT_NEAR(stats->duplicated_pkts, 900, 0.15);
	for (uint32_t i = 0; i < WH_EMULATOR_DROPS; i++)
		CU_ASSERT_EQUAL(own_drops(&rig, A, i), 0);
	CU_ASSERT_EQUAL(wh_emulator_path_stats(rig.emulator, B)->entered_pkts, 0);
	rig_down(&rig);
}

/* Bits in which a packet differs from what was sent; the place of the last one found. */
static uint32_t wrong_bits(const struct rte_mbuf *pkt, uint32_t number, uint32_t *place)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < pkt->pkt_len; i++) {
		uint8_t diff = rte_pktmbuf_mtod(pkt, const uint8_t *)[i] ^ wh_test_byte(number, i);

		if (diff != 0)
			*place = i;
		wrong += (uint32_t)__builtin_popcount(diff);
	}
	return wrong;
}

/* Every packet is corrupted in one bit and doubled: both copies have the same wrong bit. */
static void test_corrupt_and_duplicate(void)
{
	struct wh_link_model netem = clean(0, 100);
	struct rig rig;
	uint32_t low = UINT32_MAX;
	uint32_t high = 0;

	netem.corrupt = 1.0;
	netem.duplicate = 1.0;
	rig_up(&rig, both_ways(netem), 64);
	for (uint32_t number = 0; number < 400; number++) {
		send_frame(&rig, B, number, 200);
		poll_at(&rig, rig.now_tsc + 1);
		poll_at(&rig, rig.now_tsc + 100);

		struct rte_mbuf *first = receive(&rig, A);
		struct rte_mbuf *second = receive(&rig, A);
		uint32_t place = 0;

		CU_ASSERT_PTR_NOT_NULL_FATAL(first);
		CU_ASSERT_PTR_NOT_NULL_FATAL(second);
		CU_ASSERT_EQUAL(wrong_bits(first, number, &place), 1);
		CU_ASSERT_EQUAL(memcmp(rte_pktmbuf_mtod(first, void *),
					rte_pktmbuf_mtod(second, void *), 200),
			0);
		CU_ASSERT_PTR_NOT_EQUAL(first->buf_addr, second->buf_addr);
		low = RTE_MIN(low, place);
		high = RTE_MAX(high, place);
		rte_pktmbuf_free(first);
		rte_pktmbuf_free(second);
	}
	CU_ASSERT(low < 20);
	CU_ASSERT(high >= 180 && high < 200);
	CU_ASSERT_EQUAL(wh_emulator_path_stats(rig.emulator, B)->corrupted_pkts, 400);
	rig_down(&rig);
}

static void test_ring_full(void)
{
	struct wh_emulator_config config = both_ways(clean(0, 0));
	struct rig rig;

	config.ring_pkts = 48;
	rig_up(&rig, config, 256);
	for (uint32_t i = 0; i < 48; i++)
		send_frame(&rig, A, i, 100);
	poll_at(&rig, START);
	CU_ASSERT_EQUAL(own_drops(&rig, A, WH_EMULATOR_DROP_RING_FULL), 0);
	for (uint32_t i = 0; i < 10; i++)
		CU_ASSERT(receive_is(&rig, B, i, 100));
	for (uint32_t i = 48; i < 63; i++)
		send_frame(&rig, A, i, 100);
	poll_at(&rig, START);
	CU_ASSERT_EQUAL(own_drops(&rig, A, WH_EMULATOR_DROP_RING_FULL), 5);
	CU_ASSERT_EQUAL(wh_emulator_stats(rig.emulator, A)->delivered_pkts, 58);
	for (uint32_t i = 10; i < 58; i++)
		CU_ASSERT(receive_is(&rig, B, i, 100));
	CU_ASSERT_PTR_NULL(receive(&rig, B));
	rig_down(&rig);
}

static void test_out_of_mbufs(void)
{
	struct wh_link_model netem = clean(0, 1000);
	struct rig rig;

	rig_up(&rig, both_ways(netem), 31);
	for (uint32_t i = 0; i < 50; i++)
		send_frame(&rig, A, i, 100);
	poll_at(&rig, START);
	CU_ASSERT_EQUAL(wh_emulator_held(rig.emulator, A), 31);
	CU_ASSERT_EQUAL(own_drops(&rig, A, WH_EMULATOR_DROP_NO_MBUF), 19);
	CU_ASSERT_EQUAL(rte_mempool_avail_count(rig.sender), 1024);
	poll_at(&rig, START + 1000);
	for (uint32_t i = 0; i < 31; i++)
		CU_ASSERT(receive_is(&rig, B, i, 100));
	send_frame(&rig, A, 99, 100);
	poll_at(&rig, START + 1000);
	poll_at(&rig, START + 2000);
	CU_ASSERT(receive_is(&rig, B, 99, 100));
	rig_down(&rig);
}

static void test_oversize(void)
{
	struct wh_emulator_config config = both_ways(clean(0, 0));
	struct rig rig;

	config.mtu = 1500;
	rig_up(&rig, config, 64);
	send_frame(&rig, A, 1, 1514);
	send_frame(&rig, A, 2, 1515);
	send_frame(&rig, A, 3, 1000);
	poll_at(&rig, START);
	CU_ASSERT(receive_is(&rig, B, 1, 1514));
	CU_ASSERT(receive_is(&rig, B, 3, 1000));
	CU_ASSERT_EQUAL(own_drops(&rig, A, WH_EMULATOR_DROP_OVERSIZE), 1);
	CU_ASSERT_EQUAL(wh_emulator_path_stats(rig.emulator, A)->entered_pkts, 2);
	rig_down(&rig);
}

/* The tag of a VLAN is carried on top of the MTU, and nothing else is. */
static void test_tagged(void)
{
	struct wh_emulator_config config = both_ways(clean(0, 0));
	struct rig rig;

	config.mtu = 1500;
	rig_up(&rig, config, 64);
	for (uint32_t bytes = 1514; bytes <= 1519; bytes++) {
		struct rte_mbuf *pkt = wh_test_frame(rig.sender, 1, bytes);

		memcpy(rte_pktmbuf_mtod_offset(pkt, uint8_t *, 12), (uint8_t[]){0x81, 0x00}, 2);
		send_pkt(&rig, A, pkt);
		poll_at(&rig, START);
		pkt = receive(&rig, B);
		CU_ASSERT_EQUAL(pkt == NULL ? 0 : pkt->pkt_len, bytes <= 1518 ? bytes : 0);
		rte_pktmbuf_free(pkt);
	}
	CU_ASSERT_EQUAL(own_drops(&rig, A, WH_EMULATOR_DROP_OVERSIZE), 1);
	rig_down(&rig);
}

/* The sender's ring is full while nobody polls: packets wait, and none is lost. */
static void test_backlog(void)
{
	struct wh_emulator_config config = both_ways(clean(0, 0));
	struct rig rig;
	uint32_t expected = 0;

	config.ring_pkts = 64;
	rig_up(&rig, config, 256);
	for (uint32_t i = 0; i < 128; i++)
		send_frame(&rig, A, i, 100);
	CU_ASSERT_EQUAL(wh_port_send_room(rig.port[A], 0), 0);

	struct rte_mbuf *pkt = wh_test_frame(rig.sender, 128, 100);

	CU_ASSERT_EQUAL(wh_port_send(rig.port[A], 0, &pkt, 1), 0);
	CU_ASSERT_EQUAL(poll_at(&rig, START), 128); /* 64 in and 64 out */
	for (; expected < 64; expected++)
		CU_ASSERT(receive_is(&rig, B, expected, 100));
	CU_ASSERT_EQUAL(wh_port_send(rig.port[A], 0, &pkt, 1), 1);
	CU_ASSERT_EQUAL(wh_port_send_room(rig.port[A], 0), 63);
	poll_at(&rig, START);
	CU_ASSERT_EQUAL(wh_port_flush(rig.port[A], 0), 0);
	for (; expected < 128; expected++)
		CU_ASSERT(receive_is(&rig, B, expected, 100));
	poll_at(&rig, START);
	CU_ASSERT(receive_is(&rig, B, 128, 100));
	CU_ASSERT_EQUAL(wh_port_stats(rig.port[A], 0)->tx_pkts, 129);
	rig_down(&rig);
}

/*
 * 1000 bytes on the wire take 8 us at 1 Gb/s: a burst of 64 lasts 512 us, and the next one is taken
 * when less than 100 us of it are left. All stamps are as far apart as the line's.
 */
static void test_ingress(void)
{
	struct wh_emulator_config config = both_ways(clean(0, 0));
	struct wh_emulator_config more = config;
	struct rig rig;

	config.ring_pkts = 256;
	config.netem[A].ingress_bps = HZ;
	rig_up(&rig, config, 512);
	for (uint32_t i = 0; i < 192; i++)
		send_frame(&rig, A, i, 1000 - WH_ETHER_WIRE_BYTES);
	CU_ASSERT_EQUAL(poll_at(&rig, START), 64);
	CU_ASSERT_EQUAL(wh_emulator_held(rig.emulator, A), 64);
	CU_ASSERT_EQUAL(poll_at(&rig, START + 411000), 51); /* 51 are over, 13 to come */
	CU_ASSERT_EQUAL(wh_emulator_held(rig.emulator, A), 13);
	CU_ASSERT_EQUAL(poll_at(&rig, START + 412000), 64);
	CU_ASSERT_EQUAL(wh_emulator_held(rig.emulator, A), 77);
	CU_ASSERT_EQUAL(poll_at(&rig, START + 1024000), 64 + 77);
	poll_at(&rig, START + 1536000 + 8000); /* it ran dry for no moment but this one */
	for (uint32_t i = 0; i < 192; i++)
		CU_ASSERT(receive_is(&rig, B, i, 1000 - WH_ETHER_WIRE_BYTES));
	CU_ASSERT_EQUAL(wh_emulator_stats(rig.emulator, A)->sent_pkts, 192);
	rig_down(&rig);

	/* 100 us of 1 Gb/s are 12 packets of 1000 bytes; and one begun, and a burst. */
	more.netem[A].rate_bps = more.netem[B].rate_bps = HZ;
	more.netem[A].queue_pkts = more.netem[B].queue_pkts = 10;

	uint32_t without = wh_emulator_mbufs_needed(&more, 1000 - WH_ETHER_WIRE_BYTES);

	more.netem[A].ingress_bps = HZ;
	CU_ASSERT_EQUAL(wh_emulator_mbufs_needed(&more, 1000 - WH_ETHER_WIRE_BYTES),
		without + 12 + 1 + WH_EMULATOR_BURST);
}

/* Packets in the backlog, both kinds of rings, the line and the spares: rig_down counts. */
static void test_close_under_load(void)
{
	struct wh_emulator_config config = both_ways(clean(10 * HZ, 5000));
	struct rig rig;

	config.ring_pkts = 32;
	for (unsigned int times = 0; times < 3; times++) { /* the names are free again */
		rig_up(&rig, config, 300);
		for (unsigned int i = 0; i < 120; i++) {
			for (unsigned int end = 0; end < WH_EMULATOR_ENDS; end++) {
				struct rte_mbuf *pkt = wh_test_chain(rig.sender, i, 500, 400);

				if (wh_port_send(rig.port[end], 0, &pkt, 1) == 0)
					rte_pktmbuf_free(pkt);
			}
			if (i % 16 == 8 && i < 80)
				poll_at(&rig, rig.now_tsc + 2000);
		}
		CU_ASSERT(wh_port_send_room(rig.port[A], 0) < WH_PORT_BACKLOG_PKTS);
		CU_ASSERT(wh_emulator_held(rig.emulator, A) > 0);
		CU_ASSERT(wh_emulator_stats(rig.emulator, B)->delivered_pkts > 0);
		CU_ASSERT(rte_mempool_avail_count(rig.pool) < 300);
		rig_down(&rig);
	}
	wh_emulator_close(NULL);
	wh_port_close(NULL);
}

static void test_impossible(void)
{
	char why[WH_EMULATOR_WHY_BYTES] = "";
	struct wh_emulator *emulator = NULL;
	struct wh_emulator *second = NULL;
	struct wh_emulator_config good = both_ways(clean(HZ, 1000));
	struct wh_emulator_config config;
	uint16_t ethdev;

	good.pool = wh_test_pool("link", 64, wh_port_room_bytes(MTU));

	config = good;
	config.name = "seventeen-letters";
	CU_ASSERT_EQUAL(wh_emulator_create(&config, 0, &emulator, why, sizeof(why)), -EINVAL);
	CU_ASSERT_STRING_EQUAL(
		why, "'seventeen-letters' cannot name an emulated link: choose 1 to 16 letters");

	config = good;
	config.mtu = 9400;
	CU_ASSERT_EQUAL(wh_emulator_create(&config, 0, &emulator, why, sizeof(why)), -EINVAL);
	CU_ASSERT_STRING_EQUAL(
		why, "link rig at MTU 9400: mbufs of pool link have 9472 bytes, make them larger");

	config = good;
	config.netem[B].loss = 1.5;
	CU_ASSERT_EQUAL(wh_emulator_create(&config, 0, &emulator, why, sizeof(why)), -EINVAL);
	CU_ASSERT_STRING_EQUAL(why, "link rig: the link from end b makes no sense: check that "
				    "shares are 0 to 1 and that rate and times are not absurd");
	CU_ASSERT_PTR_NULL(emulator);

	config = good;
	config.name = "sixteen--letters";
	CU_ASSERT_EQUAL_FATAL(wh_emulator_create(&config, 0, &emulator, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(wh_port_find("net_ring_sixteen--letters_b", &ethdev), 0);
	CU_ASSERT_EQUAL(ethdev, wh_emulator_ethdev(emulator, B));
	CU_ASSERT(wh_emulator_create(&config, 0, &second, why, sizeof(why)) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "is the name in use"));
	CU_ASSERT_PTR_NULL(second);
	CU_ASSERT_EQUAL(wh_port_find("net_ring_sixteen--letters_a", &ethdev), 0);
	wh_emulator_close(emulator);
	CU_ASSERT_EQUAL(wh_port_find("net_ring_sixteen--letters_a", &ethdev), -ENODEV);
	wh_test_pool_free(good.pool);
}

static void test_mbufs_needed(void)
{
	struct wh_link_model netem = clean(10 * HZ, 100000000);
	struct wh_emulator_config config = both_ways(netem);

	CU_ASSERT_EQUAL(wh_emulator_mbufs_needed(&config, 1226), UINT32_MAX);
	netem.queue_pkts = 1000;
	config = both_ways(netem);

	/* per direction: what it says for 1250 bytes of wire, 4096 in a ring, copies ahead */
	uint32_t items = wh_netem_items_needed(&netem, 1250);

	CU_ASSERT(items >= 101000); /* 100 ms of 1 us each, and the queue */
	CU_ASSERT_EQUAL(
		wh_emulator_mbufs_needed(&config, 1226), 3 * 384 + 2 * (items + 4096 + 128));
	config.ring_pkts = 10;
	config.netem[B].delay_ns = 0;
	items += wh_netem_items_needed(&config.netem[B], 1250);
	CU_ASSERT_EQUAL(wh_emulator_mbufs_needed(&config, 1226), 3 * 384 + items + 2 * (10 + 128));

	/* no frame is shorter on the wire than 60 + 24 bytes */
	CU_ASSERT_EQUAL(
		wh_emulator_mbufs_needed(&config, 1), wh_emulator_mbufs_needed(&config, 60));
}

CU_TestInfo wh_tests[] = {
	{"the EAL starts without hugepages", wh_test_eal_start},
	{"frames of 60 to 9038 bytes cross both ways", test_bytes},
	{"short frames are padded", test_padding},
	{"mbufs come as from a NIC", test_mbuf_fields},
	{"ends share no memory", test_nothing_is_shared},
	{"delay and rate are exact to the cycle", test_stamps},
	{"a late poll does not change the stamps", test_late_poll},
	{"a packet enters when it is taken in", test_away_before_the_poll},
	{"a poll after a pause catches up by parts", test_catching_up},
	{"loss, duplicates, reordering: the account is even", test_loss_account},
	{"corruption flips one bit, in each copy", test_corrupt_and_duplicate},
	{"a full receiver loses packets, counted", test_ring_full},
	{"an empty pool loses packets, counted", test_out_of_mbufs},
	{"frames beyond the MTU do not enter", test_oversize},
	{"the tag of a VLAN does not count", test_tagged},
	{"a full sender's ring loses nothing", test_backlog},
	{"a link takes as much as it carries", test_ingress},
	{"closing under load leaks nothing", test_close_under_load},
	{"impossible configurations get a sentence", test_impossible},
	{"mbufs needed", test_mbufs_needed},
	{"the EAL ends", wh_test_eal_stop},
	CU_TEST_INFO_NULL,
};
