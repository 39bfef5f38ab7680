/* SPDX-License-Identifier: BSD-3-Clause */
#include "netem/partial_sum.h"

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "wire/internet.h"

#define TAGS_MAX 2

/* Offset of the checksum in the header that follows the IP header; 0: none. */
static uint32_t sum_offset(uint8_t protocol)
{
	if (protocol == IPPROTO_TCP)
		return offsetof(struct rte_tcp_hdr, cksum);
	return protocol == IPPROTO_UDP ? offsetof(struct rte_udp_hdr, dgram_cksum) : 0;
}

static bool is_sum(const struct rte_mbuf *pkt, uint32_t at, uint16_t sum)
{
	rte_be16_t found;

	if (at + sizeof(found) > pkt->data_len)
		return false;
	memcpy(&found, rte_pktmbuf_mtod_offset(pkt, const uint8_t *, at), sizeof(found));
	return found == sum;
}

static bool is_partial4(const struct rte_mbuf *pkt, uint32_t at)
{
	struct rte_ipv4_hdr ip;

	if (at + sizeof(ip) > pkt->data_len)
		return false;
	memcpy(&ip, rte_pktmbuf_mtod_offset(pkt, const uint8_t *, at), sizeof(ip));

	uint32_t offset = sum_offset(ip.next_proto_id);
	bool fragment = (ip.fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_OFFSET_MASK |
							       RTE_IPV4_HDR_MF_FLAG)) != 0;

	return offset != 0 && !fragment && rte_ipv4_hdr_len(&ip) >= sizeof(ip) &&
	       rte_be_to_cpu_16(ip.total_length) > rte_ipv4_hdr_len(&ip) &&
	       is_sum(pkt, at + rte_ipv4_hdr_len(&ip) + offset, rte_ipv4_phdr_cksum(&ip, 0));
}

static bool is_partial6(const struct rte_mbuf *pkt, uint32_t at)
{
	struct rte_ipv6_hdr ip;

	if (at + sizeof(ip) > pkt->data_len)
		return false;
	memcpy(&ip, rte_pktmbuf_mtod_offset(pkt, const uint8_t *, at), sizeof(ip));

	uint32_t offset = sum_offset(ip.proto);

	return offset != 0 && is_sum(pkt, at + sizeof(ip) + offset, rte_ipv6_phdr_cksum(&ip, 0));
}

bool wh_has_partial_sum(const struct rte_mbuf *pkt)
{
	uint32_t at = offsetof(struct wh_ether_header, type);

	for (uint32_t tags = 0; at + sizeof(rte_be16_t) <= pkt->data_len && tags <= TAGS_MAX;
		tags++, at += WH_VLAN_BYTES) {
		rte_be16_t type;

		memcpy(&type, rte_pktmbuf_mtod_offset(pkt, const uint8_t *, at), sizeof(type));
		if (type == rte_cpu_to_be_16(WH_ETHER_TYPE_IPV4))
			return is_partial4(pkt, at + (uint32_t)sizeof(type));
		if (type == rte_cpu_to_be_16(WH_ETHER_TYPE_IPV6))
			return is_partial6(pkt, at + (uint32_t)sizeof(type));
		if (type != rte_cpu_to_be_16(WH_ETHER_TYPE_VLAN) &&
			type != rte_cpu_to_be_16(WH_ETHER_TYPE_PROVIDER))
			return false;
	}
	return false;
}
