/* SPDX-License-Identifier: BSD-3-Clause */

/* The next hop to a host: the host itself, or the gateway. */

#include "neighbour/neighbour_internal.h"

/* FOUND and the hop, or why there is none. */
static enum wh_neighbour_result find_hop(const struct wh_neighbour *neighbour,
	const struct wh_address *target, struct wh_address *hop)
{
	const struct wh_neighbour_config *config = &neighbour->config;

	WH_ASSERT(target->family == WH_IPV4 || target->family == WH_IPV6);

	const struct wh_neighbour_subnet *subnet = wh_neighbour_subnet(config, target->family);

	*hop = wh_neighbour_address(target->family, target->ip);
	if (subnet->prefix_bits == 0)
		return WH_NEIGHBOUR_NO_ADDRESS;
	if (!wh_neighbour_is_host(config, hop->family, hop->ip) ||
		wh_neighbour_is_own(neighbour, hop->family, hop->ip))
		return WH_NEIGHBOUR_NO_HOST;
	if (wh_neighbour_on_link(config, hop->family, hop->ip))
		return WH_NEIGHBOUR_FOUND;
	if (!wh_neighbour_has_gateway(subnet, hop->family))
		return WH_NEIGHBOUR_NO_GATEWAY;
	memcpy(hop->ip, subnet->gateway, wh_ip_address_bytes(hop->family));
	return WH_NEIGHBOUR_FOUND;
}

enum wh_neighbour_result wh_neighbour_lookup(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *target, uint8_t mac[6])
{
	struct wh_address hop;
	enum wh_neighbour_result result = find_hop(neighbour, target, &hop);

	return result != WH_NEIGHBOUR_FOUND ? result
					    : wh_neighbour_use(neighbour, now_tsc, &hop, mac);
}

bool wh_neighbour_may_answer(
	const struct wh_neighbour *neighbour, const struct wh_address *to, const uint8_t mac[6])
{
	struct wh_address hop;

	return find_hop(neighbour, to, &hop) == WH_NEIGHBOUR_FOUND && wh_mac_is_host(mac) &&
	       !wh_mac_equal(mac, neighbour->config.mac);
}
