/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Ethernet, VLAN and IP headers as they lie in a frame, read and written, and the Internet
 * checksum.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

#include "wire/encap.h"

#define WH_ETHER_TYPE_IPV4     0x0800
#define WH_ETHER_TYPE_ARP      0x0806
#define WH_ETHER_TYPE_VLAN     0x8100
#define WH_ETHER_TYPE_IPV6     0x86dd
#define WH_ETHER_TYPE_PROVIDER 0x88a8 /* a provider's outer tag: IEEE 802.1Q 9.5 */

#define WH_IP_PROTOCOL_ICMP   1
#define WH_IP_PROTOCOL_UDP    17
#define WH_IP_PROTOCOL_ICMPV6 58

#define WH_IPV4_VERSION_IHL   0x45 /* version 4, five words: no options */
#define WH_IPV4_DONT_FRAGMENT 0x4000
#define WH_IPV6_VERSION       UINT32_C(0x60000000) /* of version_class_label */
#define WH_IPV6_VERSION_MASK  UINT32_C(0xf0000000)

struct wh_ether_header {
	uint8_t target[6];
	uint8_t source[6];
	rte_be16_t type;
} __attribute__((packed));

static_assert(sizeof(struct wh_ether_header) == WH_ETHER_BYTES, "Ethernet II without tags");

#define WH_VLAN_MASK 0x0fff /* of `control`: above it are priority and drop eligibility */

/* IEEE 802.1Q 9.6, behind the EtherType that announces it. */
struct wh_vlan_tag {
	rte_be16_t control;
	rte_be16_t type; /* of the next header */
} __attribute__((packed));

static_assert(sizeof(struct wh_vlan_tag) == WH_VLAN_BYTES, "IEEE 802.1Q 9.6");

/* RFC 791 3.1. */
struct wh_ipv4_header {
	uint8_t version_ihl;
	uint8_t service;
	rte_be16_t total_bytes;
	rte_be16_t identification;
	rte_be16_t fragment;
	uint8_t ttl;
	uint8_t protocol;
	rte_be16_t sum;
	uint8_t source[4];
	uint8_t target[4];
} __attribute__((packed));

static_assert(sizeof(struct wh_ipv4_header) == WH_IPV4_BYTES, "RFC 791 3.1");
static_assert(offsetof(struct wh_ipv4_header, sum) == 10, "RFC 791 3.1");

/* RFC 8200 3. */
struct wh_ipv6_header {
	rte_be32_t version_class_label;
	rte_be16_t payload_bytes;
	uint8_t next_header;
	uint8_t hop_limit;
	uint8_t source[16];
	uint8_t target[16];
} __attribute__((packed));

static_assert(sizeof(struct wh_ipv6_header) == WH_IPV6_BYTES, "RFC 8200 3");
static_assert(offsetof(struct wh_ipv6_header, source) == 8, "RFC 8200 3");

/* What has been parsed of a frame's headers; pointers are into the frame. */
struct wh_heard {
	const uint8_t *source_mac;
	const uint8_t *target_mac;
	uint16_t type; /* EtherType, behind the tag */
	uint16_t vlan; /* 0: no tag, or one for priority only */
	uint8_t family;
	uint8_t protocol;
	uint8_t hop_limit;
	const uint8_t *source_ip; /* the target's follows in memory */
	const uint8_t *target_ip;
	const uint8_t *body; /* behind the headers read so far */
	size_t bytes;        /* of `body`; Ethernet padding is cut off by the IP length */
};

/* Parses Ethernet and a tag; false: the frame is too short. */
bool wh_heard_ether(struct wh_heard *heard, const uint8_t *frame, size_t frame_bytes);

enum wh_heard_reason {
	WH_HEARD_OK = 0,
	WH_HEARD_SHORT,
	WH_HEARD_IP_HEAD, /* version, options, lengths or header sum */
	WH_HEARD_FRAGMENT,
};

/*
 * Parses IP of either version; neither addresses nor protocol are checked. IPv6 extension headers,
 * including that of a fragment, count as a protocol.
 */
enum wh_heard_reason wh_heard_ip(struct wh_heard *heard);

/* Headers of a packet to send. */
struct wh_telling {
	uint8_t family;
	uint8_t protocol;
	uint8_t hop_limit;
	uint8_t dscp;  /* RFC 2474; the field's other two bits, of ECN, are 0 */
	uint16_t vlan; /* 0: no tag */
	const uint8_t *source_mac;
	const uint8_t *target_mac;
	const uint8_t *source_ip;
	const uint8_t *target_ip;
};

/*
 * Each writes its headers and returns where their payload belongs. `bytes`: length of IP's payload.
 */
uint8_t *wh_tell_ether(uint8_t *frame, const struct wh_telling *telling, uint16_t type);
uint8_t *wh_tell_ip(uint8_t *frame, const struct wh_telling *telling, size_t bytes);

static inline size_t wh_ip_address_bytes(uint8_t family)
{
	return family == WH_IPV4 ? 4 : 16;
}

static inline size_t wh_ip_header_bytes(uint8_t family)
{
	return family == WH_IPV4 ? WH_IPV4_BYTES : WH_IPV6_BYTES;
}

static inline bool wh_ipv6_version_agrees(const struct wh_ipv6_header *ip)
{
	return (rte_be_to_cpu_32(ip->version_class_label) & WH_IPV6_VERSION_MASK) ==
	       WH_IPV6_VERSION;
}

/*
 * The Internet checksum (RFC 1071) of bytes in memory. The one's complement sum is independent of
 * byte order, so sums are added, compared and stored without swapping. Adds four bytes at a time;
 * the upper half of `sum` has room for 2^32 carries.
 */
static inline uint64_t wh_sum_add(uint64_t sum, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;

	for (; count >= sizeof(uint32_t); count -= sizeof(uint32_t), at += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, at, sizeof(word));
		sum += word;
	}
	if (count > 0) {
		uint32_t word = 0;

		memcpy(&word, at, count);
		sum += word;
	}
	return sum;
}

static inline uint16_t wh_sum_fold(uint64_t sum)
{
	sum = (sum >> 32) + (sum & UINT32_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	return (uint16_t)sum;
}
