/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/prng.h"
#include "neighbour_rig.h"

const char wh_suite_name[] = "lib/neighbour floods";

#define MUTATIONS 200000
#define SEED      UINT64_C(19821116)

static void put_host(uint8_t ip[4], uint32_t number)
{
	ip[0] = 10;
	ip[1] = (uint8_t)(number >> 16);
	ip[2] = (uint8_t)(number >> 8);
	ip[3] = (uint8_t)number;
}

/* A subnet with room for a flood: 10.0.0.0/8. */
static void open_wide(struct rig *rig)
{
	struct wh_neighbour_config config = rig_config();

	config.ipv4.prefix_bits = 8;
	rig_open(rig, &config);
}

/* Asks us from that address; each has a station of its own. */
static enum wh_neighbour_reason ask_from(struct rig *rig, uint32_t number)
{
	uint8_t frame[RIG_BYTES], ip[4];
	uint8_t mac[6] = {
		2, 1, 0, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number};

	put_host(ip, number);
	return rig_feed(rig, frame, rig_arp(frame, rig_all, 1, mac, ip, rig_none, rig_us4));
}

/* The frame as if that station had sent it. */
static void put_station(uint8_t *frame, size_t bytes, uint32_t number)
{
	uint8_t mac[6] = {2, 1, 0, 0, (uint8_t)(number >> 8), (uint8_t)number};

	memcpy(frame + 6, mac, sizeof(mac));
	if (frame[12] == 0x08 && frame[13] == 0x06)
		memcpy(frame + 22, mac, sizeof(mac));
	else if (frame[12] == 0x86 && frame[54] == 135)
		memcpy(frame + 80, mac, sizeof(mac));
	rig_resum(frame, bytes);
}

static uint32_t entries(const struct rig *rig)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rig->host.config.entries; i++)
		count += rig->host.entry[i].state != WH_NEIGHBOUR_FREE;
	return count;
}

/* Strangers by the thousand: each is answered, none makes an entry or costs one. */
static void strangers(void)
{
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	open_wide(&rig);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 2), WH_NEIGHBOUR_ASKED, NULL);
	(void)rig_take_all(&rig);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_reply(frame)), WH_NEIGHBOUR_OK);
	for (uint32_t i = 0; i < 5000; i++) {
		CU_ASSERT_EQUAL(ask_from(&rig, 1000 + i), WH_NEIGHBOUR_OK);
		CU_ASSERT_EQUAL(rig_take(&rig), 60);
		rig.now += RIG_MS;
	}
	CU_ASSERT_EQUAL(entries(&rig), 1);
	CU_ASSERT_EQUAL(rig.host.stats.replaced, 0);
	rig.now = 5 * RIG_S - 1;
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 2), WH_NEIGHBOUR_FOUND, rig_peer);
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	rig_close(&rig);
}

/* A table that is full: the one not used for the longest time goes, and all others are found. */
static void replacement(void)
{
	struct rig rig;
	uint8_t ip[4];

	open_wide(&rig);
	for (uint32_t i = 0; i < 64; i++)
		RIG_EXPECT(&rig, rig_ip4(10, 1, 0, (uint8_t)i), WH_NEIGHBOUR_ASKED, NULL);
	/* Used once more, a second apart, the last one first: a question to each goes out. */
	CU_ASSERT_EQUAL(rig_take_all(&rig), 64);
	for (uint32_t i = 64; i-- > 0;) {
		rig.now += RIG_MS;
		RIG_EXPECT(&rig, rig_ip4(10, 1, 0, (uint8_t)i), WH_NEIGHBOUR_ASKED, NULL);
	}
	for (uint32_t i = 0; i < 32; i++) {
		rig.now += RIG_MS;
		RIG_EXPECT(&rig, rig_ip4(10, 1, 1, (uint8_t)i), WH_NEIGHBOUR_ASKED, NULL);
		CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
		memcpy(ip, rig.host.entry[63 - i].address.ip, 4);
		CU_ASSERT(ip[1] == 1 && ip[2] == 1 && ip[3] == i);
	}
	CU_ASSERT_EQUAL(rig.host.stats.replaced, 32);
	CU_ASSERT_EQUAL(entries(&rig), 64);
	/* Found again, every one: no further question. */
	for (uint32_t i = 0; i < 32; i++) {
		RIG_EXPECT(&rig, rig_ip4(10, 1, 0, (uint8_t)i), WH_NEIGHBOUR_ASKED, NULL);
		RIG_EXPECT(&rig, rig_ip4(10, 1, 1, (uint8_t)i), WH_NEIGHBOUR_ASKED, NULL);
	}
	CU_ASSERT_EQUAL(rig_take_all(&rig), 0);
	CU_ASSERT_EQUAL(rig.host.stats.replaced, 32);
	rig_close(&rig);
}

/* One entry, and as many as there may be. */
static void sizes(void)
{
	struct wh_neighbour_config config = rig_config();
	struct rig rig;

	config.ipv4.prefix_bits = 8;
	config.entries = 1;
	rig_open(&rig, &config);
	for (uint8_t i = 0; i < 10; i++)
		RIG_EXPECT(&rig, rig_ip4(10, 1, 0, i), WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig.host.stats.replaced, 9);
	rig_close(&rig);

	config.entries = WH_NEIGHBOUR_ENTRIES_MAX;
	rig_open(&rig, &config);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < WH_NEIGHBOUR_ENTRIES_MAX; i++)
			RIG_EXPECT(&rig, rig_ip4(10, 1, (uint8_t)(i >> 8), (uint8_t)i),
				WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig.host.stats.replaced, 0);
	CU_ASSERT_EQUAL(entries(&rig), WH_NEIGHBOUR_ENTRIES_MAX);
	rig_close(&rig);
}

/* Strangers use up their answers, and the room of those; a peer that asks us is answered. */
static void peers_first(void)
{
	struct rig rig;
	uint8_t frame[RIG_BYTES];
	uint32_t answered = 0;

	rig_open_default(&rig);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 2), WH_NEIGHBOUR_ASKED, NULL);
	(void)rig_take_all(&rig);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_reply(frame)), WH_NEIGHBOUR_OK);
	for (uint32_t i = 0; i < 1000; i++) {
		rig.now += i < 500 ? 0 : RIG_MS;
		answered += ask_from(&rig, 3 + i % 200) == WH_NEIGHBOUR_OK;
	}
	CU_ASSERT_EQUAL(answered, 12);
	for (uint32_t i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_request(frame)), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_request(frame)), WH_NEIGHBOUR_NO_ROOM);
	rig_close(&rig);
}

/* In which second the peer is silent who is asked from now on, 0: none of the first 30. */
static uint32_t silent_after(struct rig *rig, uint32_t missed_first_s, uint32_t missed_last_s)
{
	struct wh_address peer = rig_ip4(10, 0, 0, 2);
	uint8_t mac[6];

	(void)wh_neighbour_lookup(&rig->host, rig->now, &peer, mac);
	for (uint32_t s = 0; s < 30; s++) {
		uint32_t asked = rig_take_all(rig);
		bool silent = wh_neighbour_lookup(&rig->host, rig->now, &peer, mac) ==
			      WH_NEIGHBOUR_SILENT;

		CU_ASSERT_EQUAL(asked, silent ? 0 : 1); /* a second, missed or not */
		if (silent)
			return s;
		if (s >= missed_first_s && s <= missed_last_s)
			wh_neighbour_missed(&rig->host, rig->now + RIG_S / 2);
		rig->now += RIG_S;
	}
	return 0;
}

/* Who missed frames while it waited asks again, but not for ever. */
static void missed(void)
{
	static const struct {
		uint32_t first_s, last_s, silent_s;
	} cases[] = {
		{100, 100, 3}, /* nothing was */
		{0, 0, 4},
		{2, 2, 4},
		{1, 5, 8},
		{0, 30, 15},
	};
	uint8_t frame[RIG_BYTES];
	struct rig rig;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_open_default(&rig);
		CU_ASSERT_EQUAL(
			silent_after(&rig, cases[i].first_s, cases[i].last_s), cases[i].silent_s);
		rig_close(&rig);
	}
	/* An answer is taken at any time; what was missed before a question is nothing to it. */
	rig_open_default(&rig);
	rig.now = RIG_S;
	wh_neighbour_missed(&rig.host, rig.now - 1);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 2), WH_NEIGHBOUR_ASKED, NULL);
	for (uint32_t s = 0; s < 7; s++) {
		(void)rig_take_all(&rig);
		rig.now += RIG_S;
		wh_neighbour_missed(&rig.host, rig.now - 1);
	}
	(void)rig_take_all(&rig);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_reply(frame)), WH_NEIGHBOUR_OK);
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 2), WH_NEIGHBOUR_FOUND, rig_peer);
	rig_close(&rig);
}

/* A peer that is known is called moved no sooner for what was missed, and stays in use. */
static void missed_probe(void)
{
	const struct wh_address peer = rig_ip4(10, 0, 0, 2);
	uint8_t frame[RIG_BYTES];
	struct rig rig;
	uint32_t alone = 0;

	rig_open_default(&rig);
	RIG_EXPECT(&rig, peer, WH_NEIGHBOUR_ASKED, NULL);
	(void)rig_take_all(&rig);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, rig_arp_reply(frame)), WH_NEIGHBOUR_OK);
	rig.now += WH_NEIGHBOUR_FRESH_MS * RIG_MS;
	for (uint32_t i = 0; i < 18; i++) {
		RIG_EXPECT(&rig, peer, WH_NEIGHBOUR_FOUND, rig_peer);
		CU_ASSERT_EQUAL(rig_take_all(&rig), 1);
		alone += memcmp(rig.frame, rig_peer, 6) == 0;
		CU_ASSERT_EQUAL(
			rig_feed(&rig, frame,
				rig_arp(frame, rig_us, 2, rig_other, rig_peer4, rig_us, rig_us4)),
			i < 15 ? WH_NEIGHBOUR_CONTESTED : WH_NEIGHBOUR_OK);
		if (i >= 15)
			break;
		rig.now += RIG_S;
		wh_neighbour_missed(&rig.host, rig.now - 1);
	}
	CU_ASSERT_EQUAL(alone, 15); /* 12 of which were replaced */
	RIG_EXPECT(&rig, peer, WH_NEIGHBOUR_FOUND, rig_other);
	rig_close(&rig);
}

/* 100000 questions in a second: 1000 answers, and the 15 that may come at once besides. */
static void limits(void)
{
	struct rig rig;
	uint8_t frame[3][RIG_BYTES];
	size_t bytes[3] = {
		rig_arp_request(frame[0]),
		rig_solicitation(frame[1]),
		rig_echo4(frame[2], 8, rig_peer, rig_peer4, rig_us4, 1472),
	};
	uint32_t answered[3] = {0};

	/* ARP and discovery share a limit, echo has its own. */
	rig_open_default(&rig);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t kind = i < 50000 ? 0 : 1;

		put_station(frame[kind], bytes[kind], i % 512);
		put_station(frame[2], bytes[2], i % 512 + 512);
		answered[kind] += rig_feed(&rig, frame[kind], bytes[kind]) == WH_NEIGHBOUR_OK;
		answered[2] += rig_feed(&rig, frame[2], bytes[2]) == WH_NEIGHBOUR_OK;
		(void)rig_take_all(&rig);
		rig.now += 10000;
	}
	CU_ASSERT_EQUAL(answered[0], 500 + 15);
	CU_ASSERT_EQUAL(answered[1], 500);
	CU_ASSERT_EQUAL(answered[2], 1000 + 15);
	CU_ASSERT_EQUAL(rig.host.stats.answered_pkts, 2030);
	CU_ASSERT_EQUAL(rig.host.stats.input_pkts[WH_NEIGHBOUR_OK], 2030);
	CU_ASSERT_EQUAL(rig.host.stats.input_pkts[WH_NEIGHBOUR_LIMITED], 200000 - 2030);
	/* A limit that did not end would be a door closed for good. */
	rig.now += RIG_S;
	for (uint32_t k = 0; k < 3; k++)
		CU_ASSERT_EQUAL(rig_feed(&rig, frame[k], bytes[k]), WH_NEIGHBOUR_OK);
	rig_close(&rig);
}

/* One host asks without end, in three ways: it is answered seldom, and others always. */
static void one_source(void)
{
	struct rig rig;
	uint8_t frame[4][RIG_BYTES];
	size_t bytes[4] = {
		rig_arp_request(frame[0]),
		rig_solicitation(frame[1]),
		rig_echo4(frame[2], 8, rig_peer, rig_peer4, rig_us4, 8),
		rig_echo4(frame[3], 8, rig_other, rig_peer4, rig_us4, 1400),
	};
	uint32_t answered = 0;

	rig_open_default(&rig);
	for (uint32_t i = 0; i < 100000; i++) {
		answered += rig_feed(&rig, frame[i % 3], bytes[i % 3]) == WH_NEIGHBOUR_OK;
		if (i % 2000 == 0)
			CU_ASSERT_EQUAL(ask_from(&rig, 100 + i / 2000), WH_NEIGHBOUR_OK);
		if (i % 2000 == 1)
			CU_ASSERT_EQUAL(rig_feed(&rig, frame[3], bytes[3]), WH_NEIGHBOUR_OK);
		(void)rig_take_all(&rig);
		rig.now += 10000;
	}
	CU_ASSERT_EQUAL(answered, 100 + 9);
	rig_close(&rig);
}

/* Nobody takes the answers: echo fills half the room, ARP a quarter, and our questions go on. */
static void no_room(void)
{
	struct rig rig;
	uint8_t frame[RIG_BYTES];
	size_t bytes = rig_echo4(frame, 8, rig_peer, rig_peer4, rig_us4, 8);

	rig_open_default(&rig);
	rig.now = RIG_S;
	for (uint32_t i = 0; i < 20; i++) {
		rig.now += 10 * RIG_MS;
		CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes),
			i < 8 ? WH_NEIGHBOUR_OK : WH_NEIGHBOUR_NO_ROOM);
	}
	for (uint32_t i = 0; i < 20; i++) {
		rig.now += 10 * RIG_MS;
		CU_ASSERT_EQUAL(ask_from(&rig, 2), i < 4 ? WH_NEIGHBOUR_OK : WH_NEIGHBOUR_NO_ROOM);
	}
	RIG_EXPECT(&rig, rig_ip4(10, 0, 0, 9), WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig_take(&rig), 60);
	CU_ASSERT_EQUAL(rig.frame[0], 0xff);
	CU_ASSERT_EQUAL(wh_neighbour_deadline(&rig.host), 0);
	CU_ASSERT_EQUAL(rig_take_all(&rig), 12);
	rig_close(&rig);
}

/* Any frame of ours that another may send, of the many kinds. */
static size_t draw_frame(struct wh_prng *prng, uint8_t *frame)
{
	size_t data = wh_prng_below(prng, 1500);
	struct rig_ndp unasked = {.type = 136,
		.flags = (uint8_t)(wh_prng_below(prng, 8) << 5),
		.option = (uint8_t)wh_prng_below(prng, 3),
		.mac = rig_other,
		.ip = rig_peer6,
		.to = wh_prng_below(prng, 2) ? rig_us6 : rig_all6,
		.target = rig_peer6};

	switch (wh_prng_below(prng, 9)) {
	case 0:
		return rig_arp_request(frame);
	case 1:
		return rig_arp_reply(frame);
	case 2:
		return rig_solicitation(frame);
	case 3:
		return rig_advertisement(frame);
	case 4:
		return rig_ndp(frame, &unasked);
	case 5:
		return rig_echo4(frame, 8, rig_peer, rig_peer4, rig_us4, data);
	case 6:
		return rig_echo6(frame, 128, rig_peer, rig_peer6, rig_us6, data);
	case 7:
		unasked.type = 135;
		unasked.to = rig_us6;
		unasked.target = rig_us6;
		return rig_ndp(frame, &unasked);
	default:
		for (size_t i = 0; i < data; i++)
			frame[i] = (uint8_t)wh_prng_u64(prng);
		return data;
	}
}

static size_t mutate(struct wh_prng *prng, uint8_t *frame, size_t bytes)
{
	uint64_t changes = wh_prng_below(prng, 4);

	for (uint64_t i = 0; i < changes && bytes > 0; i++) {
		/* Most often in the headers, where it matters. */
		uint64_t reach = wh_prng_below(prng, 4) == 0 || bytes < 90 ? bytes : 90;
		static const uint8_t odd[] = {0, 1, 2, 7, 8, 0x7f, 0x80, 0xfe, 0xff};

		frame[wh_prng_below(prng, reach)] = wh_prng_below(prng, 2) == 0
							    ? odd[wh_prng_below(prng, sizeof(odd))]
							    : (uint8_t)wh_prng_u64(prng);
	}
	if (wh_prng_below(prng, 3) != 0 && bytes >= 18)
		rig_resum(frame, bytes);
	if (wh_prng_below(prng, 8) == 0)
		bytes = wh_prng_below(prng, bytes + 1);
	return bytes;
}

/* What must hold of the table whatever came in. */
static void check_table(const struct rig *rig)
{
	for (uint32_t i = 0; i < rig->host.config.entries; i++) {
		const struct wh_neighbour_entry *entry = &rig->host.entry[i];
		bool asking = entry->state == WH_NEIGHBOUR_INCOMPLETE ||
			      entry->state == WH_NEIGHBOUR_PROBE;
		bool has_mac = entry->state == WH_NEIGHBOUR_REACHABLE ||
			       entry->state == WH_NEIGHBOUR_PROBE;

		if (entry->state == WH_NEIGHBOUR_FREE)
			continue;
		CU_ASSERT(entry->address.port == 0);
		CU_ASSERT(!asking || rig->host.ask_tsc <= entry->due_tsc);
		CU_ASSERT(!has_mac ||
			  ((entry->mac[0] & 1) == 0 && memcmp(entry->mac, rig_us, 6) != 0 &&
				  memcmp(entry->mac, rig_none, 6) != 0));
		for (uint32_t j = 0; j < i; j++)
			CU_ASSERT(rig->host.entry[j].state == WH_NEIGHBOUR_FREE ||
				  memcmp(&rig->host.entry[j].address, &entry->address,
					  sizeof(entry->address)) != 0);
	}
}

/* Frames broken at random: whatever comes out is checked byte by byte by the rig. */
static void mutations(void)
{
	struct wh_prng prng;
	struct rig rig;
	uint8_t frame[RIG_BYTES], mac[6];
	uint64_t counted = 0;

	wh_prng_init(&prng, SEED);
	rig_open_default(&rig);
	for (uint32_t i = 0; i < MUTATIONS; i++) {
		struct wh_address target =
			wh_prng_below(&prng, 2) ? rig_ip6(rig_peer6) : rig_ip4(10, 0, 0, 2);

		target.ip[target.family == WH_IPV4 ? 3 : 15] += (uint8_t)wh_prng_below(&prng, 8);
		if (wh_prng_below(&prng, 16) == 0)
			(void)wh_neighbour_lookup(&rig.host, rig.now, &target, mac);
		if (wh_prng_below(&prng, 256) == 0)
			(void)wh_neighbour_ask_echo(&rig.host, rig.now, &target, 100);
		(void)rig_feed(&rig, frame, mutate(&prng, frame, draw_frame(&prng, frame)));
		if (wh_prng_below(&prng, 4) == 0)
			(void)rig_take_all(&rig);
		if (i % 64 == 0)
			check_table(&rig);
		if (wh_prng_below(&prng, 16) == 0)
			rig.now += wh_prng_below(&prng, 100 * RIG_MS);
	}
	/* None got through uncounted, and every reason was met. */
	for (uint32_t i = 0; i < WH_NEIGHBOUR_REASONS; i++) {
		counted += rig.host.stats.input_pkts[i];
		CU_ASSERT(rig.host.stats.input_pkts[i] > 0);
	}
	CU_ASSERT_EQUAL(counted, MUTATIONS);
	CU_ASSERT(rig.host.stats.answered_pkts > MUTATIONS / 20);
	CU_ASSERT(rig.host.stats.asked_pkts > 100);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"strangers are answered and not stored", strangers},
	{"who goes first", replacement},
	{"tables of one entry and of many", sizes},
	{"peers are answered before strangers", peers_first},
	{"questions while frames are missed", missed},
	{"a known peer while frames are missed", missed_probe},
	{"answers per second", limits},
	{"answers to one source", one_source},
	{"answers that nobody takes", no_room},
	{"mutated frames", mutations},
	CU_TEST_INFO_NULL,
};
