/* SPDX-License-Identifier: BSD-3-Clause */

/* Who says to be a peer, and who is believed. */

#include "neighbour_rig.h"

const char wh_suite_name[] = "lib/neighbour claims";

#define PEER4 rig_ip4(10, 0, 0, 2)
#define PEER6 rig_ip6(rig_peer6)

/* The peer is known, and used in the last moment. */
static void open_known(struct rig *rig, bool ipv4)
{
	uint8_t frame[RIG_BYTES];

	rig_open_default(rig);
	RIG_EXPECT(rig, ipv4 ? PEER4 : PEER6, WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig_take_all(rig), 1);
	CU_ASSERT_EQUAL(
		rig_feed(rig, frame, ipv4 ? rig_arp_reply(frame) : rig_advertisement(frame)),
		WH_NEIGHBOUR_OK);
	rig->now += 2 * RIG_S;
	RIG_EXPECT(rig, ipv4 ? PEER4 : PEER6, WH_NEIGHBOUR_FOUND, rig_peer);
	CU_ASSERT_EQUAL(rig_take_all(rig), 0);
}

/* Every way of saying "the peer is here", from the MAC of another. */
static size_t claim(uint8_t *frame, uint32_t kind)
{
	static const struct {
		uint8_t flags;
		bool to_us;
	} advertised[] = {{0, true}, {0x20, true}, {0x40, true}, {0x60, true}, {0x20, false}};
	struct rig_ndp ndp = {
		.type = 136, .option = 2, .mac = rig_other, .ip = rig_peer6, .target = rig_peer6};

	switch (kind) {
	case 0: /* a reply as to a question of ours */
		return rig_arp(frame, rig_us, 2, rig_other, rig_peer4, rig_us, rig_us4);
	case 1: /* announcements */
		return rig_arp(frame, rig_all, 1, rig_other, rig_peer4, rig_none, rig_peer4);
	case 2:
		return rig_arp(frame, rig_all, 2, rig_other, rig_peer4, rig_all, rig_peer4);
	case 3: /* a question to us, one to another, a reply to another */
		return rig_arp(frame, rig_all, 1, rig_other, rig_peer4, rig_none, rig_us4);
	case 4:
		return rig_arp(frame, rig_all, 1, rig_other, rig_peer4, rig_none, rig_gate4);
	case 5:
		return rig_arp(frame, rig_us, 2, rig_other, rig_peer4, rig_peer, rig_us4);
	case 6:
		ndp.type = 135;
		ndp.option = 1;
		ndp.to = rig_us6_group;
		ndp.target = rig_us6;
		return rig_ndp(frame, &ndp);
	default:
		ndp.flags = advertised[kind - 7].flags;
		ndp.to = advertised[kind - 7].to_us ? rig_us6 : rig_all6;
		return rig_ndp(frame, &ndp);
	}
}

#define CLAIMS     12
#define CLAIMS_ARP 6

/*
 * A claim moves nothing: the known MAC is asked, alone, and its answer ends the matter. Without a
 * further claim that is all.
 */
static void claims(void)
{
	for (uint32_t kind = 0; kind < CLAIMS; kind++) {
		bool ipv4 = kind < CLAIMS_ARP;
		struct wh_address peer = ipv4 ? PEER4 : PEER6;
		struct wh_neighbour_conflict conflict;
		struct rig rig;
		uint8_t frame[RIG_BYTES];

		open_known(&rig, ipv4);
		(void)rig_feed(&rig, frame, claim(frame, kind));
		RIG_EXPECT(&rig, peer, WH_NEIGHBOUR_FOUND, rig_peer);
		CU_ASSERT_EQUAL(rig.host.entry[0].state, WH_NEIGHBOUR_PROBE);
		CU_ASSERT(rig_take(&rig) > 0);
		CU_ASSERT_EQUAL(memcmp(rig.frame, rig_peer, 6), 0);
		/* It is no quarrel of two hosts before the known one has answered. */
		CU_ASSERT_FALSE(wh_neighbour_take_conflict(&rig.host, &conflict));
		(void)rig_feed(&rig, frame, claim(frame, kind));
		RIG_EXPECT(&rig, peer, WH_NEIGHBOUR_FOUND, rig_peer);
		CU_ASSERT_FALSE(wh_neighbour_take_conflict(&rig.host, &conflict));
		CU_ASSERT_EQUAL(rig_feed(&rig, frame,
					ipv4 ? rig_arp_reply(frame) : rig_advertisement(frame)),
			WH_NEIGHBOUR_OK);
		CU_ASSERT(wh_neighbour_take_conflict(&rig.host, &conflict));
		CU_ASSERT_EQUAL(conflict.quarrel, WH_NEIGHBOUR_QUARREL_PEERS);
		CU_ASSERT_EQUAL(memcmp(conflict.mac, rig_other, 6), 0);
		CU_ASSERT_EQUAL(memcmp(conflict.known_mac, rig_peer, 6), 0);
		CU_ASSERT_EQUAL(rig.host.entry[0].state, WH_NEIGHBOUR_REACHABLE);
		CU_ASSERT_FALSE(wh_neighbour_take_conflict(&rig.host, &conflict));
		CU_ASSERT_EQUAL(rig.host.stats.moved, 0);
		rig_close(&rig);
	}
}

/* For a minute, every 10 ms: the peer that answers is kept, and asked once a second at most. */
static void spoofing(void)
{
	for (uint32_t kind = 0; kind < CLAIMS; kind++) {
		bool ipv4 = kind < CLAIMS_ARP;
		struct rig rig;
		uint8_t frame[RIG_BYTES];
		uint64_t asked_pkts;

		open_known(&rig, ipv4);
		asked_pkts = rig.host.stats.asked_pkts;
		for (uint32_t i = 0; i < 6000; i++) {
			uint64_t asked = rig.host.stats.asked_pkts;

			(void)rig_feed(&rig, frame, claim(frame, kind));
			RIG_EXPECT(&rig, ipv4 ? PEER4 : PEER6, WH_NEIGHBOUR_FOUND, rig_peer);
			(void)rig_take_all(&rig);
			if (rig.host.stats.asked_pkts > asked)
				(void)rig_feed(&rig, frame,
					ipv4 ? rig_arp_reply(frame) : rig_advertisement(frame));
			rig.now += 10 * RIG_MS;
		}
		CU_ASSERT(rig.host.stats.asked_pkts - asked_pkts <= 60);
		CU_ASSERT_EQUAL(rig.host.stats.moved, 0);
		rig_close(&rig);
	}
}

/*
 * The peer is at another MAC from now on, announced or not. The old one is asked three times in
 * 1.5 s, then all of the link: who answers that is believed, and it is told.
 */
static void moves(void)
{
	for (uint32_t round = 0; round < 4; round++) {
		bool ipv4 = round % 2 == 0, announced = round < 2;
		struct wh_address peer = ipv4 ? PEER4 : PEER6;
		uint32_t kind = ipv4 ? 1 : 11, answer = ipv4 ? 0 : 10;
		struct wh_neighbour_conflict conflict;
		struct rig rig;
		uint8_t frame[RIG_BYTES];
		uint64_t moved_tsc;

		open_known(&rig, ipv4);
		moved_tsc = rig.now;
		if (announced)
			(void)rig_feed(&rig, frame, claim(frame, kind));
		while (rig.host.stats.moved == 0 && rig.now < moved_tsc + 20 * RIG_S) {
			uint8_t mac[6];

			CU_ASSERT_EQUAL(wh_neighbour_lookup(&rig.host, rig.now, &peer, mac),
				WH_NEIGHBOUR_FOUND);
			/* The new one hears what goes to all. */
			if (rig_take(&rig) > 0 && (rig.frame[0] & 1) != 0)
				(void)rig_feed(&rig, frame, claim(frame, answer));
			rig.now += 10 * RIG_MS;
		}
		RIG_EXPECT(&rig, peer, WH_NEIGHBOUR_FOUND, rig_other);
		/* 5 s are up 3 s after the last use. */
		CU_ASSERT_DOUBLE_EQUAL(
			(double)(rig.now - moved_tsc) / RIG_S, announced ? 1.5 : 4.5, 0.03);
		/* Only that: a process may have taken the place of another. */
		CU_ASSERT_EQUAL(wh_neighbour_take_conflict(&rig.host, &conflict), true);
		CU_ASSERT_EQUAL(conflict.quarrel, WH_NEIGHBOUR_QUARREL_MOVED);
		CU_ASSERT_EQUAL(memcmp(conflict.mac, rig_other, 6), 0);
		CU_ASSERT_EQUAL(memcmp(conflict.known_mac, rig_peer, 6), 0);
		CU_ASSERT_FALSE(wh_neighbour_take_conflict(&rig.host, &conflict));
		rig_close(&rig);
	}
}

/* On shared memory each process has a MAC of its own: the next one is no news to anybody. */
static void successors(void)
{
	struct wh_neighbour_conflict conflict;
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	open_known(&rig, true);
	rig.host.config.macs_made_up = true;
	(void)rig_feed(&rig, frame, claim(frame, 1));
	for (uint32_t ms = 0; ms < 2000 && rig.host.stats.moved == 0; ms += 10) {
		struct wh_address peer = PEER4;
		uint8_t mac[6];

		(void)wh_neighbour_lookup(&rig.host, rig.now, &peer, mac);
		if (rig_take(&rig) > 0 && (rig.frame[0] & 1) != 0)
			(void)rig_feed(&rig, frame, claim(frame, 0));
		rig.now += 10 * RIG_MS;
	}
	CU_ASSERT_EQUAL(rig.host.stats.moved, 1);
	CU_ASSERT_FALSE(wh_neighbour_take_conflict(&rig.host, &conflict));
	rig_close(&rig);
}

/* Unasked news makes no entry, and changes nothing where it agrees. */
static void gossip(void)
{
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	rig_arp(frame, rig_all, 2, rig_other, rig_peer4, rig_all, rig_peer4);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, 60), WH_NEIGHBOUR_NOT_ASKED);
	rig_arp(frame, rig_all, 1, rig_other, rig_peer4, rig_none, rig_peer4);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, 60), WH_NEIGHBOUR_NOT_OURS);
	CU_ASSERT_EQUAL(rig.host.entry[0].state, WH_NEIGHBOUR_FREE);
	rig_close(&rig);

	open_known(&rig, true);
	rig_arp(frame, rig_all, 1, rig_peer, rig_peer4, rig_none, rig_peer4);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, 60), WH_NEIGHBOUR_OK);
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_FOUND, rig_peer);
	CU_ASSERT_EQUAL(rig.host.entry[0].state, WH_NEIGHBOUR_REACHABLE);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 0);

	/* Who was silent and speaks again is asked at the next use, not after 5 s. */
	rig.host.entry[0].state = WH_NEIGHBOUR_FAILED;
	rig.host.entry[0].until_tsc = rig.now + 5 * RIG_S;
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_SILENT, NULL);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, 60), WH_NEIGHBOUR_NOT_OURS);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 0);
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
	rig_close(&rig);
}

/* State before and questions asked; flags and MAC told; state and MAC after. */
static void advertisements(void)
{
	enum { S = 0x40, O = 0x20, R = 0x80 };
	static const struct {
		uint8_t before, asks, flags;
		bool other, option;
		uint8_t after;
		bool moved;
	} cases[] = {
		{WH_NEIGHBOUR_INCOMPLETE, 0, S | O, true, true, WH_NEIGHBOUR_INCOMPLETE, false},
		{WH_NEIGHBOUR_INCOMPLETE, 1, S, true, true, WH_NEIGHBOUR_REACHABLE, true},
		{WH_NEIGHBOUR_INCOMPLETE, 1, R | O, true, true, WH_NEIGHBOUR_INCOMPLETE, false},
		{WH_NEIGHBOUR_FAILED, 0, S | O, true, true, WH_NEIGHBOUR_FAILED, false},
		{WH_NEIGHBOUR_REACHABLE, 0, S | O, true, true, WH_NEIGHBOUR_REACHABLE, false},
		{WH_NEIGHBOUR_REACHABLE, 0, O, false, true, WH_NEIGHBOUR_REACHABLE, false},
		{WH_NEIGHBOUR_PROBE, 0, S, false, true, WH_NEIGHBOUR_PROBE, false},
		{WH_NEIGHBOUR_PROBE, 1, S, false, true, WH_NEIGHBOUR_REACHABLE, false},
		{WH_NEIGHBOUR_PROBE, 1, S, false, false, WH_NEIGHBOUR_REACHABLE, false},
		{WH_NEIGHBOUR_PROBE, 1, O, false, false, WH_NEIGHBOUR_PROBE, false},
		{WH_NEIGHBOUR_PROBE, 3, S | O, true, true, WH_NEIGHBOUR_PROBE, false},
		{WH_NEIGHBOUR_PROBE, 4, S | O, true, true, WH_NEIGHBOUR_REACHABLE, true},
		{WH_NEIGHBOUR_PROBE, 4, S, true, true, WH_NEIGHBOUR_REACHABLE, true},
		{WH_NEIGHBOUR_PROBE, 4, O, true, true, WH_NEIGHBOUR_PROBE, false},
		{WH_NEIGHBOUR_PROBE, 4, S, false, true, WH_NEIGHBOUR_REACHABLE, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;
		uint8_t frame[RIG_BYTES];
		struct rig_ndp ndp = {.type = 136,
			.flags = cases[i].flags,
			.option = cases[i].option ? 2 : 0,
			.mac = cases[i].other ? rig_other : rig_peer,
			.ip = rig_peer6,
			.to = rig_us6,
			.target = rig_peer6};

		rig_open_default(&rig);
		RIG_EXPECT(&rig, PEER6, WH_NEIGHBOUR_ASKED, NULL);
		memcpy(rig.host.entry[0].mac, rig_peer, 6);
		rig.host.entry[0].state = cases[i].before;
		rig.host.entry[0].asks = cases[i].asks;
		(void)rig_feed(&rig, frame, rig_ndp(frame, &ndp));

		const uint8_t *mac = cases[i].moved ? rig_other : rig_peer;

		if (rig.host.entry[0].state != cases[i].after)
			printf("case %zu: state %d\n", i, rig.host.entry[0].state);
		CU_ASSERT_EQUAL(rig.host.entry[0].state, cases[i].after);
		CU_ASSERT_EQUAL(memcmp(rig.host.entry[0].mac, mac, 6), 0);
		rig_close(&rig);
	}
}

CU_TestInfo wh_tests[] = {
	{"unasked news makes no neighbour", gossip},
	{"who claims to be a peer does not become it", claims},
	{"a minute of claims", spoofing},
	{"a peer that moved is found", moves},
	{"a process after the other", successors},
	{"advertisements, in each state", advertisements},
	CU_TEST_INFO_NULL,
};
