/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/assert.h"
#include "wire/layout.h"
#include "wire/packet.h"
#include "wire/tag.h"

static void write_head(const struct wh_packet *packet, struct wh_wire_head *head)
{
	head->version = WH_WIRE_VERSION;
	head->type = (uint8_t)packet->type;
	head->flags = packet->flags;
	head->key = packet->key;
	head->lci = rte_cpu_to_le_32(packet->lci);
	head->serial = rte_cpu_to_le_64(packet->serial);
}

static inline void write_data(const struct wh_packet *packet, struct wh_wire_head *wire)
{
	const struct wh_data_fields *data = &packet->data;

	WH_ASSERT(packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR);
	WH_ASSERT(wh_packet_check(packet) == WH_WIRE_OK);

	write_head(packet, wire);
	*(struct wh_wire_data *)wire->fields = (struct wh_wire_data){
		.transmission = rte_cpu_to_le_64(data->transmission),
		.chunk = rte_cpu_to_le_32(data->chunk),
		.stamp_us = rte_cpu_to_le_32(data->stamp_us),
		.blocks = rte_cpu_to_le_16(data->blocks),
		.index = rte_cpu_to_le_16(data->index),
		.k = rte_cpu_to_le_16(data->k),
		.r = rte_cpu_to_le_16(data->r),
		.payload_bytes = rte_cpu_to_le_16(data->payload_bytes),
		.last_bytes = rte_cpu_to_le_16(data->last_bytes),
		.code = data->code,
	};
}

void wh_packet_encode_data(const struct wh_packet *packet, uint8_t *head)
{
	write_data(packet, (struct wh_wire_head *)head);
	wh_tag_write(head, packet->payload, packet->data.payload_bytes);
}

void wh_packet_encode_data_copy(const struct wh_packet *packet, uint8_t *head)
{
	write_data(packet, (struct wh_wire_head *)head);
	wh_tag_write_copy(head, packet->payload, packet->data.payload_bytes, head + WH_HEAD_BYTES);
}

void wh_packet_encode_data_virtual(const struct wh_packet *packet, uint8_t *head)
{
	WH_ASSERT(packet->payload == NULL);
	write_data(packet, (struct wh_wire_head *)head);
	wh_tag_write(head, NULL, 0);
}

static void write_ranges(const struct wh_range *ranges, uint32_t count, struct wh_wire_range *wire)
{
	for (uint32_t i = 0; i < count; i++) {
		wire[i].offset = rte_cpu_to_le_32(ranges[i].offset);
		wire[i].count = rte_cpu_to_le_32(ranges[i].count);
	}
}

static void write_rcv_state(const struct wh_rcv_state *state, struct wh_wire_head *head)
{
	struct wh_wire_rcv_state_body *body = (struct wh_wire_rcv_state_body *)head->body;

	*(struct wh_wire_rcv_state *)head->fields = (struct wh_wire_rcv_state){
		.lower = rte_cpu_to_le_64(state->lower),
		.upper = rte_cpu_to_le_64(state->upper),
		.highest_end = rte_cpu_to_le_64(state->highest_end),
		.cover_first = rte_cpu_to_le_64(state->cover_first),
	};
	*body = (struct wh_wire_rcv_state_body){
		.cover_end = rte_cpu_to_le_64(state->cover_end),
		.received_pkts = rte_cpu_to_le_64(state->received_pkts),
		.duplicate_pkts = rte_cpu_to_le_64(state->duplicate_pkts),
		.bad_pkts = rte_cpu_to_le_64(state->bad_pkts),
		.chunk_upper = rte_cpu_to_le_32(state->chunk_upper),
		.queued_chunks = rte_cpu_to_le_32(state->queued_chunks),
		.buffer_chunks = rte_cpu_to_le_32(state->buffer_chunks),
		.arrival_pps = rte_cpu_to_le_32(state->arrival_pps),
		.capacity_pps = rte_cpu_to_le_32(state->capacity_pps),
		.rtt_us = rte_cpu_to_le_32(state->rtt_us),
		.rtt_var_us = rte_cpu_to_le_32(state->rtt_var_us),
		.n_holes = rte_cpu_to_le_16(state->n_holes),
	};
	write_ranges(state->holes, state->n_holes, body->holes);
	if (head->flags & WH_FLAG_LOSSES)
		*(struct wh_wire_losses *)(body->holes + state->n_holes) = (struct wh_wire_losses){
			.lost_pkts = rte_cpu_to_le_64(state->lost_pkts),
			.loss_events = rte_cpu_to_le_64(state->loss_events),
			.repaired_pkts = rte_cpu_to_le_64(state->repaired_pkts),
			.undecodable_blocks = rte_cpu_to_le_32(state->undecodable_blocks),
		};
}

static void write_trans_state(const struct wh_trans_state *state, struct wh_wire_head *head)
{
	*(struct wh_wire_trans_state *)head->fields = (struct wh_wire_trans_state){
		.lower = rte_cpu_to_le_64(state->lower),
		.upper = rte_cpu_to_le_64(state->upper),
		.sent_pkts = rte_cpu_to_le_64(state->sent_pkts),
		.queued_pkts = rte_cpu_to_le_32(state->queued_pkts),
		.stamp_us = rte_cpu_to_le_32(state->stamp_us),
	};
}

static void write_ack2(const struct wh_ack2 *ack2, struct wh_wire_head *head)
{
	*(struct wh_wire_ack2 *)head->fields = (struct wh_wire_ack2){
		.ack_serial = rte_cpu_to_le_64(ack2->ack_serial),
		.lower = rte_cpu_to_le_64(ack2->lower),
		.stamp_us = rte_cpu_to_le_32(ack2->stamp_us),
	};
}

static void write_nak(const struct wh_nak *nak, struct wh_wire_head *head)
{
	*(struct wh_wire_nak *)head->fields = (struct wh_wire_nak){
		.base = rte_cpu_to_le_64(nak->base),
		.n_losses = rte_cpu_to_le_16(nak->n_losses),
	};
	write_ranges(nak->losses, nak->n_losses, (struct wh_wire_range *)head->body);
}

static void write_delay_warning(const struct wh_delay_warning *warning, struct wh_wire_head *head)
{
	*(struct wh_wire_delay_warning *)head->fields = (struct wh_wire_delay_warning){
		.highest_end = rte_cpu_to_le_64(warning->highest_end),
		.pct_milli = rte_cpu_to_le_16(warning->pct_milli),
		.pdt_milli = rte_cpu_to_le_16(warning->pdt_milli),
	};
}

static void write_probe(const struct wh_probe *probe, struct wh_wire_head *head)
{
	*(struct wh_wire_probe *)head->fields = (struct wh_wire_probe){
		.probe = rte_cpu_to_le_32(probe->probe),
		.train_index = rte_cpu_to_le_16(probe->train_index),
		.train_length = rte_cpu_to_le_16(probe->train_length),
		.stamp_us = rte_cpu_to_le_32(probe->stamp_us),
		.echo_stamp_us = rte_cpu_to_le_32(probe->echo_stamp_us),
		.padding_bytes = rte_cpu_to_le_16(probe->padding_bytes),
	};
	memset(head->body, 0, probe->padding_bytes);
}

void wh_params_encode(const struct wh_open_params *params, struct wh_wire_params *wire)
{
	*wire = (struct wh_wire_params){
		.initiator_lci = rte_cpu_to_le_32(params->initiator_lci),
		.chunk_bytes = rte_cpu_to_le_32(params->chunk_bytes),
		.window_pkts = rte_cpu_to_le_32(params->window_pkts),
		.period_us = rte_cpu_to_le_32(params->period_us),
		.first_serial = rte_cpu_to_le_64(params->first_serial),
		.object_bytes = rte_cpu_to_le_64(params->object_bytes),
		.payload_bytes = rte_cpu_to_le_16(params->payload_bytes),
		.name_bytes = rte_cpu_to_le_16(params->name_bytes),
		.profile = params->profile,
		.recovery = params->recovery,
		.repair_pkts = rte_cpu_to_le_16(params->repair_pkts),
	};
}

static void write_params(const struct wh_open_params *params, struct wh_wire_head *head)
{
	struct wh_wire_params *wire = (struct wh_wire_params *)head->body;

	wh_params_encode(params, wire);
	memcpy(wire + 1, params->name, params->name_bytes);
}

static void write_open(const struct wh_open *open, struct wh_wire_head *head)
{
	*(struct wh_wire_open *)head->fields = (struct wh_wire_open){
		.stamp_us = rte_cpu_to_le_32(open->stamp_us),
	};
	write_params(&open->params, head);
}

static void write_accept(const struct wh_accept *accept, struct wh_wire_head *head)
{
	struct wh_wire_accept *wire = (struct wh_wire_accept *)head->fields;

	*wire = (struct wh_wire_accept){
		.acceptor_lci = rte_cpu_to_le_32(accept->acceptor_lci),
		.stamp_us = rte_cpu_to_le_32(accept->stamp_us),
		.buffer_chunks = rte_cpu_to_le_32(accept->buffer_chunks),
		.refused = accept->refused,
	};
	memcpy(wire->cookie, accept->cookie, sizeof(wire->cookie));
}

static void write_confirm(const struct wh_confirm *confirm, struct wh_wire_head *head)
{
	struct wh_wire_confirm *wire = (struct wh_wire_confirm *)head->fields;

	*wire = (struct wh_wire_confirm){
		.acceptor_lci = rte_cpu_to_le_32(confirm->acceptor_lci),
	};
	memcpy(wire->cookie, confirm->cookie, sizeof(wire->cookie));
	write_params(&confirm->params, head);
}

static void write_release(const struct wh_release *release, struct wh_wire_head *head)
{
	struct wh_wire_release_body *body = (struct wh_wire_release_body *)head->body;

	*(struct wh_wire_release *)head->fields = (struct wh_wire_release){
		.chunks = rte_cpu_to_le_64(release->chunks),
		.total_bytes = rte_cpu_to_le_64(release->total_bytes),
		.serial_end = rte_cpu_to_le_64(release->serial_end),
		.stage = release->stage,
		.status = release->status,
	};
	memcpy(body->digest, release->digest.bytes, sizeof(body->digest));
}

static void write_bitmap(const struct wh_bitmap *bitmap, struct wh_wire_head *head)
{
	struct wh_wire_bitmap_word *words = (struct wh_wire_bitmap_word *)head->body;

	*(struct wh_wire_bitmap *)head->fields = (struct wh_wire_bitmap){
		.first = rte_cpu_to_le_64(bitmap->first),
		.pkts = rte_cpu_to_le_16(bitmap->pkts),
	};
	for (uint32_t i = 0; i < wh_bitmap_words(bitmap->pkts); i++)
		words[i].bits = rte_cpu_to_le_64(bitmap->bits[i]);
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
	case WH_PACKET_OPEN:
		return packet->open.params.name_bytes;
	case WH_PACKET_CONFIRM:
		return packet->confirm.params.name_bytes;
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
	case WH_PACKET_PROBE:
		write_probe(&packet->probe, head);
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
	case WH_PACKET_DATA:
	case WH_PACKET_REPAIR:
	case WH_PACKET_TYPES:
		break;
	}
	wh_tag_write(bytes, head->body, length - sizeof(*head));
	return (uint32_t)length;
}
