/* SPDX-License-Identifier: BSD-3-Clause */

/* Neighbour discovery for IPv6: solicitations and advertisements of RFC 4861. */

#include <assert.h>

#include "neighbour/neighbour_internal.h"

#define NDP_BYTES (sizeof(struct wh_ndp) + sizeof(struct wh_ndp_mac))

static_assert(sizeof(struct wh_ndp_mac) % WH_NDP_OPTION_UNIT == 0, "an option is of whole units");

/* A message about `target`, with our MAC in the option that belongs to the message's type. */
static size_t write_ndp(const struct wh_neighbour *neighbour, uint8_t *frame,
	const struct wh_telling *telling, uint8_t type, uint8_t flags, const uint8_t target[16])
{
	struct wh_ndp *ndp = (struct wh_ndp *)wh_tell_ip(frame, telling, NDP_BYTES);
	struct wh_ndp_mac *option = (struct wh_ndp_mac *)(ndp + 1);

	*ndp = (struct wh_ndp){.type = type, .flags = {flags}};
	memcpy(ndp->target, target, sizeof(ndp->target));
	option->type = type == WH_NDP_SOLICITATION ? WH_NDP_SOURCE_MAC : WH_NDP_TARGET_MAC;
	option->units = sizeof(*option) / WH_NDP_OPTION_UNIT;
	memcpy(option->mac, neighbour->config.mac, sizeof(option->mac));
	wh_tell_icmp_sum((uint8_t *)ndp, NDP_BYTES, WH_IPV6);
	return wh_tell_end(frame, (uint8_t *)ndp + NDP_BYTES);
}

/* RFC 4861 7.2.2: by multicast; a probe goes to the neighbour itself: 7.3.3. */
size_t wh_neighbour_write_ndp_question(const struct wh_neighbour *neighbour,
	const struct wh_neighbour_entry *entry, uint8_t *frame)
{
	uint8_t group[16], group_mac[6];
	bool itself = wh_neighbour_asks_itself(entry);

	WH_ASSERT(entry->address.family == WH_IPV6);
	wh_ipv6_solicited_node(group, entry->address.ip);
	wh_ipv6_group_mac(group_mac, group);

	struct wh_telling telling = wh_telling_icmp(&neighbour->config, WH_IPV6, WH_NDP_HOPS,
		wh_neighbour_source_ip(neighbour, WH_IPV6, entry->address.ip),
		itself ? entry->address.ip : group, itself ? entry->mac : group_mac);

	return write_ndp(neighbour, frame, &telling, WH_NDP_SOLICITATION, 0, entry->address.ip);
}

static size_t write_to_all(
	const struct wh_neighbour *neighbour, const uint8_t own_ip[16], uint8_t *frame)
{
	uint8_t mac[6];

	wh_ipv6_group_mac(mac, wh_ipv6_all_nodes);

	struct wh_telling telling = wh_telling_icmp(
		&neighbour->config, WH_IPV6, WH_NDP_HOPS, own_ip, wh_ipv6_all_nodes, mac);

	return write_ndp(neighbour, frame, &telling, WH_NDP_ADVERTISEMENT, WH_NDP_OVERRIDE, own_ip);
}

/* An unsolicited advertisement: RFC 4861 7.2.6. */
size_t wh_neighbour_write_ndp_announcement(
	const struct wh_neighbour *neighbour, const uint8_t own_ip[16], uint8_t *frame)
{
	return write_to_all(neighbour, own_ip, frame);
}

/*
 * Walks the options; *mac is the address in the first one of that type, or NULL. Unknown options
 * are skipped: RFC 4861 7.1.
 */
static enum wh_neighbour_reason read_options(const struct wh_neighbour *neighbour,
	const struct wh_heard *heard, uint8_t type, const uint8_t **mac)
{
	const uint8_t *at = heard->body + sizeof(struct wh_ndp);
	size_t left = heard->bytes - sizeof(struct wh_ndp);

	*mac = NULL;
	while (left > 0) {
		const struct wh_ndp_mac *option = (const struct wh_ndp_mac *)at;

		if (left < sizeof(*option) || option->units == 0 ||
			(size_t)option->units * WH_NDP_OPTION_UNIT > left)
			return WH_NEIGHBOUR_NDP_OPTION;
		if (option->type == type && *mac == NULL) {
			if (option->units != 1 || !wh_mac_is_host(option->mac) ||
				wh_mac_equal(option->mac, neighbour->config.mac))
				return WH_NEIGHBOUR_NDP_OPTION;
			*mac = option->mac;
		}
		at += (size_t)option->units * WH_NDP_OPTION_UNIT;
		left -= (size_t)option->units * WH_NDP_OPTION_UNIT;
	}
	return WH_NEIGHBOUR_OK;
}

/* The common part of RFC 4861 7.1.1 and 7.1.2. */
static enum wh_neighbour_reason check_ndp(const struct wh_neighbour *neighbour,
	const struct wh_heard *heard, uint8_t option, const uint8_t **mac)
{
	const struct wh_ndp *ndp = (const struct wh_ndp *)heard->body;

	if (heard->bytes < sizeof(*ndp))
		return WH_NEIGHBOUR_SHORT;
	if (heard->hop_limit != WH_NDP_HOPS)
		return WH_NEIGHBOUR_HOP_LIMIT;
	if (ndp->code != 0)
		return WH_NEIGHBOUR_ICMP_TYPE;
	if (!wh_heard_icmp_sum_agrees(heard))
		return WH_NEIGHBOUR_ICMP_SUM;
	if (!wh_ip_is_host(WH_IPV6, ndp->target))
		return WH_NEIGHBOUR_NDP_RULE;
	return read_options(neighbour, heard, option, mac);
}

/*
 * RFC 4861 7.2.4. A sender with the unspecified address checks whether an address is in use (RFC
 * 4862), so the answer goes to all nodes.
 */
static enum wh_neighbour_reason answer(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_heard *heard, const uint8_t *mac)
{
	const struct wh_ndp *ndp = (const struct wh_ndp *)heard->body;
	struct wh_address asker = wh_neighbour_address(WH_IPV6, heard->source_ip);
	enum wh_neighbour_reason reason;
	struct wh_slot *slot = wh_neighbour_admit(
		neighbour, now_tsc, &asker, mac != NULL ? mac : heard->source_mac, &reason);
	size_t bytes;

	if (slot == NULL)
		return reason;
	if (wh_ipv6_is_unspecified(heard->source_ip)) {
		bytes = write_to_all(neighbour, ndp->target, slot->data);
	} else {
		struct wh_telling telling =
			wh_telling_icmp(&neighbour->config, WH_IPV6, WH_NDP_HOPS, ndp->target,
				heard->source_ip, mac != NULL ? mac : heard->source_mac);

		bytes = write_ndp(neighbour, slot->data, &telling, WH_NDP_ADVERTISEMENT,
			WH_NDP_SOLICITED | WH_NDP_OVERRIDE, ndp->target);
	}
	wh_neighbour_answer_end(neighbour, now_tsc, slot, bytes);
	return WH_NEIGHBOUR_OK;
}

/* RFC 4861 4.3, 7.1.1: allowed targets of a solicitation, and when it must contain a MAC. */
static bool question_keeps_rules(const struct wh_heard *heard, const uint8_t *mac)
{
	const struct wh_ndp *ndp = (const struct wh_ndp *)heard->body;
	uint8_t group[16];

	wh_ipv6_solicited_node(group, ndp->target);

	bool to_group = memcmp(heard->target_ip, group, sizeof(group)) == 0;
	bool to_itself = memcmp(heard->target_ip, ndp->target, sizeof(ndp->target)) == 0;

	if (wh_ipv6_is_unspecified(heard->source_ip))
		return to_group && mac == NULL;
	return to_itself || (to_group && mac != NULL);
}

enum wh_neighbour_reason wh_neighbour_input_solicitation(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const struct wh_heard *heard)
{
	const struct wh_ndp *ndp = (const struct wh_ndp *)heard->body;
	bool nameless = wh_ipv6_is_unspecified(heard->source_ip);
	const uint8_t *mac;
	enum wh_neighbour_reason reason = check_ndp(neighbour, heard, WH_NDP_SOURCE_MAC, &mac);

	if (reason != WH_NEIGHBOUR_OK)
		return reason;
	if (!nameless && !wh_ip_is_host(WH_IPV6, heard->source_ip))
		return WH_NEIGHBOUR_IP_SOURCE;
	if (!question_keeps_rules(heard, mac))
		return WH_NEIGHBOUR_NDP_RULE;
	if (wh_neighbour_is_own(neighbour, WH_IPV6, heard->source_ip))
		return wh_neighbour_meet_double(neighbour, now_tsc, WH_IPV6, heard->source_ip,
			mac != NULL ? mac : heard->source_mac);
	if (!wh_neighbour_is_own(neighbour, WH_IPV6, ndp->target))
		return WH_NEIGHBOUR_NOT_OURS;
	if (mac != NULL) {
		struct wh_address sender = wh_neighbour_address(WH_IPV6, heard->source_ip);

		(void)wh_neighbour_hear(neighbour, now_tsc, &sender, mac, false);
	}
	return answer(neighbour, now_tsc, heard, mac);
}

/*
 * Stricter than RFC 4861 7.2.5: "solicited" counts only while we are asking, and "override" is
 * ignored, because anybody may set it.
 */
static enum wh_neighbour_reason believe(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_ndp *ndp, const uint8_t *mac)
{
	struct wh_address target = wh_neighbour_address(WH_IPV6, ndp->target);
	const struct wh_neighbour_entry *entry = wh_neighbour_find(neighbour, &target);
	bool solicited = (ndp->flags[0] & WH_NDP_SOLICITED) != 0;
	uint8_t told[6];

	if (entry == NULL)
		return WH_NEIGHBOUR_NOT_ASKED;
	if (mac == NULL && !wh_neighbour_entry_has_mac(entry))
		return WH_NEIGHBOUR_NDP_RULE;
	/* An advertisement without the option confirms the known MAC. */
	memcpy(told, mac != NULL ? mac : entry->mac, sizeof(told));
	return wh_neighbour_hear(neighbour, now_tsc, &target, told, solicited);
}

enum wh_neighbour_reason wh_neighbour_input_advertisement(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const struct wh_heard *heard)
{
	const struct wh_ndp *ndp = (const struct wh_ndp *)heard->body;
	const uint8_t *mac;
	enum wh_neighbour_reason reason = check_ndp(neighbour, heard, WH_NDP_TARGET_MAC, &mac);

	if (reason != WH_NEIGHBOUR_OK)
		return reason;

	bool to_all = memcmp(heard->target_ip, wh_ipv6_all_nodes, sizeof(wh_ipv6_all_nodes)) == 0;

	if (wh_ipv6_is_group(heard->target_ip) &&
		(!to_all || (ndp->flags[0] & WH_NDP_SOLICITED) != 0))
		return WH_NEIGHBOUR_NDP_RULE;
	if (wh_neighbour_is_own(neighbour, WH_IPV6, ndp->target))
		return wh_neighbour_meet_double(neighbour, now_tsc, WH_IPV6, ndp->target,
			mac != NULL ? mac : heard->source_mac);
	return believe(neighbour, now_tsc, ndp, mac);
}
