/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/encap.h"

#include <assert.h>
#include <string.h>

#include <rte_byteorder.h>

#include "base/assert.h"
#include "wire/internet.h"

#define IP_HOPS      64
#define IP_BYTES_MAX 65535

/* RFC 768. */
struct udp_header {
	rte_be16_t source;
	rte_be16_t target;
	rte_be16_t bytes;
	rte_be16_t sum;
} __attribute__((packed));

static_assert(sizeof(struct udp_header) == WH_UDP_BYTES, "RFC 768");

const char *wh_encap_reason_name(enum wh_encap_reason reason)
{
	static const char *const names[WH_ENCAP_REASONS] = {
		[WH_ENCAP_OK] = "ok",
		[WH_ENCAP_SHORT] = "short",
		[WH_ENCAP_VLAN] = "vlan",
		[WH_ENCAP_NOT_IP] = "not-ip",
		[WH_ENCAP_BAD_IP] = "bad-ip",
		[WH_ENCAP_FRAGMENT] = "fragment",
		[WH_ENCAP_NOT_UDP] = "not-udp",
		[WH_ENCAP_BAD_UDP] = "bad-udp",
		[WH_ENCAP_NOT_OURS] = "not-ours",
	};

	WH_ASSERT(reason < WH_ENCAP_REASONS);
	return names[reason];
}

uint32_t wh_encap_ip_udp_bytes(enum wh_family family)
{
	WH_ASSERT(family == WH_IPV4 || family == WH_IPV6);
	return (family == WH_IPV4 ? WH_IPV4_BYTES : WH_IPV6_BYTES) + WH_UDP_BYTES;
}

uint32_t wh_encap_payload_bytes(enum wh_family family, uint32_t mtu_bytes)
{
	uint32_t headers = wh_encap_ip_udp_bytes(family) + WH_HEAD_BYTES;

	if (mtu_bytes < headers + WH_PAYLOAD_BYTES_MIN)
		return 0;

	uint32_t room = mtu_bytes - headers;

	if (room > WH_PAYLOAD_BYTES_MAX)
		room = WH_PAYLOAD_BYTES_MAX;
	return room - room % WH_PAYLOAD_ALIGN;
}

uint32_t wh_encap_wire_bytes(enum wh_family family, uint32_t payload_bytes)
{
	WH_ASSERT(payload_bytes <= WH_PAYLOAD_BYTES_MAX);
	return payload_bytes + WH_HEAD_BYTES + wh_encap_ip_udp_bytes(family) + WH_ETHER_BYTES +
	       WH_ETHER_WIRE_BYTES;
}

/* Sum of the pseudo-header: both addresses (`addresses_bytes` in all), length and protocol. */
static uint64_t pseudo_sum(const void *addresses, size_t addresses_bytes, uint32_t udp_bytes)
{
	uint64_t sum = rte_cpu_to_be_16(WH_IP_PROTOCOL_UDP) + (uint64_t)rte_cpu_to_be_32(udp_bytes);

	return wh_sum_add(sum, addresses, addresses_bytes);
}

void wh_encap_init(struct wh_encap *encap, const struct wh_flow *flow)
{
	bool ipv4 = flow->source.family == WH_IPV4;

	WH_ASSERT(flow->target.family == flow->source.family);

	*encap = (struct wh_encap){
		.family = flow->source.family,
		.sum_left = !ipv4 && flow->sum_left,
	};

	const struct wh_telling telling = {
		.family = flow->source.family,
		.protocol = WH_IP_PROTOCOL_UDP,
		.hop_limit = IP_HOPS,
		.vlan = flow->vlan,
		.dscp = flow->dscp,
		.source_mac = flow->source_mac,
		.target_mac = flow->target_mac,
		.source_ip = flow->source.ip,
		.target_ip = flow->target.ip,
	};
	struct udp_header *udp = (struct udp_header *)wh_tell_ip(encap->template, &telling, 0);

	udp->source = rte_cpu_to_be_16(flow->source.port);
	udp->target = rte_cpu_to_be_16(flow->target.port);
	encap->bytes = (uint32_t)((uint8_t *)(udp + 1) - encap->template);
}

/*
 * Copies the template and returns where IP begins. Both copies have lengths known to the compiler.
 * Without a tag the first copy includes the beginning of IP.
 */
static inline uint8_t *copy_headers(
	const struct wh_encap *encap, uint8_t *frame, uint32_t ip_udp_bytes)
{
	uint32_t ether_bytes = encap->bytes - ip_udp_bytes;

	WH_DEBUG_ASSERT(
		ether_bytes == WH_ETHER_BYTES || ether_bytes == WH_ETHER_BYTES + WH_VLAN_BYTES);
	memcpy(frame, encap->template, WH_ETHER_BYTES + WH_VLAN_BYTES);
	memcpy(frame + ether_bytes, encap->template + ether_bytes, ip_udp_bytes);
	return frame + ether_bytes;
}

/* Called only if the length has changed: most packets are as long as the previous one. */
static void set_lengths_ipv4(struct wh_encap *encap, uint16_t udp_bytes)
{
	struct wh_ipv4_header *ip = (struct wh_ipv4_header *)(encap->template + encap->bytes -
							      WH_UDP_BYTES - WH_IPV4_BYTES);
	struct udp_header *udp = (struct udp_header *)(ip + 1);
	rte_be16_t total_bytes = rte_cpu_to_be_16((uint16_t)(WH_IPV4_BYTES + udp_bytes));

	/* RFC 1624 equation 3. */
	ip->sum = (rte_be16_t)~wh_sum_fold(
		(uint64_t)(uint16_t)~ip->sum + (uint16_t)~ip->total_bytes + total_bytes);
	ip->total_bytes = total_bytes;
	udp->bytes = rte_cpu_to_be_16(udp_bytes);
	encap->udp_bytes = udp_bytes;
}

void wh_encap_write(struct wh_encap *encap, uint8_t *frame, const uint8_t *head, size_t head_bytes,
	const uint8_t *payload, size_t payload_bytes)
{
	size_t udp_bytes = WH_UDP_BYTES + head_bytes + payload_bytes;

	WH_ASSERT(udp_bytes <= IP_BYTES_MAX - WH_IPV4_BYTES);

	if (encap->family == WH_IPV4) {
		if (encap->udp_bytes != udp_bytes)
			set_lengths_ipv4(encap, (uint16_t)udp_bytes);
		copy_headers(encap, frame, WH_IPV4_BYTES + WH_UDP_BYTES);
		return;
	}
	/* After an odd head the payload's bytes would be summed in the wrong halves of words. */
	WH_ASSERT(head_bytes % 2 == 0 || payload_bytes == 0);

	struct wh_ipv6_header *ip =
		(struct wh_ipv6_header *)copy_headers(encap, frame, WH_IPV6_BYTES + WH_UDP_BYTES);
	struct udp_header *udp = (struct udp_header *)(ip + 1);

	ip->payload_bytes = rte_cpu_to_be_16((uint16_t)udp_bytes);
	udp->bytes = ip->payload_bytes;
	if (encap->sum_left)
		return;

	uint64_t sum = pseudo_sum(ip->source, 2 * sizeof(ip->source), (uint32_t)udp_bytes);

	sum = wh_sum_add(sum, udp, sizeof(*udp));
	sum = wh_sum_add(sum, head, head_bytes);
	sum = wh_sum_add(sum, payload, payload_bytes);

	uint16_t folded = (uint16_t)~wh_sum_fold(sum);

	/* RFC 768: 0 means "no checksum", so its other form in one's complement is sent. */
	udp->sum = folded == 0 ? UINT16_MAX : folded;
}

static bool is_ours(
	const struct wh_heard *heard, const struct udp_header *udp, const struct wh_address *local)
{
	return heard->family == local->family && rte_be_to_cpu_16(udp->target) == local->port &&
	       memcmp(heard->target_ip, local->ip, wh_ip_address_bytes(heard->family)) == 0;
}

static bool udp_sum_agrees(const struct wh_heard *heard)
{
	uint64_t sum = pseudo_sum(
		heard->source_ip, 2 * wh_ip_address_bytes(heard->family), (uint32_t)heard->bytes);

	return wh_sum_fold(wh_sum_add(sum, heard->body, heard->bytes)) == UINT16_MAX;
}

static enum wh_encap_reason read_udp(
	const struct wh_heard *heard, const struct wh_address *local, bool verify)
{
	const struct udp_header *udp = (const struct udp_header *)heard->body;

	if (heard->bytes < sizeof(*udp) || rte_be_to_cpu_16(udp->bytes) != heard->bytes)
		return WH_ENCAP_BAD_UDP;
	if (!is_ours(heard, udp, local))
		return WH_ENCAP_NOT_OURS;
	if (udp->sum == 0)
		return heard->family == WH_IPV4 ? WH_ENCAP_OK : WH_ENCAP_BAD_UDP;
	return !verify || udp_sum_agrees(heard) ? WH_ENCAP_OK : WH_ENCAP_BAD_UDP;
}

static enum wh_encap_reason read_headers(struct wh_heard *heard, const uint8_t *frame,
	size_t frame_bytes, const struct wh_address *local, uint16_t vlan, bool verify_udp)
{
	static const enum wh_encap_reason reasons[] = {
		[WH_HEARD_SHORT] = WH_ENCAP_SHORT,
		[WH_HEARD_IP_HEAD] = WH_ENCAP_BAD_IP,
		[WH_HEARD_FRAGMENT] = WH_ENCAP_FRAGMENT,
	};

	if (!wh_heard_ether(heard, frame, frame_bytes))
		return WH_ENCAP_SHORT;
	if (heard->vlan != vlan || heard->type == WH_ETHER_TYPE_VLAN ||
		heard->type == WH_ETHER_TYPE_PROVIDER)
		return WH_ENCAP_VLAN;
	if (heard->type != WH_ETHER_TYPE_IPV4 && heard->type != WH_ETHER_TYPE_IPV6)
		return WH_ENCAP_NOT_IP;

	enum wh_heard_reason reason = wh_heard_ip(heard);

	if (reason != WH_HEARD_OK)
		return reasons[reason];
	if (heard->protocol != WH_IP_PROTOCOL_UDP)
		return WH_ENCAP_NOT_UDP;
	return read_udp(heard, local, verify_udp);
}

enum wh_encap_reason wh_encap_read(const uint8_t *frame, size_t frame_bytes,
	const struct wh_address *local, uint16_t vlan, bool verify_udp, const uint8_t **packet,
	size_t *packet_bytes, struct wh_address *from)
{
	struct wh_heard heard;

	WH_ASSERT(local->family == WH_IPV4 || local->family == WH_IPV6);
	WH_ASSERT(vlan <= WH_VLAN_MAX);

	enum wh_encap_reason reason =
		read_headers(&heard, frame, frame_bytes, local, vlan, verify_udp);

	if (reason != WH_ENCAP_OK)
		return reason;

	const struct udp_header *udp = (const struct udp_header *)heard.body;

	*packet = (const uint8_t *)(udp + 1);
	*packet_bytes = heard.bytes - sizeof(*udp);
	*from = (struct wh_address){
		.family = heard.family,
		.port = rte_be_to_cpu_16(udp->source),
	};
	memcpy(from->ip, heard.source_ip, wh_ip_address_bytes(heard.family));
	return WH_ENCAP_OK;
}

void wh_encap_know(struct wh_encap_known *known, const uint8_t *frame, const uint8_t *packet,
	size_t packet_bytes, const struct wh_address *from)
{
	size_t header_bytes = (size_t)(packet - frame);
	const struct udp_header *udp = (const struct udp_header *)(packet - WH_UDP_BYTES);

	WH_ASSERT(header_bytes <= WH_ENCAP_BYTES_MAX);
	if (udp->sum != 0)
		return;
	known->header_bytes = (uint32_t)header_bytes;
	known->packet_bytes = (uint32_t)packet_bytes;
	known->from = *from;
	memcpy(known->header, frame, header_bytes);
}
