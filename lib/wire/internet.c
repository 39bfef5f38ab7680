/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/internet.h"

#include "base/assert.h"

/* All but "don't fragment": the reserved bit, "more fragments" and the offset. */
#define IPV4_FRAGMENT_MASK 0xbfff

/* Of the byte that it shares with ECN: RFC 3168 23.1. */
#define DSCP_SHIFT 2

bool wh_heard_ether(struct wh_heard *heard, const uint8_t *frame, size_t frame_bytes)
{
	const struct wh_ether_header *ether = (const struct wh_ether_header *)frame;

	if (frame_bytes < sizeof(*ether))
		return false;
	*heard = (struct wh_heard){
		.source_mac = ether->source,
		.target_mac = ether->target,
		.type = rte_be_to_cpu_16(ether->type),
		.body = frame + sizeof(*ether),
		.bytes = frame_bytes - sizeof(*ether),
	};
	if (heard->type != WH_ETHER_TYPE_VLAN)
		return true;

	const struct wh_vlan_tag *tag = (const struct wh_vlan_tag *)heard->body;

	if (heard->bytes < sizeof(*tag))
		return false;
	heard->vlan = rte_be_to_cpu_16(tag->control) & WH_VLAN_MASK;
	heard->type = rte_be_to_cpu_16(tag->type);
	heard->body += sizeof(*tag);
	heard->bytes -= sizeof(*tag);
	return true;
}

static enum wh_heard_reason heard_ipv4(struct wh_heard *heard)
{
	const struct wh_ipv4_header *ip = (const struct wh_ipv4_header *)heard->body;

	if (heard->bytes < sizeof(*ip))
		return WH_HEARD_SHORT;

	size_t total_bytes = rte_be_to_cpu_16(ip->total_bytes);

	if (ip->version_ihl != WH_IPV4_VERSION_IHL || total_bytes < sizeof(*ip) ||
		total_bytes > heard->bytes ||
		wh_sum_fold(wh_sum_add(0, ip, sizeof(*ip))) != UINT16_MAX)
		return WH_HEARD_IP_HEAD;
	if ((ip->fragment & rte_cpu_to_be_16(IPV4_FRAGMENT_MASK)) != 0)
		return WH_HEARD_FRAGMENT;
	heard->family = WH_IPV4;
	heard->protocol = ip->protocol;
	heard->hop_limit = ip->ttl;
	heard->source_ip = ip->source;
	heard->target_ip = ip->target;
	heard->body += sizeof(*ip);
	heard->bytes = total_bytes - sizeof(*ip);
	return WH_HEARD_OK;
}

static enum wh_heard_reason heard_ipv6(struct wh_heard *heard)
{
	const struct wh_ipv6_header *ip = (const struct wh_ipv6_header *)heard->body;

	if (heard->bytes < sizeof(*ip))
		return WH_HEARD_SHORT;

	size_t payload_bytes = rte_be_to_cpu_16(ip->payload_bytes);

	if (!wh_ipv6_version_agrees(ip) || payload_bytes > heard->bytes - sizeof(*ip))
		return WH_HEARD_IP_HEAD;
	heard->family = WH_IPV6;
	heard->protocol = ip->next_header;
	heard->hop_limit = ip->hop_limit;
	heard->source_ip = ip->source;
	heard->target_ip = ip->target;
	heard->body += sizeof(*ip);
	heard->bytes = payload_bytes;
	return WH_HEARD_OK;
}

enum wh_heard_reason wh_heard_ip(struct wh_heard *heard)
{
	WH_ASSERT(heard->type == WH_ETHER_TYPE_IPV4 || heard->type == WH_ETHER_TYPE_IPV6);
	return heard->type == WH_ETHER_TYPE_IPV4 ? heard_ipv4(heard) : heard_ipv6(heard);
}

uint8_t *wh_tell_ether(uint8_t *frame, const struct wh_telling *telling, uint16_t type)
{
	struct wh_ether_header *ether = (struct wh_ether_header *)frame;

	WH_ASSERT(telling->vlan <= WH_VLAN_MAX);
	memcpy(ether->target, telling->target_mac, sizeof(ether->target));
	memcpy(ether->source, telling->source_mac, sizeof(ether->source));
	if (telling->vlan == 0) {
		ether->type = rte_cpu_to_be_16(type);
		return frame + sizeof(*ether);
	}

	struct wh_vlan_tag *tag = (struct wh_vlan_tag *)(ether + 1);

	ether->type = rte_cpu_to_be_16(WH_ETHER_TYPE_VLAN);
	tag->control = rte_cpu_to_be_16(telling->vlan);
	tag->type = rte_cpu_to_be_16(type);
	return frame + sizeof(*ether) + sizeof(*tag);
}

static uint8_t *tell_ipv4(uint8_t *packet, const struct wh_telling *telling, size_t bytes)
{
	struct wh_ipv4_header *ip = (struct wh_ipv4_header *)packet;

	/* Identification stays 0: RFC 6864 4.1, packets that are never fragmented need none. */
	*ip = (struct wh_ipv4_header){
		.version_ihl = WH_IPV4_VERSION_IHL,
		.service = (uint8_t)(telling->dscp << DSCP_SHIFT),
		.total_bytes = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + bytes)),
		.fragment = rte_cpu_to_be_16(WH_IPV4_DONT_FRAGMENT),
		.ttl = telling->hop_limit,
		.protocol = telling->protocol,
	};
	memcpy(ip->source, telling->source_ip, sizeof(ip->source));
	memcpy(ip->target, telling->target_ip, sizeof(ip->target));
	ip->sum = (rte_be16_t)~wh_sum_fold(wh_sum_add(0, ip, sizeof(*ip)));
	return packet + sizeof(*ip);
}

static uint8_t *tell_ipv6(uint8_t *packet, const struct wh_telling *telling, size_t bytes)
{
	struct wh_ipv6_header *ip = (struct wh_ipv6_header *)packet;

	*ip = (struct wh_ipv6_header){
		.version_class_label = rte_cpu_to_be_32(
			WH_IPV6_VERSION | (uint32_t)telling->dscp << (20 + DSCP_SHIFT)),
		.payload_bytes = rte_cpu_to_be_16((uint16_t)bytes),
		.next_header = telling->protocol,
		.hop_limit = telling->hop_limit,
	};
	memcpy(ip->source, telling->source_ip, sizeof(ip->source));
	memcpy(ip->target, telling->target_ip, sizeof(ip->target));
	return packet + sizeof(*ip);
}

uint8_t *wh_tell_ip(uint8_t *frame, const struct wh_telling *telling, size_t bytes)
{
	bool ipv4 = telling->family == WH_IPV4;
	uint8_t *packet =
		wh_tell_ether(frame, telling, ipv4 ? WH_ETHER_TYPE_IPV4 : WH_ETHER_TYPE_IPV6);

	WH_ASSERT(ipv4 || telling->family == WH_IPV6);
	WH_ASSERT(bytes <= UINT16_MAX - WH_IPV4_BYTES && telling->dscp <= WH_DSCP_MAX);
	return ipv4 ? tell_ipv4(packet, telling, bytes) : tell_ipv6(packet, telling, bytes);
}
