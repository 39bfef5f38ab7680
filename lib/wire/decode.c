/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_common.h>

#include "wire/layout.h"
#include "wire/packet.h"

/*
 * Nothing here asserts: any bytes lead to a packet or to a reason. The counts of repeated elements
 * are checked against the size of their arrays; wh_packet_check() checks the values.
 */

static bool all_zero(const uint8_t *bytes, size_t count)
{
	return count == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

/* The cheapest checks come first. */
enum wh_wire_reason wh_packet_peek(const uint8_t *bytes, size_t length, struct wh_packet *packet)
{
	const struct wh_wire_head *head = (const struct wh_wire_head *)bytes;

	if (length < sizeof(*head))
		return WH_WIRE_SHORT;
	if (head->version != WH_WIRE_VERSION)
		return WH_WIRE_VERSION_UNKNOWN;
	if (head->type == 0 || head->type >= WH_PACKET_TYPES)
		return WH_WIRE_TYPE_UNKNOWN;

	const struct wh_packet_rule *rule = &wh_packet_rules[head->type];

	if (length < rule->bytes_min)
		return WH_WIRE_SHORT;
	if (length > rule->bytes_max)
		return WH_WIRE_LONG;
	if (!wh_packet_flags_allowed(rule, head->flags))
		return WH_WIRE_FLAGS;
	packet->type = head->type;
	packet->flags = head->flags;
	packet->cid = head->cid;
	packet->pn = head->pn;
	return WH_WIRE_OK;
}

/* Copies into an array, if it has room. */
#define READ_ALL(wire, count, array)                                                               \
	read_all(wire, count, array, sizeof((array)[0]), RTE_DIM(array))

static enum wh_wire_reason read_all(
	const uint8_t *wire, size_t count, void *array, size_t element_bytes, size_t room)
{
	if (count > room)
		return WH_WIRE_FIELD;
	memcpy(array, wire, count * element_bytes);
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_rcv_report(
	uint8_t flags, const uint8_t *wire, struct wh_rcv_report *report)
{
	const uint8_t *behind = wire + WH_RANGES_BYTES((size_t)report->n_holes);

	memset(&report->lost_pkts, 0, WH_LOSSES_BYTES + WH_DELIVERY_BYTES);
	if (flags & WH_FLAG_LOSSES) {
		memcpy(&report->lost_pkts, behind, WH_LOSSES_BYTES);
		behind += WH_LOSSES_BYTES;
	}
	if (flags & WH_FLAG_DELIVERY)
		memcpy(&report->delivered_pkts, behind, WH_DELIVERY_BYTES);
	return READ_ALL(wire, report->n_holes, report->holes);
}

static enum wh_wire_reason read_params(const uint8_t *wire, struct wh_open_params *params)
{
	const struct wh_wire_option *options = (const struct wh_wire_option *)wire;

	if (params->n_options > WH_OPEN_OPTIONS_MAX)
		return WH_WIRE_FIELD;
	for (uint32_t i = 0; i < params->n_options; i++)
		params->options[i] = (struct wh_open_option){
			.number = options[i].number, .bits = options[i].bits};
	memcpy(params->name, options + params->n_options, params->name_bytes);
	params->name[params->name_bytes] = '\0';
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_variable(const uint8_t *wire, struct wh_packet *packet)
{
	switch (packet->type) {
	case WH_PACKET_RCV_REPORT:
		return read_rcv_report(packet->flags, wire, &packet->rcv_report);
	case WH_PACKET_NAK:
		return READ_ALL(wire, packet->nak.n_losses, packet->nak.losses);
	case WH_PACKET_BITMAP:
		return READ_ALL(wire, wh_bitmap_words(packet->bitmap.pkts), packet->bitmap.bits);
	case WH_PACKET_OPEN:
		return read_params(wire, &packet->open.params);
	case WH_PACKET_CONFIRM:
		return read_params(wire, &packet->confirm.params);
	case WH_PACKET_PROBE_ANSWER:
		return READ_ALL(wire, packet->probe_answer.n_words, packet->probe_answer.words);
	case WH_PACKET_CRYPTO:
		return READ_ALL(wire, packet->crypto.bytes, packet->crypto.data);
	case WH_PACKET_PROBE: /* padding has no meaning, and the seal covers it */
	default:
		return WH_WIRE_OK;
	}
}

/* With fixed offsets, known to the compiler. */
static enum wh_wire_reason read_data(
	const struct wh_wire_head *head, size_t length, struct wh_packet *packet)
{
	if (!all_zero(head->fields + WH_DATA_FIELDS, WH_FIELDS_BYTES - WH_DATA_FIELDS))
		return WH_WIRE_RESERVED;
	memcpy(&packet->data, head->fields, WH_DATA_FIELDS);
	packet->payload = head->body;
	if (packet->data.payload_bytes != length - WH_HEAD_BYTES)
		return WH_WIRE_LENGTH;
	return wh_packet_check(packet);
}

enum wh_wire_reason wh_packet_read(const uint8_t *bytes, size_t length, struct wh_packet *packet)
{
	const struct wh_wire_head *head = (const struct wh_wire_head *)bytes;
	const struct wh_packet_rule *rule = &wh_packet_rules[packet->type];

	if (packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR)
		return read_data(head, length, packet);
	if (!all_zero(head->fields + rule->fields_bytes, WH_FIELDS_BYTES - rule->fields_bytes))
		return WH_WIRE_RESERVED;
	/* bytes_min includes the body. */
	memcpy(packet->fields, head->fields, rule->fields_bytes);
	memcpy((uint8_t *)packet + rule->body_at, head->body, rule->body_bytes);
	if (WH_HEAD_BYTES + rule->body_bytes + wh_packet_variable_bytes(packet) != length)
		return WH_WIRE_LENGTH;

	enum wh_wire_reason reason = read_variable(head->body + rule->body_bytes, packet);

	return reason != WH_WIRE_OK ? reason : wh_packet_check(packet);
}

enum wh_wire_reason wh_packet_decode(const uint8_t *bytes, size_t length, struct wh_packet *packet)
{
	enum wh_wire_reason reason = wh_packet_peek(bytes, length, packet);

	return reason != WH_WIRE_OK ? reason : wh_packet_read(bytes, length, packet);
}

enum wh_wire_reason wh_packet_decode_virtual(
	const uint8_t *head, size_t payload_bytes, struct wh_packet *packet)
{
	size_t length = WH_HEAD_BYTES + payload_bytes;
	enum wh_wire_reason reason = wh_packet_peek(head, length, packet);

	if (reason != WH_WIRE_OK)
		return reason;
	if (packet->type != WH_PACKET_DATA && packet->type != WH_PACKET_REPAIR)
		return WH_WIRE_TYPE_UNKNOWN;
	reason = wh_packet_read(head, length, packet);
	packet->payload = NULL;
	return reason;
}
