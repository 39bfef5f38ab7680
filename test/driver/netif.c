/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/netif.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_lcore.h>

#include "closed.h"
#include "eal.h"
#include "neighbour_rig.h"
#include "netif_rig.h"
#include "netif_stub.h"
#include "session/session_internal.h"
#include "unit.h"

const char wh_suite_name[] = "drivers/port/netif";

#define MS (RIG_NETIF_HZ / 1000)

/* One thread runs both processes of both ends and everything else, in virtual time. */
static void run_pair(struct pair *pair, uint64_t patience_tsc)
{
	for (uint64_t now = MS; now < patience_tsc && !pair_is_over(pair); now += 5000) {
		for (int end = 0; end < 2; end++)
			(void)wh_netif_receive(&pair->netif[end], now);
		for (int end = 0; end < 2; end++)
			(void)wh_netif_send(&pair->netif[end], now);
		(void)pair_carry(pair);
		(void)pair_run_users(pair);
	}
	CU_ASSERT(pair_is_over(pair));
}

static uint64_t linearised_pkts(const struct pair *pair)
{
	return wh_port_stats(pair->cable[0].port, 0)->tx_linearised;
}

/* What a transfer without losses leaves in the counters of the way it went. */
static void check_header(const struct pair *pair, uint64_t data_pkts)
{
	const struct pair_shape *shape = &pair->shape;
	const struct seen *seen = &pair->seen;
	bool attaches = shape->attach_bytes <= shape->mtu;
	uint64_t packets = shape->family == WH_IPV4 ? seen->ipv4 : seen->ipv6;

	CU_ASSERT_EQUAL(seen->lost, 0);
	CU_ASSERT_EQUAL(seen->other_vlans, 0);
	CU_ASSERT(packets > data_pkts && packets <= seen->frames);
	CU_ASSERT_EQUAL(seen->summed, shape->sums ? seen->udp6 : 0);
	CU_ASSERT(shape->family == WH_IPV4 || seen->udp6 > data_pkts);
	CU_ASSERT_EQUAL(seen->chains, attaches && !shape->linearises ? data_pkts : 0);
	CU_ASSERT_EQUAL(linearised_pkts(pair), attaches && shape->linearises ? data_pkts : 0);
	for (int end = 0; end < 2; end++) {
		CU_ASSERT_EQUAL(wh_netif_bad_pkts(&pair->netif[end]), 0);
		CU_ASSERT_EQUAL(wh_netif_stats(&pair->netif[end]).no_mbuf_turns, 0);
		CU_ASSERT_EQUAL(wh_netif_stats(&pair->netif[end]).host_full_pkts, 0);
	}
}

static void test_transfers(void)
{
	static const struct pair_shape shapes[] = {
		{.mtu = 1500, .family = WH_IPV4, .alone = true, .attach_bytes = UINT32_MAX},
		{.mtu = 1500, .family = WH_IPV4, .attach_bytes = 1},
		{.mtu = 9000, .family = WH_IPV4, .attach_bytes = 1, .linearises = true},
		{.mtu = 1500, .family = WH_IPV4, .attach_bytes = UINT32_MAX, .vlan = 7},
		{.mtu = 9000, .family = WH_IPV6, .alone = true, .attach_bytes = UINT32_MAX},
		{.mtu = 9000, .family = WH_IPV6, .attach_bytes = 1, .vlan = 4094},
		{.mtu = 1500, .family = WH_IPV6, .attach_bytes = 1, .vlan = 1, .linearises = true},
		{.mtu = 9000, .family = WH_IPV6, .attach_bytes = 1, .sums = true},
		{.mtu = 1500, .family = WH_IPV6, .attach_bytes = 4000, .vlan = 7, .sums = true},
		{.mtu = 1500, .family = WH_IPV4, .attach_bytes = UINT32_MAX, .sums = true},
	};
	static struct pair pair;

	for (size_t i = 0; i < RTE_DIM(shapes); i++) {
		uint32_t payload_bytes =
			wh_encap_payload_bytes((enum wh_family)shapes[i].family, shapes[i].mtu);
		/* Chunks of 64 KiB, and of the last one a single byte. */
		uint64_t chunks = 48;
		uint64_t chunk_pkts = (RIG_CHUNK_BYTES + payload_bytes - 1) / payload_bytes;

		pair_open(&pair, &shapes[i]);
		pair_start(&pair, chunks * RIG_CHUNK_BYTES + 1);
		run_pair(&pair, 5 * RIG_NETIF_HZ);
		pair_check(&pair);
		check_header(&pair, chunks * chunk_pkts + 1);
		pair_close(&pair);
	}
}

/* A payload one byte short of attach_bytes is copied, one of attach_bytes is not. */
static void test_attach_from(void)
{
	struct pair_shape shape = {.mtu = 1500, .family = WH_IPV4};
	uint32_t payload_bytes = wh_encap_payload_bytes(WH_IPV4, shape.mtu);
	static struct pair pair;

	for (uint32_t more = 0; more < 2; more++) {
		shape.attach_bytes = payload_bytes + more;
		pair_open(&pair, &shape);
		pair_start(&pair, 10 * payload_bytes);
		run_pair(&pair, RIG_NETIF_HZ);
		pair_check(&pair);
		CU_ASSERT_EQUAL(pair.seen.chains, more == 0 ? 10 : 0);
		pair_close(&pair);
	}
}

static uint64_t clock_tsc;

static uint64_t read_clock(void)
{
	return clock_tsc;
}

/* Of the receiver's latest packet; 0: none yet. */
static uint64_t arrived_tsc(const struct pair *pair)
{
	const struct side *side = &pair->transfer[0].receiver;
	const struct wh_session *session = atomic_load(&side->session);

	return session != NULL && !atomic_load(&side->gone) ? session->rx.arrivals.latest_tsc : 0;
}

/* A turn begins, the core is taken, and packets come meanwhile: none arrives before it was sent. */
static void test_taken_cores(void)
{
	const struct pair_shape shape = {
		.mtu = 1500, .family = WH_IPV4, .attach_bytes = 1, .profile = "lambda"};
	const uint64_t step_tsc = 5000, taken_tsc = 8 * step_tsc;
	static struct pair pair;
	uint64_t last_tsc = 0, bursts = 0;

	pair_open(&pair, &shape);
	for (int end = 0; end < 2; end++)
		pair.netif[end].config.read_tsc = read_clock;
	pair_start(&pair, 48 * RIG_CHUNK_BYTES);
	for (clock_tsc = MS; clock_tsc < 5 * RIG_NETIF_HZ && !pair_is_over(&pair);) {
		uint64_t turn_tsc = clock_tsc;

		clock_tsc += taken_tsc;
		for (int end = 0; end < 2; end++)
			(void)wh_netif_send(&pair.netif[end], turn_tsc);
		(void)pair_carry(&pair);
		clock_tsc += step_tsc;
		for (int end = 0; end < 2; end++)
			(void)wh_netif_receive(&pair.netif[end], turn_tsc);
		(void)pair_run_users(&pair);
		if (arrived_tsc(&pair) > last_tsc) {
			last_tsc = arrived_tsc(&pair);
			bursts++;
			CU_ASSERT_EQUAL(last_tsc, clock_tsc);
		}
	}
	CU_ASSERT(pair_is_over(&pair));
	CU_ASSERT(bursts > 20);
	pair_check(&pair);
	pair_close(&pair);
}

/* Real time, for the processes on threads. */
static uint64_t now_tsc(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * RIG_NETIF_HZ + (uint64_t)time.tv_nsec;
}

struct worker {
	struct pair *pair;
	bool sends;
	atomic_bool *stop;
	bool registered;
};

/* An lcore: one process of each end, and the cables beside the receiving ones. */
static void *work(void *argument)
{
	struct worker *worker = argument;
	struct pair *pair = worker->pair;

	worker->registered = rte_thread_register() == 0;
	while (!atomic_load(worker->stop)) {
		uint64_t now = now_tsc();
		int32_t done = worker->sends ? 0 : pair_carry(pair);

		for (int end = 0; end < 2; end++)
			done += worker->sends ? wh_netif_send(&pair->netif[end], now)
					      : wh_netif_receive(&pair->netif[end], now);
		if (done == 0)
			sched_yield();
	}
	rte_thread_unregister();
	return NULL;
}

static void run_on_cores(struct pair *pair, uint64_t patience_tsc)
{
	atomic_bool stop = false;
	struct worker worker[2] = {
		{.pair = pair, .stop = &stop}, {.pair = pair, .stop = &stop, .sends = true}};
	pthread_t thread[2];
	uint64_t give_up = now_tsc() + patience_tsc;

	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
	while (!pair_is_over(pair) && now_tsc() < give_up)
		if (pair_run_users(pair) == 0)
			sched_yield();
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(pthread_join(thread[i], NULL), 0);
		CU_ASSERT(worker[i].registered);
	}
	CU_ASSERT(pair_is_over(pair));
}

/* Several sessions at once, each end's receiving and sending tasks on cores of their own. */
static void test_cores(void)
{
	static const struct pair_shape shapes[] = {
		{.mtu = 1500, .family = WH_IPV4, .attach_bytes = UINT32_MAX},
		{.mtu = 9000, .family = WH_IPV6, .attach_bytes = 1},
	};
	static struct pair pair;

	for (size_t i = 0; i < RTE_DIM(shapes); i++) {
		pair_open(&pair, &shapes[i]);
		for (uint32_t j = 0; j < RIG_TRANSFERS; j++)
			pair_start(&pair, (UINT64_C(2) << 20) + j * 1000);
		run_on_cores(&pair, 20 * RIG_NETIF_HZ);
		pair_check(&pair);
		pair_close(&pair);
	}
}

static void test_siblings(void)
{
	static const struct {
		enum wh_port_steering steering;
		uint8_t family;
		bool all_learn;
	} cases[] = {
		{WH_PORT_STEER_RULES, WH_IPV4, true},
		{WH_PORT_STEER_HASH, WH_IPV6, true},
		{WH_PORT_STEER_PAIRED, WH_IPV4, false},
		{WH_PORT_STEER_PAIRED, WH_IPV6, false},
	};
	static struct stub stub;
	uint8_t frame[RIG_BYTES];

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		bool ipv4 = cases[i].family == WH_IPV4;

		stub_open(&stub, 3, cases[i].steering);
		for (uint16_t queue = 0; queue < 3; queue++)
			stub_call(&stub, queue, ipv4 ? rig_ip4(10, 0, 0, 2) : rig_ip6(rig_peer6));

		/* All ask, each on its own queue. */
		stub_run(&stub, 20);
		for (uint16_t queue = 0; queue < 3; queue++) {
			stub_expect(&stub, queue, rig_peer, 1, 0);
			CU_ASSERT_EQUAL(wh_netif_stats(&stub.netif[queue]).unresolved_pkts, 0);
			CU_ASSERT_EQUAL(stub.netif[queue].waits, 1);
		}

		/* One answer, on queue 0: the OPEN that waits, and those of 50, 150, 350 ms. */
		stub_put(&stub, 0, frame, ipv4 ? rig_arp_reply(frame) : rig_advertisement(frame));
		stub_run(&stub, 380);
		for (uint16_t queue = 0; queue < 3; queue++) {
			bool learnt = queue == 0 || cases[i].all_learn;

			stub_expect(&stub, queue, rig_peer, 0, learnt ? 4 : 0);
			CU_ASSERT_EQUAL(stub.netif[queue].waits, learnt ? 0 : 1);
			CU_ASSERT_EQUAL(
				wh_netif_stats(&stub.netif[queue]).unresolved_pkts, learnt ? 0 : 3);
			CU_ASSERT_EQUAL(stub.netif[queue].neighbour.entry[0].state,
				learnt ? WH_NEIGHBOUR_REACHABLE : WH_NEIGHBOUR_INCOMPLETE);
			CU_ASSERT_EQUAL(wh_netif_bad_pkts(&stub.netif[queue]), 0);
			CU_ASSERT_EQUAL(wh_netif_stats(&stub.netif[queue]).host_full_pkts, 0);
		}
		stub_close(&stub);
	}
}

/* Questions are answered where they are heard, and nowhere else. */
static void test_questions(void)
{
	const struct rig_ndp for_link_local = {.type = 135,
		.option = 1,
		.mac = rig_peer,
		.ip = rig_peer6,
		.to = rig_us6_group,
		.target = rig_link6};
	static struct stub stub;
	uint8_t frame[RIG_BYTES];

	stub_open(&stub, 3, WH_PORT_STEER_RULES);
	for (uint16_t asked = 0; asked < 3; asked++) {
		stub_put(&stub, asked, frame, rig_arp_request(frame));
		stub_put(&stub, asked, frame, rig_solicitation(frame));
		stub_put(&stub, asked, frame, rig_ndp(frame, &for_link_local));
		stub_put(
			&stub, asked, frame, rig_echo4(frame, 8, rig_peer, rig_peer4, rig_us4, 56));
		stub_put(&stub, asked, frame,
			rig_echo6(frame, 128, rig_peer, rig_peer6, rig_us6, 56));
		stub_run(&stub, 6);
		for (uint16_t queue = 0; queue < 3; queue++) {
			stub_expect(&stub, queue, rig_peer, queue == asked ? 5 : 0, 0);
			CU_ASSERT_EQUAL(
				stub.netif[queue].neighbour.entry[0].state, WH_NEIGHBOUR_FREE);
		}
	}
	stub_close(&stub);
}

/* A peer moves, and announces it: all ask at the old MAC, then on the link, and follow. */
static void test_moves(void)
{
	static struct stub stub;
	uint8_t frame[RIG_BYTES];

	stub_open(&stub, 3, WH_PORT_STEER_HASH);
	for (uint16_t queue = 0; queue < 3; queue++)
		stub_call(&stub, queue, rig_ip4(10, 0, 0, 2));
	stub_run(&stub, 20);
	stub_put(&stub, 0, frame, rig_arp_reply(frame));
	stub_run(&stub, 80); /* the OPEN that waits, and that of 50 ms */
	for (uint16_t queue = 0; queue < 3; queue++)
		stub_expect(&stub, queue, rig_peer, 1, 2);

	stub_put(&stub, 0, frame,
		rig_arp(frame, rig_all, 1, rig_other, rig_peer4, rig_none, rig_peer4));
	stub_run(&stub, 100); /* OPEN at 150 ms */
	for (uint16_t queue = 0; queue < 3; queue++)
		stub_expect(&stub, queue, rig_peer, 0, 1);
	/* Asked a second after the question before, at the next OPEN, and all of the link then. */
	stub_run(&stub, 3000);
	for (uint16_t queue = 0; queue < 3; queue++)
		CU_ASSERT_EQUAL(stub_take(&stub, queue, rig_peer).host, 4);
	stub_put(&stub, 0, frame, rig_arp(frame, rig_us, 2, rig_other, rig_peer4, rig_us, rig_us4));
	stub_run(&stub, 4000);
	for (uint16_t queue = 0; queue < 3; queue++) {
		struct tally tally = stub_take(&stub, queue, rig_other);

		CU_ASSERT(tally.udp > 0 && tally.right == tally.udp);
	}
	stub_close(&stub);
}

/* A packet that opens a connection, from that address and MAC. */
static void stub_open_from(struct stub *stub, struct wh_address from, const uint8_t mac[6])
{
	struct wh_packet packet = {
		.type = WH_PACKET_OPEN,
		.open = {.params = {.initiator_cid = 1,
				 .payload_bytes = 1408,
				 .chunk_bytes = RIG_CHUNK_BYTES,
				 .window_pkts = 64,
				 .period_us = 10000,
				 .profile = 1,
				 .name_bytes = 1,
				 .name = "x"}},
	};
	struct wh_flow flow = {
		.source = from,
		.target = from.family == WH_IPV4 ? rig_ip4(10, 0, 0, 1) : rig_ip6(rig_us6),
	};
	struct wh_encap encap;
	uint8_t frame[RIG_BYTES];
	uint8_t head[WH_CONTROL_BYTES_MAX];
	uint32_t bytes = closed_encode(&packet, 0, head, sizeof(head));

	flow.source.port = 7000;
	memcpy(flow.source_mac, mac, 6);
	memcpy(flow.target_mac, rig_us, 6);
	wh_encap_init(&encap, &flow);
	memcpy(frame + encap.bytes, head, bytes);
	wh_encap_write(&encap, frame, frame + encap.bytes, bytes, NULL, 0);
	stub_put(stub, 0, frame, encap.bytes + bytes);
}

/*
 * Refusals for 200 strangers, at the MAC that each came from: no question about any, no entry; and
 * none for those whose address or MAC no single other host has.
 */
static void test_strangers(void)
{
	const uint8_t group6[16] = {0xff, 2, [15] = 1};
	static struct stub stub;
	uint8_t mac[6] = {2, 0, 0, 0, 1, 0};
	uint8_t ip6[16];
	uint64_t opens = 0;

	stub_open(&stub, 1, WH_PORT_STEER_ONE_QUEUE);
	for (uint8_t i = 10; i < 210; i++) {
		bool ipv4 = i % 2 == 0;

		memcpy(ip6, rig_us6, 16);
		ip6[15] = mac[5] = i;
		/* Those of the last ten are behind the gateway. */
		stub_open_from(
			&stub, ipv4 ? rig_ip4(10, 0, i < 200 ? 0 : 9, i) : rig_ip6(ip6), mac);
		stub_run(&stub, 2);
		stub_expect(&stub, 0, mac, 0, 1);
		opens++;
	}
	stub_open_from(&stub, rig_ip4(10, 0, 0, 255), mac);
	stub_open_from(&stub, rig_ip4(10, 0, 0, 1), mac);
	stub_open_from(&stub, rig_ip6(group6), mac);
	stub_open_from(&stub, rig_ip4(10, 0, 0, 9), rig_all);
	stub_open_from(&stub, rig_ip4(10, 0, 0, 9), rig_none);
	stub_open_from(&stub, rig_ip4(10, 0, 0, 9), rig_us);
	stub_run(&stub, 10);
	stub_expect(&stub, 0, mac, 0, 0);
	CU_ASSERT_EQUAL(stub.netif[0].endpoint.stats.refused_opens, opens + 6);
	CU_ASSERT_EQUAL(wh_netif_stats(&stub.netif[0]).unresolved_pkts, 6);
	CU_ASSERT_EQUAL(stub.netif[0].neighbour.entry[0].state, WH_NEIGHBOUR_FREE);
	stub_close(&stub);
}

/* Somebody says that an address of ours is theirs: one netif contests it. */
static void test_claims(void)
{
	const uint8_t *const claimed6[] = {NULL, rig_us6, rig_link6};
	static struct stub stub;
	uint8_t frame[RIG_BYTES];

	for (size_t i = 0; i < RTE_DIM(claimed6); i++) {
		const struct rig_ndp claim = {.type = 136,
			.flags = 0x20,
			.option = 2,
			.mac = rig_gate,
			.ip = rig_peer6,
			.to = rig_all6,
			.target = claimed6[i]};

		stub_open(&stub, 3, WH_PORT_STEER_RULES);
		stub_put(&stub, 0, frame,
			claimed6[i] == NULL
				? rig_arp(frame, rig_us, 2, rig_gate, rig_us4, rig_us, rig_us4)
				: rig_ndp(frame, &claim));
		stub_run(&stub, 10);
		/* All that are ours are told: IPv4, link-local, IPv6. */
		stub_expect(&stub, 0, rig_peer, 3, 0);
		stub_expect(&stub, 1, rig_peer, 0, 0);
		stub_expect(&stub, 2, rig_peer, 0, 0);
		CU_ASSERT_EQUAL(wh_netif_bad_pkts(&stub.netif[0]), 1);
		CU_ASSERT_EQUAL(wh_netif_bad_pkts(&stub.netif[1]), 0);
		stub_close(&stub);
	}
}

/* 20 pieces of news for siblings that do not take them: 5 too many for each, and no mbuf lost. */
static void test_news_full(void)
{
	static struct stub stub;
	uint8_t frame[RIG_BYTES];

	stub_open(&stub, 3, WH_PORT_STEER_RULES);
	for (int i = 0; i < 20; i++)
		stub_put(&stub, 0, frame, rig_arp_reply(frame));
	CU_ASSERT_EQUAL(wh_netif_receive(&stub.netif[0], stub.now), 20);
	CU_ASSERT_EQUAL(wh_netif_stats(&stub.netif[0]).host_full_pkts, 10);
	CU_ASSERT_EQUAL(wh_netif_send(&stub.netif[1], stub.now), 15);
	CU_ASSERT_EQUAL(wh_netif_bad_pkts(&stub.netif[0]), 0);
	CU_ASSERT_EQUAL(wh_netif_stats(&stub.netif[1]).host_full_pkts, 0);
	stub_close(&stub); /* 20 still wait at the first, 15 of them at the third */
}

/* The sending tasks of all netifs on a core. */
struct senders {
	struct stub *stub;
	atomic_bool stop;
};

static void *send_all(void *argument)
{
	struct senders *senders = argument;
	bool stop;

	do {
		int32_t done = 0;

		stop = atomic_load(&senders->stop);
		for (uint16_t queue = 0; queue < 3; queue++)
			done += wh_netif_send(&senders->stub->netif[queue], senders->stub->now);
		if (done > 0)
			stop = false;
		else
			sched_yield();
	} while (!stop);
	return NULL;
}

/* News from one core to another: each is taken by three netifs, or counted as too many. */
static void test_news_between_cores(void)
{
	enum { NEWS = 32 * 500 };
	static struct stub stub;
	struct senders senders = {.stub = &stub};
	pthread_t thread;
	uint8_t frame[RIG_BYTES];
	uint64_t seen = 0;

	stub_open(&stub, 3, WH_PORT_STEER_HASH);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, send_all, &senders), 0);
	for (int i = 0; i < NEWS; i++) {
		stub_put(&stub, 0, frame, rig_arp_reply(frame));
		if (i % 32 < 31)
			continue;
		CU_ASSERT_EQUAL(wh_netif_receive(&stub.netif[0], stub.now), 32);
		sched_yield();
	}
	atomic_store(&senders.stop, true);
	CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
	for (uint16_t queue = 0; queue < 3; queue++) {
		const uint64_t *input = stub.netif[queue].neighbour.stats.input_pkts;

		CU_ASSERT(input[WH_NEIGHBOUR_NOT_ASKED] >= WH_NETIF_NEWS_PKTS);
		seen += input[WH_NEIGHBOUR_NOT_ASKED];
	}
	seen += wh_netif_stats(&stub.netif[0]).host_full_pkts;
	CU_ASSERT_EQUAL(seen, 3 * NEWS);
	stub_close(&stub);
}

/* After a pause a ring is full of frames for the host: none is lost; but more were, perhaps. */
static void test_host_storm(void)
{
	static struct stub stub;
	uint8_t frame[RIG_BYTES];
	for (int missing = 0; missing < 2; missing++) {
		int left = WH_NETIF_RECEIVE_MAX - missing;
		stub_open(&stub, 1, WH_PORT_STEER_ONE_QUEUE);
		for (int i = 0; i < left; i++)
			stub_put(&stub, 0, frame, rig_arp_reply(frame));
		while (wh_netif_receive(&stub.netif[0], stub.now) > 0)
			left -= wh_netif_send(&stub.netif[0], stub.now);
		CU_ASSERT_EQUAL(left, 0);
		CU_ASSERT_EQUAL(stub.netif[0].neighbour.missed_tsc, missing ? 0 : stub.now);
		stub_close(&stub);
	}
}

static void test_host_full(void)
{
	static struct stub stub;
	uint8_t frame[RIG_BYTES];

	stub_open(&stub, 1, WH_PORT_STEER_ONE_QUEUE);
	for (int i = 0; i < WH_NETIF_HOST_PKTS + 7; i++)
		stub_put(&stub, 0, frame, rig_arp_reply(frame));
	for (int left = 70; left > 0; left -= 32) /* there is no room for two bursts */
		CU_ASSERT_EQUAL(wh_netif_receive(stub.netif, stub.now), RTE_MIN(left, 32));
	CU_ASSERT_EQUAL(wh_netif_stats(&stub.netif[0]).host_full_pkts, 7);
	for (int left = 63; left > 0; left -= 32)
		CU_ASSERT_EQUAL(wh_netif_send(stub.netif, stub.now), RTE_MIN(left, 32));

	/* There is room again, and what nobody knows is counted by its reason. */
	stub_put(&stub, 0, frame, rig_arp_request(frame));
	memset(frame, 0xee, 60);
	memcpy(frame, rig_us, 6);
	stub_put(&stub, 0, frame, 60);
	stub_run(&stub, 3);
	stub_expect(&stub, 0, rig_peer, 1, 0);
	CU_ASSERT_EQUAL(wh_netif_stats(&stub.netif[0]).not_ours_pkts[WH_ENCAP_NOT_IP], 1);
	CU_ASSERT_EQUAL(wh_netif_bad_pkts(&stub.netif[0]), 1);
	stub_close(&stub);
}

/* The UDP frames that come out are one to each of these hosts, at that MAC. */
static void expect_each(struct stub *stub, const uint8_t last[3], const uint8_t *const mac[3])
{
	uint32_t right = 0;
	uint32_t frames = 0;
	struct rte_mbuf *pkt;

	while (rte_ring_dequeue(stub->cable.out[0], (void **)&pkt) == 0) {
		const uint8_t *frame = rte_pktmbuf_mtod(pkt, const uint8_t *);

		for (int i = 0; frame[13] == 0 && i < 3; i++)
			right += frame[33] == last[i] && memcmp(frame, mac[i], 6) == 0;
		frames += frame[13] == 0;
		rte_pktmbuf_free(pkt);
	}
	CU_ASSERT_EQUAL(frames, 3);
	CU_ASSERT_EQUAL(right, 3);
}

/* The way to 10.0.0.`last`, as it stands ready; NULL: it does not. */
static const struct wh_netif_header *find_header(const struct stub *stub, uint8_t last)
{
	for (uint32_t i = 0; i < WH_NETIF_HEADERS; i++) {
		const struct wh_netif_header *header = &stub->netif[0].header[i];

		if (header->encap.bytes != 0 && header->to.ip[3] == last)
			return header;
	}
	return NULL;
}

/* 2 and 3 have places of their own, 18 has that of 2: 2 ^ 18 = 16, and there are 16 places. */
static void test_headers(void)
{
	static const uint8_t last[3] = {2, 3, 18};
	static const uint8_t moved[6] = {2, 0, 0, 0, 0, 9};
	const uint8_t *mac[3] = {rig_peer, rig_other, rig_gate};
	static struct stub stub;
	uint64_t opened_tsc;

	stub_open(&stub, 1, WH_PORT_STEER_ONE_QUEUE);
	for (int i = 0; i < 3; i++)
		stub_call(&stub, 0, rig_ip4(10, 0, 0, last[i]));
	stub_run(&stub, 20);
	stub_expect(&stub, 0, rig_peer, 3, 0);
	for (int i = 0; i < 3; i++)
		stub_answer(&stub, last[i], mac[i]);
	stub_run(&stub, 2); /* what waits goes */
	expect_each(&stub, last, mac);
	stub_run(&stub, 29); /* up to the OPEN of 50 ms */
	opened_tsc = stub.now - MS;
	expect_each(&stub, last, mac);
	CU_ASSERT_PTR_NOT_NULL_FATAL(find_header(&stub, 3));
	CU_ASSERT_NOT_EQUAL(find_header(&stub, 2) != NULL, find_header(&stub, 18) != NULL);
	CU_ASSERT_EQUAL(find_header(&stub, 3)->looked_up_tsc, opened_tsc);

	/* One has moved; those that have not are used as they are, and stay known by it. */
	mac[1] = moved;
	memcpy(stub.netif[0].neighbour.entry[1].mac, moved, 6);
	stub_run(&stub, 100);
	opened_tsc = stub.now - MS;
	expect_each(&stub, last, mac);
	CU_ASSERT_EQUAL(find_header(&stub, 3)->looked_up_tsc, opened_tsc);
	CU_ASSERT_EQUAL(memcmp(find_header(&stub, 3)->mac, moved, 6), 0);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(stub.netif[0].neighbour.entry[i].wanted_tsc, opened_tsc);
	stub_close(&stub);
}

CU_TestInfo wh_tests[] = {
	{"the EAL starts", wh_test_eal_start},
	{"transfers: copied, attached, linearised; VLAN; IPv6", test_transfers},
	{"payloads are attached from a length on", test_attach_from},
	{"a core that was taken from us makes no way shorter", test_taken_cores},
	{"several sessions, two cores", test_cores},
	{"news of neighbours on queue 0 reach all netifs", test_siblings},
	{"questions are answered once", test_questions},
	{"a peer that moved is found by all", test_moves},
	{"strangers are answered where they were heard", test_strangers},
	{"a claim of our address is contested once", test_claims},
	{"more news than a sibling takes", test_news_full},
	{"news from one core to another", test_news_between_cores},
	{"more frames for the host than wait at once", test_host_full},
	{"a ring full of frames for the host", test_host_storm},
	{"several peers, each with its headers", test_headers},
	{"the EAL ends", wh_test_eal_stop},
	CU_TEST_INFO_NULL,
};
