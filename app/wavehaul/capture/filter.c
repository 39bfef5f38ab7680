/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/filter.h"

#include <assert.h>
#include <string.h>

#include "wire/internet.h"

/*
 * Offsets of the target port in a UDP header, behind the source port, and of the connection ID in a
 * packet's head.
 */
#define TARGET_PORT_OFFSET 2
#define CID_OFFSET         4

static_assert(WH_CAPTURE_HEAD_BYTES == WH_ENCAP_BYTES_MAX + CID_OFFSET + sizeof(uint32_t),
	"the identifier is looked at");

static uint16_t port_at(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

/* The UDP header after Ethernet's and IP's; NULL: not UDP. */
static const uint8_t *udp_of(struct wh_heard *heard, const uint8_t *frame, size_t bytes)
{
	if (!wh_heard_ether(heard, frame, bytes) ||
		(heard->type != WH_ETHER_TYPE_IPV4 && heard->type != WH_ETHER_TYPE_IPV6) ||
		wh_heard_ip(heard) != WH_HEARD_OK || heard->protocol != WH_IP_PROTOCOL_UDP ||
		heard->bytes < WH_UDP_BYTES + CID_OFFSET + sizeof(uint32_t))
		return NULL;
	return heard->body;
}

bool wh_capture_filter_takes(const struct wh_capture_filter *filter, const uint8_t *frame,
	size_t frame_bytes, bool leaves)
{
	const struct wh_address *peer = &filter->peer;
	uint32_t wanted = leaves ? atomic_load_explicit(&filter->cid_out, memory_order_relaxed)
				 : filter->cid_in;
	struct wh_heard heard;
	const uint8_t *udp;
	uint32_t cid;

	if (filter->all)
		return true;
	udp = udp_of(&heard, frame, frame_bytes);
	if (udp == NULL || wanted == 0 || heard.family != peer->family ||
		memcmp(leaves ? heard.target_ip : heard.source_ip, peer->ip,
			wh_ip_address_bytes(peer->family)) != 0 ||
		port_at(udp + (leaves ? TARGET_PORT_OFFSET : 0)) != peer->port)
		return false;
	memcpy(&cid, udp + WH_UDP_BYTES + CID_OFFSET, sizeof(cid));
	return rte_le_to_cpu_32(cid) == wanted;
}
