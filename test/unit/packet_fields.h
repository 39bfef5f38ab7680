/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The lists of lib/wire/fields.h as a table, and an encoder made of it that refuses nothing: for
 * packets that are right but for what a test wants wrong.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "wire/fields.h"
#include "wire/layout.h"
#include "wire/packet.h"

#define FIELDS_AT 16 /* in a packet: head.fields */
#define BEHIND_AT 0  /* behind what repeats */

struct packet_field {
	const char *name;
	uint16_t wire_at;
	uint16_t packet_at; /* in struct wh_packet */
	uint8_t bytes;
	uint64_t least;
	uint64_t most;
};

#define SIZE(type, member) sizeof(((struct type *)0)->member)

/* `from` is what of struct wh_packet lies at `at`. */
#define ROW(at, from, part, member, least, most)                                                   \
	{#member,                                                                                  \
		(at) + offsetof(struct wh_packet, part.member) - offsetof(struct wh_packet, from), \
		offsetof(struct wh_packet, part.member), SIZE(wh_packet, part.member), least,      \
		most},
#define ROW_FIELDS(part, member, least, most) ROW(FIELDS_AT, fields, part, member, least, most)
#define ROW_STATE(part, member, least, most)                                                       \
	ROW(WH_HEAD_BYTES, part.cover_end, part, member, least, most)
#define ROW_CRYPTO(part, member, least, most)                                                      \
	ROW(WH_HEAD_BYTES, part.bytes, part, member, least, most)
#define ROW_PARAMS(part, member, least, most) ROW(WH_HEAD_BYTES, part, part, member, least, most)
#define ROW_BEHIND(part, member, least, most)                                                      \
	ROW(BEHIND_AT, part.lost_pkts, part, member, least, most)
#define ROW_HEAD(part, member, least, most)                                                        \
	{#member, offsetof(struct wh_wire_head, member), offsetof(struct part, member),            \
		SIZE(wh_wire_head, member), least, most},

static const struct packet_field head_rows[] = {WH_FIELDS_HEAD(ROW_HEAD, wh_packet)};
static const struct packet_field data_rows[] = {WH_FIELDS_DATA(ROW_FIELDS, data)};
static const struct packet_field repair_rows[] = {WH_FIELDS_REPAIR(ROW_FIELDS, data)};
static const struct packet_field rcv_report_rows[] = {WH_FIELDS_RCV_REPORT(ROW_FIELDS, rcv_report)
		WH_FIELDS_RCV_REPORT_BODY(ROW_STATE, rcv_report)};
static const struct packet_field behind_rows[] = {
	WH_FIELDS_LOSSES(ROW_BEHIND, rcv_report) WH_FIELDS_DELIVERY(ROW_BEHIND, rcv_report)};
static const struct packet_field trans_report_rows[] = {
	WH_FIELDS_TRANS_REPORT(ROW_FIELDS, trans_report)};
static const struct packet_field ack2_rows[] = {WH_FIELDS_ACK2(ROW_FIELDS, ack2)};
static const struct packet_field nak_rows[] = {WH_FIELDS_NAK(ROW_FIELDS, nak)};
static const struct packet_field delay_warning_rows[] = {
	WH_FIELDS_DELAY_WARNING(ROW_FIELDS, delay_warning)};
static const struct packet_field bitmap_rows[] = {WH_FIELDS_BITMAP(ROW_FIELDS, bitmap)};
static const struct packet_field open_rows[] = {
	WH_FIELDS_OPEN(ROW_FIELDS, open) WH_FIELDS_PARAMS(ROW_PARAMS, open.params)};
static const struct packet_field accept_rows[] = {WH_FIELDS_ACCEPT(ROW_FIELDS, accept)};
static const struct packet_field confirm_rows[] = {
	WH_FIELDS_CONFIRM(ROW_FIELDS, confirm) WH_FIELDS_PARAMS(ROW_PARAMS, confirm.params)};
static const struct packet_field release_rows[] = {WH_FIELDS_RELEASE(ROW_FIELDS, release)};

static const struct packet_field probe_rows[] = {WH_FIELDS_PROBE(ROW_FIELDS, probe)};
static const struct packet_field probe_answer_rows[] = {
	WH_FIELDS_PROBE_ANSWER(ROW_FIELDS, probe_answer)};

static const struct packet_field ask_rows[] = {WH_FIELDS_ASK(ROW_FIELDS, ask)};
static const struct packet_field cookie_rows[] = {WH_FIELDS_COOKIE(ROW_FIELDS, cookie)};
static const struct packet_field path_rows[] = {WH_FIELDS_PATH(ROW_FIELDS, path)};
static const struct packet_field crypto_rows[] = {
	WH_FIELDS_CRYPTO(ROW_FIELDS, crypto) WH_FIELDS_CRYPTO_BODY(ROW_CRYPTO, crypto)};

#define ROWS(rows) rows, sizeof(rows) / sizeof((rows)[0])

/* By type; those behind what repeats apart. */
static const struct {
	const struct packet_field *row;
	size_t rows;
	const struct packet_field *behind;
	size_t behinds;
} packet_fields[WH_PACKET_TYPES] = {
	[0] = {ROWS(head_rows), NULL, 0}, /* of every type */
	[WH_PACKET_DATA] = {ROWS(data_rows), NULL, 0},
	[WH_PACKET_REPAIR] = {ROWS(repair_rows), NULL, 0},
	[WH_PACKET_RCV_REPORT] = {ROWS(rcv_report_rows), ROWS(behind_rows)},
	[WH_PACKET_TRANS_REPORT] = {ROWS(trans_report_rows), NULL, 0},
	[WH_PACKET_ACK2] = {ROWS(ack2_rows), NULL, 0},
	[WH_PACKET_NAK] = {ROWS(nak_rows), NULL, 0},
	[WH_PACKET_DELAY_WARNING] = {ROWS(delay_warning_rows), NULL, 0},
	[WH_PACKET_BITMAP] = {ROWS(bitmap_rows), NULL, 0},
	[WH_PACKET_OPEN] = {ROWS(open_rows), NULL, 0},
	[WH_PACKET_ACCEPT] = {ROWS(accept_rows), NULL, 0},
	[WH_PACKET_CONFIRM] = {ROWS(confirm_rows), NULL, 0},
	[WH_PACKET_RELEASE] = {ROWS(release_rows), NULL, 0},
	[WH_PACKET_PROBE] = {ROWS(probe_rows), NULL, 0},
	[WH_PACKET_PROBE_ANSWER] = {ROWS(probe_answer_rows), NULL, 0},
	[WH_PACKET_ASK] = {ROWS(ask_rows), NULL, 0},
	[WH_PACKET_COOKIE] = {ROWS(cookie_rows), NULL, 0},
	[WH_PACKET_CRYPTO] = {ROWS(crypto_rows), NULL, 0},
	[WH_PACKET_PATH] = {ROWS(path_rows), NULL, 0},
};

static inline uint64_t field_most(const struct packet_field *field)
{
	uint64_t width_most =
		field->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * field->bytes) - 1;

	return field->most < width_most ? field->most : width_most;
}

static inline uint64_t field_load(const struct packet_field *field, const struct wh_packet *packet)
{
	uint64_t value = 0;

	memcpy(&value, (const uint8_t *)packet + field->packet_at, field->bytes);
	return value;
}

static inline void field_store(
	const struct packet_field *field, struct wh_packet *packet, uint64_t value)
{
	memcpy((uint8_t *)packet + field->packet_at, &value, field->bytes);
}

static inline bool field_is(const struct packet_field *field, const char *name)
{
	return field != NULL && strcmp(field->name, name) == 0;
}

/* Ranges as a count says, one packet number each and apart: those beyond the array, too. */
static inline void settle_ranges(struct wh_range *ranges, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < WH_RANGES_MAX; i++)
		ranges[i] = (struct wh_range){2 * i, 1};
}

static inline void settle_data(struct wh_packet *packet, const struct packet_field *pinned)
{
	struct wh_data_fields *data = &packet->data;
	bool repair = packet->type == WH_PACKET_REPAIR;
	bool of_code = field_is(pinned, "code") || field_is(pinned, "r") ||
		       field_is(pinned, "blocks") || field_is(pinned, "last_bytes");
	bool coded = repair || (of_code ? field_load(pinned, packet) > 0 : data->code > 0);

	if (field_is(pinned, "index"))
		data->k =
			repair ? (data->index > 1 ? data->index : 1) : (uint16_t)(data->index + 1);
	if (data->k + data->r > WH_BLOCK_PACKETS_MAX) {
		if (field_is(pinned, "r"))
			data->k = (uint16_t)(WH_BLOCK_PACKETS_MAX - data->r);
		else
			data->r = (uint16_t)(WH_BLOCK_PACKETS_MAX - data->k);
		coded = repair || data->r > 0;
	}
	if (!coded)
		data->code = WH_FEC_NONE;
	if (!coded)
		data->r = data->blocks = data->last_bytes = 0;
	if (coded && data->code == 0 && !field_is(pinned, "code"))
		data->code = WH_FEC_RS;
	if (coded && data->r == 0 && !field_is(pinned, "r"))
		data->r = 1;
	if (coded && data->blocks == 0 && !field_is(pinned, "blocks"))
		data->blocks = 1;
	if (coded && data->last_bytes == 0 && !field_is(pinned, "last_bytes"))
		data->last_bytes = 1;
	if (!field_is(pinned, "index"))
		data->index = repair ? data->k : 0;
}

static inline void settle_rcv_report(struct wh_packet *packet, const struct packet_field *pinned)
{
	struct wh_rcv_report *report = &packet->rcv_report;
	bool pn = field_is(pinned, "lower") || field_is(pinned, "upper") ||
		  field_is(pinned, "highest_end") || field_is(pinned, "cover_first") ||
		  field_is(pinned, "cover_end");

	if (pn) {
		uint64_t value = field_load(pinned, packet);

		report->lower = report->upper = report->highest_end = value;
		report->cover_first = report->cover_end = value;
		report->n_holes = 0;
	} else if (field_is(pinned, "n_holes")) {
		report->lower = report->cover_first = 5;
		report->cover_end = report->highest_end = report->upper = 5 + 2 * report->n_holes;
		settle_ranges(report->holes, report->n_holes);
		if (report->n_holes > WH_HOLES_BESIDE_BOTH && packet->flags & WH_FLAG_DELIVERY)
			packet->flags &= (uint8_t)~WH_FLAG_LOSSES;
	}
}

static inline void settle_params(
	struct wh_open_params *params, const struct packet_field *pinned, uint8_t name_byte)
{
	bool repair = field_is(pinned, "repair_pkts");

	if (!field_is(pinned, "chunk_bytes"))
		params->chunk_bytes = WH_CHUNK_BYTES_MIN;
	if (!field_is(pinned, "payload_bytes"))
		params->payload_bytes = WH_PAYLOAD_BYTES_MAX;
	if (repair)
		params->recovery = params->repair_pkts > 0 ? WH_RECOVERY_HYBRID : WH_RECOVERY_NAK;
	else
		params->repair_pkts = params->recovery != WH_RECOVERY_NAK;
	memset(params->name, name_byte, sizeof(params->name));
	for (uint32_t i = 0; i < WH_OPEN_OPTIONS_MAX; i++)
		params->options[i] = (struct wh_open_option){.number = (uint8_t)i, .bits = i};
}

/* All else of a packet is made to agree with one field, whatever it says. */
static inline void packet_settle(struct wh_packet *packet, const struct packet_field *pinned)
{
	switch (packet->type) {
	case WH_PACKET_DATA:
	case WH_PACKET_REPAIR:
		settle_data(packet, pinned);
		break;
	case WH_PACKET_RCV_REPORT:
		settle_rcv_report(packet, pinned);
		break;
	case WH_PACKET_TRANS_REPORT:
		if (field_is(pinned, "lower") || field_is(pinned, "upper"))
			packet->trans_report.lower = packet->trans_report.upper =
				field_load(pinned, packet);
		break;
	case WH_PACKET_NAK:
		if (!field_is(pinned, "n_losses"))
			packet->nak.n_losses = 1;
		settle_ranges(packet->nak.losses, packet->nak.n_losses);
		break;
	case WH_PACKET_BITMAP:
		if (field_is(pinned, "first"))
			packet->bitmap.pkts = 1;
		else
			packet->bitmap.first = 0;
		memset(packet->bitmap.bits, 0, sizeof(packet->bitmap.bits));
		break;
	case WH_PACKET_PROBE:
		if (!field_is(pinned, "count"))
			packet->probe.count = packet->probe.index + 1;
		else if (!field_is(pinned, "index"))
			packet->probe.index = packet->probe.count - 1;
		break;
	case WH_PACKET_OPEN:
		settle_params(&packet->open.params, pinned, 'o');
		break;
	case WH_PACKET_CONFIRM:
		settle_params(&packet->confirm.params, pinned, 'c');
		break;
	case WH_PACKET_ACCEPT:
		if (field_is(pinned, "acceptor_cid"))
			packet->accept.refused =
				packet->accept.acceptor_cid == 0 ? WH_STATUS_BUSY : 0;
		break;
	case WH_PACKET_CRYPTO:
		if (field_is(pinned, "bytes"))
			packet->crypto.offset = 0;
		else
			packet->crypto.bytes = 0;
		if (!field_is(pinned, "padding_bytes"))
			packet->crypto.padding_bytes = 0;
		break;
	default:
		break;
	}
}

static inline size_t behind_bytes(const struct wh_packet *packet)
{
	return packet->type == WH_PACKET_RCV_REPORT ? wh_report_behind_bytes(packet->flags) : 0;
}

/* What repeats: as much as its count says, but no more than there is room for. */
static inline size_t repeated_bytes(const struct wh_packet *packet)
{
	return wh_packet_variable_bytes(packet) - behind_bytes(packet);
}

/* Whether the packet says a field behind what repeats, and how far behind that it does. */
static inline bool is_said(const struct packet_field *field, const struct wh_packet *packet)
{
	bool delivery = field->packet_at >= offsetof(struct wh_packet, rcv_report.delivered_pkts);

	return (packet->flags & (delivery ? WH_FLAG_DELIVERY : WH_FLAG_LOSSES)) != 0;
}

static inline size_t behind_at(const struct packet_field *field, const struct wh_packet *packet)
{
	bool delivery = field->packet_at >= offsetof(struct wh_packet, rcv_report.delivered_pkts);
	bool alone = delivery && !(packet->flags & WH_FLAG_LOSSES);

	return field->wire_at - (alone ? WH_LOSSES_BYTES : 0);
}

static inline size_t fixed_bytes(enum wh_packet_type type)
{
	return WH_HEAD_BYTES + wh_packet_rules[type].body_bytes;
}

/* Where a field is in a packet's bytes. */
static inline size_t field_at(const struct packet_field *field, const struct wh_packet *packet)
{
	bool behind = field >= behind_rows &&
		      field < behind_rows + sizeof(behind_rows) / sizeof(behind_rows[0]);

	return behind ? fixed_bytes(packet->type) + repeated_bytes(packet) +
				behind_at(field, packet)
		      : field->wire_at;
}

static inline void raw_ranges(const struct wh_range *ranges, size_t bytes, uint8_t *at)
{
	for (uint32_t i = 0; i < bytes / sizeof(struct wh_range); i++) {
		struct wh_range range = {2 * i, 1};

		if (i < WH_RANGES_MAX)
			range = ranges[i];
		memcpy(at + i * sizeof(range), &range, sizeof(range));
	}
}

/* Options beyond the array have numbers that go on; a name is of one letter. */
static inline void raw_params(const struct wh_open_params *params, size_t bytes, uint8_t *at)
{
	memset(at, 'n', bytes);
	for (uint32_t i = 0; i < params->n_options && WH_OPTIONS_BYTES(i + 1) <= bytes; i++) {
		struct wh_wire_option option = {.number = (uint8_t)i};

		if (i < WH_OPEN_OPTIONS_MAX)
			option = (struct wh_wire_option){
				.bits = params->options[i].bits,
				.number = params->options[i].number,
			};
		memcpy(at + WH_OPTIONS_BYTES(i), &option, sizeof(option));
	}
}

static inline void raw_repeated(const struct wh_packet *packet, size_t bytes, uint8_t *at)
{
	size_t words_bytes = sizeof(packet->bitmap.bits);

	switch (packet->type) {
	case WH_PACKET_RCV_REPORT:
		raw_ranges(packet->rcv_report.holes, bytes, at);
		break;
	case WH_PACKET_NAK:
		raw_ranges(packet->nak.losses, bytes, at);
		break;
	case WH_PACKET_BITMAP:
		memcpy(at, packet->bitmap.bits, bytes < words_bytes ? bytes : words_bytes);
		break;
	case WH_PACKET_OPEN:
		raw_params(&packet->open.params, bytes, at);
		break;
	case WH_PACKET_CONFIRM:
		raw_params(&packet->confirm.params, bytes, at);
		break;
	default:
		break;
	}
}

static inline void raw_field(
	const struct packet_field *field, const struct wh_packet *packet, uint8_t *bytes)
{
	uint64_t value = field_load(field, packet);

	memcpy(bytes + field_at(field, packet), &value, field->bytes);
}

/*
 * Whatever the packet says, as bytes that no seal has closed, into `room` bytes; returns the
 * length, which is cut where there is no room.
 */
static inline size_t raw_encode(const struct wh_packet *packet, uint8_t *bytes, size_t room)
{
	size_t fixed = fixed_bytes(packet->type);
	size_t behind = behind_bytes(packet);
	size_t repeated = repeated_bytes(packet);

	if (repeated > room - fixed - behind)
		repeated = room - fixed - behind;
	memset(bytes, 0, fixed + repeated + behind);
	bytes[0] = WH_WIRE_VERSION;
	bytes[1] = (uint8_t)packet->type;
	for (size_t i = 0; i < packet_fields[0].rows; i++)
		raw_field(&packet_fields[0].row[i], packet, bytes);
	for (size_t i = 0; i < packet_fields[packet->type].rows; i++)
		raw_field(&packet_fields[packet->type].row[i], packet, bytes);
	raw_repeated(packet, repeated, bytes + fixed);
	for (size_t i = 0; behind > 0 && i < packet_fields[packet->type].behinds; i++) {
		const struct packet_field *field = &packet_fields[packet->type].behind[i];
		uint64_t value = field_load(field, packet);

		if (is_said(field, packet))
			memcpy(bytes + fixed + repeated + behind_at(field, packet), &value,
				field->bytes);
	}
	return fixed + repeated + behind;
}
