/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/assert.h"
#include "wire/layout.h"
#include "wire/packet.h"

static void write_head(const struct wh_packet *packet, struct wh_wire_head *head)
{
	head->version = WH_WIRE_VERSION;
	head->type = (uint8_t)packet->type;
	head->flags = packet->flags;
	head->cid = packet->cid;
	head->pn = packet->pn;
}

void wh_packet_encode_data(const struct wh_packet *packet, uint8_t *head)
{
	struct wh_wire_head *wire = (struct wh_wire_head *)head;

	WH_ASSERT(packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR);
	WH_ASSERT(wh_packet_check(packet) == WH_WIRE_OK);

	write_head(packet, wire);
	memcpy(wire->fields, &packet->data, WH_DATA_FIELDS);
	memset(wire->fields + WH_DATA_FIELDS, 0, WH_FIELDS_BYTES - WH_DATA_FIELDS);
}

static void write_options(const struct wh_open_params *params, uint8_t *bytes)
{
	struct wh_wire_option *options = (struct wh_wire_option *)bytes;

	WH_ASSERT(params->n_options <= WH_OPEN_OPTIONS_MAX);
	for (uint32_t i = 0; i < params->n_options; i++)
		options[i] = (struct wh_wire_option){
			.bits = params->options[i].bits, .number = params->options[i].number};
	memcpy(options + params->n_options, params->name, params->name_bytes);
}

size_t wh_params_encode(const struct wh_open_params *params, uint8_t *bytes)
{
	memcpy(bytes, params, WH_PARAMS_BODY);
	write_options(params, bytes + WH_PARAMS_BODY);
	return WH_PARAMS_BODY + WH_OPTIONS_BYTES(params->n_options) + params->name_bytes;
}

static void write_rcv_report(uint8_t flags, const struct wh_rcv_report *report, uint8_t *bytes)
{
	memcpy(bytes, report->holes, WH_RANGES_BYTES(report->n_holes));
	bytes += WH_RANGES_BYTES(report->n_holes);
	if (flags & WH_FLAG_LOSSES) {
		memcpy(bytes, &report->lost_pkts, WH_LOSSES_BYTES);
		bytes += WH_LOSSES_BYTES;
	}
	if (flags & WH_FLAG_DELIVERY)
		memcpy(bytes, &report->delivered_pkts, WH_DELIVERY_BYTES);
}

static void write_variable(const struct wh_packet *packet, uint8_t *bytes)
{
	switch (packet->type) {
	case WH_PACKET_RCV_REPORT:
		write_rcv_report(packet->flags, &packet->rcv_report, bytes);
		break;
	case WH_PACKET_NAK:
		memcpy(bytes, packet->nak.losses, WH_RANGES_BYTES(packet->nak.n_losses));
		break;
	case WH_PACKET_BITMAP:
		memcpy(bytes, packet->bitmap.bits,
			WH_WORDS_BYTES(wh_bitmap_words(packet->bitmap.pkts)));
		break;
	case WH_PACKET_OPEN:
		write_options(&packet->open.params, bytes);
		break;
	case WH_PACKET_CONFIRM:
		write_options(&packet->confirm.params, bytes);
		break;
	case WH_PACKET_PROBE:
		memset(bytes, 0, packet->probe.padding_bytes);
		break;
	case WH_PACKET_PROBE_ANSWER:
		memcpy(bytes, packet->probe_answer.words,
			WH_WORDS_BYTES(packet->probe_answer.n_words));
		break;
	case WH_PACKET_CRYPTO:
		memcpy(bytes, packet->crypto.data, packet->crypto.bytes);
		memset(bytes + packet->crypto.bytes, 0, packet->crypto.padding_bytes);
		break;
	default:
		break;
	}
}

uint32_t wh_packet_encode(const struct wh_packet *packet, uint8_t *bytes, size_t room)
{
	struct wh_wire_head *head = (struct wh_wire_head *)bytes;

	WH_ASSERT(packet->type != WH_PACKET_DATA && packet->type != WH_PACKET_REPAIR);
	WH_ASSERT(wh_packet_check(packet) == WH_WIRE_OK);

	const struct wh_packet_rule *rule = &wh_packet_rules[packet->type];
	size_t length = WH_HEAD_BYTES + rule->body_bytes + wh_packet_variable_bytes(packet);

	WH_ASSERT(length <= room);
	WH_ASSERT(length <= WH_CONTROL_BYTES_MAX || packet->type == WH_PACKET_PROBE);
	write_head(packet, head);
	memset(head->fields, 0, WH_FIELDS_BYTES);
	memcpy(head->fields, packet->fields, rule->fields_bytes);
	memcpy(head->body, (const uint8_t *)packet + rule->body_at, rule->body_bytes);
	write_variable(packet, head->body + rule->body_bytes);
	return (uint32_t)length;
}
