/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour_rig.h"

const char wh_suite_name[] = "lib/neighbour frames";

/* The sums in these frames were worked out apart from the program. */

#define ETHER_TO_PEER(type_high, type_low) 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, type_high, type_low
#define ETHER_TO_ALL(type_high, type_low)                                                          \
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, type_high, type_low
#define ETHER_TO_GROUP(a, b, c, d) 0x33, 0x33, a, b, c, d, 2, 0, 0, 0, 0, 1, 0x86, 0xdd
#define ARP_HEAD                   0, 1, 8, 0, 6, 4
#define NDP_IP                     0x60, 0, 0, 0, 0, 32, 58, 255
#define US6                        0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
#define LINK6                      0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1
#define PEER6                      0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2
#define GATE6                      0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe
#define PEER6_GROUP                0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 2
#define GATE6_GROUP                0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0, 0, 0xfe
#define ALL6                       0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1

static void arp_answers(void)
{
	static const uint8_t reply[60] = {
		ETHER_TO_PEER(8, 6), ARP_HEAD, 0, 2, /* reply */
		2, 0, 0, 0, 0, 1, 10, 0, 0, 1,       /* sender: us */
		2, 0, 0, 0, 0, 2, 10, 0, 0, 2,       /* target: the peer */
	};
	static const uint8_t to_probe[60] = {
		ETHER_TO_PEER(8, 6), ARP_HEAD, 0, 2, /* reply */
		2, 0, 0, 0, 0, 1, 10, 0, 0, 1,       /* sender: us */
		2, 0, 0, 0, 0, 2, 0, 0, 0, 0,        /* target: it has no address yet */
	};
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_request(frame)), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), 0);
	CU_ASSERT(rig_take_is(&rig, reply, sizeof(reply)));
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), UINT64_MAX);

	/* To us alone, as a host does that checks whether we are still there. */
	memcpy(frame, rig_us, 6);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, 42), WH_NEIGHBOUR_OK);
	CU_ASSERT(rig_take_is(&rig, reply, sizeof(reply)));

	/* RFC 5227 2.1.1: a probe makes no entry, and no conflict either. */
	rig_close(&rig);
	rig_open_default(&rig);
	rig_arp(frame, rig_all, 1, rig_peer, rig_none, rig_none, rig_us4);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, 60), WH_NEIGHBOUR_OK);
	CU_ASSERT(rig_take_is(&rig, to_probe, sizeof(to_probe)));
	for (size_t i = 0; i < RIG_ENTRIES; i++)
		CU_ASSERT_EQUAL(rig.host.entry[i].state, WH_NEIGHBOUR_FREE);
	CU_ASSERT_EQUAL(rig.host.stats.answered_pkts, 1);
	CU_ASSERT_EQUAL(rig.host.stats.input_pkts[WH_NEIGHBOUR_OK], 1);
	rig_close(&rig);
}

static void arp_questions(void)
{
	static const uint8_t to_all[60] = {
		ETHER_TO_ALL(8, 6), ARP_HEAD, 0, 1,                           /* request */
		2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2, /* us, peer */
	};
	static const uint8_t to_peer[60] = {
		ETHER_TO_PEER(8, 6), ARP_HEAD, 0, 1,                          /* request */
		2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2, /* us, peer */
	};
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 2), WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT(rig_take_is(&rig, to_all, sizeof(to_all)));
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_reply(frame)), WH_NEIGHBOUR_OK);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 2), WH_NEIGHBOUR_FOUND, rig_peer);
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	rig.now += 30 * RIG_S;
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 2), WH_NEIGHBOUR_FOUND, rig_peer);
	CU_ASSERT(rig_take_is(&rig, to_peer, sizeof(to_peer)));
	rig_close(&rig);
}

static void ndp_answers(void)
{
	static const uint8_t solicited[] = {
		ETHER_TO_PEER(0x86, 0xdd), NDP_IP, US6, PEER6, /* */
		136, 0, 0x1c, 0x9c, 0x60, 0, 0, 0, US6,        /* solicited, override */
		2, 1, 2, 0, 0, 0, 0, 1,                        /* target's MAC */
	};
	static const uint8_t to_nobody[] = {
		ETHER_TO_GROUP(0, 0, 0, 1), NDP_IP, US6, ALL6, /* */
		136, 0, 0x5a, 0x9b, 0x20, 0, 0, 0, US6,        /* override */
		2, 1, 2, 0, 0, 0, 0, 1,                        /* target's MAC */
	};
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_solicitation(frame)), WH_NEIGHBOUR_OK);
	CU_ASSERT(rig_take_is(&rig, solicited, sizeof(solicited)));

	/* A probe of reachability: to us alone, and it need not say its MAC. */
	struct rig_ndp ndp = {
		.type = 135, .mac = rig_peer, .ip = rig_peer6, .to = rig_us6, .target = rig_us6};

	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_ndp(frame, &ndp)), WH_NEIGHBOUR_OK);
	CU_ASSERT(rig_take_is(&rig, solicited, sizeof(solicited)));

	/* Duplicate address detection of a host that wants our address: RFC 4862 5.4.2. */
	ndp.ip = rig_none6;
	ndp.to = rig_us6_group;
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_ndp(frame, &ndp)), WH_NEIGHBOUR_OK);
	CU_ASSERT(rig_take_is(&rig, to_nobody, sizeof(to_nobody)));
	CU_ASSERT_FALSE(rig.host.conflict_news[WH_NEIGHBOUR_QUARREL_OURS]);

	/* The answer goes to the MAC in the option, whatever the frame came from. */
	rig_solicitation(frame);
	memcpy(frame + 6, rig_other, 6);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, 86), WH_NEIGHBOUR_OK);
	CU_ASSERT(rig_take_is(&rig, solicited, sizeof(solicited)));
	rig_close(&rig);
}

static void ndp_questions(void)
{
	static const uint8_t to_group[] = {
		ETHER_TO_GROUP(0xff, 0, 0, 2), NDP_IP, US6, PEER6_GROUP, /* */
		135, 0, 0x7d, 0x97, 0, 0, 0, 0, PEER6,                   /* */
		1, 1, 2, 0, 0, 0, 0, 1,                                  /* source's MAC */
	};
	static const uint8_t to_peer[] = {
		ETHER_TO_PEER(0x86, 0xdd), NDP_IP, US6, PEER6, /* */
		135, 0, 0x7e, 0x9b, 0, 0, 0, 0, PEER6,         /* */
		1, 1, 2, 0, 0, 0, 0, 1,                        /* source's MAC */
	};
	static const uint8_t to_gate[] = {
		ETHER_TO_GROUP(0xff, 0, 0, 0xfe), NDP_IP, LINK6, GATE6_GROUP, /* */
		135, 0, 0x79, 0x9f, 0, 0, 0, 0, GATE6,                        /* */
		1, 1, 2, 0, 0, 0, 0, 1,                                       /* source's MAC */
	};
	const uint8_t far[16] = {0x20, 1, 0xd, 0xb8, [15] = 9};
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	RIG_EXPECT(&rig, rig_ip6(rig_peer6), WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT(rig_take_is(&rig, to_group, sizeof(to_group)));
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_advertisement(frame)), WH_NEIGHBOUR_OK);
	RIG_EXPECT(&rig, rig_ip6(rig_peer6), WH_NEIGHBOUR_FOUND, rig_peer);
	rig.now += 30 * RIG_S;
	RIG_EXPECT(&rig, rig_ip6(rig_peer6), WH_NEIGHBOUR_FOUND, rig_peer);
	CU_ASSERT(rig_take_is(&rig, to_peer, sizeof(to_peer)));
	RIG_EXPECT(&rig, rig_ip6(far), WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT(rig_take_is(&rig, to_gate, sizeof(to_gate)));
	rig_close(&rig);
}

static void announcements(void)
{
	static const uint8_t arp[60] = {
		ETHER_TO_ALL(8, 6), ARP_HEAD, 0, 1,                           /* request */
		2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1, /* us, us */
	};
	static const uint8_t link_local[] = {
		ETHER_TO_GROUP(0, 0, 0, 1), NDP_IP, LINK6, ALL6, /* */
		136, 0, 0x59, 0x9b, 0x20, 0, 0, 0, LINK6,        /* override */
		2, 1, 2, 0, 0, 0, 0, 1,                          /* target's MAC */
	};
	static const uint8_t global[] = {
		ETHER_TO_GROUP(0, 0, 0, 1), NDP_IP, US6, ALL6, /* */
		136, 0, 0x5a, 0x9b, 0x20, 0, 0, 0, US6,        /* override */
		2, 1, 2, 0, 0, 0, 0, 1,                        /* target's MAC */
	};
	struct rig rig;

	rig_open_default(&rig);
	wh_neighbour_announce(&rig.host, rig.now);
	for (int round = 0; round < 2; round++) {
		CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), rig.now);
		CU_ASSERT(rig_take_is(&rig, arp, sizeof(arp)));
		CU_ASSERT(rig_take_is(&rig, link_local, sizeof(link_local)));
		CU_ASSERT(rig_take_is(&rig, global, sizeof(global)));
		CU_ASSERT_EQUAL(rig_take(&rig), 0);
		rig.now += 2 * RIG_S - 1;
		CU_ASSERT_EQUAL(rig_take(&rig), 0);
		rig.now++;
	}
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), UINT64_MAX);
	CU_ASSERT_EQUAL(rig.host.stats.announced_pkts, 6);
	rig_close(&rig);
}

static void echo_answers(void)
{
	static const uint8_t request4[] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0,                      /* Ethernet */
		0x45, 0, 0, 31, 0xab, 0xcd, 0, 0, 55, 1, 0xc4, 0x0e,           /* IPv4 */
		10, 0, 0, 2, 10, 0, 0, 1,                                      /* addresses */
		8, 0, 0x21, 0x62, 0x12, 0x34, 0, 7, 'a', 'b', 'c', 0xaa, 0xaa, /* padded */
	};
	static const uint8_t reply4[60] = {
		ETHER_TO_PEER(8, 0),                               /* */
		0x45, 0, 0, 31, 0, 0, 0x40, 0, 64, 1, 0x26, 0xdc,  /* IPv4 */
		10, 0, 0, 1, 10, 0, 0, 2,                          /* addresses */
		0, 0, 0x29, 0x62, 0x12, 0x34, 0, 7, 'a', 'b', 'c', /* the padding is not ours */
	};
	static const uint8_t request6[] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd,      /* Ethernet */
		0x60, 0, 0, 0, 0, 11, 58, 1, PEER6, US6,             /* one hop is enough */
		128, 0, 0xaf, 0x17, 0x12, 0x34, 0, 7, 'a', 'b', 'c', /* */
	};
	static const uint8_t reply6[] = {
		ETHER_TO_PEER(0x86, 0xdd), 0x60, 0, 0, 0, 0, 11, 58, 64, US6, PEER6, /* */
		129, 0, 0xae, 0x17, 0x12, 0x34, 0, 7, 'a', 'b', 'c',                 /* */
	};
	struct rig rig;

	rig_open_default(&rig);
	CU_ASSERT_EQUAL(rig_feed(&rig, request4, sizeof(request4)), WH_NEIGHBOUR_OK);
	CU_ASSERT(rig_take_is(&rig, reply4, sizeof(reply4)));
	CU_ASSERT_EQUAL(rig_feed(&rig, request6, sizeof(request6)), WH_NEIGHBOUR_OK);
	CU_ASSERT(rig_take_is(&rig, reply6, sizeof(reply6)));
	/* Whoever only pings is no neighbour of ours. */
	CU_ASSERT_EQUAL(rig.host.entry[0].state, WH_NEIGHBOUR_FREE);
	rig_close(&rig);
}

/* From no data to a full MTU everything comes back; a byte more does not. */
static void echo_sizes(void)
{
	const size_t sizes4[] = {0, 1, 17, 18, 19, 1471, 1472};
	const size_t sizes6[] = {0, 1, 2, 3, 1451, 1452};
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	for (size_t i = 0; i < sizeof(sizes4) / sizeof(sizes4[0]); i++) {
		size_t bytes = rig_echo4(frame, 8, rig_peer, rig_peer4, rig_us4, sizes4[i]);

		rig.now += 10 * RIG_MS;
		CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_OK);
		CU_ASSERT_EQUAL(rig_take(&rig), bytes);
		CU_ASSERT_EQUAL(rig.frame[34], 0);
		CU_ASSERT_EQUAL(memcmp(rig.frame + 38, frame + 38, 4 + sizes4[i]), 0);
	}
	for (size_t i = 0; i < sizeof(sizes6) / sizeof(sizes6[0]); i++) {
		size_t bytes = rig_echo6(frame, 128, rig_peer, rig_peer6, rig_us6, sizes6[i]);

		rig.now += 10 * RIG_MS;
		CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_OK);
		CU_ASSERT_EQUAL(rig_take(&rig), bytes);
		CU_ASSERT_EQUAL(rig.frame[54], 129);
		CU_ASSERT_EQUAL(memcmp(rig.frame + 58, frame + 58, 4 + sizes6[i]), 0);
	}

	size_t bytes = rig_echo4(frame, 8, rig_peer, rig_peer4, rig_us4, 1473);

	CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_TOO_LONG);
	bytes = rig_echo6(frame, 128, rig_peer, rig_peer6, rig_us6, 1453);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_TOO_LONG);
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	rig_close(&rig);
}

/* The message's sum comes out as 0 and as its complement's other ends. */
static void echo_sums(void)
{
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	for (uint32_t word = 0; word < 65536; word++) {
		size_t bytes = rig_echo4(frame, 8, rig_peer, rig_peer4, rig_us4, 2);

		frame[42] = (uint8_t)(word >> 8);
		frame[43] = (uint8_t)word;
		rig_resum(frame, bytes);
		rig.now += 10 * RIG_MS;
		if (rig_feed(&rig, frame, bytes) != WH_NEIGHBOUR_OK || rig_take(&rig) != bytes)
			break;
		bytes = rig_echo6(frame, 128, rig_peer, rig_peer6, rig_us6, 2);
		frame[62] = (uint8_t)(word >> 8);
		frame[63] = (uint8_t)word;
		rig_resum(frame, bytes);
		rig.now += 10 * RIG_MS;
		if (rig_feed(&rig, frame, bytes) != WH_NEIGHBOUR_OK || rig_take(&rig) != bytes)
			break;
	}
	CU_ASSERT_EQUAL(rig.host.stats.answered_pkts, 2 * 65536);
	rig_close(&rig);
}

static void vlan(void)
{
	static const uint8_t reply[60] = {
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x81, 0, 0x0f, 0xfe, 8, 6, /* VLAN 4094 */
		ARP_HEAD, 0, 2, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1,                 /* */
		2, 0, 0, 0, 0, 2, 10, 0, 0, 2,                                 /* */
	};
	struct wh_neighbour_config config = rig_config();
	struct rig rig;
	uint8_t frame[RIG_BYTES], tagged[RIG_BYTES];
	size_t bytes = rig_arp_request(frame);

	/* The upper four bits are priority, and say nothing of the VLAN. */
	const uint8_t tag[4] = {0x81, 0, 0xef, 0xfe};

	memcpy(tagged, frame, 12);
	memcpy(tagged + 12, tag, 4);
	memcpy(tagged + 16, frame + 12, bytes - 12);
	config.vlan = 4094;
	rig_open(&rig, &config);
	CU_ASSERT_EQUAL(rig.host.frame_bytes_max, 1518);
	CU_ASSERT_EQUAL(rig_feed(&rig, tagged, bytes + 4), WH_NEIGHBOUR_OK);
	CU_ASSERT(rig_take_is(&rig, reply, sizeof(reply)));
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_VLAN);
	tagged[15] = 0xfd;
	CU_ASSERT_EQUAL(rig_feed(&rig, tagged, bytes + 4), WH_NEIGHBOUR_VLAN);
	tagged[15] = 0xfe;
	CU_ASSERT_EQUAL(rig_feed(&rig, tagged, 17), WH_NEIGHBOUR_SHORT);
	CU_ASSERT_EQUAL(rig_feed(&rig, tagged, 18 + 27), WH_NEIGHBOUR_SHORT);
	wh_neighbour_announce(&rig.host, rig.now);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 3);
	rig_close(&rig);

	config.vlan = 0;
	rig_open(&rig, &config);
	CU_ASSERT_EQUAL(rig.host.frame_bytes_max, 1514);
	CU_ASSERT_EQUAL(rig_feed(&rig, tagged, bytes + 4), WH_NEIGHBOUR_VLAN);
	/* VLAN 0 is a priority without a VLAN. */
	tagged[14] = 0xe0;
	tagged[15] = 0;
	CU_ASSERT_EQUAL(rig_feed(&rig, tagged, bytes + 4), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(rig_take(&rig), 60);
	/* A second tag inside. */
	memmove(tagged + 16, tagged + 12, bytes - 12);
	CU_ASSERT_EQUAL(rig_feed(&rig, tagged, bytes + 4), WH_NEIGHBOUR_TYPE);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"ARP requests and probes are answered", arp_answers},
	{"ARP asks all, then the neighbour itself", arp_questions},
	{"solicitations and address probes are answered", ndp_answers},
	{"discovery asks the group, then the neighbour itself", ndp_questions},
	{"announcements, twice", announcements},
	{"echo requests are answered", echo_answers},
	{"echo of every size up to the MTU", echo_sizes},
	{"echo with every sum", echo_sums},
	{"VLAN tags", vlan},
	CU_TEST_INFO_NULL,
};
