/* SPDX-License-Identifier: BSD-3-Clause */

/* ICMP echo, RFC 792 and RFC 4443 4: answers requests, and sends one request at a time. */

#include <errno.h>

#include "neighbour/neighbour_internal.h"

/* Keeps a flood of echo requests from taking the room of ARP and NDP answers. */
#define ECHO_ANSWERS (WH_NEIGHBOUR_ANSWERS / 2)

static bool is_request(const struct wh_heard *heard, const struct wh_icmp_echo *echo)
{
	return echo->type ==
	       (heard->family == WH_IPV4 ? WH_ICMP_ECHO_REQUEST : WH_ICMPV6_ECHO_REQUEST);
}

static bool is_reply(const struct wh_heard *heard, const struct wh_icmp_echo *echo)
{
	return echo->type == (heard->family == WH_IPV4 ? WH_ICMP_ECHO_REPLY : WH_ICMPV6_ECHO_REPLY);
}

/* Answers to the MAC that the frame came from, gateway or peer: that hop is known to work. */
static enum wh_neighbour_reason answer(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const struct wh_heard *heard)
{
	struct wh_slot *slot = wh_neighbour_answer_begin(neighbour, ECHO_ANSWERS);

	if (slot == NULL)
		return WH_NEIGHBOUR_NO_ROOM;

	struct wh_telling telling = wh_telling_icmp(&neighbour->config, heard->family, WH_IP_HOPS,
		heard->target_ip, heard->source_ip, heard->source_mac);
	uint8_t *icmp = wh_tell_ip(slot->data, &telling, heard->bytes);
	struct wh_icmp_echo *echo = (struct wh_icmp_echo *)icmp;

	memcpy(icmp, heard->body, heard->bytes);
	echo->type = heard->family == WH_IPV4 ? WH_ICMP_ECHO_REPLY : WH_ICMPV6_ECHO_REPLY;
	wh_tell_icmp_sum(icmp, heard->bytes, heard->family);
	wh_neighbour_answer_end(
		neighbour, now_tsc, slot, wh_tell_end(slot->data, icmp + heard->bytes));
	return WH_NEIGHBOUR_OK;
}

/* Taken from our MAC, so that hosts which share our address have other identifiers. */
static rte_be16_t identifier(const struct wh_neighbour *neighbour)
{
	rte_be16_t id;

	memcpy(&id, neighbour->config.mac + 4, sizeof(id));
	return id;
}

static bool is_awaited(const struct wh_neighbour *neighbour, const struct wh_heard *heard)
{
	const struct wh_neighbour_echo *asked = &neighbour->echo;
	const struct wh_icmp_echo *echo = (const struct wh_icmp_echo *)heard->body;

	if (asked->state != WH_NEIGHBOUR_ECHO_SENT || asked->target.family != heard->family ||
		memcmp(asked->target.ip, heard->source_ip, wh_ip_address_bytes(heard->family)) !=
			0 ||
		asked->ip_bytes != wh_ip_header_bytes(heard->family) + heard->bytes ||
		echo->identifier != identifier(neighbour) ||
		echo->sequence != rte_cpu_to_be_16(asked->sequence))
		return false;
	for (size_t i = sizeof(*echo); i < heard->bytes; i++)
		if (heard->body[i] != (uint8_t)i)
			return false;
	return true;
}

enum wh_neighbour_reason wh_neighbour_input_echo(
	struct wh_neighbour *neighbour, uint64_t now_tsc, const struct wh_heard *heard)
{
	const struct wh_icmp_echo *echo = (const struct wh_icmp_echo *)heard->body;

	if (heard->bytes < sizeof(*echo))
		return WH_NEIGHBOUR_SHORT;

	bool request = is_request(heard, echo);

	if (echo->code != 0 || (!request && !is_reply(heard, echo)))
		return WH_NEIGHBOUR_ICMP_TYPE;
	/* Checked before the checksum, so that a flood of long packets costs little. */
	if (request && wh_neighbour_is_limited(
			       neighbour, now_tsc, neighbour->echo_paid_tsc, heard->source_mac))
		return WH_NEIGHBOUR_LIMITED;
	if (!wh_heard_icmp_sum_agrees(heard))
		return WH_NEIGHBOUR_ICMP_SUM;
	if (request) {
		wh_neighbour_charge(
			neighbour, now_tsc, &neighbour->echo_paid_tsc, heard->source_mac);
		return answer(neighbour, now_tsc, heard);
	}
	if (!is_awaited(neighbour, heard))
		return WH_NEIGHBOUR_NOT_ASKED;
	WH_ASSERT(now_tsc >= neighbour->echo.sent_tsc);
	neighbour->echo.state = WH_NEIGHBOUR_ECHO_ANSWERED;
	neighbour->echo.rtt_tsc = now_tsc - neighbour->echo.sent_tsc;
	neighbour->echo.due_tsc = WH_TSC_NEVER;
	return WH_NEIGHBOUR_OK;
}

int wh_neighbour_ask_echo(struct wh_neighbour *neighbour, uint64_t now_tsc,
	const struct wh_address *target, uint32_t ip_bytes)
{
	struct wh_neighbour_echo *echo = &neighbour->echo;

	WH_ASSERT(target->family == WH_IPV4 || target->family == WH_IPV6);
	if (echo->state == WH_NEIGHBOUR_ECHO_WAITS || echo->state == WH_NEIGHBOUR_ECHO_SENT)
		return -EBUSY;
	if (ip_bytes > neighbour->config.mtu ||
		ip_bytes < wh_ip_header_bytes(target->family) + sizeof(struct wh_icmp_echo))
		return -EMSGSIZE;
	*echo = (struct wh_neighbour_echo){
		.state = WH_NEIGHBOUR_ECHO_WAITS,
		.sequence = echo->sequence,
		.ip_bytes = ip_bytes,
		.target = wh_neighbour_address(target->family, target->ip),
		.due_tsc = now_tsc,
	};
	return 0;
}

static size_t write_question(
	const struct wh_neighbour *neighbour, const uint8_t mac[6], uint8_t *frame)
{
	const struct wh_neighbour_echo *asked = &neighbour->echo;
	uint8_t family = asked->target.family;
	size_t bytes = asked->ip_bytes - wh_ip_header_bytes(family);

	WH_ASSERT(asked->ip_bytes <= neighbour->config.mtu && wh_mac_is_host(mac));
	struct wh_telling telling = wh_telling_icmp(&neighbour->config, family, WH_IP_HOPS,
		wh_neighbour_source_ip(neighbour, family, asked->target.ip), asked->target.ip, mac);
	uint8_t *icmp = wh_tell_ip(frame, &telling, bytes);
	struct wh_icmp_echo *echo = (struct wh_icmp_echo *)icmp;

	*echo = (struct wh_icmp_echo){
		.type = family == WH_IPV4 ? WH_ICMP_ECHO_REQUEST : WH_ICMPV6_ECHO_REQUEST,
		.identifier = identifier(neighbour),
		.sequence = rte_cpu_to_be_16(asked->sequence),
	};
	for (size_t i = sizeof(*echo); i < bytes; i++)
		icmp[i] = (uint8_t)i;
	wh_tell_icmp_sum(icmp, bytes, family);
	return wh_tell_end(frame, icmp + bytes);
}

size_t wh_neighbour_output_echo(struct wh_neighbour *neighbour, uint64_t now_tsc, uint8_t *frame)
{
	struct wh_neighbour_echo *echo = &neighbour->echo;
	uint8_t mac[6];

	if (now_tsc < echo->due_tsc)
		return 0;
	if (echo->state == WH_NEIGHBOUR_ECHO_SENT) {
		echo->state = WH_NEIGHBOUR_ECHO_LOST;
		echo->due_tsc = WH_TSC_NEVER;
		return 0;
	}
	WH_ASSERT(echo->state == WH_NEIGHBOUR_ECHO_WAITS);
	echo->result = wh_neighbour_lookup(neighbour, now_tsc, &echo->target, mac);
	/* If the MAC is being resolved, the result wakes the echo. */
	echo->due_tsc = WH_TSC_NEVER;
	if (echo->result == WH_NEIGHBOUR_ASKED)
		return 0;
	if (echo->result != WH_NEIGHBOUR_FOUND) {
		echo->state = WH_NEIGHBOUR_ECHO_UNSENT;
		return 0;
	}
	echo->state = WH_NEIGHBOUR_ECHO_SENT;
	echo->sequence++;
	echo->sent_tsc = now_tsc;
	echo->due_tsc = wh_add_u64(now_tsc, neighbour->echo_wait_tsc);
	return write_question(neighbour, mac, frame);
}
