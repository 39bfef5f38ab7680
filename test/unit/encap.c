/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/encap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void round_trip(void)
{
	static const size_t lengths[] = {0, 1, 2, 3, 64, 65, 111, 1472, 9279, 9280};
	static const struct wh_flow *const flows[] = {&flow4, &flow6};
	static uint8_t bytes[9280], frame[FRAME_MAX];
	struct wh_address from;
	const uint8_t *packet;
	size_t count;

	memset(bytes, 0xff, sizeof(bytes));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (uint32_t f = 0; f < 2; f++) {
			size_t length = frame_make(flows[f], bytes, lengths[i], frame);

			CU_ASSERT_EQUAL(wh_encap_read(frame, length, &flows[f]->target, true,
						&packet, &count, &from),
				WH_ENCAP_OK);
			CU_ASSERT_EQUAL(count, lengths[i]);
			CU_ASSERT_PTR_EQUAL(packet, frame + length - lengths[i]);
			CU_ASSERT(wh_address_equal(&from, &flows[f]->source));
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

/* Up to 46 bytes of payload, Ethernet pads; the IP length says where the packet ends. */
static void padding_is_cut(void)
{
	static const uint8_t bytes[] = {9, 8, 7};
	uint8_t frame[100] = {0};
	struct wh_address from;
	const uint8_t *packet;
	size_t count = 0;

	frame_make(&flow4, bytes, 3, frame);
	CU_ASSERT_EQUAL(
		wh_encap_read(frame, 60, &flow4.target, true, &packet, &count, &from), WH_ENCAP_OK);
	CU_ASSERT_EQUAL(count, 3);
	frame_make(&flow6, bytes, 3, frame);
	CU_ASSERT_EQUAL(
		wh_encap_read(frame, 99, &flow6.target, true, &packet, &count, &from), WH_ENCAP_OK);
	CU_ASSERT_EQUAL(count, 3);
}

static void ipv4_sum_again(uint8_t *frame)
{
	frame[24] = 0;
	frame[25] = 0;

	uint32_t sum = ~sum16(frame + 14, 20);

	frame[24] = (uint8_t)(sum >> 8);
	frame[25] = (uint8_t)sum;
}

/* A frame of four packet bytes with two of its bytes replaced; IPv4's header sum made right. */
struct bad_frame {
	const char *what;
	const struct wh_flow *flow;
	uint8_t offset, value, next_value;
	enum wh_encap_reason reason;
};

static const struct bad_frame bad_frames[] = {
	{"ARP", &flow4, 12, 0x08, 0x06, WH_ENCAP_NOT_IP},
	{"VLAN", &flow4, 12, 0x81, 0x00, WH_ENCAP_NOT_IP},
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

static void refused_frames(void)
{
	static const uint8_t bytes[] = {1, 2, 3, 4};

	for (size_t i = 0; i < sizeof(bad_frames) / sizeof(bad_frames[0]); i++) {
		const struct bad_frame *bad = &bad_frames[i];
		uint8_t frame[80];
		struct wh_address from;
		const uint8_t *packet;
		size_t count;
		size_t length = frame_make(bad->flow, bytes, sizeof(bytes), frame);

		frame[bad->offset] = bad->value;
		frame[bad->offset + 1] = bad->next_value;
		if (bad->flow == &flow4)
			ipv4_sum_again(frame);

		enum wh_encap_reason reason = wh_encap_read(
			frame, length, &bad->flow->target, true, &packet, &count, &from);

		if (reason != bad->reason)
			printf("%s: %s\n", bad->what, wh_encap_reason_name(reason));
		CU_ASSERT_EQUAL(reason, bad->reason);
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
	CU_ASSERT_EQUAL(wh_encap_read(frame, length, &flow6.target, false, &packet, &count, &from),
		WH_ENCAP_OK);
	/* A sum that is not there is no matter of verifying it. */
	frame[60] = 0;
	frame[61] = 0;
	CU_ASSERT_EQUAL(wh_encap_read(frame, length, &flow6.target, false, &packet, &count, &from),
		WH_ENCAP_BAD_UDP);
	/* IPv4's header sum always counts. */
	length = frame_make(&flow4, bytes, 4, frame);
	frame[25]++;
	CU_ASSERT_EQUAL(wh_encap_read(frame, length, &flow4.target, false, &packet, &count, &from),
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
	CU_ASSERT_EQUAL(wh_encap_read(frame, length, &like4, true, &packet, &count, &from),
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
static void cut_frames(void)
{
	static const struct wh_flow *const flows[] = {&flow4, &flow6};
	static const size_t header_bytes[] = {34, 54};
	static const uint8_t bytes[64] = {1, 2, 3};
	uint8_t frame[160];
	struct wh_address from;
	const uint8_t *packet;
	size_t count;

	for (uint32_t f = 0; f < 2; f++) {
		size_t length = frame_make(flows[f], bytes, sizeof(bytes), frame);

		for (size_t cut = 0; cut < length; cut++) {
			uint8_t *copy = malloc(cut);

			memcpy(copy, frame, cut);
			CU_ASSERT_EQUAL(wh_encap_read(copy, cut, &flows[f]->target, true, &packet,
						&count, &from),
				cut < header_bytes[f] ? WH_ENCAP_SHORT : WH_ENCAP_BAD_IP);
			free(copy);
		}
	}
}

static void random_frames(void)
{
	static const uint8_t bytes[64] = {1, 2, 3};
	uint64_t reasons[WH_ENCAP_REASONS] = {0};
	uint64_t outside = 0;
	uint8_t frame[160];
	struct wh_prng prng;

	wh_prng_init(&prng, 768);
	for (uint32_t i = 0; i < 200000; i++) {
		const struct wh_flow *flow = wh_prng_below(&prng, 2) == 0 ? &flow4 : &flow6;
		size_t length = frame_make(flow, bytes, sizeof(bytes), frame);
		struct wh_address from;
		const uint8_t *packet;
		size_t count;

		for (uint64_t pokes = wh_prng_below(&prng, 4); pokes > 0; pokes--)
			frame[12 + wh_prng_below(&prng, 50)] = (uint8_t)wh_prng_u64(&prng);
		if (flow == &flow4 && wh_prng_below(&prng, 4) != 0)
			ipv4_sum_again(frame);
		if (wh_prng_below(&prng, 8) == 0)
			length = wh_prng_below(&prng, length + 1);

		uint8_t *copy = malloc(length);

		memcpy(copy, frame, length);

		enum wh_encap_reason reason = wh_encap_read(
			copy, length, &flow->target, i % 2 == 0, &packet, &count, &from);

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
	{"odd and zero sums", odd_and_zero_sums},
	{"IPv4 sum of every length", ipv4_sum_of_every_length},
	{"round trip", round_trip},
	{"two parts", two_parts},
	{"padding is cut", padding_is_cut},
	{"refused frames", refused_frames},
	{"sums not verified", sums_not_verified},
	{"other family", other_family},
	{"addresses are equal", address_equal},
	{"cut frames", cut_frames},
	{"random frames", random_frames},
	CU_TEST_INFO_NULL,
};
