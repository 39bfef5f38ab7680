/* SPDX-License-Identifier: BSD-3-Clause */
#include "liar.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "wire/cookie.h"

struct field {
	uint16_t type;
	uint16_t kind;
	uint16_t offset;
	uint16_t bytes;
};

#define FIELD(packet_type, field_kind, member)                                                     \
	{                                                                                          \
		WH_PACKET_##packet_type, WH_LIAR_##field_kind, offsetof(struct wh_packet, member), \
			sizeof(((struct wh_packet *)0)->member)                                    \
	}

#define DATA_FIELDS(type)                                                                          \
	FIELD(type, PN, pn), FIELD(type, COUNT, flags), FIELD(type, COUNT, data.chunk),            \
		FIELD(type, COUNT, data.blocks), FIELD(type, COUNT, data.index),                   \
		FIELD(type, COUNT, data.k), FIELD(type, COUNT, data.r),                            \
		FIELD(type, COUNT, data.payload_bytes), FIELD(type, COUNT, data.transmission),     \
		FIELD(type, COUNT, data.code), FIELD(type, COUNT, data.last_bytes)

#define PARAMS_FIELDS(type, member)                                                                \
	FIELD(type, COUNT, member.initiator_cid), FIELD(type, COUNT, member.profile),              \
		FIELD(type, COUNT, member.payload_bytes), FIELD(type, COUNT, member.chunk_bytes),  \
		FIELD(type, COUNT, member.window_pkts), FIELD(type, COUNT, member.period_us),      \
		FIELD(type, PN, member.first_pn), FIELD(type, COUNT, member.object_bytes),         \
		FIELD(type, COUNT, member.recovery), FIELD(type, COUNT, member.repair_pkts),       \
		FIELD(type, COUNT, member.n_options),                                              \
		FIELD(type, COUNT, member.options[0].number),                                      \
		FIELD(type, COUNT, member.options[0].bits)

static const struct field fields[] = {
	DATA_FIELDS(DATA),
	DATA_FIELDS(REPAIR),
	FIELD(RCV_REPORT, COUNT, pn),
	FIELD(RCV_REPORT, PN, rcv_report.lower),
	FIELD(RCV_REPORT, PN, rcv_report.upper),
	FIELD(RCV_REPORT, PN, rcv_report.highest_end),
	FIELD(RCV_REPORT, PN, rcv_report.cover_first),
	FIELD(RCV_REPORT, PN, rcv_report.cover_end),
	FIELD(RCV_REPORT, COUNT, rcv_report.received_pkts),
	FIELD(RCV_REPORT, COUNT, rcv_report.chunk_upper),
	FIELD(RCV_REPORT, COUNT, rcv_report.queued_chunks),
	FIELD(RCV_REPORT, COUNT, rcv_report.buffer_chunks),
	FIELD(RCV_REPORT, COUNT, rcv_report.arrival_pps),
	FIELD(RCV_REPORT, COUNT, rcv_report.capacity_pps),
	FIELD(RCV_REPORT, COUNT, rcv_report.rtt_us),
	FIELD(RCV_REPORT, COUNT, rcv_report.rtt_var_us),
	FIELD(RCV_REPORT, COUNT, rcv_report.lost_pkts),
	FIELD(RCV_REPORT, COUNT, rcv_report.loss_events),
	FIELD(RCV_REPORT, COUNT, rcv_report.delivered_pkts),
	FIELD(RCV_REPORT, COUNT, rcv_report.seen_end),
	FIELD(RCV_REPORT, COUNT, rcv_report.stamp),
	FIELD(RCV_REPORT, COUNT, rcv_report.held),
	FIELD(RCV_REPORT, COUNT, rcv_report.arrived),
	FIELD(RCV_REPORT, COUNT, rcv_report.span),
	FIELD(RCV_REPORT, COUNT, rcv_report.span_pkts),
	FIELD(RCV_REPORT, COUNT, rcv_report.least_delay),
	FIELD(RCV_REPORT, COUNT, rcv_report.late),
	FIELD(RCV_REPORT, COUNT, rcv_report.retransmitted_pkts),
	FIELD(TRANS_REPORT, COUNT, pn),
	FIELD(TRANS_REPORT, PN, trans_report.lower),
	FIELD(TRANS_REPORT, PN, trans_report.upper),
	FIELD(TRANS_REPORT, COUNT, trans_report.heard_end),
	FIELD(TRANS_REPORT, COUNT, trans_report.queued_pkts),
	FIELD(TRANS_REPORT, COUNT, trans_report.held_us),
	FIELD(ACK2, COUNT, pn),
	FIELD(ACK2, COUNT, ack2.ack_pn),
	FIELD(ACK2, PN, ack2.lower),
	FIELD(ACK2, COUNT, ack2.stamp_us),
	FIELD(NAK, COUNT, pn),
	FIELD(NAK, PN, nak.base),
	FIELD(DELAY_WARNING, COUNT, pn),
	FIELD(DELAY_WARNING, PN, delay_warning.highest_end),
	FIELD(DELAY_WARNING, COUNT, delay_warning.pct_milli),
	FIELD(DELAY_WARNING, COUNT, delay_warning.pdt_milli),
	FIELD(BITMAP, COUNT, pn),
	FIELD(BITMAP, PN, bitmap.first),
	FIELD(BITMAP, COUNT, bitmap.pkts),
	FIELD(BITMAP, COUNT, bitmap.bits[0]),
	FIELD(BITMAP, COUNT, bitmap.bits[1]),
	PARAMS_FIELDS(OPEN, open.params),
	FIELD(OPEN, COUNT, open.stamp_us),
	FIELD(OPEN, COUNT, open.answer_cid),
	FIELD(ACCEPT, COUNT, accept.acceptor_cid),
	FIELD(ACCEPT, COUNT, accept.stamp_us),
	FIELD(ACCEPT, COUNT, accept.cookie[0]),
	FIELD(ACCEPT, COUNT, accept.buffer_chunks),
	FIELD(ACCEPT, COUNT, accept.refused),
	PARAMS_FIELDS(CONFIRM, confirm.params),
	FIELD(CONFIRM, COUNT, confirm.acceptor_cid),
	FIELD(CONFIRM, COUNT, confirm.cookie[0]),
	FIELD(RELEASE, COUNT, pn),
	FIELD(RELEASE, COUNT, release.stage),
	FIELD(RELEASE, COUNT, release.status),
	FIELD(RELEASE, COUNT, release.chunks),
	FIELD(RELEASE, COUNT, release.total_bytes),
	FIELD(RELEASE, PN, release.pn_end),
	FIELD(RELEASE, COUNT, release.digest.bytes[0]),
	FIELD(PROBE, COUNT, pn),
	FIELD(PROBE, COUNT, probe.stamp_ns),
	FIELD(PROBE, COUNT, probe.index),
	FIELD(PROBE, COUNT, probe.count),
	FIELD(PROBE, COUNT, probe.train),
	FIELD(PROBE_ANSWER, COUNT, pn),
	FIELD(PROBE_ANSWER, COUNT, probe_answer.stamp_ns),
	FIELD(PROBE_ANSWER, COUNT, probe_answer.index),
	FIELD(PROBE_ANSWER, COUNT, probe_answer.train),
	FIELD(PROBE_ANSWER, COUNT, probe_answer.words[0]),
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static uint64_t load(const struct wh_packet *packet, const struct field *field)
{
	const uint8_t *at = (const uint8_t *)packet + field->offset;

	switch (field->bytes) {
	case 1:
		return *at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

static void store(struct wh_packet *packet, const struct field *field, uint64_t value)
{
	uint8_t *at = (uint8_t *)packet + field->offset;

	switch (field->bytes) {
	case 1:
		*at = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
	}
}

void wh_liar_init(struct wh_liar *liar, struct wh_script *script)
{
	*liar = (struct wh_liar){.script = script};
	for (size_t i = 0; i < sizeof(liar->payload); i++)
		liar->payload[i] = (uint8_t)(i * 13 + 7);
}

static void hear_cids(struct wh_liar *liar, const struct wh_packet *packet)
{
	if (packet->type == WH_PACKET_OPEN) {
		liar->cid[WH_TRANSMITTER] = packet->open.params.initiator_cid;
		liar->token[WH_TRANSMITTER] = packet->open.params.initiator_token;
	}
	if (packet->type == WH_PACKET_ACCEPT && packet->accept.refused == WH_STATUS_PENDING) {
		liar->cid[WH_RECEIVER] = packet->accept.acceptor_cid;
		liar->token[WH_RECEIVER] = wh_cookie_token(packet->accept.cookie);
	}
}

void wh_liar_hear(struct wh_liar *liar, const struct wh_packet *packet)
{
	struct wh_packet *last = &liar->last[packet->type];

	hear_cids(liar, packet);
	/* Of data the rest of the union is undefined. */
	if (packet->type == WH_PACKET_DATA)
		*last = (struct wh_packet){
			.type = packet->type,
			.flags = packet->flags,
			.cid = packet->cid,
			.pn = packet->pn,
			.payload = liar->payload,
			.data = packet->data,
		};
	else
		*last = *packet;
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].type == packet->type)
			liar->known[fields[i].kind][wh_script_below(liar->script, WH_LIAR_KNOWN)] =
				load(packet, &fields[i]);
}

void wh_liar_shift(struct wh_packet *packet, uint64_t add)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].type == packet->type && fields[i].kind == WH_LIAR_PN)
			store(packet, &fields[i], load(packet, &fields[i]) + add);
}

static uint64_t pick(struct wh_liar *liar, const uint64_t *values, size_t count)
{
	return values[wh_script_below(liar->script, count)];
}

#define PICK(liar, values) pick(liar, values, sizeof(values) / sizeof((values)[0]))

static uint64_t any_value(struct wh_liar *liar, enum wh_liar_kind kind, uint64_t old)
{
	static const uint64_t edges[] = {0, 1, 2, 64, UINT8_MAX, UINT16_MAX, UINT32_MAX,
		UINT64_C(1) << 32, WH_PN_MAX / 2, WH_PN_MAX - 1, WH_WINDOW_PACKETS_MAX,
		WH_PAYLOAD_BYTES_MAX, WH_CHUNK_NUMBER_MAX, UINT64_MAX};
	static const uint64_t steps[] = {0, 0, 0, 1, -1, 2, -2, 32, 63, 64, -64, 1024, -1024};

	switch (wh_script_below(liar->script, 16)) {
	case 0:
	case 1:
		return PICK(liar, edges);
	case 2:
		return wh_script_u64(liar->script) >> wh_script_below(liar->script, 64);
	case 3:
	case 4:
	case 5:
	case 6:
		return old + PICK(liar, steps);
	case 7:
		return pick(liar, liar->known[WH_LIAR_KINDS - 1 - kind], WH_LIAR_KNOWN);
	default:
		return pick(liar, liar->known[kind], WH_LIAR_KNOWN) + PICK(liar, steps);
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Ranges that ascend within `span`, at least `gap` apart; returns how many. */
static uint16_t any_ranges(
	struct wh_liar *liar, struct wh_range *ranges, uint64_t span, uint32_t gap)
{
	static const uint64_t lengths[] = {1, 1, 1, 2, 7, 64, 300, UINT32_MAX};
	uint64_t wanted = PICK(liar, ((const uint64_t[]){0, 1, 1, 2, 5, WH_RANGES_MAX}));
	uint64_t from = 0;
	uint16_t count = 0;

	while (count < wanted) {
		uint64_t offset = from + PICK(liar, lengths) - 1;
		uint64_t length = PICK(liar, lengths);

		if (offset >= span || offset > UINT32_MAX)
			break;
		if (length > span - offset)
			length = span - offset;
		if (length > UINT32_MAX)
			length = UINT32_MAX;
		ranges[count++] = (struct wh_range){(uint32_t)offset, (uint32_t)length};
		from = offset + length + gap;
	}
	return count;
}

/* Fields that must be in order are put in order, ranges are drawn anew: most lies get through. */
static void settle_rcv_report(struct wh_liar *liar, struct wh_rcv_report *report)
{
	uint64_t pns[] = {report->lower, report->cover_first, report->cover_end,
		report->highest_end, report->upper};

	qsort(pns, 5, sizeof(pns[0]), compare_u64);
	report->lower = pns[0];
	report->cover_first = pns[1];
	report->cover_end = pns[2];
	report->highest_end = pns[3];
	report->upper = pns[4];
	report->n_holes = any_ranges(liar, report->holes, pns[2] - pns[1], 1);
}

/* Bits behind the last are none. */
static void settle_bitmap(struct wh_bitmap *bitmap)
{
	if (bitmap->pkts < WH_BITMAP_PKTS_MAX)
		bitmap->bits[bitmap->pkts / 64] &= (UINT64_C(1) << bitmap->pkts % 64) - 1;
}

static void mend(struct wh_liar *liar, struct wh_packet *packet)
{
	if (packet->type == WH_PACKET_RCV_REPORT) {
		settle_rcv_report(liar, &packet->rcv_report);
	} else if (packet->type == WH_PACKET_BITMAP) {
		settle_bitmap(&packet->bitmap);
	} else if (packet->type == WH_PACKET_TRANS_REPORT) {
		uint64_t pns[] = {packet->trans_report.lower, packet->trans_report.upper};

		qsort(pns, 2, sizeof(pns[0]), compare_u64);
		packet->trans_report.lower = pns[0];
		packet->trans_report.upper = pns[1];
	} else if (packet->type == WH_PACKET_NAK) {
		uint64_t end = pick(liar, liar->known[WH_LIAR_PN], WH_LIAR_KNOWN);
		uint64_t span = end > packet->nak.base ? end - packet->nak.base : 100;

		packet->nak.n_losses = any_ranges(liar, packet->nak.losses, span, 0);
	}
}

/* One of the type's fields in `one_in` gets another value. */
static void change_fields(struct wh_liar *liar, struct wh_packet *packet, uint64_t one_in)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].type == packet->type && wh_script_one_in(liar->script, one_in))
			store(packet, &fields[i],
				any_value(liar, (enum wh_liar_kind)fields[i].kind,
					load(packet, &fields[i])));
	/* Bytes beyond the true ones are not there to be sent. */
	packet->payload = liar->payload;
	if (!wh_script_one_in(liar->script, 4))
		mend(liar, packet);
}

bool wh_liar_change(struct wh_liar *liar, struct wh_packet *packet)
{
	const struct wh_packet truth = *packet;

	for (int attempt = 0; attempt < 8; attempt++) {
		change_fields(liar, packet, 4);
		if (wh_packet_check(packet) == WH_WIRE_OK)
			return true;
		*packet = truth;
	}
	return false;
}

/* What the listener welcomed or refused, confirmed: whatever it wrote is handed back to it. */
static void forge_confirm(struct wh_liar *liar, struct wh_packet *packet)
{
	const struct wh_accept *accept = &liar->last[WH_PACKET_ACCEPT].accept;

	packet->confirm.params = liar->proposed;
	packet->confirm.acceptor_cid = accept->acceptor_cid;
	memcpy(packet->confirm.cookie, accept->cookie, WH_COOKIE_BYTES);
}

uint64_t wh_liar_token(const struct wh_liar *liar, enum wh_role to, enum wh_packet_type type)
{
	return type == WH_PACKET_OPEN || type == WH_PACKET_CONFIRM ? 0 : liar->token[to];
}

bool wh_liar_forge(
	struct wh_liar *liar, enum wh_role to, enum wh_packet_type type, struct wh_packet *packet)
{
	WH_ASSERT(type > 0 && type < WH_PACKET_TYPES);
	*packet = liar->last[type];
	packet->type = type;
	packet->cid = liar->cid[to];
	if (type == WH_PACKET_CONFIRM && wh_script_one_in(liar->script, 2)) {
		forge_confirm(liar, packet);
		return wh_packet_check(packet) == WH_WIRE_OK;
	}
	/*
	 * Of its own kind the latest packet number is as good a guess as any, and the next is
	 * better.
	 */
	packet->pn += wh_script_below(liar->script, 3);
	return wh_liar_change(liar, packet);
}
