/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour/frame.h"

#include "base/assert.h"

const uint8_t wh_mac_broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
const uint8_t wh_ipv6_all_nodes[16] = {0xff, 0x02, [15] = 1};

bool wh_mac_is_host(const uint8_t mac[6])
{
	static const uint8_t zero[6];

	return (mac[0] & 1) == 0 && !wh_mac_equal(mac, zero);
}

bool wh_ip_in_prefix(const uint8_t *a, const uint8_t *b, uint32_t bits)
{
	uint32_t whole = bits / 8;

	WH_ASSERT(bits <= 128);
	if (memcmp(a, b, whole) != 0)
		return false;
	return bits % 8 == 0 || ((a[whole] ^ b[whole]) >> (8 - bits % 8)) == 0;
}

bool wh_ipv6_is_group(const uint8_t ip[16])
{
	return ip[0] == 0xff;
}

bool wh_ipv6_is_unspecified(const uint8_t ip[16])
{
	static const uint8_t unspecified[16];

	return memcmp(ip, unspecified, sizeof(unspecified)) == 0;
}

bool wh_ipv6_is_link_local(const uint8_t ip[16])
{
	static const uint8_t prefix[2] = {0xfe, 0x80};

	return wh_ip_in_prefix(ip, prefix, 10);
}

bool wh_ip_is_host(uint8_t family, const uint8_t *ip)
{
	static const uint8_t loopback[16] = {[15] = 1};

	/*
	 * RFC 1122 3.2.1.3: excludes this network, loopback, multicast and what is reserved above.
	 */
	if (family == WH_IPV4)
		return ip[0] != 0 && ip[0] != 127 && ip[0] < 224;
	return !wh_ipv6_is_group(ip) && !wh_ipv6_is_unspecified(ip) &&
	       memcmp(ip, loopback, sizeof(loopback)) != 0;
}

void wh_ipv6_link_local(uint8_t ip[16], const uint8_t mac[6])
{
	const uint8_t address[16] = {
		0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};

	memcpy(ip, address, sizeof(address));
}

void wh_ipv6_solicited_node(uint8_t group[16], const uint8_t ip[16])
{
	const uint8_t address[16] = {
		0xff, 0x02, [11] = 1, [12] = 0xff, [13] = ip[13], ip[14], ip[15]};

	memcpy(group, address, sizeof(address));
}

void wh_ipv6_group_mac(uint8_t mac[6], const uint8_t group[16])
{
	mac[0] = 0x33;
	mac[1] = 0x33;
	memcpy(mac + 2, group + 12, 4);
}

/* ICMPv6 includes a pseudo-header (RFC 8200 8.1), ICMP does not. */
static uint64_t icmp_sum(
	uint8_t family, const uint8_t *addresses, const uint8_t *icmp, size_t icmp_bytes)
{
	uint64_t sum = 0;

	if (family == WH_IPV6) {
		sum = (uint64_t)rte_cpu_to_be_16((uint16_t)icmp_bytes) +
		      rte_cpu_to_be_16(WH_IP_PROTOCOL_ICMPV6);
		sum = wh_sum_add(sum, addresses, 32);
	}
	return wh_sum_add(sum, icmp, icmp_bytes);
}

bool wh_heard_icmp_sum_agrees(const struct wh_heard *heard)
{
	/* In both IP headers the target address follows the source address. */
	return wh_sum_fold(icmp_sum(heard->family, heard->source_ip, heard->body, heard->bytes)) ==
	       UINT16_MAX;
}

struct wh_telling wh_telling_of(
	const struct wh_neighbour_config *config, const uint8_t target_mac[6])
{
	return (struct wh_telling){
		.vlan = config->vlan, .source_mac = config->mac, .target_mac = target_mac};
}

struct wh_telling wh_telling_icmp(const struct wh_neighbour_config *config, uint8_t family,
	uint8_t hop_limit, const uint8_t *source_ip, const uint8_t *target_ip,
	const uint8_t target_mac[6])
{
	struct wh_telling telling = wh_telling_of(config, target_mac);

	telling.family = family;
	telling.protocol = family == WH_IPV4 ? WH_IP_PROTOCOL_ICMP : WH_IP_PROTOCOL_ICMPV6;
	telling.hop_limit = hop_limit;
	telling.source_ip = source_ip;
	telling.target_ip = target_ip;
	return telling;
}

void wh_tell_icmp_sum(uint8_t *icmp, size_t icmp_bytes, uint8_t family)
{
	/* The IP header before ends with the addresses. All ICMP has `sum` at the same offset. */
	const uint8_t *addresses = icmp - 2 * wh_ip_address_bytes(family);
	struct wh_icmp_echo *head = (struct wh_icmp_echo *)icmp;

	WH_ASSERT(icmp_bytes >= sizeof(*head));
	head->sum = 0;
	head->sum = (rte_be16_t)~wh_sum_fold(icmp_sum(family, addresses, icmp, icmp_bytes));
}

size_t wh_tell_end(uint8_t *frame, uint8_t *end)
{
	size_t bytes = (size_t)(end - frame);

	WH_ASSERT(end > frame);
	if (bytes >= WH_ETHER_FRAME_BYTES)
		return bytes;
	memset(end, 0, WH_ETHER_FRAME_BYTES - bytes);
	return WH_ETHER_FRAME_BYTES;
}
