/* SPDX-License-Identifier: BSD-3-Clause */

/* This host's addresses and subnets, and conflicts with hosts that claim its addresses. */

#include "neighbour/neighbour_internal.h"

/* Minimum MTU: RFC 791; RFC 8200 5. */
#define MTU_MIN      576
#define MTU_MIN_IPV6 1280

struct wh_address wh_neighbour_address(uint8_t family, const uint8_t *ip)
{
	struct wh_address address = {.family = family};

	memcpy(address.ip, ip, wh_ip_address_bytes(family));
	return address;
}

bool wh_neighbour_on_link(
	const struct wh_neighbour_config *config, uint8_t family, const uint8_t *ip)
{
	const struct wh_neighbour_subnet *subnet = wh_neighbour_subnet(config, family);

	if (family == WH_IPV6 && wh_ipv6_is_link_local(ip))
		return true;
	return wh_ip_in_prefix(ip, subnet->ip, subnet->prefix_bits);
}

/* The first and last address of a subnet are no hosts, unless it has only two: RFC 3021. */
static bool is_ipv4_broadcast(const struct wh_neighbour_subnet *subnet, const uint8_t *ip)
{
	uint32_t word;

	if (subnet->prefix_bits >= 31 || !wh_ip_in_prefix(ip, subnet->ip, subnet->prefix_bits))
		return false;
	memcpy(&word, ip, sizeof(word));

	uint32_t mask = UINT32_MAX >> subnet->prefix_bits;
	uint32_t host = rte_be_to_cpu_32(word) & mask;

	return host == 0 || host == mask;
}

bool wh_neighbour_is_host(
	const struct wh_neighbour_config *config, uint8_t family, const uint8_t *ip)
{
	if (!wh_ip_is_host(family, ip))
		return false;
	return family == WH_IPV6 || !is_ipv4_broadcast(&config->ipv4, ip);
}

bool wh_neighbour_is_own(const struct wh_neighbour *neighbour, uint8_t family, const uint8_t *ip)
{
	for (uint32_t i = 0; i < neighbour->owns; i++) {
		const struct wh_address *own = &neighbour->own[i];

		if (own->family == family && memcmp(own->ip, ip, wh_ip_address_bytes(family)) == 0)
			return true;
	}
	return false;
}

const uint8_t *wh_neighbour_source_ip(
	const struct wh_neighbour *neighbour, uint8_t family, const uint8_t *target_ip)
{
	const struct wh_neighbour_config *config = &neighbour->config;

	if (family == WH_IPV4)
		return config->ipv4.ip;
	return wh_ipv6_is_link_local(target_ip) ? neighbour->link_local : config->ipv6.ip;
}

static bool is_gateway_wrong(const struct wh_neighbour_config *config, uint8_t family)
{
	const struct wh_neighbour_subnet *subnet = wh_neighbour_subnet(config, family);

	return wh_neighbour_has_gateway(subnet, family) &&
	       (!wh_neighbour_on_link(config, family, subnet->gateway) ||
		       !wh_neighbour_is_host(config, family, subnet->gateway) ||
		       memcmp(subnet->gateway, subnet->ip, wh_ip_address_bytes(family)) == 0);
}

const char *wh_neighbour_config_wrong(const struct wh_neighbour_config *config)
{
	bool ipv4 = config->ipv4.prefix_bits != 0;
	bool ipv6 = config->ipv6.prefix_bits != 0;

	if (!wh_mac_is_host(config->mac))
		return "the MAC address is that of a group or zero; give that of a single "
		       "interface";
	if (config->vlan > WH_VLAN_MAX)
		return "the VLAN is not from 1 to 4094, or 0 for none";
	if (config->mtu < MTU_MIN || config->mtu > WH_NEIGHBOUR_MTU_MAX)
		return "the MTU is not from 576 to 32000 bytes";
	if (!ipv4 && !ipv6)
		return "there is no address; give an IPv4 or IPv6 address with its prefix length";
	if (ipv4 && (config->ipv4.prefix_bits > 32 ||
			    !wh_neighbour_is_host(config, WH_IPV4, config->ipv4.ip)))
		return "the IPv4 address is not that of a host in a subnet of 1 to 32 bits";
	if (ipv4 && is_gateway_wrong(config, WH_IPV4))
		return "the IPv4 gateway is no other host on the address's subnet";
	if (ipv6 && config->mtu < MTU_MIN_IPV6)
		return "the MTU is below the 1280 bytes that IPv6 demands";
	if (ipv6 && (config->ipv6.prefix_bits > 128 ||
			    !wh_neighbour_is_host(config, WH_IPV6, config->ipv6.ip)))
		return "the IPv6 address is not that of a host in a subnet of 1 to 128 bits";
	if (ipv6 && is_gateway_wrong(config, WH_IPV6))
		return "the IPv6 gateway is no other host on the address's subnet, nor link-local";
	return NULL;
}

bool wh_neighbour_note_conflict(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_neighbour_conflict *conflict)
{
	uint8_t quarrel = conflict->quarrel;

	if (now_tsc < neighbour->conflict_quiet_tsc[quarrel])
		return false;
	neighbour->conflict_quiet_tsc[quarrel] =
		wh_add_u64(now_tsc, wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_DEFEND_MS));
	neighbour->conflict[quarrel] = *conflict;
	neighbour->conflict_news[quarrel] = true;
	return true;
}

enum wh_neighbour_reason wh_neighbour_meet_double(struct wh_neighbour *neighbour, uint64_t now_tsc,
	uint8_t family, const uint8_t *ip, const uint8_t mac[6])
{
	struct wh_neighbour_conflict conflict = {
		.quarrel = WH_NEIGHBOUR_QUARREL_OURS,
		.address = wh_neighbour_address(family, ip),
	};

	memcpy(conflict.mac, mac, sizeof(conflict.mac));
	/* RFC 5227 2.4 (c): keeps the address, and defends it once per DEFEND_MS. */
	if (wh_neighbour_note_conflict(neighbour, now_tsc, &conflict) &&
		neighbour->announce_rounds == 0) {
		neighbour->announce_rounds = 1;
		neighbour->announce_next = 0;
		neighbour->announce_tsc = now_tsc;
	}
	return WH_NEIGHBOUR_CONFLICT;
}
