/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour_rig.h"

const char wh_suite_name[] = "lib/neighbour refusals";

#define PATCHES 8

/* Frames that are right, to be spoiled in one place each. */
enum base {
	REQUEST,    /* ARP request for us */
	REPLY,      /* ARP reply to a question of ours */
	SOLICIT,    /* for us, to the group */
	DIRECT,     /* for us, to us, without an option */
	NAMELESS,   /* for us, from "unspecified", to the group */
	ADVERT,     /* solicited, to a question of ours */
	ALL_ADVERT, /* unasked, to all nodes */
	ECHO4,
	ECHO6,
	BASES,
};

struct patch {
	uint16_t at;
	uint8_t value;
};

/* {0, 0} ends the patches. */
struct row {
	const char *name;
	enum base base;
	enum wh_neighbour_reason reason;
	uint16_t bytes; /* the frame is cut to it; 0: left as it is */
	bool resum;     /* the sums are made right after the patches */
	struct patch patch[PATCHES];
};

static size_t make(enum base base, uint8_t *frame)
{
	struct rig_ndp ndp = {
		.type = 135, .mac = rig_peer, .ip = rig_peer6, .to = rig_us6, .target = rig_us6};

	switch (base) {
	case REQUEST:
		return rig_arp_request(frame);
	case REPLY:
		return rig_arp_reply(frame);
	case SOLICIT:
		return rig_solicitation(frame);
	case DIRECT:
		return rig_ndp(frame, &ndp);
	case NAMELESS:
		ndp.ip = rig_none6;
		ndp.to = rig_us6_group;
		return rig_ndp(frame, &ndp);
	case ADVERT:
		return rig_advertisement(frame);
	case ALL_ADVERT:
		ndp = (struct rig_ndp){.type = 136,
			.flags = 0x20,
			.option = 2,
			.mac = rig_peer,
			.ip = rig_peer6,
			.to = rig_all6,
			.target = rig_peer6};
		return rig_ndp(frame, &ndp);
	case ECHO4:
		return rig_echo4(frame, 8, rig_peer, rig_peer4, rig_us4, 32);
	default:
		return rig_echo6(frame, 128, rig_peer, rig_peer6, rig_us6, 32);
	}
}

/* Both questions are out, so that both answers are awaited. */
static void open_asking(struct rig *rig)
{
	rig_open_default(rig);
	RIG_EXPECT(rig, rig_ip4(10, 0, 0, 2), WH_NEIGHBOUR_ASKED, NULL);
	RIG_EXPECT(rig, rig_ip6(rig_peer6), WH_NEIGHBOUR_ASKED, NULL);
	CU_ASSERT_EQUAL(rig_take_all(rig), 2);
}

/* What is spoiled below was right before. */
static void bases(void)
{
	for (uint32_t base = 0; base < BASES; base++) {
		struct rig rig;
		uint8_t frame[RIG_BYTES];

		open_asking(&rig);
		/* What nobody asked for is all right, and goes for nothing. */
		CU_ASSERT_EQUAL(rig_feed(&rig, frame, make(base, frame)),
			base == ALL_ADVERT ? WH_NEIGHBOUR_NOT_ASKED : WH_NEIGHBOUR_OK);
		rig_close(&rig);
	}
}

static void check_row(const struct row *row)
{
	struct rig rig;
	uint8_t frame[RIG_BYTES];
	size_t bytes = make(row->base, frame);

	for (size_t i = 0; i < PATCHES && (row->patch[i].at | row->patch[i].value) != 0; i++)
		frame[row->patch[i].at] = row->patch[i].value;
	if (row->resum)
		rig_resum(frame, bytes);
	open_asking(&rig);

	struct wh_neighbour_entry before[RIG_ENTRIES];

	memcpy(before, rig.host.entry, sizeof(before));

	enum wh_neighbour_reason reason =
		rig_feed(&rig, frame, row->bytes != 0 ? row->bytes : bytes);

	if (reason != row->reason)
		printf("%s: %d, expected %d\n", row->name, reason, row->reason);
	CU_ASSERT_EQUAL(reason, row->reason);
	CU_ASSERT_EQUAL(rig.host.stats.input_pkts[row->reason], 1);
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	CU_ASSERT_EQUAL(memcmp(before, rig.host.entry, sizeof(before)), 0);
	rig_close(&rig);
}

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_row(&rows[i]);
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

static void ethernet(void)
{
	static const struct row rows[] = {
		{"no Ethernet header", REQUEST, WH_NEIGHBOUR_SHORT, 13, false, {{0, 0}}},
		{"nothing behind it", REQUEST, WH_NEIGHBOUR_SHORT, 14, false, {{0, 0}}},
		{"from a group", REQUEST, WH_NEIGHBOUR_SOURCE_MAC, 0, false, {{6, 3}}},
		{"from zero", REQUEST, WH_NEIGHBOUR_SOURCE_MAC, 0, false, {{6, 0}, {11, 0}}},
		{"from us", REQUEST, WH_NEIGHBOUR_SOURCE_MAC, 0, false, {{11, 1}}},
		{"to another", REPLY, WH_NEIGHBOUR_NOT_OURS, 0, false, {{5, 9}}},
		{"LLDP", REQUEST, WH_NEIGHBOUR_TYPE, 0, false, {{12, 0x88}, {13, 0xcc}}},
		{"a length", REQUEST, WH_NEIGHBOUR_TYPE, 0, false, {{12, 0}, {13, 46}}},
	};

	CHECK_ROWS(rows);
}

static void arp(void)
{
	static const struct row rows[] = {
		{"a byte short", REQUEST, WH_NEIGHBOUR_SHORT, 41, false, {{0, 0}}},
		{"hardware", REQUEST, WH_NEIGHBOUR_ARP_HEAD, 0, false, {{15, 6}}},
		{"hardware, high", REQUEST, WH_NEIGHBOUR_ARP_HEAD, 0, false, {{14, 1}}},
		{"protocol", REQUEST, WH_NEIGHBOUR_ARP_HEAD, 0, false, {{17, 6}}},
		{"MAC length", REQUEST, WH_NEIGHBOUR_ARP_HEAD, 0, false, {{18, 8}}},
		{"IP length", REQUEST, WH_NEIGHBOUR_ARP_HEAD, 0, false, {{19, 16}}},
		{"operation 0", REQUEST, WH_NEIGHBOUR_ARP_HEAD, 0, false, {{21, 0}}},
		{"reverse ARP", REQUEST, WH_NEIGHBOUR_ARP_HEAD, 0, false, {{21, 3}}},
		{"operation 257", REQUEST, WH_NEIGHBOUR_ARP_HEAD, 0, false, {{20, 1}}},
		{"to a group", REPLY, WH_NEIGHBOUR_TARGET_MAC, 0, false, {{0, 0x33}}},
		{"sender a group", REQUEST, WH_NEIGHBOUR_ARP_SENDER, 0, false, {{22, 0xff}}},
		{"sender zero", REQUEST, WH_NEIGHBOUR_ARP_SENDER, 0, false, {{22, 0}, {27, 0}}},
		{"sender our MAC", REQUEST, WH_NEIGHBOUR_ARP_SENDER, 0, false, {{27, 1}}},
		{"sender broadcast", REQUEST, WH_NEIGHBOUR_ARP_SENDER, 0, false, {{31, 255}}},
		{"sender subnet", REQUEST, WH_NEIGHBOUR_ARP_SENDER, 0, false, {{31, 0}}},
		{"sender loopback", REPLY, WH_NEIGHBOUR_ARP_SENDER, 0, false, {{28, 127}}},
		{"sender group", REPLY, WH_NEIGHBOUR_ARP_SENDER, 0, false, {{28, 224}}},
		{"reply of nobody", REPLY, WH_NEIGHBOUR_ARP_SENDER, 0, false, {{28, 0}, {31, 0}}},
		{"for another", REQUEST, WH_NEIGHBOUR_NOT_OURS, 0, false, {{31, 7}, {41, 9}}},
		{"reply not asked for", REPLY, WH_NEIGHBOUR_NOT_ASKED, 0, false, {{31, 7}}},
	};

	CHECK_ROWS(rows);
}

static void ipv4(void)
{
	static const struct row rows[] = {
		{"a byte short", ECHO4, WH_NEIGHBOUR_SHORT, 33, false, {{0, 0}}},
		{"version", ECHO4, WH_NEIGHBOUR_IP_HEAD, 0, true, {{14, 0x65}}},
		{"options", ECHO4, WH_NEIGHBOUR_IP_HEAD, 0, true, {{14, 0x46}}},
		{"four words", ECHO4, WH_NEIGHBOUR_IP_HEAD, 0, true, {{14, 0x44}}},
		{"longer than it is", ECHO4, WH_NEIGHBOUR_IP_HEAD, 73, false, {{0, 0}}},
		{"shorter than its head", ECHO4, WH_NEIGHBOUR_IP_HEAD, 0, true, {{17, 19}}},
		{"header sum", ECHO4, WH_NEIGHBOUR_IP_HEAD, 0, false, {{25, 0}, {24, 0}}},
		{"more fragments", ECHO4, WH_NEIGHBOUR_FRAGMENT, 0, true, {{20, 0x20}}},
		{"offset", ECHO4, WH_NEIGHBOUR_FRAGMENT, 0, true, {{21, 1}}},
		{"reserved bit", ECHO4, WH_NEIGHBOUR_FRAGMENT, 0, true, {{20, 0x80}}},
		{"UDP", ECHO4, WH_NEIGHBOUR_PROTOCOL, 0, true, {{23, 17}}},
		{"ICMPv6", ECHO4, WH_NEIGHBOUR_PROTOCOL, 0, true, {{23, 58}}},
		{"to another", ECHO4, WH_NEIGHBOUR_NOT_OURS, 0, true, {{33, 9}}},
		{"to the subnet", ECHO4, WH_NEIGHBOUR_NOT_OURS, 0, true, {{33, 255}}},
		{"to us, to all", ECHO4, WH_NEIGHBOUR_TARGET_MAC, 0, false,
			{{0, 255}, {1, 255}, {2, 255}, {3, 255}, {4, 255}, {5, 255}}},
		{"from broadcast", ECHO4, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{29, 255}}},
		{"from the subnet", ECHO4, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{29, 0}}},
		{"from a group", ECHO4, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{26, 224}}},
		{"from class E", ECHO4, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{26, 240}}},
		{"from loopback", ECHO4, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{26, 127}}},
		{"from nobody", ECHO4, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{26, 0}, {29, 0}}},
		{"from us", ECHO4, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{29, 1}}},
		{"no message", ECHO4, WH_NEIGHBOUR_SHORT, 34, true, {{17, 20}}},
		{"half a message", ECHO4, WH_NEIGHBOUR_SHORT, 0, true, {{17, 27}}},
		{"sum", ECHO4, WH_NEIGHBOUR_ICMP_SUM, 0, false, {{50, 0}}},
		{"code", ECHO4, WH_NEIGHBOUR_ICMP_TYPE, 0, true, {{35, 1}}},
		{"unreachable", ECHO4, WH_NEIGHBOUR_NOT_ASKED, 0, true, {{34, 3}}},
		{"redirect", ECHO4, WH_NEIGHBOUR_ICMP_TYPE, 0, true, {{34, 5}}},
		{"timestamp", ECHO4, WH_NEIGHBOUR_ICMP_TYPE, 0, true, {{34, 13}}},
		{"a reply", ECHO4, WH_NEIGHBOUR_NOT_ASKED, 0, true, {{34, 0}}},
	};

	CHECK_ROWS(rows);
}

static void ipv6(void)
{
	static const struct row rows[] = {
		{"a byte short", ECHO6, WH_NEIGHBOUR_SHORT, 53, false, {{0, 0}}},
		{"version", ECHO6, WH_NEIGHBOUR_IP_HEAD, 0, true, {{14, 0x40}}},
		{"longer than it is", ECHO6, WH_NEIGHBOUR_IP_HEAD, 93, false, {{0, 0}}},
		{"jumbogram", ECHO6, WH_NEIGHBOUR_IP_HEAD, 0, false, {{18, 255}, {19, 255}}},
		{"hop-by-hop", ECHO6, WH_NEIGHBOUR_PROTOCOL, 0, true, {{20, 0}}},
		{"fragment", ECHO6, WH_NEIGHBOUR_PROTOCOL, 0, true, {{20, 44}}},
		{"UDP", ECHO6, WH_NEIGHBOUR_PROTOCOL, 0, true, {{20, 17}}},
		{"to another", ECHO6, WH_NEIGHBOUR_NOT_OURS, 0, true, {{53, 9}}},
		{"to a group, MAC ours", SOLICIT, WH_NEIGHBOUR_TARGET_MAC, 0, false,
			{{0, 2}, {1, 0}, {2, 0}}},
		{"to us, MAC a group's", ECHO6, WH_NEIGHBOUR_TARGET_MAC, 0, false,
			{{0, 0x33}, {1, 0x33}, {2, 0xff}}},
		{"from a group", ECHO6, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{22, 0xff}}},
		{"from nobody", ECHO6, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{22, 0}, {37, 0}}},
		{"from loopback", ECHO6, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{22, 0}, {37, 1}}},
		{"from us", ECHO6, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{37, 1}}},
		{"no message", ECHO6, WH_NEIGHBOUR_SHORT, 54, false, {{19, 0}}},
		{"half a message", ECHO6, WH_NEIGHBOUR_SHORT, 0, true, {{19, 7}}},
		{"sum", ECHO6, WH_NEIGHBOUR_ICMP_SUM, 0, false, {{70, 0}}},
		{"code", ECHO6, WH_NEIGHBOUR_ICMP_TYPE, 0, true, {{55, 1}}},
		{"too big", ECHO6, WH_NEIGHBOUR_NOT_ASKED, 0, true, {{54, 2}}},
		{"router advert", ECHO6, WH_NEIGHBOUR_ICMP_TYPE, 0, true, {{54, 134}}},
		{"redirect", ECHO6, WH_NEIGHBOUR_ICMP_TYPE, 0, true, {{54, 137}}},
		{"a reply", ECHO6, WH_NEIGHBOUR_NOT_ASKED, 0, true, {{54, 129}}},
	};

	CHECK_ROWS(rows);
}

/* An echo request to a group that we belong to; wholly right otherwise. */
static void echo_to_group(void)
{
	struct rig rig;
	uint8_t frame[RIG_BYTES];
	size_t bytes = rig_echo6(frame, 128, rig_peer, rig_peer6, rig_all6, 32);
	const uint8_t group[6] = {0x33, 0x33, 0, 0, 0, 1};

	memcpy(frame, group, 6);
	rig_open_default(&rig);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_NOT_OURS);
	CU_ASSERT_EQUAL(rig_take(&rig), 0);
	rig_close(&rig);
}

static void discovery(void)
{
	static const struct row rows[] = {
		{"hops", SOLICIT, WH_NEIGHBOUR_HOP_LIMIT, 0, true, {{21, 254}}},
		{"hops of advert", ADVERT, WH_NEIGHBOUR_HOP_LIMIT, 0, true, {{21, 64}}},
		{"code", SOLICIT, WH_NEIGHBOUR_ICMP_TYPE, 0, true, {{55, 1}}},
		{"sum", SOLICIT, WH_NEIGHBOUR_ICMP_SUM, 0, false, {{77, 9}}},
		{"sum of advert", ADVERT, WH_NEIGHBOUR_ICMP_SUM, 0, false, {{58, 0x20}}},
		{"a byte short", DIRECT, WH_NEIGHBOUR_SHORT, 0, true, {{19, 23}}},
		{"short advert", ADVERT, WH_NEIGHBOUR_SHORT, 0, true, {{19, 23}}},
		{"option of length 0", SOLICIT, WH_NEIGHBOUR_NDP_OPTION, 0, true, {{79, 0}}},
		{"option too long", SOLICIT, WH_NEIGHBOUR_NDP_OPTION, 0, true, {{79, 2}}},
		{"option cut", SOLICIT, WH_NEIGHBOUR_NDP_OPTION, 0, true, {{19, 31}}},
		{"one byte of option", SOLICIT, WH_NEIGHBOUR_NDP_OPTION, 79, true, {{19, 25}}},
		{"MAC of a group", SOLICIT, WH_NEIGHBOUR_NDP_OPTION, 0, true, {{80, 0x33}}},
		{"MAC zero", ADVERT, WH_NEIGHBOUR_NDP_OPTION, 0, true, {{80, 0}, {85, 0}}},
		{"our MAC", ADVERT, WH_NEIGHBOUR_NDP_OPTION, 0, true, {{85, 1}}},
		{"target a group", SOLICIT, WH_NEIGHBOUR_NDP_RULE, 0, true, {{62, 0xff}}},
		{"target nobody", ADVERT, WH_NEIGHBOUR_NDP_RULE, 0, true, {{62, 0}, {77, 0}}},
		{"from a group", SOLICIT, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{22, 0xff}}},
		{"advert of nobody", ADVERT, WH_NEIGHBOUR_IP_SOURCE, 0, true, {{22, 0}, {37, 0}}},
		{"group, no MAC said", SOLICIT, WH_NEIGHBOUR_NDP_RULE, 0, true, {{78, 9}}},
		{"nobody, MAC said", SOLICIT, WH_NEIGHBOUR_NDP_RULE, 0, true, {{22, 0}, {37, 0}}},
		{"nobody, to us", DIRECT, WH_NEIGHBOUR_NDP_RULE, 0, true, {{22, 0}, {37, 0}}},
		{"to us for another", DIRECT, WH_NEIGHBOUR_NDP_RULE, 0, true, {{77, 9}}},
		{"same group, other", SOLICIT, WH_NEIGHBOUR_NOT_OURS, 0, true, {{63, 9}}},
		{"solicited, to all", ALL_ADVERT, WH_NEIGHBOUR_NDP_RULE, 0, true, {{58, 0x60}}},
		{"advert to our group", ALL_ADVERT, WH_NEIGHBOUR_NDP_RULE, 0, true,
			{{2, 0xff}, {49, 1}, {50, 0xff}}},
		{"no MAC known", ADVERT, WH_NEIGHBOUR_NDP_RULE, 0, true, {{78, 9}}},
		{"of a stranger", ADVERT, WH_NEIGHBOUR_NOT_ASKED, 0, true, {{77, 9}}},
	};

	CHECK_ROWS(rows);
}

/* Options that mean nothing to us are passed over, and of two MACs the first counts. */
static void more_options(void)
{
	static const uint8_t options[] = {
		14, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, /* a nonce: RFC 3971 5.3.2 */
		1, 1, 2, 0, 0, 0, 0, 2,                               /* source's MAC */
		1, 1, 2, 0, 0, 0, 0, 3,                               /* another */
	};
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	rig_open_default(&rig);
	rig_solicitation(frame);
	memcpy(frame + 78, options, sizeof(options));
	frame[19] = 24 + sizeof(options);
	rig_resum(frame, 78 + sizeof(options));
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, 78 + sizeof(options)), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(rig_take(&rig), 86);
	CU_ASSERT_EQUAL(memcmp(rig.frame, rig_peer, 6), 0);

	/* A MAC in two units is not Ethernet's. */
	frame[95] = 2;
	rig_resum(frame, 78 + sizeof(options));
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, 78 + sizeof(options)), WH_NEIGHBOUR_NDP_OPTION);
	rig_close(&rig);
}

/* Frames of a family that we have no address of. */
static void one_family(void)
{
	struct wh_neighbour_config config = rig_config();
	struct rig rig;
	uint8_t frame[RIG_BYTES];

	config.ipv6 = (struct wh_neighbour_subnet){.prefix_bits = 0};
	rig_open(&rig, &config);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, make(SOLICIT, frame)), WH_NEIGHBOUR_TYPE);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, make(ECHO6, frame)), WH_NEIGHBOUR_TYPE);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, make(ECHO4, frame)), WH_NEIGHBOUR_OK);
	rig_close(&rig);

	config = rig_config();
	config.ipv4 = (struct wh_neighbour_subnet){.prefix_bits = 0};
	rig_open(&rig, &config);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, make(REQUEST, frame)), WH_NEIGHBOUR_TYPE);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, make(ECHO4, frame)), WH_NEIGHBOUR_TYPE);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, make(ECHO6, frame)), WH_NEIGHBOUR_OK);
	rig_close(&rig);
}

static void names(void)
{
	for (uint32_t i = 0; i < WH_NEIGHBOUR_RESULTS; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(wh_neighbour_result_name(i));
		for (uint32_t j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(
				wh_neighbour_result_name(i), wh_neighbour_result_name(j));
	}
	CU_ASSERT_STRING_EQUAL(wh_neighbour_result_name(WH_NEIGHBOUR_NO_GATEWAY),
		"it is on another network, and there is no gateway");
}

CU_TestInfo wh_tests[] = {
	{"the frames to be spoiled are right", bases},
	{"Ethernet", ethernet},
	{"ARP", arp},
	{"IPv4 and its echo", ipv4},
	{"IPv6 and its echo", ipv6},
	{"an echo to a group is not answered", echo_to_group},
	{"neighbour discovery", discovery},
	{"other options are passed over", more_options},
	{"a family that is not configured", one_family},
	{"every way has a name of its own", names},
	CU_TEST_INFO_NULL,
};
