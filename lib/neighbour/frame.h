/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Frames of wh_neighbour as bytes: layouts, and reading and writing of headers. No state, no time.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>

#include "neighbour/neighbour.h"
#include "wire/internet.h"

/* The minimum frame, without the check sequence. */
#define WH_ETHER_FRAME_BYTES 60

#define WH_IP_HOPS             64
#define WH_NDP_HOPS            255
#define WH_ARP_ETHERNET        1
#define WH_ARP_REQUEST         1
#define WH_ARP_REPLY           2
#define WH_ICMP_ECHO_REPLY     0
#define WH_ICMP_ECHO_REQUEST   8
#define WH_ICMPV6_ECHO_REQUEST 128
#define WH_ICMPV6_ECHO_REPLY   129
#define WH_NDP_SOLICITATION    135
#define WH_NDP_ADVERTISEMENT   136

/* Flags of an advertisement, in the first byte. */
#define WH_NDP_SOLICITED 0x40
#define WH_NDP_OVERRIDE  0x20

/* Types of options, and the unit of their length in bytes. */
#define WH_NDP_SOURCE_MAC  1
#define WH_NDP_TARGET_MAC  2
#define WH_NDP_OPTION_UNIT 8

/* RFC 826, for IPv4 over Ethernet. */
struct wh_arp {
	rte_be16_t hardware;
	rte_be16_t protocol;
	uint8_t mac_bytes;
	uint8_t ip_bytes;
	rte_be16_t operation;
	uint8_t sender_mac[6];
	uint8_t sender_ip[4];
	uint8_t target_mac[6];
	uint8_t target_ip[4];
} __attribute__((packed));

static_assert(sizeof(struct wh_arp) == 28, "RFC 826");

/* RFC 792, RFC 4443 4.1; the data follows. */
struct wh_icmp_echo {
	uint8_t type;
	uint8_t code;
	rte_be16_t sum;
	rte_be16_t identifier;
	rte_be16_t sequence;
} __attribute__((packed));

static_assert(sizeof(struct wh_icmp_echo) == 8, "RFC 792");

/* RFC 4861 4.3, 4.4; options follow. */
struct wh_ndp {
	uint8_t type;
	uint8_t code;
	rte_be16_t sum;
	uint8_t flags[4]; /* of an advertisement */
	uint8_t target[16];
} __attribute__((packed));

static_assert(sizeof(struct wh_ndp) == 24, "RFC 4861 4.3");

/* RFC 4861 4.6.1, for Ethernet. */
struct wh_ndp_mac {
	uint8_t type;
	uint8_t units;
	uint8_t mac[6];
} __attribute__((packed));

static_assert(sizeof(struct wh_ndp_mac) == WH_NDP_OPTION_UNIT, "RFC 4861 4.6.1");

extern const uint8_t wh_mac_broadcast[6];
extern const uint8_t wh_ipv6_all_nodes[16];

static inline bool wh_mac_equal(const uint8_t a[6], const uint8_t b[6])
{
	return memcmp(a, b, 6) == 0;
}

/* A unicast address, not zero. */
bool wh_mac_is_host(const uint8_t mac[6]);

/* Whether the first `bits` of two addresses are equal. */
bool wh_ip_in_prefix(const uint8_t *a, const uint8_t *b, uint32_t bits);

/* Whether it may be a source: not a multicast, loopback, unspecified or reserved address. */
bool wh_ip_is_host(uint8_t family, const uint8_t *ip);

bool wh_ipv6_is_group(const uint8_t ip[16]);
bool wh_ipv6_is_unspecified(const uint8_t ip[16]);
bool wh_ipv6_is_link_local(const uint8_t ip[16]);

/* RFC 4291 2.5.6 and appendix A: fe80::/64 and the modified EUI-64 of the MAC. */
void wh_ipv6_link_local(uint8_t ip[16], const uint8_t mac[6]);

/* RFC 4291 2.7.1: the multicast group for solicitations of this address. */
void wh_ipv6_solicited_node(uint8_t group[16], const uint8_t ip[16]);

/* The MAC of a multicast group: RFC 2464 7. */
void wh_ipv6_group_mac(uint8_t mac[6], const uint8_t group[16]);

/* Whether the checksum of the ICMP message in `heard` is right. */
bool wh_heard_icmp_sum_agrees(const struct wh_heard *heard);

/* Ethernet header from our MAC, in our VLAN. */
struct wh_telling wh_telling_of(
	const struct wh_neighbour_config *config, const uint8_t target_mac[6]);

/* Headers of our ICMP messages. A hop limit of WH_NDP_HOPS proves that they stayed on the link. */
struct wh_telling wh_telling_icmp(const struct wh_neighbour_config *config, uint8_t family,
	uint8_t hop_limit, const uint8_t *source_ip, const uint8_t *target_ip,
	const uint8_t target_mac[6]);

/* Sets the checksum of an ICMP message behind the IP header that wh_tell_ip wrote. */
void wh_tell_icmp_sum(uint8_t *icmp, size_t icmp_bytes, uint8_t family);

/* Pads a frame that ends at `end` to Ethernet's minimum; returns its length. */
size_t wh_tell_end(uint8_t *frame, uint8_t *end);
