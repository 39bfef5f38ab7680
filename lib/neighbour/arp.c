/* SPDX-License-Identifier: BSD-3-Clause */

/* ARP for IPv4 over Ethernet: RFC 826, with announcements and address defence of RFC 5227. */

#include "neighbour/neighbour_internal.h"

static const uint8_t no_mac[6];

static size_t write_arp(const struct wh_neighbour *neighbour, uint8_t *frame,
	const uint8_t frame_mac[6], uint16_t operation, const uint8_t target_mac[6],
	const uint8_t *target_ip)
{
	const struct wh_neighbour_config *config = &neighbour->config;
	struct wh_telling telling = wh_telling_of(config, frame_mac);
	struct wh_arp *arp = (struct wh_arp *)wh_tell_ether(frame, &telling, WH_ETHER_TYPE_ARP);

	WH_ASSERT(config->ipv4.prefix_bits != 0);
	arp->hardware = rte_cpu_to_be_16(WH_ARP_ETHERNET);
	arp->protocol = rte_cpu_to_be_16(WH_ETHER_TYPE_IPV4);
	arp->mac_bytes = sizeof(arp->sender_mac);
	arp->ip_bytes = sizeof(arp->sender_ip);
	arp->operation = rte_cpu_to_be_16(operation);
	memcpy(arp->sender_mac, config->mac, sizeof(arp->sender_mac));
	memcpy(arp->sender_ip, config->ipv4.ip, sizeof(arp->sender_ip));
	memcpy(arp->target_mac, target_mac, sizeof(arp->target_mac));
	memcpy(arp->target_ip, target_ip, sizeof(arp->target_ip));
	return wh_tell_end(frame, (uint8_t *)(arp + 1));
}

size_t wh_neighbour_write_arp_question(const struct wh_neighbour *neighbour,
	const struct wh_neighbour_entry *entry, uint8_t *frame)
{
	WH_ASSERT(entry->address.family == WH_IPV4);

	const uint8_t *frame_mac = wh_neighbour_asks_itself(entry) ? entry->mac : wh_mac_broadcast;

	return write_arp(neighbour, frame, frame_mac, WH_ARP_REQUEST, no_mac, entry->address.ip);
}

/* RFC 5227 2.3: an announcement is a request for the address that it comes from. */
size_t wh_neighbour_write_arp_announcement(const struct wh_neighbour *neighbour, uint8_t *frame)
{
	return write_arp(neighbour, frame, wh_mac_broadcast, WH_ARP_REQUEST, no_mac,
		neighbour->config.ipv4.ip);
}

/*
 * The frame's source MAC need not be the ARP sender's: routers that share an address (VRRP)
 * announce a virtual MAC in a frame from a real one.
 */
static enum wh_neighbour_reason check_arp(const struct wh_neighbour *neighbour,
	const struct wh_heard *heard, const struct wh_arp *arp)
{
	static const uint8_t no_ip[4];
	uint16_t operation = rte_be_to_cpu_16(arp->operation);

	if (arp->hardware != rte_cpu_to_be_16(WH_ARP_ETHERNET) ||
		arp->protocol != rte_cpu_to_be_16(WH_ETHER_TYPE_IPV4) ||
		arp->mac_bytes != sizeof(arp->sender_mac) ||
		arp->ip_bytes != sizeof(arp->sender_ip) ||
		(operation != WH_ARP_REQUEST && operation != WH_ARP_REPLY))
		return WH_NEIGHBOUR_ARP_HEAD;
	if (!wh_mac_equal(heard->target_mac, neighbour->config.mac) &&
		!wh_mac_equal(heard->target_mac, wh_mac_broadcast))
		return WH_NEIGHBOUR_TARGET_MAC;
	if (!wh_mac_is_host(arp->sender_mac) ||
		wh_mac_equal(arp->sender_mac, neighbour->config.mac))
		return WH_NEIGHBOUR_ARP_SENDER;
	/* RFC 5227 1.1: a probe has no sender address yet. */
	if (operation == WH_ARP_REQUEST && memcmp(arp->sender_ip, no_ip, sizeof(no_ip)) == 0)
		return WH_NEIGHBOUR_OK;
	return wh_neighbour_is_host(&neighbour->config, WH_IPV4, arp->sender_ip)
		       ? WH_NEIGHBOUR_OK
		       : WH_NEIGHBOUR_ARP_SENDER;
}

static enum wh_neighbour_reason answer(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_arp *arp, const struct wh_address *sender)
{
	enum wh_neighbour_reason reason;
	struct wh_slot *slot =
		wh_neighbour_admit(neighbour, now_tsc, sender, arp->sender_mac, &reason);

	if (slot == NULL)
		return reason;
	wh_neighbour_answer_end(neighbour, now_tsc, slot,
		write_arp(neighbour, slot->data, arp->sender_mac, WH_ARP_REPLY, arp->sender_mac,
			arp->sender_ip));
	return WH_NEIGHBOUR_OK;
}

/* RFC 5227 2.4 first, then RFC 826, "Packet Reception". Unsolicited information is not trusted. */
enum wh_neighbour_reason wh_neighbour_input_arp(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const struct wh_heard *heard)
{
	const struct wh_arp *arp = (const struct wh_arp *)heard->body;

	if (heard->bytes < sizeof(*arp))
		return WH_NEIGHBOUR_SHORT;

	enum wh_neighbour_reason reason = check_arp(neighbour, heard, arp);

	if (reason != WH_NEIGHBOUR_OK)
		return reason;
	if (wh_neighbour_is_own(neighbour, WH_IPV4, arp->sender_ip))
		return wh_neighbour_meet_double(
			neighbour, now_tsc, WH_IPV4, arp->sender_ip, arp->sender_mac);

	struct wh_address sender = wh_neighbour_address(WH_IPV4, arp->sender_ip);
	bool request = arp->operation == rte_cpu_to_be_16(WH_ARP_REQUEST);
	bool to_us = wh_neighbour_is_own(neighbour, WH_IPV4, arp->target_ip);
	/* A reply to our question is sent to us alone; an unsolicited one goes to all. */
	bool answers = !request && to_us &&
		       wh_mac_equal(heard->target_mac, neighbour->config.mac) &&
		       wh_mac_equal(arp->target_mac, neighbour->config.mac);

	reason = WH_NEIGHBOUR_NOT_ASKED;
	/* The sender of a probe has no address yet. */
	if (wh_neighbour_is_host(&neighbour->config, WH_IPV4, sender.ip))
		reason = wh_neighbour_hear(neighbour, now_tsc, &sender, arp->sender_mac, answers);
	if (request && to_us)
		return answer(neighbour, now_tsc, arp, &sender);
	return request && reason == WH_NEIGHBOUR_NOT_ASKED ? WH_NEIGHBOUR_NOT_OURS : reason;
}
