/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/internet.h"

#include "unit.h"

const char wh_suite_name[] = "internet";

#define BODY 100

static const uint8_t macs[2][6] = {{2, 1, 2, 3, 4, 5}, {2, 6, 7, 8, 9, 10}};
static const uint8_t ips[2][16] = {{0xfd, 1, 2, 3, [15] = 4}, {0xfd, 5, 6, 7, [15] = 8}};

static struct wh_telling telling_of(enum wh_family family, uint16_t vlan)
{
	return (struct wh_telling){
		.family = (uint8_t)family,
		.protocol = 99,
		.hop_limit = 7,
		.vlan = vlan,
		.source_mac = macs[0],
		.target_mac = macs[1],
		.source_ip = ips[0],
		.target_ip = ips[1],
	};
}

/* As RFC 791 has them, the header sum by hand: the words make up 0xffff - sum. */
static void bytes_of_ipv4(void)
{
	static const uint8_t expected[] = {2, 6, 7, 8, 9, 10, 2, 1, 2, 3, 4, 5, 0x81, 0, 0, 9, 8, 0,
		0x45, 0, 0, 120, 0, 0, 0x40, 0, 7, 99, 0x71, 0x12, 0xfd, 1, 2, 3, 0xfd, 5, 6, 7};
	uint8_t frame[64] = {0};
	struct wh_telling telling = telling_of(WH_IPV4, 9);

	CU_ASSERT_PTR_EQUAL(wh_tell_ip(frame, &telling, BODY), frame + sizeof(expected));
	CU_ASSERT_EQUAL(memcmp(frame, expected, sizeof(expected)), 0);
	CU_ASSERT_EQUAL(wh_sum_fold(wh_sum_add(0, frame + 18, 20)), UINT16_MAX);
}

static void bytes_of_ipv6(void)
{
	static const uint8_t expected[] = {
		2, 6, 7, 8, 9, 10, 2, 1, 2, 3, 4, 5, 0x86, 0xdd, 0x60, 0, 0, 0, 0, BODY, 99, 7};
	uint8_t frame[64] = {0};
	struct wh_telling telling = telling_of(WH_IPV6, 0);

	CU_ASSERT_PTR_EQUAL(wh_tell_ip(frame, &telling, BODY), frame + 54);
	CU_ASSERT_EQUAL(memcmp(frame, expected, sizeof(expected)), 0);
	CU_ASSERT_EQUAL(memcmp(frame + 22, ips, 32), 0);
}

/* CS1 and EF; the two bits of ECN are 0, and the header's sum counts it. */
static void dscp(void)
{
	struct wh_telling ipv4 = telling_of(WH_IPV4, 0);
	struct wh_telling ipv6 = telling_of(WH_IPV6, 0);
	uint8_t frame[64] = {0};

	ipv4.dscp = 46;
	(void)wh_tell_ip(frame, &ipv4, BODY);
	CU_ASSERT_EQUAL(frame[15], 0xb8);
	CU_ASSERT_EQUAL(wh_sum_fold(wh_sum_add(0, frame + 14, 20)), UINT16_MAX);
	ipv6.dscp = 8;
	(void)wh_tell_ip(frame, &ipv6, BODY);
	CU_ASSERT_EQUAL(frame[14], 0x62);
	CU_ASSERT_EQUAL(frame[15], 0x00);
	ipv6.dscp = WH_DSCP_MAX;
	(void)wh_tell_ip(frame, &ipv6, BODY);
	CU_ASSERT_EQUAL(frame[14], 0x6f);
	CU_ASSERT_EQUAL(frame[15], 0xc0);
}

/* What is told is heard, of any length from the shortest that is whole; padding is cut. */
static void told_is_heard(void)
{
	uint8_t frame[256] = {0};

	for (uint32_t i = 0; i < 4; i++) {
		enum wh_family family = i % 2 == 0 ? WH_IPV4 : WH_IPV6;
		struct wh_telling telling = telling_of(family, i < 2 ? 0 : WH_VLAN_MAX);
		uint8_t *body = wh_tell_ip(frame, &telling, BODY);
		size_t whole = (size_t)(body - frame) + BODY;

		for (size_t bytes = 0; bytes < sizeof(frame); bytes++) {
			size_t ether_bytes = WH_ETHER_BYTES + (i < 2 ? 0 : WH_VLAN_BYTES);
			struct wh_heard heard;
			bool there = wh_heard_ether(&heard, frame, bytes);

			CU_ASSERT_EQUAL(there, bytes >= ether_bytes);
			if (!there)
				continue;
			CU_ASSERT_EQUAL(heard.vlan, telling.vlan);

			enum wh_heard_reason reason = wh_heard_ip(&heard);

			if (bytes < (size_t)(body - frame))
				CU_ASSERT_EQUAL(reason, WH_HEARD_SHORT)
			else
				CU_ASSERT_EQUAL(
					reason, bytes < whole ? WH_HEARD_IP_HEAD : WH_HEARD_OK)
			if (reason != WH_HEARD_OK)
				continue;
			CU_ASSERT(heard.family == family && heard.protocol == 99);
			CU_ASSERT(heard.hop_limit == 7 && heard.bytes == BODY);
			CU_ASSERT_PTR_EQUAL(heard.body, body);
			CU_ASSERT_EQUAL(memcmp(heard.source_mac, macs[0], 6), 0);
			CU_ASSERT_EQUAL(memcmp(heard.target_mac, macs[1], 6), 0);
			CU_ASSERT_EQUAL(
				memcmp(heard.source_ip, ips[0], wh_ip_address_bytes(family)), 0);
			CU_ASSERT_EQUAL(
				memcmp(heard.target_ip, ips[1], wh_ip_address_bytes(family)), 0);
		}
	}
}

/* A byte of the header that is another one: what is said of it, with the sum made right again. */
static void heads(void)
{
	static const struct {
		enum wh_family family;
		uint8_t at;
		uint8_t value;
		enum wh_heard_reason reason;
	} cases[] = {
		{WH_IPV4, 0, 0x46, WH_HEARD_IP_HEAD},  /* options */
		{WH_IPV4, 0, 0x65, WH_HEARD_IP_HEAD},  /* version */
		{WH_IPV4, 3, 19, WH_HEARD_IP_HEAD},    /* less than its header */
		{WH_IPV4, 3, 121, WH_HEARD_IP_HEAD},   /* more than there is */
		{WH_IPV4, 3, 20, WH_HEARD_OK},         /* nothing in it */
		{WH_IPV4, 6, 0x20, WH_HEARD_FRAGMENT}, /* more of it */
		{WH_IPV4, 6, 0x80, WH_HEARD_FRAGMENT}, /* reserved */
		{WH_IPV4, 7, 1, WH_HEARD_FRAGMENT},    /* an offset */
		{WH_IPV4, 6, 0, WH_HEARD_OK},
		{WH_IPV6, 0, 0x50, WH_HEARD_IP_HEAD},
		{WH_IPV6, 0, 0x6f, WH_HEARD_OK}, /* traffic class */
		{WH_IPV6, 5, BODY + 1, WH_HEARD_IP_HEAD},
		{WH_IPV6, 5, 0, WH_HEARD_OK},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_telling telling = telling_of(cases[i].family, 0);
		uint8_t frame[256] = {0};
		uint8_t *ip = frame + WH_ETHER_BYTES;
		uint8_t *body = wh_tell_ip(frame, &telling, BODY);
		struct wh_heard heard;

		ip[cases[i].at] = cases[i].value;
		if (cases[i].family == WH_IPV4) {
			struct wh_ipv4_header *head = (struct wh_ipv4_header *)ip;

			head->sum = 0;
			head->sum = (rte_be16_t)~wh_sum_fold(wh_sum_add(0, head, sizeof(*head)));
		}
		CU_ASSERT_FATAL(wh_heard_ether(&heard, frame, (size_t)(body - frame) + BODY));
		CU_ASSERT_EQUAL(wh_heard_ip(&heard), cases[i].reason);
	}
}

/* A header of IPv4 with a wrong sum is none. */
static void header_sum(void)
{
	struct wh_telling telling = telling_of(WH_IPV4, 0);
	uint8_t frame[256] = {0};
	struct wh_heard heard;

	wh_tell_ip(frame, &telling, BODY);
	for (uint32_t bit = 0; bit < 8 * WH_IPV4_BYTES; bit++) {
		frame[WH_ETHER_BYTES + bit / 8] ^= 1 << bit % 8;
		CU_ASSERT_FATAL(wh_heard_ether(&heard, frame, sizeof(frame)));
		CU_ASSERT_EQUAL(wh_heard_ip(&heard), WH_HEARD_IP_HEAD);
		frame[WH_ETHER_BYTES + bit / 8] ^= 1 << bit % 8;
	}
}

CU_TestInfo wh_tests[] = {
	{"bytes of IPv4", bytes_of_ipv4},
	{"bytes of IPv6", bytes_of_ipv6},
	{"DSCP", dscp},
	{"told is heard", told_is_heard},
	{"heads", heads},
	{"header sum", header_sum},
	CU_TEST_INFO_NULL,
};
