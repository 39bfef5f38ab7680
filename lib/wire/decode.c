/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_common.h>

#include "wire/fields.h"
#include "wire/layout.h"
#include "wire/packet.h"

/*
 * Readers take a packet whose size and kind are good: they check the lengths and reserved
 * bytes that depend on the type and copy the fields; wh_packet_check() then judges the values. What
 * repeats is held against the array that it goes to. Nothing here asserts: whatever the bytes are,
 * a reader comes to a packet or to a reason.
 */
typedef enum wh_wire_reason (*reader)(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet);

#define FROM_LE(value)                                                                             \
	_Generic((value), uint8_t                                                                  \
		 : (value), uint16_t                                                               \
		 : rte_le_to_cpu_16(value), uint32_t                                               \
		 : rte_le_to_cpu_32(value), uint64_t                                               \
		 : rte_le_to_cpu_64(value))

#define READ(wire, part, member, least, most) (part)->member = FROM_LE((wire)->member);

static bool all_zero(const uint8_t *bytes, size_t count)
{
	return count == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

static enum wh_wire_reason length_unless(bool agrees)
{
	return agrees ? WH_WIRE_OK : WH_WIRE_LENGTH;
}

static enum wh_wire_reason read_data(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_data *wire = (const struct wh_wire_data *)head->fields;
	struct wh_data_fields *data = &packet->data;

	WH_FIELDS_DATA(READ, wire, data)
	packet->payload = head->body;
	return length_unless(data->payload_bytes == body_bytes);
}

/* Into an array; its size is the limit. */
#define READ_RANGES(wire, count, ranges) read_ranges(wire, count, ranges, RTE_DIM(ranges))

static enum wh_wire_reason read_ranges(
	const struct wh_wire_range *wire, uint32_t count, struct wh_range *ranges, size_t room)
{
	if (count > room)
		return WH_WIRE_FIELD;
	for (uint32_t i = 0; i < count; i++) {
		ranges[i].offset = rte_le_to_cpu_32(wire[i].offset);
		ranges[i].count = rte_le_to_cpu_32(wire[i].count);
	}
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_losses(
	uint8_t flags, const struct wh_wire_losses *wire, struct wh_rcv_state *state)
{
	static const struct wh_wire_losses none;

	if (!(flags & WH_FLAG_LOSSES))
		wire = &none;
	WH_FIELDS_LOSSES(READ, wire, state)
	return all_zero(wire->reserved, sizeof(wire->reserved)) ? WH_WIRE_OK : WH_WIRE_RESERVED;
}

static enum wh_wire_reason read_rcv_state(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_rcv_state *wire = (const struct wh_wire_rcv_state *)head->fields;
	const struct wh_wire_rcv_state_body *body =
		(const struct wh_wire_rcv_state_body *)head->body;
	struct wh_rcv_state *state = &packet->rcv_state;
	size_t losses_bytes = head->flags & WH_FLAG_LOSSES ? sizeof(struct wh_wire_losses) : 0;

	if (body_bytes < sizeof(*body))
		return WH_WIRE_SHORT;
	if (!all_zero(body->reserved, sizeof(body->reserved)))
		return WH_WIRE_RESERVED;
	WH_FIELDS_RCV_STATE(READ, wire, state)
	WH_FIELDS_RCV_STATE_BODY(READ, body, state)
	if (sizeof(*body) + WH_RANGES_BYTES(state->n_holes) + losses_bytes != body_bytes)
		return WH_WIRE_LENGTH;

	enum wh_wire_reason reason = READ_RANGES(body->holes, state->n_holes, state->holes);

	if (reason != WH_WIRE_OK)
		return reason;
	return read_losses(
		head->flags, (const struct wh_wire_losses *)(body->holes + state->n_holes), state);
}

static enum wh_wire_reason read_trans_state(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_trans_state *wire = (const struct wh_wire_trans_state *)head->fields;

	WH_FIELDS_TRANS_STATE(READ, wire, &packet->trans_state)
	return length_unless(body_bytes == 0);
}

static enum wh_wire_reason read_ack2(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_ack2 *wire = (const struct wh_wire_ack2 *)head->fields;

	WH_FIELDS_ACK2(READ, wire, &packet->ack2)
	return length_unless(body_bytes == 0);
}

static enum wh_wire_reason read_nak(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_nak *wire = (const struct wh_wire_nak *)head->fields;
	struct wh_nak *nak = &packet->nak;

	WH_FIELDS_NAK(READ, wire, nak)
	if (WH_RANGES_BYTES(nak->n_losses) != body_bytes)
		return WH_WIRE_LENGTH;
	return READ_RANGES((const struct wh_wire_range *)head->body, nak->n_losses, nak->losses);
}

static enum wh_wire_reason read_delay_warning(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_delay_warning *wire =
		(const struct wh_wire_delay_warning *)head->fields;

	WH_FIELDS_DELAY_WARNING(READ, wire, &packet->delay_warning)
	return length_unless(body_bytes == 0);
}

static enum wh_wire_reason read_params(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_open_params *params)
{
	const struct wh_wire_params *wire = (const struct wh_wire_params *)head->body;

	if (body_bytes < sizeof(*wire))
		return WH_WIRE_SHORT;
	const struct wh_wire_option *options = (const struct wh_wire_option *)(wire + 1);

	WH_FIELDS_PARAMS(READ, wire, params)
	if (sizeof(*wire) + WH_OPTIONS_BYTES(params->n_options) + params->name_bytes != body_bytes)
		return WH_WIRE_LENGTH;
	if (params->n_options > WH_OPEN_OPTIONS_MAX)
		return WH_WIRE_FIELD;
	for (uint32_t i = 0; i < params->n_options; i++)
		params->options[i] = (struct wh_open_option){
			.number = options[i].number,
			.bits = rte_le_to_cpu_64(options[i].bits),
		};
	memcpy(params->name, options + params->n_options, params->name_bytes);
	params->name[params->name_bytes] = '\0';
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_open(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_open *wire = (const struct wh_wire_open *)head->fields;

	WH_FIELDS_OPEN(READ, wire, &packet->open)
	return read_params(head, body_bytes, &packet->open.params);
}

static enum wh_wire_reason read_accept(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_accept *wire = (const struct wh_wire_accept *)head->fields;
	struct wh_accept *accept = &packet->accept;

	WH_FIELDS_ACCEPT(READ, wire, accept)
	memcpy(accept->cookie, wire->cookie, sizeof(accept->cookie));
	return length_unless(body_bytes == 0);
}

static enum wh_wire_reason read_confirm(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_confirm *wire = (const struct wh_wire_confirm *)head->fields;
	struct wh_confirm *confirm = &packet->confirm;

	WH_FIELDS_CONFIRM(READ, wire, confirm)
	memcpy(confirm->cookie, wire->cookie, sizeof(confirm->cookie));
	return read_params(head, body_bytes, &confirm->params);
}

static enum wh_wire_reason read_release(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_release *wire = (const struct wh_wire_release *)head->fields;
	const struct wh_wire_release_body *body = (const struct wh_wire_release_body *)head->body;
	struct wh_release *release = &packet->release;

	if (body_bytes != sizeof(*body))
		return WH_WIRE_LENGTH;
	WH_FIELDS_RELEASE(READ, wire, release)
	memcpy(release->digest.bytes, body->digest, sizeof(body->digest));
	return WH_WIRE_OK;
}

/* Into an array; its size is the limit. */
#define READ_WORDS(head, body_bytes, count, bits)                                                  \
	read_words(head, body_bytes, count, bits, RTE_DIM(bits))

static enum wh_wire_reason read_words(const struct wh_wire_head *head, size_t body_bytes,
	uint32_t count, uint64_t *bits, size_t room)
{
	const struct wh_wire_word *words = (const struct wh_wire_word *)head->body;

	if (WH_WORDS_BYTES(count) != body_bytes)
		return WH_WIRE_LENGTH;
	if (count > room)
		return WH_WIRE_FIELD;
	for (uint32_t i = 0; i < count; i++)
		bits[i] = rte_le_to_cpu_64(words[i].bits);
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_bitmap(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_bitmap *wire = (const struct wh_wire_bitmap *)head->fields;
	struct wh_bitmap *bitmap = &packet->bitmap;

	WH_FIELDS_BITMAP(READ, wire, bitmap)
	return READ_WORDS(head, body_bytes, wh_bitmap_words(bitmap->pkts), bitmap->bits);
}

/* The padding is not looked at: the seal is over it, and nobody asks what it says. */
static enum wh_wire_reason read_probe(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_probe *wire = (const struct wh_wire_probe *)head->fields;
	struct wh_probe *probe = &packet->probe;

	WH_FIELDS_PROBE(READ, wire, probe)
	return length_unless(probe->padding_bytes == body_bytes);
}

static enum wh_wire_reason read_probe_answer(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_probe_answer *wire = (const struct wh_wire_probe_answer *)head->fields;
	struct wh_probe_answer *answer = &packet->probe_answer;

	WH_FIELDS_PROBE_ANSWER(READ, wire, answer)
	return READ_WORDS(head, body_bytes, answer->n_words, answer->words);
}

static const reader readers[WH_PACKET_TYPES] = {
	[WH_PACKET_DATA] = read_data,
	[WH_PACKET_REPAIR] = read_data,
	[WH_PACKET_RCV_STATE] = read_rcv_state,
	[WH_PACKET_TRANS_STATE] = read_trans_state,
	[WH_PACKET_ACK2] = read_ack2,
	[WH_PACKET_NAK] = read_nak,
	[WH_PACKET_DELAY_WARNING] = read_delay_warning,
	[WH_PACKET_OPEN] = read_open,
	[WH_PACKET_ACCEPT] = read_accept,
	[WH_PACKET_CONFIRM] = read_confirm,
	[WH_PACKET_RELEASE] = read_release,
	[WH_PACKET_BITMAP] = read_bitmap,
	[WH_PACKET_PROBE] = read_probe,
	[WH_PACKET_PROBE_ANSWER] = read_probe_answer,
};

static inline void read_head(const struct wh_wire_head *head, struct wh_packet *packet)
{
	packet->type = head->type;
	WH_FIELDS_HEAD(READ, head, packet)
}

/* From the cheapest question to the dearest. */
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
	read_head(head, packet);
	return WH_WIRE_OK;
}

enum wh_wire_reason wh_packet_read(const uint8_t *bytes, size_t length, struct wh_packet *packet)
{
	const struct wh_wire_head *head = (const struct wh_wire_head *)bytes;
	const struct wh_packet_rule *rule = &wh_packet_rules[head->type];

	if (!all_zero(head->fields + rule->fields_bytes, sizeof(head->fields) - rule->fields_bytes))
		return WH_WIRE_RESERVED;

	enum wh_wire_reason reason = readers[head->type](head, length - sizeof(*head), packet);

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
