/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Ethernet + IPv4 or IPv6 + UDP around a wavehaul packet. A template is made once per flow. Each
 * packet costs a copy of it, the lengths, and for IPv4 the header sum.
 *
 * UDP checksum: over IPv4 it is 0, none, which is legal (RFC 768). Over IPv6 it is computed, here
 * or by the port, because hosts drop zero sums (RFC 8200 8.1). Our own tag is what protects
 * the bytes.
 *
 * On a VLAN each frame carries one tag of IEEE 802.1Q, with priority 0: ports are never told to
 * insert or to strip it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/packet.h"

#define WH_ETHER_BYTES     14
#define WH_VLAN_BYTES      4 /* of a tag, in addition to WH_ETHER_BYTES */
#define WH_IPV4_BYTES      20
#define WH_IPV6_BYTES      40
#define WH_UDP_BYTES       8
#define WH_ENCAP_BYTES_MAX (WH_ETHER_BYTES + WH_VLAN_BYTES + WH_IPV6_BYTES + WH_UDP_BYTES)

/* What the wire adds to a frame: preamble 8, frame check sequence 4, gap 12. */
#define WH_ETHER_WIRE_BYTES 24

/* Shortest Ethernet frame without its frame check sequence; a NIC pads to it. */
#define WH_ETHER_FRAME_BYTES_MIN 60

#define WH_VLAN_MAX 4094 /* 0 is no VLAN and 4095 reserved: IEEE 802.1Q 9.6 */
#define WH_DSCP_MAX 63

#define WH_UDP_PORT_DEFAULT 5760

enum wh_family {
	WH_IPV4 = 4,
	WH_IPV6 = 6,
};

struct wh_address {
	uint8_t family; /* enum wh_family */
	uint8_t ip[16]; /* network order; IPv4 in the first four, the rest zero */
	uint16_t port;  /* host order */
};

struct wh_flow {
	uint8_t source_mac[6];
	uint8_t target_mac[6];
	uint16_t vlan; /* 0: frames are not tagged */
	uint8_t dscp;
	bool sum_left; /* IPv6: leave the UDP checksum 0, for the port to compute */
	struct wh_address source;
	struct wh_address target;
};

struct wh_encap {
	uint32_t bytes; /* of Ethernet, tag, IP and UDP headers together */
	uint8_t family;
	bool sum_left;
	uint16_t udp_bytes; /* IPv4: UDP length in the template; 0: not set yet */
	uint8_t template[WH_ENCAP_BYTES_MAX];
};

enum wh_encap_reason {
	WH_ENCAP_OK = 0,
	WH_ENCAP_SHORT,
	WH_ENCAP_VLAN,   /* wrong VLAN: a tag too many, missing or different */
	WH_ENCAP_NOT_IP, /* another EtherType */
	WH_ENCAP_BAD_IP, /* version, header length, header sum or total length */
	WH_ENCAP_FRAGMENT,
	WH_ENCAP_NOT_UDP,
	WH_ENCAP_BAD_UDP,  /* length or checksum */
	WH_ENCAP_NOT_OURS, /* other address or port */
	WH_ENCAP_REASONS,
};

const char *wh_encap_reason_name(enum wh_encap_reason reason);

/* Bytes that IP and UDP headers take of the MTU. */
uint32_t wh_encap_ip_udp_bytes(enum wh_family family);

/* Largest payload of a data packet for this MTU, a multiple of WH_PAYLOAD_ALIGN; 0: too small. */
uint32_t wh_encap_payload_bytes(enum wh_family family, uint32_t mtu_bytes);

/*
 * Bytes on the wire of a data packet with that payload, with Ethernet's preamble and gap;
 * WH_VLAN_BYTES more with a tag.
 */
uint32_t wh_encap_wire_bytes(enum wh_family family, uint32_t payload_bytes);

void wh_encap_init(struct wh_encap *encap, const struct wh_flow *flow);

/*
 * Writes encap->bytes of headers. The length of the previous packet is faster than a new one. Over
 * IPv6, unless the sum is left to the port, the packet must be complete: `head` and `payload` are
 * its two parts (payload may be NULL with 0 bytes).
 */
void wh_encap_write(struct wh_encap *encap, uint8_t *frame, const uint8_t *head, size_t head_bytes,
	const uint8_t *payload, size_t payload_bytes);

/*
 * Finds the packet in a frame addressed to `local` (address and port; any source). On VLAN 0 a
 * frame has no tag, or one for priority only (VID 0). On another `vlan` it has exactly that tag.
 * The IP length cuts Ethernet padding off. verify_udp: check the UDP checksum if there is one; off
 * if the port has checked it.
 */
enum wh_encap_reason wh_encap_read(const uint8_t *frame, size_t frame_bytes,
	const struct wh_address *local, uint16_t vlan, bool verify_udp, const uint8_t **packet,
	size_t *packet_bytes, struct wh_address *from);

/*
 * Headers that wh_encap_read accepted before, without a UDP checksum. A frame of the same length
 * that begins with the same bytes is accepted without parsing, for the same local address and VLAN.
 * Most frames of one peer have the same headers as the one before.
 */
struct wh_encap_known {
	uint32_t header_bytes; /* 0: none yet */
	uint32_t packet_bytes;
	struct wh_address from;
	uint8_t header[WH_ENCAP_BYTES_MAX];
};

/* Remembers the headers of a frame just read, unless it has a UDP checksum. */
void wh_encap_know(struct wh_encap_known *known, const uint8_t *frame, const uint8_t *packet,
	size_t packet_bytes, const struct wh_address *from);

/* True: the packet is at frame + known->header_bytes and has known->packet_bytes. */
static inline bool wh_encap_is_known(
	const struct wh_encap_known *known, const uint8_t *frame, size_t frame_bytes)
{
	uint64_t differ = 0;
	uint64_t a, b;

	if (known->header_bytes == 0 ||
		frame_bytes < (size_t)known->header_bytes + known->packet_bytes)
		return false;
	/* By 8-byte words, the last two overlapping: a call of memcmp costs as much as parsing. */
	for (uint32_t at = 0; at < known->header_bytes; at += sizeof(a)) {
		uint32_t from = at + sizeof(a) <= known->header_bytes
					? at
					: known->header_bytes - (uint32_t)sizeof(a);

		memcpy(&a, frame + from, sizeof(a));
		memcpy(&b, known->header + from, sizeof(b));
		differ |= a ^ b;
	}
	return differ == 0;
}

/* Whatever the ports. */
static inline bool wh_address_same_ip(const struct wh_address *a, const struct wh_address *b)
{
	return a->family == b->family && memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

static inline bool wh_address_equal(const struct wh_address *a, const struct wh_address *b)
{
	return a->port == b->port && wh_address_same_ip(a, b);
}
