/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/assert.h"
#include "wire/layout.h"
#include "wire/packet.h"
#include "wire/tag.h"

/*
 * Readers take a packet whose head, size and tag are good: they check the lengths and reserved
 * bytes that depend on the type and copy the fields; wh_packet_check() then judges the values.
 */
typedef enum wh_wire_reason (*reader)(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet);

static bool all_zero(const uint8_t *bytes, size_t count)
{
	return count == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

static enum wh_wire_reason read_data(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_data *wire = (const struct wh_wire_data *)head->fields;
	struct wh_data_fields *data = &packet->data;

	data->payload_bytes = rte_le_to_cpu_16(wire->payload_bytes);
	if (data->payload_bytes != body_bytes)
		return WH_WIRE_LENGTH;
	data->transmission = rte_le_to_cpu_64(wire->transmission);
	data->chunk = rte_le_to_cpu_32(wire->chunk);
	data->stamp_us = rte_le_to_cpu_32(wire->stamp_us);
	data->blocks = rte_le_to_cpu_16(wire->blocks);
	data->index = rte_le_to_cpu_16(wire->index);
	data->k = rte_le_to_cpu_16(wire->k);
	data->r = rte_le_to_cpu_16(wire->r);
	data->last_bytes = rte_le_to_cpu_16(wire->last_bytes);
	data->code = wire->code;
	packet->payload = head->body;
	return WH_WIRE_OK;
}

static void read_ranges(const struct wh_wire_range *wire, uint32_t count, struct wh_range *ranges)
{
	WH_ASSERT(count <= WH_RANGES_MAX);

	for (uint32_t i = 0; i < count; i++) {
		ranges[i].offset = rte_le_to_cpu_32(wire[i].offset);
		ranges[i].count = rte_le_to_cpu_32(wire[i].count);
	}
}

static enum wh_wire_reason read_losses(
	uint8_t flags, const struct wh_wire_losses *wire, struct wh_rcv_state *state)
{
	state->lost_pkts = state->loss_events = state->repaired_pkts = 0;
	state->undecodable_blocks = 0;
	if (!(flags & WH_FLAG_LOSSES))
		return WH_WIRE_OK;
	if (!all_zero(wire->reserved, sizeof(wire->reserved)))
		return WH_WIRE_RESERVED;
	state->lost_pkts = rte_le_to_cpu_64(wire->lost_pkts);
	state->loss_events = rte_le_to_cpu_64(wire->loss_events);
	state->repaired_pkts = rte_le_to_cpu_64(wire->repaired_pkts);
	state->undecodable_blocks = rte_le_to_cpu_32(wire->undecodable_blocks);
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_rcv_state(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_rcv_state *wire = (const struct wh_wire_rcv_state *)head->fields;
	const struct wh_wire_rcv_state_body *body =
		(const struct wh_wire_rcv_state_body *)head->body;
	struct wh_rcv_state *state = &packet->rcv_state;
	size_t losses_bytes = head->flags & WH_FLAG_LOSSES ? sizeof(struct wh_wire_losses) : 0;

	if (!all_zero(body->reserved, sizeof(body->reserved)))
		return WH_WIRE_RESERVED;
	state->n_holes = rte_le_to_cpu_16(body->n_holes);
	if (sizeof(*body) + WH_RANGES_BYTES(state->n_holes) + losses_bytes != body_bytes)
		return WH_WIRE_LENGTH;
	state->lower = rte_le_to_cpu_64(wire->lower);
	state->upper = rte_le_to_cpu_64(wire->upper);
	state->highest_end = rte_le_to_cpu_64(wire->highest_end);
	state->cover_first = rte_le_to_cpu_64(wire->cover_first);
	state->cover_end = rte_le_to_cpu_64(body->cover_end);
	state->received_pkts = rte_le_to_cpu_64(body->received_pkts);
	state->duplicate_pkts = rte_le_to_cpu_64(body->duplicate_pkts);
	state->bad_pkts = rte_le_to_cpu_64(body->bad_pkts);
	state->chunk_upper = rte_le_to_cpu_32(body->chunk_upper);
	state->queued_chunks = rte_le_to_cpu_32(body->queued_chunks);
	state->buffer_chunks = rte_le_to_cpu_32(body->buffer_chunks);
	state->arrival_pps = rte_le_to_cpu_32(body->arrival_pps);
	state->capacity_pps = rte_le_to_cpu_32(body->capacity_pps);
	state->rtt_us = rte_le_to_cpu_32(body->rtt_us);
	state->rtt_var_us = rte_le_to_cpu_32(body->rtt_var_us);
	read_ranges(body->holes, state->n_holes, state->holes);
	return read_losses(
		head->flags, (const struct wh_wire_losses *)(body->holes + state->n_holes), state);
}

static enum wh_wire_reason read_trans_state(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_trans_state *wire = (const struct wh_wire_trans_state *)head->fields;

	WH_ASSERT(body_bytes == 0);

	packet->trans_state = (struct wh_trans_state){
		.lower = rte_le_to_cpu_64(wire->lower),
		.upper = rte_le_to_cpu_64(wire->upper),
		.sent_pkts = rte_le_to_cpu_64(wire->sent_pkts),
		.queued_pkts = rte_le_to_cpu_32(wire->queued_pkts),
		.stamp_us = rte_le_to_cpu_32(wire->stamp_us),
	};
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_ack2(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_ack2 *wire = (const struct wh_wire_ack2 *)head->fields;

	WH_ASSERT(body_bytes == 0);

	packet->ack2 = (struct wh_ack2){
		.ack_serial = rte_le_to_cpu_64(wire->ack_serial),
		.lower = rte_le_to_cpu_64(wire->lower),
		.stamp_us = rte_le_to_cpu_32(wire->stamp_us),
	};
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_nak(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_nak *wire = (const struct wh_wire_nak *)head->fields;
	struct wh_nak *nak = &packet->nak;

	nak->n_losses = rte_le_to_cpu_16(wire->n_losses);
	if (WH_RANGES_BYTES(nak->n_losses) != body_bytes)
		return WH_WIRE_LENGTH;
	nak->base = rte_le_to_cpu_64(wire->base);
	read_ranges((const struct wh_wire_range *)head->body, nak->n_losses, nak->losses);
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_delay_warning(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_delay_warning *wire =
		(const struct wh_wire_delay_warning *)head->fields;

	WH_ASSERT(body_bytes == 0);

	packet->delay_warning = (struct wh_delay_warning){
		.highest_end = rte_le_to_cpu_64(wire->highest_end),
		.pct_milli = rte_le_to_cpu_16(wire->pct_milli),
		.pdt_milli = rte_le_to_cpu_16(wire->pdt_milli),
	};
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_probe(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_probe *wire = (const struct wh_wire_probe *)head->fields;

	packet->probe = (struct wh_probe){
		.probe = rte_le_to_cpu_32(wire->probe),
		.train_index = rte_le_to_cpu_16(wire->train_index),
		.train_length = rte_le_to_cpu_16(wire->train_length),
		.stamp_us = rte_le_to_cpu_32(wire->stamp_us),
		.echo_stamp_us = rte_le_to_cpu_32(wire->echo_stamp_us),
		.padding_bytes = rte_le_to_cpu_16(wire->padding_bytes),
	};
	if (!all_zero(head->body, body_bytes))
		return WH_WIRE_RESERVED;
	return packet->probe.padding_bytes == body_bytes ? WH_WIRE_OK : WH_WIRE_LENGTH;
}

static enum wh_wire_reason read_params(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_open_params *params)
{
	const struct wh_wire_params *wire = (const struct wh_wire_params *)head->body;

	WH_ASSERT(body_bytes >= sizeof(*wire));

	params->name_bytes = rte_le_to_cpu_16(wire->name_bytes);
	if (sizeof(*wire) + params->name_bytes != body_bytes)
		return WH_WIRE_LENGTH;
	WH_ASSERT(params->name_bytes <= WH_NAME_BYTES_MAX);
	params->initiator_lci = rte_le_to_cpu_32(wire->initiator_lci);
	params->profile = wire->profile;
	params->recovery = wire->recovery;
	params->repair_pkts = rte_le_to_cpu_16(wire->repair_pkts);
	params->payload_bytes = rte_le_to_cpu_16(wire->payload_bytes);
	params->chunk_bytes = rte_le_to_cpu_32(wire->chunk_bytes);
	params->window_pkts = rte_le_to_cpu_32(wire->window_pkts);
	params->period_us = rte_le_to_cpu_32(wire->period_us);
	params->first_serial = rte_le_to_cpu_64(wire->first_serial);
	params->object_bytes = rte_le_to_cpu_64(wire->object_bytes);
	memcpy(params->name, wire + 1, params->name_bytes);
	params->name[params->name_bytes] = '\0';
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_open(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_open *wire = (const struct wh_wire_open *)head->fields;

	packet->open.stamp_us = rte_le_to_cpu_32(wire->stamp_us);
	return read_params(head, body_bytes, &packet->open.params);
}

static enum wh_wire_reason read_accept(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_accept *wire = (const struct wh_wire_accept *)head->fields;
	struct wh_accept *accept = &packet->accept;

	WH_ASSERT(body_bytes == 0);

	accept->acceptor_lci = rte_le_to_cpu_32(wire->acceptor_lci);
	accept->stamp_us = rte_le_to_cpu_32(wire->stamp_us);
	memcpy(accept->cookie, wire->cookie, sizeof(accept->cookie));
	accept->buffer_chunks = rte_le_to_cpu_32(wire->buffer_chunks);
	accept->refused = wire->refused;
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_confirm(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_confirm *wire = (const struct wh_wire_confirm *)head->fields;
	struct wh_confirm *confirm = &packet->confirm;

	confirm->acceptor_lci = rte_le_to_cpu_32(wire->acceptor_lci);
	memcpy(confirm->cookie, wire->cookie, sizeof(confirm->cookie));
	return read_params(head, body_bytes, &confirm->params);
}

static enum wh_wire_reason read_release(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_release *wire = (const struct wh_wire_release *)head->fields;
	const struct wh_wire_release_body *body = (const struct wh_wire_release_body *)head->body;
	struct wh_release *release = &packet->release;

	WH_ASSERT(body_bytes == sizeof(*body));

	release->stage = wire->stage;
	release->status = wire->status;
	release->chunks = rte_le_to_cpu_64(wire->chunks);
	release->total_bytes = rte_le_to_cpu_64(wire->total_bytes);
	release->serial_end = rte_le_to_cpu_64(wire->serial_end);
	memcpy(release->digest.bytes, body->digest, sizeof(body->digest));
	return WH_WIRE_OK;
}

static enum wh_wire_reason read_bitmap(
	const struct wh_wire_head *head, size_t body_bytes, struct wh_packet *packet)
{
	const struct wh_wire_bitmap *wire = (const struct wh_wire_bitmap *)head->fields;
	const struct wh_wire_bitmap_word *words = (const struct wh_wire_bitmap_word *)head->body;
	struct wh_bitmap *bitmap = &packet->bitmap;

	bitmap->first = rte_le_to_cpu_64(wire->first);
	bitmap->pkts = rte_le_to_cpu_16(wire->pkts);
	if (WH_WORDS_BYTES(wh_bitmap_words(bitmap->pkts)) != body_bytes)
		return WH_WIRE_LENGTH;
	WH_ASSERT(bitmap->pkts <= WH_BITMAP_PKTS_MAX);
	for (uint32_t i = 0; i < wh_bitmap_words(bitmap->pkts); i++)
		bitmap->bits[i] = rte_le_to_cpu_64(words[i].bits);
	return WH_WIRE_OK;
}

static const reader readers[WH_PACKET_TYPES] = {
	[WH_PACKET_DATA] = read_data,
	[WH_PACKET_REPAIR] = read_data,
	[WH_PACKET_RCV_STATE] = read_rcv_state,
	[WH_PACKET_TRANS_STATE] = read_trans_state,
	[WH_PACKET_ACK2] = read_ack2,
	[WH_PACKET_NAK] = read_nak,
	[WH_PACKET_DELAY_WARNING] = read_delay_warning,
	[WH_PACKET_PROBE] = read_probe,
	[WH_PACKET_OPEN] = read_open,
	[WH_PACKET_ACCEPT] = read_accept,
	[WH_PACKET_CONFIRM] = read_confirm,
	[WH_PACKET_RELEASE] = read_release,
	[WH_PACKET_BITMAP] = read_bitmap,
};

/*
 * From the cheapest question to the dearest; no field counts before the tag agrees. Of a virtual
 * body none is there, nor in the tag.
 */
static inline enum wh_wire_reason head_check(
	const struct wh_wire_head *head, size_t length, bool body_virtual)
{
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
	if (head->key != 0)
		return WH_WIRE_KEY;
	if (!wh_tag_agrees(
		    (const uint8_t *)head, head->body, body_virtual ? 0 : length - sizeof(*head)))
		return WH_WIRE_TAG;
	if (!all_zero(head->fields + rule->fields_bytes, sizeof(head->fields) - rule->fields_bytes))
		return WH_WIRE_RESERVED;
	return WH_WIRE_OK;
}

static inline void read_head(const struct wh_wire_head *head, struct wh_packet *packet)
{
	packet->type = head->type;
	packet->flags = head->flags;
	packet->key = head->key;
	packet->lci = rte_le_to_cpu_32(head->lci);
	packet->serial = rte_le_to_cpu_64(head->serial);
}

enum wh_wire_reason wh_packet_decode(const uint8_t *bytes, size_t length, struct wh_packet *packet)
{
	WH_ASSERT(bytes != NULL || length == 0);
	WH_ASSERT(packet != NULL);

	const struct wh_wire_head *head = (const struct wh_wire_head *)bytes;
	enum wh_wire_reason reason = head_check(head, length, false);

	if (reason != WH_WIRE_OK)
		return reason;
	read_head(head, packet);
	reason = readers[head->type](head, length - sizeof(*head), packet);
	return reason != WH_WIRE_OK ? reason : wh_packet_check(packet);
}

bool wh_packet_decode_head(const uint8_t *bytes, size_t length, struct wh_packet *packet)
{
	const struct wh_wire_head *head = (const struct wh_wire_head *)bytes;
	const struct wh_packet_rule *rule = &wh_packet_rules[WH_PACKET_DATA];

	if (length < rule->bytes_min || length > rule->bytes_max ||
		head->version != WH_WIRE_VERSION || head->type != WH_PACKET_DATA ||
		!wh_packet_flags_allowed(rule, head->flags) || head->key != 0)
		return false;

	const struct wh_wire_data *wire = (const struct wh_wire_data *)head->fields;

	if (!all_zero(wire->reserved, sizeof(wire->reserved)))
		return false;
	read_head(head, packet);
	return read_data(head, length - sizeof(*head), packet) == WH_WIRE_OK &&
	       wh_packet_check(packet) == WH_WIRE_OK;
}

enum wh_wire_reason wh_packet_decode_body(
	const uint8_t *bytes, struct wh_packet *packet, uint8_t *to)
{
	const struct wh_wire_head *head = (const struct wh_wire_head *)bytes;

	WH_DEBUG_ASSERT(packet->payload == head->body);
	if (!wh_tag_agrees_copy(bytes, head->body, packet->data.payload_bytes, to))
		return WH_WIRE_TAG;
	packet->payload = to;
	return WH_WIRE_OK;
}

enum wh_wire_reason wh_packet_decode_virtual(
	const uint8_t *bytes, size_t payload_bytes, struct wh_packet *packet)
{
	WH_ASSERT(bytes != NULL && packet != NULL);

	const struct wh_wire_head *head = (const struct wh_wire_head *)bytes;
	bool has_payload = head->type == WH_PACKET_DATA || head->type == WH_PACKET_REPAIR;

	if (!has_payload)
		return WH_WIRE_TYPE_UNKNOWN;

	enum wh_wire_reason reason = head_check(head, sizeof(*head) + payload_bytes, true);

	if (reason != WH_WIRE_OK)
		return reason;
	read_head(head, packet);
	reason = read_data(head, payload_bytes, packet);
	packet->payload = NULL;
	return reason != WH_WIRE_OK ? reason : wh_packet_check(packet);
}
