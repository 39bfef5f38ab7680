/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/assert.h"
#include "wire/fields.h"
#include "wire/layout.h"
#include "wire/packet.h"

#define TO_LE(value)                                                                               \
	_Generic((value), uint8_t                                                                  \
		 : (value), uint16_t                                                               \
		 : rte_cpu_to_le_16(value), uint32_t                                               \
		 : rte_cpu_to_le_32(value), uint64_t                                               \
		 : rte_cpu_to_le_64(value))

/* For a layout that is all zero, so that what is reserved stays so. */
#define WRITE(wire, part, member, least, most) (wire)->member = TO_LE((part)->member);

static void write_head(const struct wh_packet *packet, struct wh_wire_head *head)
{
	head->version = WH_WIRE_VERSION;
	head->type = (uint8_t)packet->type;
	WH_FIELDS_HEAD(WRITE, head, packet)
}

void wh_packet_encode_data(const struct wh_packet *packet, uint8_t *head)
{
	struct wh_wire_head *wire = (struct wh_wire_head *)head;
	const struct wh_data_fields *data = &packet->data;
	struct wh_wire_data *fields = (struct wh_wire_data *)wire->fields;

	WH_ASSERT(packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR);
	WH_ASSERT(wh_packet_check(packet) == WH_WIRE_OK);

	write_head(packet, wire);
	*fields = (struct wh_wire_data){0};
	WH_FIELDS_DATA(WRITE, fields, data)
}

static void write_ranges(const struct wh_range *ranges, uint32_t count, struct wh_wire_range *wire)
{
	for (uint32_t i = 0; i < count; i++) {
		wire[i].offset = rte_cpu_to_le_32(ranges[i].offset);
		wire[i].count = rte_cpu_to_le_32(ranges[i].count);
	}
}

static void write_losses(const struct wh_rcv_state *state, struct wh_wire_losses *wire)
{
	*wire = (struct wh_wire_losses){0};
	WH_FIELDS_LOSSES(WRITE, wire, state)
}

static void write_rcv_state(const struct wh_rcv_state *state, struct wh_wire_head *head)
{
	struct wh_wire_rcv_state *wire = (struct wh_wire_rcv_state *)head->fields;
	struct wh_wire_rcv_state_body *body = (struct wh_wire_rcv_state_body *)head->body;

	*body = (struct wh_wire_rcv_state_body){0};
	WH_FIELDS_RCV_STATE(WRITE, wire, state)
	WH_FIELDS_RCV_STATE_BODY(WRITE, body, state)
	write_ranges(state->holes, state->n_holes, body->holes);
	if (head->flags & WH_FLAG_LOSSES)
		write_losses(state, (struct wh_wire_losses *)(body->holes + state->n_holes));
}

static void write_trans_state(const struct wh_trans_state *state, struct wh_wire_head *head)
{
	struct wh_wire_trans_state *wire = (struct wh_wire_trans_state *)head->fields;

	WH_FIELDS_TRANS_STATE(WRITE, wire, state)
}

static void write_ack2(const struct wh_ack2 *ack2, struct wh_wire_head *head)
{
	struct wh_wire_ack2 *wire = (struct wh_wire_ack2 *)head->fields;

	WH_FIELDS_ACK2(WRITE, wire, ack2)
}

static void write_nak(const struct wh_nak *nak, struct wh_wire_head *head)
{
	struct wh_wire_nak *wire = (struct wh_wire_nak *)head->fields;

	WH_FIELDS_NAK(WRITE, wire, nak)
	write_ranges(nak->losses, nak->n_losses, (struct wh_wire_range *)head->body);
}

static void write_delay_warning(const struct wh_delay_warning *warning, struct wh_wire_head *head)
{
	struct wh_wire_delay_warning *wire = (struct wh_wire_delay_warning *)head->fields;

	WH_FIELDS_DELAY_WARNING(WRITE, wire, warning)
}

size_t wh_params_encode(const struct wh_open_params *params, uint8_t *bytes)
{
	struct wh_wire_params *wire = (struct wh_wire_params *)bytes;
	struct wh_wire_option *options = (struct wh_wire_option *)(wire + 1);
	uint8_t *name = (uint8_t *)(options + params->n_options);

	WH_ASSERT(params->n_options <= WH_OPEN_OPTIONS_MAX);
	WH_FIELDS_PARAMS(WRITE, wire, params)
	for (uint32_t i = 0; i < params->n_options; i++)
		options[i] = (struct wh_wire_option){
			.bits = rte_cpu_to_le_64(params->options[i].bits),
			.number = params->options[i].number,
		};
	memcpy(name, params->name, params->name_bytes);
	return (size_t)(name - bytes) + params->name_bytes;
}

static void write_open(const struct wh_open *open, struct wh_wire_head *head)
{
	struct wh_wire_open *wire = (struct wh_wire_open *)head->fields;

	WH_FIELDS_OPEN(WRITE, wire, open)
	wh_params_encode(&open->params, head->body);
}

static void write_accept(const struct wh_accept *accept, struct wh_wire_head *head)
{
	struct wh_wire_accept *wire = (struct wh_wire_accept *)head->fields;

	WH_FIELDS_ACCEPT(WRITE, wire, accept)
	memcpy(wire->cookie, accept->cookie, sizeof(wire->cookie));
}

static void write_confirm(const struct wh_confirm *confirm, struct wh_wire_head *head)
{
	struct wh_wire_confirm *wire = (struct wh_wire_confirm *)head->fields;

	WH_FIELDS_CONFIRM(WRITE, wire, confirm)
	memcpy(wire->cookie, confirm->cookie, sizeof(wire->cookie));
	wh_params_encode(&confirm->params, head->body);
}

static void write_release(const struct wh_release *release, struct wh_wire_head *head)
{
	struct wh_wire_release *wire = (struct wh_wire_release *)head->fields;
	struct wh_wire_release_body *body = (struct wh_wire_release_body *)head->body;

	WH_FIELDS_RELEASE(WRITE, wire, release)
	memcpy(body->digest, release->digest.bytes, sizeof(body->digest));
}

static void write_words(const uint64_t *bits, uint32_t count, struct wh_wire_head *head)
{
	struct wh_wire_word *words = (struct wh_wire_word *)head->body;

	for (uint32_t i = 0; i < count; i++)
		words[i].bits = rte_cpu_to_le_64(bits[i]);
}

static void write_bitmap(const struct wh_bitmap *bitmap, struct wh_wire_head *head)
{
	struct wh_wire_bitmap *wire = (struct wh_wire_bitmap *)head->fields;

	WH_FIELDS_BITMAP(WRITE, wire, bitmap)
	write_words(bitmap->bits, wh_bitmap_words(bitmap->pkts), head);
}

static void write_probe(const struct wh_probe *probe, struct wh_wire_head *head)
{
	struct wh_wire_probe *wire = (struct wh_wire_probe *)head->fields;

	WH_FIELDS_PROBE(WRITE, wire, probe)
	memset(head->body, 0, probe->padding_bytes);
}

static void write_probe_answer(const struct wh_probe_answer *answer, struct wh_wire_head *head)
{
	struct wh_wire_probe_answer *wire = (struct wh_wire_probe_answer *)head->fields;

	WH_FIELDS_PROBE_ANSWER(WRITE, wire, answer)
	write_words(answer->words, answer->n_words, head);
}

/* What follows the part of fixed size. */
static size_t variable_bytes(const struct wh_packet *packet)
{
	switch (packet->type) {
	case WH_PACKET_RCV_STATE:
		return WH_RANGES_BYTES(packet->rcv_state.n_holes) +
		       (packet->flags & WH_FLAG_LOSSES ? sizeof(struct wh_wire_losses) : 0);
	case WH_PACKET_NAK:
		/* The least NAK, as the rules have it, counts one loss already. */
		return WH_RANGES_BYTES(packet->nak.n_losses - 1u);
	case WH_PACKET_BITMAP:
		/* Likewise, a word. */
		return WH_WORDS_BYTES(wh_bitmap_words(packet->bitmap.pkts) - 1u);
	case WH_PACKET_PROBE:
		return packet->probe.padding_bytes;
	case WH_PACKET_PROBE_ANSWER:
		return WH_WORDS_BYTES(packet->probe_answer.n_words);
	case WH_PACKET_OPEN:
		return WH_OPTIONS_BYTES(packet->open.params.n_options) +
		       packet->open.params.name_bytes;
	case WH_PACKET_CONFIRM:
		return WH_OPTIONS_BYTES(packet->confirm.params.n_options) +
		       packet->confirm.params.name_bytes;
	default:
		return 0;
	}
}

uint32_t wh_packet_encode(const struct wh_packet *packet, uint8_t *bytes, size_t room)
{
	struct wh_wire_head *head = (struct wh_wire_head *)bytes;

	WH_ASSERT(packet->type != WH_PACKET_DATA && packet->type != WH_PACKET_REPAIR);
	WH_ASSERT(wh_packet_check(packet) == WH_WIRE_OK);

	size_t length = wh_packet_rules[packet->type].bytes_min + variable_bytes(packet);

	WH_ASSERT(length <= room);
	WH_ASSERT(length <= WH_CONTROL_BYTES_MAX || packet->type == WH_PACKET_PROBE);

	write_head(packet, head);
	memset(head->fields, 0, sizeof(head->fields));
	switch (packet->type) {
	case WH_PACKET_RCV_STATE:
		write_rcv_state(&packet->rcv_state, head);
		break;
	case WH_PACKET_TRANS_STATE:
		write_trans_state(&packet->trans_state, head);
		break;
	case WH_PACKET_ACK2:
		write_ack2(&packet->ack2, head);
		break;
	case WH_PACKET_NAK:
		write_nak(&packet->nak, head);
		break;
	case WH_PACKET_DELAY_WARNING:
		write_delay_warning(&packet->delay_warning, head);
		break;
	case WH_PACKET_OPEN:
		write_open(&packet->open, head);
		break;
	case WH_PACKET_ACCEPT:
		write_accept(&packet->accept, head);
		break;
	case WH_PACKET_CONFIRM:
		write_confirm(&packet->confirm, head);
		break;
	case WH_PACKET_RELEASE:
		write_release(&packet->release, head);
		break;
	case WH_PACKET_BITMAP:
		write_bitmap(&packet->bitmap, head);
		break;
	case WH_PACKET_PROBE:
		write_probe(&packet->probe, head);
		break;
	case WH_PACKET_PROBE_ANSWER:
		write_probe_answer(&packet->probe_answer, head);
		break;
	case WH_PACKET_DATA:
	case WH_PACKET_REPAIR:
	case WH_PACKET_TYPES:
		break;
	}
	return (uint32_t)length;
}
