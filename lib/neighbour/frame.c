/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour/frame.h"

#include "base/assert.h"

#define IPV4_FRAGMENT_MASK 0xbfff /* all but "don't fragment": reserved, "more" and the offset */

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

	/* RFC 1122 3.2.1.3: this network, loopback; groups, and what is reserved above them. */
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

/* ICMPv6 counts a pseudo-header in (RFC 8200 8.1), ICMP does not. */
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

enum wh_neighbour_reason wh_heard_ether(
	struct wh_heard *heard, const uint8_t *frame, size_t frame_bytes)
{
	const struct wh_ether_header *ether = (const struct wh_ether_header *)frame;

	if (frame_bytes < sizeof(*ether))
		return WH_NEIGHBOUR_SHORT;
	*heard = (struct wh_heard){
		.source_mac = ether->source,
		.target_mac = ether->target,
		.type = rte_be_to_cpu_16(ether->type),
		.body = frame + sizeof(*ether),
		.bytes = frame_bytes - sizeof(*ether),
	};
	if (heard->type != WH_ETHER_TYPE_VLAN)
		return WH_NEIGHBOUR_OK;

	const struct wh_vlan_tag *tag = (const struct wh_vlan_tag *)heard->body;

	if (heard->bytes < sizeof(*tag))
		return WH_NEIGHBOUR_SHORT;
	heard->vlan = rte_be_to_cpu_16(tag->control) & WH_VLAN_MASK;
	heard->type = rte_be_to_cpu_16(tag->type);
	heard->body += sizeof(*tag);
	heard->bytes -= sizeof(*tag);
	return WH_NEIGHBOUR_OK;
}

static enum wh_neighbour_reason heard_ipv4(struct wh_heard *heard)
{
	const struct wh_ipv4_header *ip = (const struct wh_ipv4_header *)heard->body;

	if (heard->bytes < sizeof(*ip))
		return WH_NEIGHBOUR_SHORT;

	size_t total_bytes = rte_be_to_cpu_16(ip->total_bytes);

	if (ip->version_ihl != WH_IPV4_VERSION_IHL || total_bytes < sizeof(*ip) ||
		total_bytes > heard->bytes ||
		wh_sum_fold(wh_sum_add(0, ip, sizeof(*ip))) != UINT16_MAX)
		return WH_NEIGHBOUR_IP_HEAD;
	if ((ip->fragment & rte_cpu_to_be_16(IPV4_FRAGMENT_MASK)) != 0)
		return WH_NEIGHBOUR_FRAGMENT;
	if (ip->protocol != WH_IP_PROTOCOL_ICMP)
		return WH_NEIGHBOUR_PROTOCOL;

	heard->family = WH_IPV4;
	heard->hop_limit = ip->ttl;
	heard->source_ip = ip->source;
	heard->target_ip = ip->target;
	heard->body += sizeof(*ip);
	heard->bytes = total_bytes - sizeof(*ip);
	return WH_NEIGHBOUR_OK;
}

static enum wh_neighbour_reason heard_ipv6(struct wh_heard *heard)
{
	const struct wh_ipv6_header *ip = (const struct wh_ipv6_header *)heard->body;

	if (heard->bytes < sizeof(*ip))
		return WH_NEIGHBOUR_SHORT;

	size_t payload_bytes = rte_be_to_cpu_16(ip->payload_bytes);

	if (!wh_ipv6_version_agrees(ip) || payload_bytes > heard->bytes - sizeof(*ip))
		return WH_NEIGHBOUR_IP_HEAD;
	if (ip->next_header != WH_IP_PROTOCOL_ICMPV6)
		return WH_NEIGHBOUR_PROTOCOL;

	heard->family = WH_IPV6;
	heard->hop_limit = ip->hop_limit;
	heard->source_ip = ip->source;
	heard->target_ip = ip->target;
	heard->body += sizeof(*ip);
	heard->bytes = payload_bytes;
	return WH_NEIGHBOUR_OK;
}

enum wh_neighbour_reason wh_heard_ip(struct wh_heard *heard)
{
	WH_ASSERT(heard->type == WH_ETHER_TYPE_IPV4 || heard->type == WH_ETHER_TYPE_IPV6);
	return heard->type == WH_ETHER_TYPE_IPV4 ? heard_ipv4(heard) : heard_ipv6(heard);
}

bool wh_heard_icmp_sum_agrees(const struct wh_heard *heard)
{
	/* In both IP headers the target address follows the source address. */
	return wh_sum_fold(icmp_sum(heard->family, heard->source_ip, heard->body, heard->bytes)) ==
	       UINT16_MAX;
}

uint8_t *wh_tell_ether(uint8_t *frame, const struct wh_neighbour_config *config,
	const uint8_t target_mac[6], uint16_t type)
{
	struct wh_ether_header *ether = (struct wh_ether_header *)frame;

	memcpy(ether->target, target_mac, sizeof(ether->target));
	memcpy(ether->source, config->mac, sizeof(ether->source));
	if (config->vlan == 0) {
		ether->type = rte_cpu_to_be_16(type);
		return frame + sizeof(*ether);
	}

	struct wh_vlan_tag *tag = (struct wh_vlan_tag *)(ether + 1);

	ether->type = rte_cpu_to_be_16(WH_ETHER_TYPE_VLAN);
	tag->control = rte_cpu_to_be_16(config->vlan);
	tag->type = rte_cpu_to_be_16(type);
	return frame + sizeof(*ether) + sizeof(*tag);
}

static uint8_t *tell_ipv4(uint8_t *packet, const struct wh_telling *telling, size_t icmp_bytes)
{
	struct wh_ipv4_header *ip = (struct wh_ipv4_header *)packet;

	/* Identification stays 0: RFC 6864 4.1, what is never fragmented needs none. */
	*ip = (struct wh_ipv4_header){
		.version_ihl = WH_IPV4_VERSION_IHL,
		.total_bytes = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + icmp_bytes)),
		.fragment = rte_cpu_to_be_16(WH_IPV4_DONT_FRAGMENT),
		.ttl = telling->hop_limit,
		.protocol = WH_IP_PROTOCOL_ICMP,
	};
	memcpy(ip->source, telling->source_ip, sizeof(ip->source));
	memcpy(ip->target, telling->target_ip, sizeof(ip->target));
	ip->sum = (rte_be16_t)~wh_sum_fold(wh_sum_add(0, ip, sizeof(*ip)));
	return packet + sizeof(*ip);
}

static uint8_t *tell_ipv6(uint8_t *packet, const struct wh_telling *telling, size_t icmp_bytes)
{
	struct wh_ipv6_header *ip = (struct wh_ipv6_header *)packet;

	*ip = (struct wh_ipv6_header){
		.version_class_label = rte_cpu_to_be_32(WH_IPV6_VERSION),
		.payload_bytes = rte_cpu_to_be_16((uint16_t)icmp_bytes),
		.next_header = WH_IP_PROTOCOL_ICMPV6,
		.hop_limit = telling->hop_limit,
	};
	memcpy(ip->source, telling->source_ip, sizeof(ip->source));
	memcpy(ip->target, telling->target_ip, sizeof(ip->target));
	return packet + sizeof(*ip);
}

uint8_t *wh_tell_ip(uint8_t *frame, const struct wh_neighbour_config *config,
	const struct wh_telling *telling, size_t icmp_bytes)
{
	bool ipv4 = telling->family == WH_IPV4;
	uint16_t type = ipv4 ? WH_ETHER_TYPE_IPV4 : WH_ETHER_TYPE_IPV6;
	uint8_t *packet = wh_tell_ether(frame, config, telling->target_mac, type);

	WH_ASSERT(ipv4 || telling->family == WH_IPV6);
	WH_ASSERT(wh_ip_header_bytes(telling->family) + icmp_bytes <= config->mtu);
	return ipv4 ? tell_ipv4(packet, telling, icmp_bytes)
		    : tell_ipv6(packet, telling, icmp_bytes);
}

void wh_tell_icmp_sum(uint8_t *icmp, size_t icmp_bytes, uint8_t family)
{
	/* The addresses end the IP header before it; `sum` is at the same place in all of ICMP. */
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
