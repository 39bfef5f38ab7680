/* SPDX-License-Identifier: BSD-3-Clause */

/* ICMP errors about our packets to watched peers: hints for the operator. */

#include "neighbour/neighbour_internal.h"
#include "wire/internet.h"

/* RFC 792, RFC 1191, RFC 1812 5.2.7.1; RFC 4443 3.1, 3.2. */
#define ICMP_UNREACHABLE    3
#define ICMPV6_UNREACHABLE  1
#define ICMPV6_TOO_BIG      2
#define CODE_PORT           3
#define CODE_TOO_BIG        4
#define CODE_PORT_IPV6      4
#define CODE_PROHIBITED_NET 9
#define CODE_PROHIBITED     10
#define CODE_FILTERED       13
#define CODE_FILTERED_IPV6  1

/* The head of an ICMP error; the packet that it is about follows. */
struct icmp_error {
	uint8_t type;
	uint8_t code;
	rte_be16_t sum;
	rte_be32_t about; /* too big: the MTU, for IPv4 in the lower half */
} __attribute__((packed));

/* The begin of the UDP header in the quoted packet. */
struct ports {
	rte_be16_t source;
	rte_be16_t target;
} __attribute__((packed));

bool wh_neighbour_is_error(const struct wh_heard *heard)
{
	uint8_t type = heard->body[0];

	return heard->family == WH_IPV4 ? type == ICMP_UNREACHABLE
					: type == ICMPV6_UNREACHABLE || type == ICMPV6_TOO_BIG;
}

enum wh_neighbour_error wh_neighbour_error_of(uint8_t family, uint8_t type, uint8_t code)
{
	if (family == WH_IPV6) {
		if (type == ICMPV6_TOO_BIG)
			return WH_NEIGHBOUR_ERROR_TOO_BIG;
		return code == CODE_PORT_IPV6       ? WH_NEIGHBOUR_ERROR_PORT
		       : code == CODE_FILTERED_IPV6 ? WH_NEIGHBOUR_ERROR_PROHIBITED
						    : WH_NEIGHBOUR_ERROR_UNREACHABLE;
	}
	switch (code) {
	case CODE_PORT:
		return WH_NEIGHBOUR_ERROR_PORT;
	case CODE_TOO_BIG:
		return WH_NEIGHBOUR_ERROR_TOO_BIG;
	case CODE_PROHIBITED_NET:
	case CODE_PROHIBITED:
	case CODE_FILTERED:
		return WH_NEIGHBOUR_ERROR_PROHIBITED;
	default:
		return WH_NEIGHBOUR_ERROR_UNREACHABLE;
	}
}

static bool is_near(rte_be16_t port, uint16_t first)
{
	return (uint16_t)(rte_be_to_cpu_16(port) - first) < WH_NEIGHBOUR_PORTS_MAX;
}

/* Whether the quoted packet is our UDP, or our echo, to that peer. */
static bool is_about(const struct wh_neighbour *neighbour, const struct wh_address *peer,
	uint8_t family, const uint8_t *quoted, size_t bytes)
{
	size_t head_bytes = wh_ip_header_bytes(family);
	bool ipv4 = family == WH_IPV4;

	if (peer->family != family || bytes < head_bytes + sizeof(struct ports))
		return false;
	if (ipv4 ? quoted[0] != WH_IPV4_VERSION_IHL
		 : !wh_ipv6_version_agrees((const struct wh_ipv6_header *)quoted))
		return false;

	/* IPv4 and IPv6 headers both end with the addresses. */
	size_t ip_bytes = wh_ip_address_bytes(family);
	const uint8_t *source = quoted + head_bytes - 2 * ip_bytes;
	const struct ports *ports = (const struct ports *)(quoted + head_bytes);
	uint8_t protocol = ipv4 ? ((const struct wh_ipv4_header *)quoted)->protocol
				: ((const struct wh_ipv6_header *)quoted)->next_header;

	if (!wh_neighbour_is_own(neighbour, family, source) ||
		memcmp(source + ip_bytes, peer->ip, ip_bytes) != 0)
		return false;
	if (protocol == (ipv4 ? WH_IP_PROTOCOL_ICMP : WH_IP_PROTOCOL_ICMPV6))
		return neighbour->echo.state == WH_NEIGHBOUR_ECHO_SENT;
	return protocol == WH_IP_PROTOCOL_UDP && is_near(ports->source, peer->port) &&
	       is_near(ports->target, peer->port);
}

enum wh_neighbour_reason wh_neighbour_input_error(
	struct wh_neighbour *neighbour, const struct wh_heard *heard)
{
	const struct icmp_error *error = (const struct icmp_error *)heard->body;
	struct wh_neighbour_watch *watch = neighbour->watch;

	if (heard->bytes < sizeof(*error))
		return WH_NEIGHBOUR_SHORT;
	while (watch != NULL &&
		!is_about(neighbour, &watch->peer, heard->family, heard->body + sizeof(*error),
			heard->bytes - sizeof(*error)))
		watch = watch->next;
	if (watch == NULL)
		return WH_NEIGHBOUR_NOT_ASKED;
	if (!wh_heard_icmp_sum_agrees(heard))
		return WH_NEIGHBOUR_ICMP_SUM;

	uint32_t mtu_bytes = rte_be_to_cpu_32(error->about);

	watch->errors++;
	watch->error = (uint8_t)wh_neighbour_error_of(heard->family, error->type, error->code);
	watch->from = wh_neighbour_address(heard->family, heard->source_ip);
	watch->mtu_bytes = 0;
	if (watch->error == WH_NEIGHBOUR_ERROR_TOO_BIG)
		watch->mtu_bytes = heard->family == WH_IPV4 ? mtu_bytes & UINT16_MAX : mtu_bytes;
	return WH_NEIGHBOUR_OK;
}

void wh_neighbour_watch(struct wh_neighbour *neighbour, struct wh_neighbour_watch *watch,
	const struct wh_address *peer)
{
	*watch = (struct wh_neighbour_watch){.next = neighbour->watch, .peer = *peer};
	neighbour->watch = watch;
}
