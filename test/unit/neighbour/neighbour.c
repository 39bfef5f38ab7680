/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour/neighbour.h"

#include "neighbour_rig.h"

const char wh_suite_name[] = "lib/neighbour";

#define PEER4 rig_ip4(10, 0, 0, 2)
#define PEER6 rig_ip6(rig_peer6)

static void wrong_configs(void)
{
	/* One byte each of the config of the rig, and a word of the sentence. */
	static const struct {
		size_t at;
		uint8_t value;
		const char *word;
	} cases[] = {
		{offsetof(struct wh_neighbour_config, mac), 3, "MAC"},
		{offsetof(struct wh_neighbour_config, vlan) + 1, 0x10, "VLAN"},
		{offsetof(struct wh_neighbour_config, mtu) + 1, 0x01, "576"},
		{offsetof(struct wh_neighbour_config, mtu) + 1, 0x04, "1280"},
		{offsetof(struct wh_neighbour_config, mtu) + 1, 0x7d, "32000"},
		{offsetof(struct wh_neighbour_config, ipv4.prefix_bits), 33, "IPv4 address"},
		{offsetof(struct wh_neighbour_config, ipv4.ip), 224, "IPv4 address"},
		{offsetof(struct wh_neighbour_config, ipv4.ip), 0, "IPv4 address"},
		{offsetof(struct wh_neighbour_config, ipv4.ip[3]), 0, "IPv4 address"},
		{offsetof(struct wh_neighbour_config, ipv4.ip[3]), 255, "IPv4 address"},
		{offsetof(struct wh_neighbour_config, ipv4.gateway[2]), 1, "IPv4 gateway"},
		{offsetof(struct wh_neighbour_config, ipv4.gateway[3]), 255, "IPv4 gateway"},
		{offsetof(struct wh_neighbour_config, ipv4.gateway[3]), 1, "IPv4 gateway"},
		{offsetof(struct wh_neighbour_config, ipv6.prefix_bits), 129, "IPv6 address"},
		{offsetof(struct wh_neighbour_config, ipv6.ip), 0xff, "IPv6 address"},
		{offsetof(struct wh_neighbour_config, ipv6.ip), 0, "IPv6 address"}, /* ::1 */
		{offsetof(struct wh_neighbour_config, ipv6.gateway), 0x20, "IPv6 gateway"},
		{offsetof(struct wh_neighbour_config, ipv6.gateway), 0xff, "IPv6 gateway"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_neighbour_config config = rig_config();

		((uint8_t *)&config)[cases[i].at] = cases[i].value;

		const char *why = wh_neighbour_config_wrong(&config);

		if (why == NULL || strstr(why, cases[i].word) == NULL)
			printf("case %zu: %s\n", i, why == NULL ? "nothing" : why);
		CU_ASSERT(why != NULL && strstr(why, cases[i].word) != NULL);
	}

	struct wh_neighbour_config config = rig_config();

	config.vlan = 4095;
	CU_ASSERT_PTR_NOT_NULL(wh_neighbour_config_wrong(&config));
	config.vlan = 4094;
	config.mtu = 1279;
	CU_ASSERT_PTR_NOT_NULL(wh_neighbour_config_wrong(&config));
	config.mtu = 1280;
	CU_ASSERT_PTR_NULL(wh_neighbour_config_wrong(&config));
	config.ipv6.prefix_bits = 0;
	config.mtu = 576;
	CU_ASSERT_PTR_NULL(wh_neighbour_config_wrong(&config));
	config.mtu = 575;
	CU_ASSERT_PTR_NOT_NULL(wh_neighbour_config_wrong(&config));
	config.mtu = 32000;
	CU_ASSERT_PTR_NULL(wh_neighbour_config_wrong(&config));
	config.ipv4.prefix_bits = 0;
	CU_ASSERT_PTR_NOT_NULL(wh_neighbour_config_wrong(&config));
}

static void ways(void)
{
	const uint8_t same_subnet[16] = {0xfd, [8] = 1, [15] = 9};
	const uint8_t next_subnet[16] = {0xfd, [7] = 1, [15] = 9};
	const uint8_t link_local[16] = {0xfe, 0x80, [15] = 9};
	const uint8_t group[16] = {0xff, 0x0e, [15] = 1};
	const uint8_t loopback[16] = {[15] = 1};
	struct wh_neighbour_config config = rig_config();
	struct rig rig;

	rig_open(&rig, &config);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 1), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 0), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 255), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip4(255, 255, 255, 255), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip4(224, 0, 0, 1), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip4(127, 0, 0, 1), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip4(0, 0, 0, 0), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip6(rig_us6), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip6(rig_link6), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip6(group), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip6(loopback), WH_NEIGHBOUR_NO_HOST, NULL);
	RIG_EXPECT(&rig, rig_ip6(rig_none6), WH_NEIGHBOUR_NO_HOST, NULL);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), UINT64_MAX);

	/* Beyond the subnet all peers are behind one gateway, which is asked for once. */
	RIG_EXPECT(&rig, rig_ip4(10, 0, 1, 0), WH_NEIGHBOUR_ASKED, NULL);
	RIG_EXPECT(&rig, rig_ip4(9, 255, 255, 255), WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(memcmp(rig.host.entry[0].address.ip, rig_gate4, 4), 0);
	RIG_EXPECT(&rig, rig_ip6(next_subnet), WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(memcmp(rig.host.entry[1].address.ip, rig_gate6, 16), 0);
	RIG_EXPECT(&rig, rig_ip6(same_subnet), WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(memcmp(rig.host.entry[2].address.ip, same_subnet, 16), 0);
	RIG_EXPECT(&rig, rig_ip6(link_local), WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(memcmp(rig.host.entry[3].address.ip, link_local, 16), 0);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 4);

	uint8_t frame[RIG_BYTES];

	rig_feed(&rig, frame, rig_arp(frame, rig_us, 2, rig_gate, rig_gate4, rig_us, rig_us4));
	RIG_EXPECT(&rig, rig_ip4(8, 8, 8, 8), WH_NEIGHBOUR_FOUND, rig_gate);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 254), WH_NEIGHBOUR_FOUND, rig_gate);
	rig_close(&rig);

	/* Without gateways. */
	memset(config.ipv4.gateway, 0, 16);
	memset(config.ipv6.gateway, 0, 16);
	rig_open(&rig, &config);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 1, 2), WH_NEIGHBOUR_NO_GATEWAY, NULL);
	RIG_EXPECT(&rig, rig_ip6(next_subnet), WH_NEIGHBOUR_NO_GATEWAY, NULL);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 2), WH_NEIGHBOUR_ASKED, NULL);
	rig_close(&rig);

	config.ipv6.prefix_bits = 0;
	rig_open(&rig, &config);
	RIG_EXPECT(&rig, PEER6, WH_NEIGHBOUR_NO_ADDRESS, NULL);
	rig_close(&rig);
}

/* Prefixes that do not end at a byte, and the shortest subnets. */
static void prefixes(void)
{
	static const struct {
		uint8_t bits, last;
		enum wh_neighbour_result result;
	} cases[] = {
		{25, 127, WH_NEIGHBOUR_NO_HOST},
		{25, 126, WH_NEIGHBOUR_ASKED},
		{25, 128, WH_NEIGHBOUR_NO_GATEWAY},
		{30, 2, WH_NEIGHBOUR_ASKED},
		{30, 3, WH_NEIGHBOUR_NO_HOST},
		{30, 4, WH_NEIGHBOUR_NO_GATEWAY},
		{31, 0, WH_NEIGHBOUR_ASKED}, /* RFC 3021 */
		{31, 2, WH_NEIGHBOUR_NO_GATEWAY},
		{32, 1, WH_NEIGHBOUR_NO_HOST},
		{32, 0, WH_NEIGHBOUR_NO_GATEWAY},
		{1, 255, WH_NEIGHBOUR_ASKED},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_neighbour_config config = rig_config();
		struct rig rig;

		config.ipv4.prefix_bits = cases[i].bits;
		memset(config.ipv4.gateway, 0, 16);
		rig_open(&rig, &config);
		RIG_EXPECT(&rig, rig_ip4(10, 0, 0, cases[i].last), cases[i].result, NULL);
		rig_close(&rig);
	}
}

/* Asked at 0, 1 and 2 s; failed from 3 s on for 5 s; then asked again. */
static void silence(void)
{
	struct rig rig;

	rig_open_default(&rig);
	rig.now = 7;
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_ASKED, NULL);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), 7 + (uint64_t)i * RIG_S);
		CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
		CU_ASSERT_EQUAL(rig.frame[0], 0xff);
		rig.now += RIG_S - 1;
		CU_ASSERT_EQUAL(rig_take(&rig), 0);
		RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_ASKED, NULL);
		rig.now++;
	}
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_SILENT, NULL);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), UINT64_MAX);
	rig.now += RIG_S / 4 - 1;
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_SILENT, NULL);
	rig.now++;
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
	CU_ASSERT_EQUAL(rig.host.stats.asked_pkts, 4);
	rig_close(&rig);
}

/* Reachable for 5 s; then used on, asked itself three times, all of the link three times. */
static void fading(void)
{
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	RIG_EXPECT(&rig, PEER6, WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
	rig.now = 5;
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_advertisement(frame)), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), RIG_S);
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	rig.now = 5 * RIG_S + 4;
	RIG_EXPECT(&rig, PEER6, WH_NEIGHBOUR_FOUND, rig_peer);
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), UINT64_MAX);
	/* Without use it may be old, and nobody asks. */
	rig.now = 1000 * RIG_S;
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	for (int i = 0; i < 6; i++) {
		RIG_EXPECT(&rig, PEER6, WH_NEIGHBOUR_FOUND, rig_peer);
		CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
		CU_ASSERT_EQUAL(rig.frame[0], i < 3 ? 0x02 : 0x33);
		rig.now += i < 3 ? RIG_S / 2 : RIG_S;
	}
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	RIG_EXPECT(&rig, PEER6, WH_NEIGHBOUR_SILENT, NULL);
	rig_close(&rig);
}

/* An answer to a probe starts another 5 s. */
static void refreshing(void)
{
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_ASKED, NULL);
	for (int i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
		CU_ASSERT_EQUAL(rig.frame[0], i == 0 ? 0xff : 0x02);
		CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_reply(frame)), WH_NEIGHBOUR_OK);
		rig.now += 5 * RIG_S - 1;
		RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_FOUND, rig_peer);
		CU_ASSERT_EQUAL(rig_take(&rig), 0);
		rig.now++;
		RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_FOUND, rig_peer);
	}
	rig_close(&rig);
}

/* Who asks is answered, from wherever on the link, and nothing is kept of him. */
static void askers(void)
{
	const uint8_t off_subnet4[4] = {10, 0, 1, 2};
	const uint8_t off_subnet6[16] = {0xfd, [7] = 1, [15] = 2};
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_request(frame)), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_solicitation(frame)), WH_NEIGHBOUR_OK);
	rig_arp(frame, rig_all, 1, rig_other, off_subnet4, rig_none, rig_us4);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, 60), WH_NEIGHBOUR_OK);

	struct rig_ndp ndp = {.type = 135,
		.option = 1,
		.mac = rig_other,
		.ip = off_subnet6,
		.to = rig_us6_group,
		.target = rig_us6};

	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_ndp(frame, &ndp)), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 4);
	CU_ASSERT_EQUAL(rig.host.entry[0].state, WH_NEIGHBOUR_FREE);

	/* Nor is his MAC believed while we ask for him: he may be anybody. */
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_reply(frame)), WH_NEIGHBOUR_NOT_ASKED);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_request(frame)), WH_NEIGHBOUR_OK);
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_reply(frame)), WH_NEIGHBOUR_OK);
	RIG_EXPECT(&rig, PEER4, WH_NEIGHBOUR_FOUND, rig_peer);
	rig_close(&rig);
}

/* Told once in 10 s, and defended as often; each is counted. */
static void conflicts(void)
{
	struct wh_neighbour_conflict conflict;
	struct rig rig;
	uint8_t frame[RIG_BYTES];
	size_t bytes = rig_arp(frame, rig_all, 1, rig_other, rig_us4, rig_none, rig_us4);

	rig_open_default(&rig);
	CU_ASSERT_FALSE(wh_neighbour_take_conflict(&rig.host, &conflict));
	for (int i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_CONFLICT);
		rig.now += 10 * RIG_MS - 1;
	}
	CU_ASSERT_EQUAL(rig.host.stats.input_pkts[WH_NEIGHBOUR_CONFLICT], 1000);
	CU_ASSERT(wh_neighbour_take_conflict(&rig.host, &conflict));
	CU_ASSERT_FALSE(wh_neighbour_take_conflict(&rig.host, &conflict));
	CU_ASSERT_EQUAL(memcmp(conflict.mac, rig_other, 6), 0);
	CU_ASSERT_EQUAL(conflict.address.family, WH_IPV4);
	CU_ASSERT_EQUAL(memcmp(conflict.address.ip, rig_us4, 4), 0);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 3);
	CU_ASSERT_EQUAL(rig.host.stats.announced_pkts, 3);
	CU_ASSERT_EQUAL(rig.host.entry[0].state, WH_NEIGHBOUR_FREE);

	/* IPv6: somebody advertises our address, or asks from it. */
	struct rig_ndp advertises = {.type = 136,
		.flags = 0x20,
		.option = 2,
		.mac = rig_other,
		.ip = rig_link6,
		.to = rig_all6,
		.target = rig_us6};
	struct rig_ndp asks = {.type = 135,
		.option = 1,
		.mac = rig_peer,
		.ip = rig_us6,
		.to = rig_us6_group,
		.target = rig_us6};

	advertises.ip = rig_peer6;
	rig.now = 10 * RIG_S - 1;
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_ndp(frame, &advertises)), WH_NEIGHBOUR_CONFLICT);
	CU_ASSERT_FALSE(wh_neighbour_take_conflict(&rig.host, &conflict));
	rig.now++;
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_ndp(frame, &advertises)), WH_NEIGHBOUR_CONFLICT);
	CU_ASSERT(wh_neighbour_take_conflict(&rig.host, &conflict));
	CU_ASSERT_EQUAL(memcmp(conflict.mac, rig_other, 6), 0);
	CU_ASSERT_EQUAL(memcmp(conflict.address.ip, rig_us6, 16), 0);
	rig.now += 10 * RIG_S;
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_ndp(frame, &asks)), WH_NEIGHBOUR_CONFLICT);
	CU_ASSERT(wh_neighbour_take_conflict(&rig.host, &conflict));
	CU_ASSERT_EQUAL(memcmp(conflict.mac, rig_peer, 6), 0);
	rig_close(&rig);
}

static void groups(void)
{
	static const uint8_t expected[3][6] = {
		{0x33, 0x33, 0, 0, 0, 1},
		{0x33, 0x33, 0xff, 0, 0, 1},
		{0x33, 0x33, 0xff, 0, 0, 9},
	};
	struct wh_neighbour_config config = rig_config();
	uint8_t macs[WH_NEIGHBOUR_GROUPS_MAX][6];
	struct rig rig;

	/* fd00::1 and fe80::ff:fe00:1 end alike, so that their groups are one. */
	rig_open(&rig, &config);
	CU_ASSERT_EQUAL(rig.host.owns, 3);
	CU_ASSERT_EQUAL(memcmp(rig.host.link_local, rig_link6, 16), 0);
	CU_ASSERT_EQUAL(wh_neighbour_groups(&rig.host, macs), 2);
	CU_ASSERT_EQUAL(memcmp(macs, expected, 12), 0);
	rig_close(&rig);

	config.ipv6.ip[15] = 9;
	rig_open(&rig, &config);
	CU_ASSERT_EQUAL(wh_neighbour_groups(&rig.host, macs), 3);
	CU_ASSERT_EQUAL(memcmp(macs, expected, 18), 0);
	rig_close(&rig);

	config.ipv6.prefix_bits = 0;
	rig_open(&rig, &config);
	CU_ASSERT_EQUAL(wh_neighbour_groups(&rig.host, macs), 0);
	CU_ASSERT_EQUAL(rig.host.owns, 1);
	rig_close(&rig);

	/* The link-local address alone, and with the bit for "local" set by RFC 4291 appendix A. */
	config.ipv4.prefix_bits = 0;
	config.mac[0] = 0;
	config.ipv6 = (struct wh_neighbour_subnet){
		.ip = {0xfe, 0x80, [8] = 2, [11] = 0xff, 0xfe, [15] = 1}, .prefix_bits = 64};
	rig_open(&rig, &config);
	CU_ASSERT_EQUAL(rig.host.owns, 1);
	CU_ASSERT_EQUAL(wh_neighbour_groups(&rig.host, macs), 2);
	CU_ASSERT_EQUAL(memcmp(rig.host.link_local, config.ipv6.ip, 16), 0);
	rig_close(&rig);
}

/* The question that came out last, made into its answer. */
static size_t turn_round(struct rig *rig, uint8_t *frame)
{
	bool ipv4 = rig->frame[12] == 8;
	size_t ip = ipv4 ? 26 : 22, bytes = ipv4 ? 4 : 16;

	memcpy(frame, rig->frame, rig->bytes);
	memcpy(frame, rig->frame + 6, 6);
	memcpy(frame + 6, rig->frame, 6);
	memcpy(frame + ip, rig->frame + ip + bytes, bytes);
	memcpy(frame + ip + bytes, rig->frame + ip, bytes);
	frame[ipv4 ? 34 : 54] = ipv4 ? 0 : 129;
	rig_resum(frame, rig->bytes);
	return rig->bytes;
}

static void echo_asked(void)
{
	/* 8, 9, 10 and 11 are the data: their places in the message. */
	static const uint8_t question[60] = {
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0,         /* Ethernet */
		0x45, 0, 0, 32, 0, 0, 0x40, 0, 64, 1, 0x26, 0xdb, /* IPv4 */
		10, 0, 0, 1, 10, 0, 0, 2,                         /* addresses */
		8, 0, 0xe5, 0xe9, 0, 1, 0, 1, 8, 9, 10, 11,       /* echo */
	};
	struct wh_address target = PEER4;
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&rig.host, 0, &target, 27), -EMSGSIZE);
	CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&rig.host, 0, &target, 1501), -EMSGSIZE);
	CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&rig.host, 0, &target, 32), 0);
	CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&rig.host, 0, &target, 32), -EBUSY);
	/* The MAC is asked for, and its answer lets the echo go. */
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), 0);
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
	CU_ASSERT_EQUAL(rig.frame[13], 6);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), RIG_S);
	rig.now = 3 * RIG_MS;
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_reply(frame)), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), 0);
	CU_ASSERT(rig_take_is(&rig, question, sizeof(question)));
	CU_ASSERT_EQUAL(rig.host.echo.state, WH_NEIGHBOUR_ECHO_SENT);
	CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&rig.host, 0, &target, 32), -EBUSY);

	/* Not quite the answer: identifier, sequence, data, length, address. */
	static const size_t places[] = {39, 41, 45, 17, 29};

	rig.now = 150 * RIG_MS;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t bytes = turn_round(&rig, frame);

		frame[places[i]]++;
		rig_resum(frame, bytes);
		CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_NOT_ASKED);
	}
	CU_ASSERT_EQUAL(rig.host.echo.state, WH_NEIGHBOUR_ECHO_SENT);

	size_t bytes = turn_round(&rig, frame);

	CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(rig.host.echo.state, WH_NEIGHBOUR_ECHO_ANSWERED);
	CU_ASSERT_EQUAL(rig.host.echo.rtt_tsc, 147 * RIG_MS);
	/* Once, and nothing is waited for any more. */
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_NOT_ASKED);
	rig.now += 10 * RIG_S;
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), UINT64_MAX);
	CU_ASSERT_EQUAL(rig.host.echo.state, WH_NEIGHBOUR_ECHO_ANSWERED);
	rig_close(&rig);
}

static void echo_asked_in_vain(void)
{
	struct wh_neighbour_config config = rig_config();
	struct wh_address near4 = PEER4, near6 = PEER6, far = rig_ip4(10, 0, 1, 2);
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	memset(config.ipv4.gateway, 0, 16);
	rig_open(&rig, &config);
	CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&rig.host, 0, &far, 1500), 0);
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	CU_ASSERT_EQUAL(rig.host.echo.state, WH_NEIGHBOUR_ECHO_UNSENT);
	CU_ASSERT_EQUAL(rig.host.echo.result, WH_NEIGHBOUR_NO_GATEWAY);

	/* Nobody answers the question for the MAC. */
	CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&rig.host, 0, &near4, 1500), 0);
	for (rig.now = 0; rig.now < 3 * RIG_S; rig.now += RIG_S) {
		(void)rig_take_all(&rig);
		CU_ASSERT_EQUAL(rig_take_all(&rig), rig.now == 0 ? 1 : 0);
		CU_ASSERT_EQUAL(rig.host.echo.state, WH_NEIGHBOUR_ECHO_WAITS);
	}
	CU_ASSERT_EQUAL(rig_take_all(&rig), 0);
	CU_ASSERT_EQUAL(rig.host.echo.state, WH_NEIGHBOUR_ECHO_UNSENT);
	CU_ASSERT_EQUAL(rig.host.echo.result, WH_NEIGHBOUR_SILENT);

	/* Nobody answers the echo: a full MTU, over IPv6. */
	RIG_EXPECT(&rig, near6, WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_advertisement(frame)), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&rig.host, rig.now, &near6, 1500), 0);
	CU_ASSERT_EQUAL(rig_take(&rig), 1514);
	CU_ASSERT_EQUAL(rig.frame[54], 128);
	CU_ASSERT_EQUAL(rig.host.echo.sequence, 1);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), rig.now + RIG_S);
	rig.now += RIG_S - 1;
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	CU_ASSERT_EQUAL(rig.host.echo.state, WH_NEIGHBOUR_ECHO_SENT);
	rig.now++;
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	CU_ASSERT_EQUAL(rig.host.echo.state, WH_NEIGHBOUR_ECHO_LOST);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), UINT64_MAX);
	CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&rig.host, rig.now, &near6, 1500), 0);
	CU_ASSERT_EQUAL(rig_take(&rig), 1514);
	CU_ASSERT_EQUAL(rig.host.echo.sequence, 2);
	rig_close(&rig);
}

/* Two of them, each with what the other sends, find and ping each other. */
static void two_hosts(void)
{
	struct wh_neighbour_config config = rig_config();
	struct rig here, there;

	rig_open(&here, &config);
	memcpy(config.mac, rig_peer, 6);
	config.ipv4.ip[3] = 2;
	config.ipv6.ip[15] = 2;
	rig_open(&there, &config);

	for (int ipv4 = 0; ipv4 < 2; ipv4++) {
		struct wh_address target = ipv4 ? PEER4 : PEER6;

		CU_ASSERT_EQUAL(wh_neighbour_ask_echo(&here.host, here.now, &target, 1500), 0);
		for (int i = 0; i < 10; i++) {
			while (rig_take(&here) > 0)
				CU_ASSERT_EQUAL(
					rig_feed(&there, here.frame, here.bytes), WH_NEIGHBOUR_OK);
			here.now = there.now += RIG_MS;
			while (rig_take(&there) > 0)
				CU_ASSERT_EQUAL(
					rig_feed(&here, there.frame, there.bytes), WH_NEIGHBOUR_OK);
		}
		CU_ASSERT_EQUAL(here.host.echo.state, WH_NEIGHBOUR_ECHO_ANSWERED);
		CU_ASSERT_EQUAL(here.host.echo.rtt_tsc, RIG_MS);
		RIG_EXPECT(&here, target, WH_NEIGHBOUR_FOUND, rig_peer);
	}
	/* To be asked and to answer makes nobody known. */
	CU_ASSERT_EQUAL(there.host.entry[0].state, WH_NEIGHBOUR_FREE);
	rig_close(&here);
	rig_close(&there);
}

CU_TestInfo wh_tests[] = {
	{"wrong configurations get a sentence", wrong_configs},
	{"the way: subnet, gateway, or none", ways},
	{"prefixes of every kind", prefixes},
	{"nobody answers: three times, then failed for a while", silence},
	{"an answer holds for 5 s, and is used on while asked", fading},
	{"an answer to a probe starts another 5 s", refreshing},
	{"askers are answered, and nothing is kept of them", askers},
	{"conflicts are told and defended once in 10 s", conflicts},
	{"groups and own addresses", groups},
	{"an echo is asked, and only its answer is taken", echo_asked},
	{"an echo is asked in vain", echo_asked_in_vain},
	{"two hosts find and ping each other", two_hosts},
	CU_TEST_INFO_NULL,
};
