/* SPDX-License-Identifier: BSD-3-Clause */
#include "neighbour/neighbour.h"

#include "neighbour/neighbour_internal.h"

static_assert((WH_NEIGHBOUR_ANSWERS & (WH_NEIGHBOUR_ANSWERS - 1)) == 0, "wh_slot_fifo_init");
static_assert(WH_NEIGHBOUR_MTU_MAX + WH_ETHER_BYTES + WH_VLAN_BYTES <= UINT16_MAX,
	"a frame fits an mbuf's length");

const char *wh_neighbour_reason_name(enum wh_neighbour_reason reason)
{
	static const char *const names[WH_NEIGHBOUR_REASONS] = {
		[WH_NEIGHBOUR_OK] = "ok",
		[WH_NEIGHBOUR_SHORT] = "short",
		[WH_NEIGHBOUR_VLAN] = "vlan",
		[WH_NEIGHBOUR_TYPE] = "type",
		[WH_NEIGHBOUR_SOURCE_MAC] = "source-mac",
		[WH_NEIGHBOUR_NOT_OURS] = "not-ours",
		[WH_NEIGHBOUR_TARGET_MAC] = "target-mac",
		[WH_NEIGHBOUR_ARP_HEAD] = "arp-head",
		[WH_NEIGHBOUR_ARP_SENDER] = "arp-sender",
		[WH_NEIGHBOUR_IP_HEAD] = "ip-head",
		[WH_NEIGHBOUR_FRAGMENT] = "fragment",
		[WH_NEIGHBOUR_IP_SOURCE] = "ip-source",
		[WH_NEIGHBOUR_PROTOCOL] = "protocol",
		[WH_NEIGHBOUR_TOO_LONG] = "too-long",
		[WH_NEIGHBOUR_ICMP_SUM] = "icmp-sum",
		[WH_NEIGHBOUR_ICMP_TYPE] = "icmp-type",
		[WH_NEIGHBOUR_HOP_LIMIT] = "hop-limit",
		[WH_NEIGHBOUR_NDP_OPTION] = "ndp-option",
		[WH_NEIGHBOUR_NDP_RULE] = "ndp-rule",
		[WH_NEIGHBOUR_CONFLICT] = "conflict",
		[WH_NEIGHBOUR_CONTESTED] = "contested",
		[WH_NEIGHBOUR_NOT_ASKED] = "not-asked",
		[WH_NEIGHBOUR_LIMITED] = "limited",
		[WH_NEIGHBOUR_NO_ROOM] = "no-room",
	};

	WH_ASSERT(reason < WH_NEIGHBOUR_REASONS);
	return names[reason];
}

const char *wh_neighbour_result_name(enum wh_neighbour_result result)
{
	static const char *const names[WH_NEIGHBOUR_RESULTS] = {
		[WH_NEIGHBOUR_FOUND] = "it is found",
		[WH_NEIGHBOUR_ASKED] = "it is still looked for",
		[WH_NEIGHBOUR_SILENT] = "no host on the link answers for it, or for the gateway",
		[WH_NEIGHBOUR_NO_GATEWAY] = "it is on another network, and there is no gateway",
		[WH_NEIGHBOUR_NO_ADDRESS] = "this host has no address of its kind",
		[WH_NEIGHBOUR_NO_HOST] = "that is no address of a single other host",
	};

	WH_ASSERT(result < WH_NEIGHBOUR_RESULTS);
	return names[result];
}

static void add_own(struct wh_neighbour *neighbour, uint8_t family, const uint8_t *ip)
{
	if (wh_neighbour_is_own(neighbour, family, ip))
		return;
	WH_ASSERT(neighbour->owns < WH_NEIGHBOUR_OWN_MAX);
	neighbour->own[neighbour->owns++] = wh_neighbour_address(family, ip);
}

int wh_neighbour_init(struct wh_neighbour *neighbour, const struct wh_neighbour_config *config)
{
	WH_ASSERT(wh_neighbour_config_wrong(config) == NULL);
	WH_ASSERT(config->hz >= WH_NEIGHBOUR_ANSWERS_PER_S);
	*neighbour = (struct wh_neighbour){
		.config = *config,
		.frame_bytes_max = WH_ETHER_BYTES + config->mtu,
		.ask_tsc = WH_TSC_NEVER,
		.announce_tsc = WH_TSC_NEVER,
		.echo.due_tsc = WH_TSC_NEVER,
	};
	neighbour->echo_wait_tsc = wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_ECHO_MS);
	if (config->vlan != 0)
		neighbour->frame_bytes_max += WH_VLAN_BYTES;
	if (config->ipv4.prefix_bits != 0)
		add_own(neighbour, WH_IPV4, config->ipv4.ip);
	if (config->ipv6.prefix_bits != 0) {
		wh_ipv6_link_local(neighbour->link_local, config->mac);
		add_own(neighbour, WH_IPV6, neighbour->link_local);
		add_own(neighbour, WH_IPV6, config->ipv6.ip);
	}

	WH_ASSERT(neighbour->owns > 0);

	int rc = wh_neighbour_table_init(neighbour);

	return rc != 0 ? rc
		       : wh_slot_fifo_init(&neighbour->answers, WH_NEIGHBOUR_ANSWERS,
				 neighbour->frame_bytes_max);
}

void wh_neighbour_free(struct wh_neighbour *neighbour)
{
	wh_neighbour_table_free(neighbour);
	wh_slot_fifo_free(&neighbour->answers);
}

uint32_t wh_neighbour_groups(
	const struct wh_neighbour *neighbour, uint8_t macs[WH_NEIGHBOUR_GROUPS_MAX][6])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < neighbour->owns; i++) {
		uint8_t group[16];

		if (neighbour->own[i].family != WH_IPV6)
			continue;
		if (count == 0)
			wh_ipv6_group_mac(macs[count++], wh_ipv6_all_nodes);
		wh_ipv6_solicited_node(group, neighbour->own[i].ip);
		wh_ipv6_group_mac(macs[count], group);
		/* Both addresses may have the same group. */
		if (!wh_mac_equal(macs[count], macs[count - 1]))
			count++;
	}
	return count;
}

void wh_neighbour_announce(struct wh_neighbour *neighbour, uint64_t now_tsc)
{
	neighbour->announce_rounds = WH_NEIGHBOUR_ANNOUNCES;
	neighbour->announce_next = 0;
	neighbour->announce_tsc = now_tsc;
}

bool wh_neighbour_take_conflict(
	struct wh_neighbour *neighbour, struct wh_neighbour_conflict *conflict)
{
	for (uint32_t i = 0; i < WH_NEIGHBOUR_QUARRELS; i++) {
		if (!neighbour->conflict_news[i])
			continue;
		*conflict = neighbour->conflict[i];
		neighbour->conflict_news[i] = false;
		return true;
	}
	return false;
}

/* Whether it is the group of all nodes, or the solicited-node group of one of our addresses. */
static bool is_own_group(const struct wh_neighbour *neighbour, const uint8_t ip[16])
{
	uint8_t group[16];

	if (memcmp(ip, wh_ipv6_all_nodes, sizeof(group)) == 0)
		return true;
	for (uint32_t i = 0; i < neighbour->owns; i++) {
		wh_ipv6_solicited_node(group, neighbour->own[i].ip);
		if (neighbour->own[i].family == WH_IPV6 && memcmp(ip, group, sizeof(group)) == 0)
			return true;
	}
	return false;
}

/* OK: the packet is to an address or group of ours, with a matching target MAC. */
static enum wh_neighbour_reason check_target(
	const struct wh_neighbour *neighbour, const struct wh_heard *heard)
{
	uint8_t mac[6];

	if (wh_neighbour_is_own(neighbour, heard->family, heard->target_ip)) {
		memcpy(mac, neighbour->config.mac, sizeof(mac));
	} else {
		if (heard->family != WH_IPV6 || !is_own_group(neighbour, heard->target_ip))
			return WH_NEIGHBOUR_NOT_OURS;
		wh_ipv6_group_mac(mac, heard->target_ip);
	}
	return wh_mac_equal(heard->target_mac, mac) ? WH_NEIGHBOUR_OK : WH_NEIGHBOUR_TARGET_MAC;
}

/* Parses an IP header; its protocol must be ICMP of its family. */
static enum wh_neighbour_reason hear_icmp(struct wh_heard *heard)
{
	static const enum wh_neighbour_reason reasons[] = {
		[WH_HEARD_SHORT] = WH_NEIGHBOUR_SHORT,
		[WH_HEARD_IP_HEAD] = WH_NEIGHBOUR_IP_HEAD,
		[WH_HEARD_FRAGMENT] = WH_NEIGHBOUR_FRAGMENT,
	};
	enum wh_heard_reason reason = wh_heard_ip(heard);

	if (reason != WH_HEARD_OK)
		return reasons[reason];
	return heard->protocol == (heard->family == WH_IPV4 ? WH_IP_PROTOCOL_ICMP
							    : WH_IP_PROTOCOL_ICMPV6)
		       ? WH_NEIGHBOUR_OK
		       : WH_NEIGHBOUR_PROTOCOL;
}

static enum wh_neighbour_reason input_ip(
	struct wh_neighbour *neighbour, uint64_t now_tsc, struct wh_heard *heard)
{
	enum wh_neighbour_reason reason = hear_icmp(heard);

	if (reason == WH_NEIGHBOUR_OK)
		reason = check_target(neighbour, heard);
	if (reason != WH_NEIGHBOUR_OK)
		return reason;
	if (wh_ip_header_bytes(heard->family) + heard->bytes > neighbour->config.mtu)
		return WH_NEIGHBOUR_TOO_LONG;
	if (heard->bytes == 0)
		return WH_NEIGHBOUR_SHORT;

	uint8_t type = heard->body[0];

	/* Only a solicitation may come from the unspecified address, or from ours: a conflict. */
	if (heard->family == WH_IPV6 && type == WH_NDP_SOLICITATION)
		return wh_neighbour_input_solicitation(neighbour, now_tsc, heard);
	if (!wh_neighbour_is_host(&neighbour->config, heard->family, heard->source_ip) ||
		wh_neighbour_is_own(neighbour, heard->family, heard->source_ip))
		return WH_NEIGHBOUR_IP_SOURCE;
	if (heard->family == WH_IPV6 && type == WH_NDP_ADVERTISEMENT)
		return wh_neighbour_input_advertisement(neighbour, now_tsc, heard);
	/* RFC 1122 3.2.2.6, RFC 4443 4.2: an echo request to a group is not answered. */
	if (!wh_neighbour_is_own(neighbour, heard->family, heard->target_ip))
		return WH_NEIGHBOUR_NOT_OURS;
	if (wh_neighbour_is_error(heard))
		return wh_neighbour_input_error(neighbour, heard);
	return wh_neighbour_input_echo(neighbour, now_tsc, heard);
}

static enum wh_neighbour_reason input(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const uint8_t *frame, size_t frame_bytes)
{
	const struct wh_neighbour_config *config = &neighbour->config;
	struct wh_heard heard;

	if (!wh_heard_ether(&heard, frame, frame_bytes))
		return WH_NEIGHBOUR_SHORT;
	if (heard.vlan != config->vlan)
		return WH_NEIGHBOUR_VLAN;
	if (!wh_mac_is_host(heard.source_mac) || wh_mac_equal(heard.source_mac, config->mac))
		return WH_NEIGHBOUR_SOURCE_MAC;
	if (wh_mac_is_host(heard.target_mac) && !wh_mac_equal(heard.target_mac, config->mac))
		return WH_NEIGHBOUR_NOT_OURS;
	if (heard.type == WH_ETHER_TYPE_ARP && config->ipv4.prefix_bits != 0)
		return wh_neighbour_input_arp(neighbour, now_tsc, &heard);
	if ((heard.type == WH_ETHER_TYPE_IPV4 && config->ipv4.prefix_bits != 0) ||
		(heard.type == WH_ETHER_TYPE_IPV6 && config->ipv6.prefix_bits != 0))
		return input_ip(neighbour, now_tsc, &heard);
	return WH_NEIGHBOUR_TYPE;
}

enum wh_neighbour_reason wh_neighbour_input(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const uint8_t *frame, size_t frame_bytes)
{
	enum wh_neighbour_reason reason = input(neighbour, now_tsc, frame, frame_bytes);

	neighbour->stats.input_pkts[reason]++;
	return reason;
}

static size_t output_announcement(struct wh_neighbour *neighbour, uint64_t now_tsc, uint8_t *frame)
{
	if (now_tsc < neighbour->announce_tsc)
		return 0;
	WH_ASSERT(neighbour->announce_rounds > 0 && neighbour->announce_next < neighbour->owns);

	const struct wh_address *own = &neighbour->own[neighbour->announce_next++];

	if (neighbour->announce_next == neighbour->owns) {
		neighbour->announce_next = 0;
		neighbour->announce_tsc = WH_TSC_NEVER;
		if (--neighbour->announce_rounds > 0)
			neighbour->announce_tsc = wh_add_u64(now_tsc,
				wh_neighbour_ms_to_tsc(neighbour, WH_NEIGHBOUR_ANNOUNCE_MS));
	}
	neighbour->stats.announced_pkts++;
	return own->family == WH_IPV4
		       ? wh_neighbour_write_arp_announcement(neighbour, frame)
		       : wh_neighbour_write_ndp_announcement(neighbour, own->ip, frame);
}

static size_t output_question(struct wh_neighbour *neighbour, uint64_t now_tsc, uint8_t *frame)
{
	struct wh_neighbour_entry *entry = wh_neighbour_next_ask(neighbour, now_tsc);

	if (entry == NULL)
		return 0;

	size_t bytes = entry->address.family == WH_IPV4
			       ? wh_neighbour_write_arp_question(neighbour, entry, frame)
			       : wh_neighbour_write_ndp_question(neighbour, entry, frame);

	wh_neighbour_asked(neighbour, now_tsc, entry);
	return bytes;
}

static size_t output_answer(struct wh_neighbour *neighbour, uint8_t *frame)
{
	struct wh_slot *slot = wh_slot_fifo_peek(&neighbour->answers);

	if (slot == NULL)
		return 0;

	size_t bytes = slot->bytes;

	WH_ASSERT(bytes > 0 && bytes <= neighbour->frame_bytes_max);
	memcpy(frame, slot->data, bytes);
	wh_slot_fifo_release(&neighbour->answers);
	return bytes;
}

size_t wh_neighbour_output(
	struct wh_neighbour *neighbour, uint64_t now_tsc, uint8_t *frame, size_t room)
{
	WH_ASSERT(room >= neighbour->frame_bytes_max);

	size_t bytes = output_announcement(neighbour, now_tsc, frame);

	if (bytes == 0)
		bytes = output_question(neighbour, now_tsc, frame);
	if (bytes == 0)
		bytes = wh_neighbour_output_echo(neighbour, now_tsc, frame);
	if (bytes == 0)
		bytes = output_answer(neighbour, frame);
	WH_ASSERT(bytes == 0 || (bytes >= WH_ETHER_FRAME_BYTES && bytes <= room));
	return bytes;
}

uint64_t wh_neighbour_deadline(const struct wh_neighbour *neighbour)
{
	if (wh_slot_fifo_count(&neighbour->answers) > 0)
		return 0;
	return wh_min_u64(
		neighbour->ask_tsc, wh_min_u64(neighbour->announce_tsc, neighbour->echo.due_tsc));
}
