/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/encap.h"

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "encap";

#define FRAME_MAX 9400

static const struct wh_flow flow4 = {
	.source_mac = {2, 0, 0, 0, 0, 1},
	.target_mac = {2, 0, 0, 0, 0, 2},
	.source = {.family = WH_IPV4, .ip = {10, 0, 0, 1}, .port = 5760},
	.target = {.family = WH_IPV4, .ip = {10, 0, 0, 2}, .port = 5760},
};

/* fd00::1 and fd00::2 */
static const struct wh_flow flow6 = {
	.source_mac = {2, 0, 0, 0, 0, 1},
	.target_mac = {2, 0, 0, 0, 0, 2},
	.source = {.family = WH_IPV6, .ip = {0xfd, [15] = 1}, .port = 5760},
	.target = {.family = WH_IPV6, .ip = {0xfd, [15] = 2}, .port = 5760},
};

/* The same on a VLAN. */
static struct wh_flow tagged(const struct wh_flow *flow, uint16_t vlan)
{
	struct wh_flow copy = *flow;

	copy.vlan = vlan;
	return copy;
}

/* Headers and the packet of `bytes` behind them; returns the frame's length. */
static size_t frame_make(
	const struct wh_flow *flow, const uint8_t *bytes, size_t count, uint8_t *frame)
{
	struct wh_encap encap;

	wh_encap_init(&encap, flow);
	memcpy(frame + encap.bytes, bytes, count);
	wh_encap_write(&encap, frame, frame + encap.bytes, count, NULL, 0);
	return encap.bytes + count;
}

static void names(void)
{
	for (uint32_t i = 0; i < WH_ENCAP_REASONS; i++)
		for (uint32_t j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(
				wh_encap_reason_name(i), wh_encap_reason_name(j));
	CU_ASSERT_STRING_EQUAL(wh_encap_reason_name(WH_ENCAP_BAD_UDP), "bad-udp");
}

static void payload_of_mtu(void)
{
	static const struct {
		enum wh_family family;
		uint32_t mtu, payload;
	} cases[] = {
		{WH_IPV4, 1500, 1408},
		{WH_IPV4, 9000, 8896},
		{WH_IPV6, 1500, 1376},
		{WH_IPV6, 1280, 1152},
		{WH_IPV6, 9000, 8864},
		{WH_IPV4, 0, 0},
		{WH_IPV4, 91, 0},
		{WH_IPV4, 123, 0},
		{WH_IPV4, 124, 32},
		{WH_IPV4, 155, 32},
		{WH_IPV4, 156, 64},
		{WH_IPV6, 143, 0},
		{WH_IPV6, 144, 32},
		{WH_IPV4, 9307, 9184},
		{WH_IPV4, 9308, 9216},
		{WH_IPV4, 65535, 9216},
		{WH_IPV4, UINT32_MAX, 9216},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(
			wh_encap_payload_bytes(cases[i].family, cases[i].mtu), cases[i].payload);
}

static void sizes(void)
{
	CU_ASSERT_EQUAL(wh_encap_ip_udp_bytes(WH_IPV4), 28);
	CU_ASSERT_EQUAL(wh_encap_ip_udp_bytes(WH_IPV6), 48);
	/* 1500 of MTU are 1538 on the wire. */
	CU_ASSERT_EQUAL(wh_encap_wire_bytes(WH_IPV4, 1408), 1538);
	CU_ASSERT_EQUAL(wh_encap_wire_bytes(WH_IPV6, 1388), 1538);
	CU_ASSERT_EQUAL(wh_encap_wire_bytes(WH_IPV4, 8896), 9026);
	CU_ASSERT_EQUAL(wh_encap_wire_bytes(WH_IPV4, 0), 130);
	/* IEEE 802.3 3.2.7: 1518 of frame, 1522 with a tag. */
	CU_ASSERT_EQUAL(wh_encap_wire_bytes(WH_IPV4, 1408) + WH_VLAN_BYTES, 1542);
}

/* 4500 + 0020 + 4000 + 4011 + 0a00 + 0001 + 0a00 + 0002 = d934, complement 26cb. */
static void known_ipv4_frame(void)
{
	static const uint8_t expected[] = {
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00,    /* Ethernet */
		0x45, 0, 0, 32, 0, 0, 0x40, 0, 64, 17, 0x26, 0xcb, /* IPv4 */
		10, 0, 0, 1, 10, 0, 0, 2,                          /* addresses */
		0x16, 0x80, 0x16, 0x80, 0, 12, 0, 0, 1, 2, 3, 4,   /* UDP, packet */
	};
	static const uint8_t packet[] = {1, 2, 3, 4};
	uint8_t frame[64];

	CU_ASSERT_EQUAL(frame_make(&flow4, packet, 4, frame), sizeof(expected));
	CU_ASSERT_EQUAL(memcmp(frame, expected, sizeof(expected)), 0);
}

/*
 * Pseudo-header fd00 + 0001 + fd00 + 0002 + 000c + 0011, UDP 1680 + 1680 + 000c, packet 0102 +
 * 0304: together 22b32, folded 2b34, complement d4cb.
 */
static void known_ipv6_frame(void)
{
	static const uint8_t expected[] = {
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd,        /* Ethernet */
		0x60, 0, 0, 0, 0, 12, 17, 64,                          /* IPv6 */
		0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,     /* source */
		0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,     /* target */
		0x16, 0x80, 0x16, 0x80, 0, 12, 0xd4, 0xcb, 1, 2, 3, 4, /* UDP, packet */
	};
	static const uint8_t packet[] = {1, 2, 3, 4};
	uint8_t frame[80];

	CU_ASSERT_EQUAL(frame_make(&flow6, packet, 4, frame), sizeof(expected));
	CU_ASSERT_EQUAL(memcmp(frame, expected, sizeof(expected)), 0);
}

/* Left to the port the sum stays 0; all else is as before, and IPv4 knows nothing of it. */
static void sum_left(void)
{
	static const uint8_t packet[] = {1, 2, 3, 4};
	uint8_t whole[80];
	uint8_t left[80];

	for (int ipv4 = 0; ipv4 < 2; ipv4++) {
		struct wh_flow flow = ipv4 ? flow4 : flow6;
		size_t bytes = frame_make(&flow, packet, 4, whole);

		flow.sum_left = true;
		CU_ASSERT_EQUAL(frame_make(&flow, packet, 4, left), bytes);
		if (!ipv4) {
			CU_ASSERT_EQUAL(whole[60] << 8 | whole[61], 0xd4cb);
			whole[60] = whole[61] = 0;
		}
		CU_ASSERT_EQUAL(memcmp(left, whole, bytes), 0);
	}
}

/* VLAN 0x0abc: the tag stands before the EtherType, and all behind it is as it was. */
static void known_tagged_frames(void)
{
	static const struct wh_flow *const flows[] = {&flow4, &flow6};
	static const uint8_t packet[] = {1, 2, 3, 4};
	static const uint8_t tag[] = {0x81, 0x00, 0x0a, 0xbc};

	for (uint32_t f = 0; f < 2; f++) {
		struct wh_flow flow = tagged(flows[f], 0x0abc);
		uint8_t plain[80], frame[80];
		size_t length = frame_make(flows[f], packet, sizeof(packet), plain);

		CU_ASSERT_EQUAL(frame_make(&flow, packet, sizeof(packet), frame), length + 4);
		CU_ASSERT_EQUAL(memcmp(frame, plain, 12), 0);
		CU_ASSERT_EQUAL(memcmp(frame + 12, tag, 4), 0);
		CU_ASSERT_EQUAL(memcmp(frame + 16, plain + 12, length - 12), 0);
	}
}

/* Headers are written where they belong, and no byte beside them is. */
static void nothing_beside(void)
{
	static const struct {
		const struct wh_flow *flow;
		uint16_t vlan;
		uint32_t bytes;
	} cases[] = {{&flow4, 0, 42}, {&flow4, 7, 46}, {&flow6, 0, 62}, {&flow6, 7, 66}};

	CU_ASSERT_EQUAL(WH_ENCAP_BYTES_MAX, 66);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_flow flow = tagged(cases[i].flow, cases[i].vlan);
		uint8_t room[96], expected[96];
		struct wh_encap encap;

		memset(room, 0xee, sizeof(room));
		memset(expected, 0xee, sizeof(expected));
		wh_encap_init(&encap, &flow);
		CU_ASSERT_EQUAL(encap.bytes, cases[i].bytes);
		wh_encap_write(&encap, room + 8, room + 80, 2, NULL, 0);
		CU_ASSERT_EQUAL(memcmp(room, expected, 8), 0);
		CU_ASSERT_NOT_EQUAL(room[8 + 6], 0xee);
		CU_ASSERT_EQUAL(memcmp(room + 8 + encap.bytes, expected, 88 - encap.bytes), 0);
	}
}

/* Offset 60 is the UDP sum of an IPv6 frame. */
static void odd_and_zero_sums(void)
{
	static const uint8_t odd[] = {1, 2, 3};
	static const uint8_t to_zero[] = {0xd8, 0xd5};
	uint8_t frame[80];

	frame_make(&flow6, odd, sizeof(odd), frame);
	CU_ASSERT_EQUAL(frame[60] << 8 | frame[61], 0xd4d1);
	/* The sum comes out as 0, which would say that there is none: RFC 768. */
	frame_make(&flow6, to_zero, sizeof(to_zero), frame);
	CU_ASSERT_EQUAL(frame[60] << 8 | frame[61], 0xffff);
}

static uint32_t sum16(const uint8_t *bytes, size_t count)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	while (sum > 0xffff)
		sum = (sum >> 16) + (sum & 0xffff);
	return sum;
}

static void ipv4_sum_of_every_length(void)
{
	uint8_t frame[WH_ENCAP_BYTES_MAX];
	struct wh_encap encap;

	wh_encap_init(&encap, &flow4);
	for (uint32_t bytes = 0; bytes <= 65507; bytes++) {
		wh_encap_write(&encap, frame, NULL, bytes, NULL, 0);
		CU_ASSERT_EQUAL_FATAL(sum16(frame + 14, 20), 0xffff);
		CU_ASSERT_EQUAL_FATAL((uint32_t)frame[16] << 8 | frame[17], bytes + 28);
		CU_ASSERT_EQUAL_FATAL((uint32_t)frame[38] << 8 | frame[39], bytes + 8);
	}
}

static void trip(const struct wh_flow *flow, const uint8_t *bytes, size_t count)
{
	static uint8_t frame[FRAME_MAX];
	struct wh_address from;
	const uint8_t *packet;
	size_t read;
	size_t length = frame_make(flow, bytes, count, frame);

	CU_ASSERT_EQUAL(wh_encap_read(frame, length, &flow->target, flow->vlan, true, &packet,
				&read, &from),
		WH_ENCAP_OK);
	CU_ASSERT_EQUAL(read, count);
	CU_ASSERT_PTR_EQUAL(packet, frame + length - count);
	CU_ASSERT(wh_address_equal(&from, &flow->source));
}

static void round_trip(void)
{
	static const size_t lengths[] = {0, 1, 2, 3, 64, 65, 111, 1472, 9279, 9280};
	static const uint16_t vlans[] = {0, 1, 255, 256, 4094};
	static uint8_t bytes[9280];

	memset(bytes, 0xff, sizeof(bytes));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (size_t v = 0; v < sizeof(vlans) / sizeof(vlans[0]); v++) {
			struct wh_flow on4 = tagged(&flow4, vlans[v]);
			struct wh_flow on6 = tagged(&flow6, vlans[v]);

			trip(&on4, bytes, lengths[i]);
			trip(&on6, bytes, lengths[i]);
		}
}

/* A head and a payload that lies elsewhere sum as if they were one. */
static void two_parts(void)
{
	static uint8_t bytes[1472], one[FRAME_MAX], two[FRAME_MAX];
	struct wh_encap encap;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 31 + 7);
	frame_make(&flow6, bytes, sizeof(bytes), one);
	wh_encap_init(&encap, &flow6);
	CU_ASSERT_EQUAL(encap.bytes, 62);
	wh_encap_write(&encap, two, bytes, 64, bytes + 64, sizeof(bytes) - 64);
	CU_ASSERT_EQUAL(memcmp(one, two, 62), 0);
	wh_encap_write(&encap, two, bytes, 66, bytes + 66, sizeof(bytes) - 66);
	CU_ASSERT_EQUAL(memcmp(one, two, 62), 0);
}

/* Any other byte of the headers, and a frame that is cut, is not known; other payload is. */
static void known_headers(void)
{
	static uint8_t bytes[100];
	static uint8_t frame[FRAME_MAX];
	struct wh_encap_known known = {0};
	struct wh_address from;
	const uint8_t *packet;
	size_t count;
	struct wh_flow on_vlan = tagged(&flow4, 7);
	const struct wh_flow *const flows[] = {&flow4, &on_vlan};

	for (size_t i = 0; i < 2; i++) {
		const struct wh_flow *flow = flows[i];
		uint32_t header_bytes = i == 0 ? 42 : 46;
		size_t length = frame_make(flow, bytes, sizeof(bytes), frame);
		uint32_t taken = 0;

		CU_ASSERT_FALSE(wh_encap_is_known(&known, frame, length));
		CU_ASSERT_EQUAL_FATAL(wh_encap_read(frame, length, &flow->target, flow->vlan, true,
					      &packet, &count, &from),
			WH_ENCAP_OK);
		wh_encap_know(&known, frame, packet, count, &from);
		CU_ASSERT_EQUAL(known.header_bytes, header_bytes);
		CU_ASSERT_EQUAL(known.packet_bytes, 100);
		CU_ASSERT(wh_address_equal(&known.from, &flow->source));
		CU_ASSERT(wh_encap_is_known(&known, frame, length));
		CU_ASSERT(wh_encap_is_known(&known, frame, length + 9));
		CU_ASSERT_FALSE(wh_encap_is_known(&known, frame, length - 1));
		CU_ASSERT_FALSE(wh_encap_is_known(&known, frame, 0));
		for (uint32_t bit = 0; bit < 8 * header_bytes; bit++) {
			frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
			taken += wh_encap_is_known(&known, frame, length);
			frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		CU_ASSERT_EQUAL(taken, 0);
		frame[header_bytes] ^= 1;
		CU_ASSERT(wh_encap_is_known(&known, frame, length));
	}
}

/* Whether such a sum is right depends on bytes behind the headers. */
static void sums_are_not_known(void)
{
	static uint8_t bytes[100];
	static uint8_t frame[FRAME_MAX];
	struct wh_encap_known known = {0};
	struct wh_address from;
	const uint8_t *packet;
	size_t count;
	size_t length = frame_make(&flow6, bytes, sizeof(bytes), frame);

	CU_ASSERT_EQUAL_FATAL(
		wh_encap_read(frame, length, &flow6.target, 0, true, &packet, &count, &from),
		WH_ENCAP_OK);
	wh_encap_know(&known, frame, packet, count, &from);
	CU_ASSERT_EQUAL(known.header_bytes, 0);
	CU_ASSERT_FALSE(wh_encap_is_known(&known, frame, length));
}

/* Lengths that come after others are as good as those of a fresh template. */
static void lengths_in_turn(void)
{
	static const size_t lengths[] = {1472, 1472, 64, 9280, 1, 0, 0, 1472, 65507};
	static uint8_t bytes[1], one[FRAME_MAX], two[FRAME_MAX];
	struct wh_encap used;

	wh_encap_init(&used, &flow4);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct wh_encap fresh;

		wh_encap_init(&fresh, &flow4);
		wh_encap_write(&fresh, one, bytes, lengths[i], NULL, 0);
		wh_encap_write(&used, two, bytes, lengths[i], NULL, 0);
		CU_ASSERT_EQUAL(memcmp(one, two, 42), 0);
		CU_ASSERT_EQUAL((uint32_t)two[16] << 8 | two[17], lengths[i] + 28);
		CU_ASSERT_EQUAL((uint32_t)two[38] << 8 | two[39], lengths[i] + 8);
	}
}

/* Up to 46 bytes of payload, Ethernet pads; the IP length says where the packet ends. */
static void padding_is_cut(void)
{
	static const uint8_t bytes[] = {9, 8, 7};
	uint8_t frame[100] = {0};
	struct wh_address from;
	const uint8_t *packet;
	size_t count = 0;

	frame_make(&flow4, bytes, 3, frame);
	CU_ASSERT_EQUAL(wh_encap_read(frame, 60, &flow4.target, 0, true, &packet, &count, &from),
		WH_ENCAP_OK);
	CU_ASSERT_EQUAL(count, 3);
	frame_make(&flow6, bytes, 3, frame);
	CU_ASSERT_EQUAL(wh_encap_read(frame, 99, &flow6.target, 0, true, &packet, &count, &from),
		WH_ENCAP_OK);
	CU_ASSERT_EQUAL(count, 3);
}

static void ipv4_sum_again(uint8_t *ip)
{
	ip[10] = 0;
	ip[11] = 0;

	uint32_t sum = ~sum16(ip, 20);

	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/*
 * A frame of four packet bytes with two of its bytes replaced; IPv4's header sum made right. On a
 * VLAN the same bytes, 4 further on, have the same consequence.
 */
struct bad_frame {
	const char *what;
	const struct wh_flow *flow;
	uint8_t offset, value, next_value;
	enum wh_encap_reason reason;
};

static const struct bad_frame bad_frames[] = {
	{"ARP", &flow4, 12, 0x08, 0x06, WH_ENCAP_NOT_IP},
	{"a tag too many", &flow4, 12, 0x81, 0x00, WH_ENCAP_VLAN},
	{"a provider's tag", &flow4, 12, 0x88, 0xa8, WH_ENCAP_VLAN},
	{"LLDP", &flow4, 12, 0x88, 0xcc, WH_ENCAP_NOT_IP},
	{"version 5", &flow4, 14, 0x55, 0, WH_ENCAP_BAD_IP},
	{"options", &flow4, 14, 0x46, 0, WH_ENCAP_BAD_IP},
	{"IHL 4", &flow4, 14, 0x44, 0, WH_ENCAP_BAD_IP},
	{"total 19", &flow4, 16, 0, 19, WH_ENCAP_BAD_IP},
	{"total beyond frame", &flow4, 16, 0, 33, WH_ENCAP_BAD_IP},
	{"total 65535", &flow4, 16, 255, 255, WH_ENCAP_BAD_IP},
	{"more fragments", &flow4, 20, 0x20, 0, WH_ENCAP_FRAGMENT},
	{"last fragment", &flow4, 20, 0x00, 1, WH_ENCAP_FRAGMENT},
	{"fragment far in", &flow4, 20, 0x1f, 0xff, WH_ENCAP_FRAGMENT},
	{"may fragment", &flow4, 20, 0x00, 0, WH_ENCAP_OK},
	{"other ttl", &flow4, 22, 1, 17, WH_ENCAP_OK},
	{"TCP", &flow4, 22, 64, 6, WH_ENCAP_NOT_UDP},
	{"no room for UDP", &flow4, 16, 0, 27, WH_ENCAP_BAD_UDP},
	{"total 20", &flow4, 16, 0, 20, WH_ENCAP_BAD_UDP},
	{"total cut", &flow4, 16, 0, 31, WH_ENCAP_BAD_UDP},
	{"UDP too long", &flow4, 38, 0, 13, WH_ENCAP_BAD_UDP},
	{"UDP too short", &flow4, 38, 0, 7, WH_ENCAP_BAD_UDP},
	{"UDP 0", &flow4, 38, 0, 0, WH_ENCAP_BAD_UDP},
	{"other host", &flow4, 32, 0, 3, WH_ENCAP_NOT_OURS},
	{"other port", &flow4, 36, 0x16, 0x81, WH_ENCAP_NOT_OURS},
	{"wrong sum", &flow4, 40, 0x12, 0x34, WH_ENCAP_BAD_UDP},
	/* 0a00 + 0001 + 0a00 + 0002 + 0011 + 000c + 1680 + 1680 + 000c + 0102 + 0304: ~4532 */
	{"right sum", &flow4, 40, 0xba, 0xcd, WH_ENCAP_OK},

	{"version 4", &flow6, 14, 0x40, 0, WH_ENCAP_BAD_IP},
	{"class and label", &flow6, 14, 0x6f, 0xff, WH_ENCAP_OK},
	{"length beyond frame", &flow6, 18, 0, 13, WH_ENCAP_BAD_IP},
	{"jumbogram", &flow6, 18, 0, 0, WH_ENCAP_BAD_UDP},
	{"length cut", &flow6, 18, 0, 11, WH_ENCAP_BAD_UDP},
	{"hop-by-hop options", &flow6, 20, 0, 64, WH_ENCAP_NOT_UDP},
	{"fragment header", &flow6, 20, 44, 64, WH_ENCAP_NOT_UDP},
	{"other host", &flow6, 52, 0, 3, WH_ENCAP_NOT_OURS},
	{"other network", &flow6, 38, 0xfe, 0, WH_ENCAP_NOT_OURS},
	{"other port", &flow6, 56, 0x16, 0x81, WH_ENCAP_NOT_OURS},
	{"UDP too long", &flow6, 58, 0, 13, WH_ENCAP_BAD_UDP},
	{"no sum", &flow6, 60, 0, 0, WH_ENCAP_BAD_UDP},
	{"sum off by one", &flow6, 60, 0xd4, 0xcc, WH_ENCAP_BAD_UDP},
	{"packet changed", &flow6, 62, 1, 3, WH_ENCAP_BAD_UDP},
	{"source changed", &flow6, 36, 0, 9, WH_ENCAP_BAD_UDP},
};

static void refuse(const struct bad_frame *bad, uint16_t vlan)
{
	static const uint8_t bytes[] = {1, 2, 3, 4};
	struct wh_flow flow = tagged(bad->flow, vlan);
	size_t tag_bytes = vlan == 0 ? 0 : 4;
	uint8_t frame[80];
	struct wh_address from;
	const uint8_t *packet;
	size_t count;
	size_t length = frame_make(&flow, bytes, sizeof(bytes), frame);

	frame[bad->offset + tag_bytes] = bad->value;
	frame[bad->offset + tag_bytes + 1] = bad->next_value;
	if (bad->flow == &flow4)
		ipv4_sum_again(frame + 14 + tag_bytes);

	enum wh_encap_reason reason =
		wh_encap_read(frame, length, &flow.target, vlan, true, &packet, &count, &from);

	if (reason != bad->reason)
		printf("%s, VLAN %d: %s\n", bad->what, vlan, wh_encap_reason_name(reason));
	CU_ASSERT_EQUAL(reason, bad->reason);
}

static void refused_frames(void)
{
	for (size_t i = 0; i < sizeof(bad_frames) / sizeof(bad_frames[0]); i++) {
		refuse(&bad_frames[i], 0);
		refuse(&bad_frames[i], 1);
		refuse(&bad_frames[i], 4094);
	}
}

/* The tag that a frame has, -1: none, and the VLAN that is ours. */
static void vlans(void)
{
	static const struct {
		int32_t control;
		uint16_t ours;
		enum wh_encap_reason reason;
	} cases[] = {
		{-1, 0, WH_ENCAP_OK},
		{-1, 1, WH_ENCAP_VLAN},
		{-1, 4094, WH_ENCAP_VLAN},
		{0x0000, 0, WH_ENCAP_OK}, /* of priority alone, whatever the priority */
		{0x2000, 0, WH_ENCAP_OK},
		{0xe000, 0, WH_ENCAP_OK},
		{0x1000, 0, WH_ENCAP_OK}, /* may be dropped first */
		{0x0000, 1, WH_ENCAP_VLAN},
		{0xe000, 7, WH_ENCAP_VLAN},
		{0x0001, 0, WH_ENCAP_VLAN},
		{0x0001, 1, WH_ENCAP_OK},
		{0xf001, 1, WH_ENCAP_OK},
		{0x0001, 2, WH_ENCAP_VLAN},
		{0x0101, 1, WH_ENCAP_VLAN},
		{0x0801, 1, WH_ENCAP_VLAN},
		{0x0abc, 0x0abc, WH_ENCAP_OK},
		{0x0bbc, 0x0abc, WH_ENCAP_VLAN},
		{0x0ffe, 4094, WH_ENCAP_OK},
		{0x0fff, 4094, WH_ENCAP_VLAN}, /* reserved */
		{0x0fff, 0, WH_ENCAP_VLAN},
	};
	static const struct wh_flow *const flows[] = {&flow4, &flow6};
	static const uint8_t bytes[] = {1, 2, 3, 4};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		int32_t control = cases[i / 2].control;
		struct wh_flow flow = tagged(flows[i % 2], control == -1 ? 0 : 1);
		uint8_t frame[80];
		struct wh_address from;
		const uint8_t *packet = NULL;
		size_t count = 0;
		size_t length = frame_make(&flow, bytes, sizeof(bytes), frame);

		if (control != -1) {
			frame[14] = (uint8_t)(control >> 8);
			frame[15] = (uint8_t)control;
		}

		enum wh_encap_reason reason = wh_encap_read(frame, length, &flow.target,
			cases[i / 2].ours, true, &packet, &count, &from);

		if (reason != cases[i / 2].reason)
			printf("case %zu: %s\n", i / 2, wh_encap_reason_name(reason));
		CU_ASSERT_EQUAL(reason, cases[i / 2].reason);
		if (reason == WH_ENCAP_OK) {
			CU_ASSERT_EQUAL(count, 4);
			CU_ASSERT_PTR_EQUAL(packet, frame + length - 4);
		}
	}
}

/* Two tags, each of them ours; and a provider's tag around ours. */
static void double_tags(void)
{
	static const uint8_t outer_types[][2] = {{0x81, 0x00}, {0x88, 0xa8}};
	static const uint16_t ours[] = {0, 5};
	struct wh_flow flow = tagged(&flow4, 5);
	struct wh_address from;
	const uint8_t *packet;
	size_t count;

	for (size_t i = 0; i < 4; i++) {
		static const uint8_t bytes[] = {1, 2, 3, 4};
		uint8_t frame[80], twice[84];
		size_t length = frame_make(&flow, bytes, sizeof(bytes), frame);

		memcpy(twice, frame, 16);
		memcpy(twice + 12, outer_types[i / 2], 2);
		memcpy(twice + 16, frame + 12, length - 12);
		CU_ASSERT_EQUAL(wh_encap_read(twice, length + 4, &flow.target, ours[i % 2], true,
					&packet, &count, &from),
			WH_ENCAP_VLAN);
	}
}

static void sums_not_verified(void)
{
	static const uint8_t bytes[] = {1, 2, 3, 4};
	uint8_t frame[80];
	struct wh_address from;
	const uint8_t *packet;
	size_t count;
	size_t length = frame_make(&flow6, bytes, 4, frame);

	frame[61]++;
	CU_ASSERT_EQUAL(
		wh_encap_read(frame, length, &flow6.target, 0, false, &packet, &count, &from),
		WH_ENCAP_OK);
	/* A sum that is not there is no matter of verifying it. */
	frame[60] = 0;
	frame[61] = 0;
	CU_ASSERT_EQUAL(
		wh_encap_read(frame, length, &flow6.target, 0, false, &packet, &count, &from),
		WH_ENCAP_BAD_UDP);
	/* IPv4's header sum always counts. */
	length = frame_make(&flow4, bytes, 4, frame);
	frame[25]++;
	CU_ASSERT_EQUAL(
		wh_encap_read(frame, length, &flow4.target, 0, false, &packet, &count, &from),
		WH_ENCAP_BAD_IP);
}

static void other_family(void)
{
	static const uint8_t bytes[] = {1, 2, 3, 4};
	struct wh_address like4 = flow6.target;
	uint8_t frame[80];
	struct wh_address from;
	const uint8_t *packet;
	size_t count;
	size_t length = frame_make(&flow4, bytes, 4, frame);

	memcpy(like4.ip, flow4.target.ip, sizeof(like4.ip));
	CU_ASSERT_EQUAL(wh_encap_read(frame, length, &like4, 0, true, &packet, &count, &from),
		WH_ENCAP_NOT_OURS);
	CU_ASSERT_FALSE(wh_address_equal(&like4, &flow4.target));
}

static void address_equal(void)
{
	struct wh_address other = flow6.target;

	CU_ASSERT(wh_address_equal(&other, &flow6.target));
	other.port++;
	CU_ASSERT_FALSE(wh_address_equal(&other, &flow6.target));
	other = flow6.target;
	other.ip[7] = 1;
	CU_ASSERT_FALSE(wh_address_equal(&other, &flow6.target));
}

/* Every length that a frame may be cut to; blocks of that size show a byte read beyond. */
static void cut(const struct wh_flow *flow, size_t header_bytes)
{
	static const uint8_t bytes[64] = {1, 2, 3};
	uint8_t frame[160];
	struct wh_address from;
	const uint8_t *packet;
	size_t count;
	size_t length = frame_make(flow, bytes, sizeof(bytes), frame);

	for (size_t left = 0; left < length; left++) {
		uint8_t *copy = malloc(left);

		memcpy(copy, frame, left);
		CU_ASSERT_EQUAL(wh_encap_read(copy, left, &flow->target, flow->vlan, true, &packet,
					&count, &from),
			left < header_bytes ? WH_ENCAP_SHORT : WH_ENCAP_BAD_IP);
		free(copy);
	}
}

static void cut_frames(void)
{
	struct wh_flow on4 = tagged(&flow4, 4094), on6 = tagged(&flow6, 4094);

	cut(&flow4, 34);
	cut(&flow6, 54);
	cut(&on4, 38);
	cut(&on6, 58);
}

/* One that may be mutilated, its length; *vlan is that of its reader. */
static size_t random_frame(
	struct wh_prng *prng, struct wh_flow *flow, uint16_t *vlan, uint8_t *frame)
{
	static const uint8_t bytes[64] = {1, 2, 3};

	*vlan = (uint16_t)wh_prng_below(prng, 2);
	*flow = tagged(wh_prng_below(prng, 2) == 0 ? &flow4 : &flow6,
		wh_prng_below(prng, 16) == 0 ? !*vlan : *vlan);

	size_t length = frame_make(flow, bytes, sizeof(bytes), frame);

	for (uint64_t pokes = wh_prng_below(prng, 4); pokes > 0; pokes--)
		frame[12 + wh_prng_below(prng, 54)] = (uint8_t)wh_prng_u64(prng);
	if (flow->source.family == WH_IPV4 && wh_prng_below(prng, 4) != 0)
		ipv4_sum_again(frame + (flow->vlan == 0 ? 14 : 18));
	return wh_prng_below(prng, 8) == 0 ? wh_prng_below(prng, length + 1) : length;
}

static void random_frames(void)
{
	uint64_t reasons[WH_ENCAP_REASONS] = {0};
	uint64_t outside = 0;
	struct wh_prng prng;

	wh_prng_init(&prng, 768);
	for (uint32_t i = 0; i < 200000; i++) {
		struct wh_flow flow;
		uint16_t vlan;
		uint8_t frame[160];
		struct wh_address from;
		const uint8_t *packet;
		size_t count;
		size_t length = random_frame(&prng, &flow, &vlan, frame);
		uint8_t *copy = malloc(length);

		memcpy(copy, frame, length);

		enum wh_encap_reason reason = wh_encap_read(
			copy, length, &flow.target, vlan, i % 2 == 0, &packet, &count, &from);

		reasons[reason]++;
		outside += reason == WH_ENCAP_OK &&
			   (packet < copy + 42 || packet + count > copy + length);
		free(copy);
	}
	CU_ASSERT_EQUAL(outside, 0);
	for (uint32_t reason = 0; reason < WH_ENCAP_REASONS; reason++)
		CU_ASSERT(reasons[reason] > 1000);
}

CU_TestInfo wh_tests[] = {
	{"names", names},
	{"payload of MTU", payload_of_mtu},
	{"sizes", sizes},
	{"known IPv4 frame", known_ipv4_frame},
	{"known IPv6 frame", known_ipv6_frame},
	{"a sum left to the port", sum_left},
	{"known tagged frames", known_tagged_frames},
	{"nothing beside the headers is written", nothing_beside},
	{"odd and zero sums", odd_and_zero_sums},
	{"IPv4 sum of every length", ipv4_sum_of_every_length},
	{"round trip", round_trip},
	{"two parts", two_parts},
	{"known headers", known_headers},
	{"sums are not known", sums_are_not_known},
	{"lengths in turn", lengths_in_turn},
	{"padding is cut", padding_is_cut},
	{"refused frames", refused_frames},
	{"our VLAN and others", vlans},
	{"double tags", double_tags},
	{"sums not verified", sums_not_verified},
	{"other family", other_family},
	{"addresses are equal", address_equal},
	{"cut frames", cut_frames},
	{"random frames", random_frames},
	CU_TEST_INFO_NULL,
};
