/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Three packets of each type: the least and the most that its limits allow, and a usual one whose
 * fields all differ, so that two of them swapped would show. For the tests of packet.h.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/packet.h"

enum sample_size {
	SAMPLE_LEAST,
	SAMPLE_USUAL,
	SAMPLE_MOST,
	SAMPLE_SIZES,
};

#define SAMPLE_BYTES_MAX (WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX)

static const uint8_t *sample_payload(void)
{
	static uint8_t payload[WH_PAYLOAD_BYTES_MAX];

	for (uint32_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i * 7 + 3);
	return payload;
}

static void sample_data(enum sample_size size, struct wh_packet *packet)
{
	static const struct wh_data_fields fields[SAMPLE_SIZES] = {
		{.k = 1, .payload_bytes = 1},
		{.chunk = 0xa1b2c3d4,
			.blocks = 0x0b0c,
			.last_bytes = 0x0102,
			.order = 0x0d0e,
			.code = WH_FEC_TORNADO,
			.index = 0x0123,
			.k = 0x0456,
			.r = 0x0078,
			.payload_bytes = 1408,
			.transmission = UINT64_C(0x1112131415161718),
			.stamp = 0xdeadbeef},
		{.chunk = WH_CHUNK_NUMBER_MAX,
			.index = 65534,
			.k = 65535,
			.payload_bytes = WH_PAYLOAD_BYTES_MAX,
			.transmission = WH_PN_MAX - 1,
			.stamp = UINT32_MAX},
	};
	static const uint8_t flags[SAMPLE_SIZES] = {0, WH_FLAG_PAIR_FIRST, WH_FLAG_PAIR_SECOND};

	packet->flags = flags[size];
	packet->data = fields[size];
	packet->payload = sample_payload();
}

static void sample_repair(enum sample_size size, struct wh_packet *packet)
{
	sample_data(size, packet);
	packet->flags = size == SAMPLE_MOST ? WH_FLAG_RETRANSMISSION : 0;
	if (size == SAMPLE_MOST)
		packet->data.k = 1;
	packet->data.r = size == SAMPLE_LEAST ? 1 : (uint16_t)(65535 - packet->data.k);
	packet->data.index = size == SAMPLE_MOST ? 65534 : packet->data.k;
	if (size == SAMPLE_USUAL)
		return;
	packet->data.code = WH_FEC_RS;
	packet->data.blocks = size == SAMPLE_LEAST ? 1 : 65535;
	packet->data.last_bytes = size == SAMPLE_LEAST ? 1 : WH_PAYLOAD_BYTES_MAX;
}

static const struct wh_rcv_report rcv_reports[SAMPLE_SIZES] = {
	{.lower = 0},
	{.lower = UINT64_C(0x0a00000000000010),
		.upper = UINT64_C(0x0a00000000010010),
		.highest_end = UINT64_C(0x0a00000000009000),
		.cover_first = UINT64_C(0x0a00000000000020),
		.cover_end = UINT64_C(0x0a00000000008000),
		.received_pkts = UINT64_C(0xb1b2b3b4b5b6b7b8),
		.duplicate_pkts = UINT64_C(0xc1c2c3c4c5c6c7c8),
		.bad_pkts = UINT64_C(0xd1d2d3d4d5d6d7d8),
		.chunk_upper = 0xe1e2e3e4,
		.queued_chunks = 0xf1f2f3f4,
		.buffer_chunks = 0x21222324,
		.arrival_pps = 0x31323334,
		.capacity_pps = 0x41424344,
		.rtt_us = 0x51525354,
		.rtt_var_us = 0x61626364,
		.lost_pkts = UINT64_C(0x7172737475767778),
		.loss_events = UINT64_C(0x8182838485868788),
		.repaired_pkts = UINT64_C(0x9192939495969798),
		.undecodable_blocks = 0xa1a2a3a4,
		.delivered_pkts = UINT64_C(0xb2b3b4b5b6b7b8b9),
		.seen_end = UINT64_C(0x02c3c4c5c6c7c8c9),
		.stamp = 0xd2d3d4d5,
		.held = 0xe2e3e4e5,
		.arrived = 0xf2f3f4f5,
		.span = 0x22232425,
		.span_pkts = 0x32333435,
		.least_delay = 0x42434445,
		.late = 0x52535455,
		.retransmitted_pkts = 0x62636465,
		.n_holes = 2,
		.holes = {{0, 5}, {6, 0x7fda}}},
	{.lower = WH_PN_MAX - 1 - WH_WINDOW_PACKETS_MAX,
		.upper = WH_PN_MAX - 1,
		.highest_end = WH_PN_MAX - 1,
		.cover_first = WH_PN_MAX - 1 - WH_WINDOW_PACKETS_MAX,
		.cover_end = WH_PN_MAX - 1,
		.received_pkts = UINT64_MAX,
		.duplicate_pkts = UINT64_MAX,
		.bad_pkts = UINT64_MAX,
		.chunk_upper = UINT32_MAX,
		.queued_chunks = UINT32_MAX,
		.buffer_chunks = UINT32_MAX,
		.arrival_pps = UINT32_MAX,
		.capacity_pps = UINT32_MAX,
		.rtt_us = UINT32_MAX,
		.rtt_var_us = UINT32_MAX,
		.delivered_pkts = UINT64_MAX,
		.seen_end = WH_PN_MAX,
		.stamp = UINT32_MAX,
		.held = UINT32_MAX,
		.arrived = UINT32_MAX,
		.span = UINT32_MAX,
		.span_pkts = UINT32_MAX,
		.least_delay = UINT32_MAX,
		.late = UINT32_MAX,
		.retransmitted_pkts = UINT32_MAX,
		.n_holes = WH_RANGES_MAX},
};

static void sample_rcv_report(enum sample_size size, struct wh_packet *packet)
{
	static const uint8_t flags[SAMPLE_SIZES] = {
		0, WH_FLAG_LOSSES | WH_FLAG_DELIVERY, WH_FLAG_DELIVERY | WH_FLAG_BEHIND};

	packet->flags = flags[size];
	packet->rcv_report = rcv_reports[size];
	if (size != SAMPLE_MOST)
		return;
	for (uint32_t i = 0; i < WH_RANGES_MAX; i++)
		packet->rcv_report.holes[i] = (struct wh_range){2 * i, 1};
	packet->rcv_report.holes[WH_RANGES_MAX - 1].count =
		WH_WINDOW_PACKETS_MAX - 2 * (WH_RANGES_MAX - 1);
}

static void sample_trans_report(enum sample_size size, struct wh_packet *packet)
{
	static const struct wh_trans_report states[SAMPLE_SIZES] = {
		{.lower = 0},
		{UINT64_C(0x0102030405060708), UINT64_C(0x0102030405070707),
			UINT64_C(0xa1a2a3a4a5a6a7a8), 0xb1b2b3b4, 0xc1c2c3c4},
		{WH_PN_MAX - 1 - WH_WINDOW_PACKETS_MAX, WH_PN_MAX - 1, UINT64_MAX, UINT32_MAX,
			UINT32_MAX},
	};

	packet->trans_report = states[size];
}

static void sample_ack2(enum sample_size size, struct wh_packet *packet)
{
	static const struct wh_ack2 acks[SAMPLE_SIZES] = {
		{.lower = 0},
		{UINT64_C(0x0102030405060708), UINT64_C(0x1112131415161718), 0xa1a2a3a4},
		{WH_PN_MAX - 1, WH_PN_MAX - 1, UINT32_MAX},
	};

	packet->ack2 = acks[size];
}

static void sample_nak(enum sample_size size, struct wh_packet *packet)
{
	static const struct wh_nak naks[SAMPLE_SIZES] = {
		{.n_losses = 1, .losses = {{0, 1}}},
		{.base = UINT64_C(0x0102030405060708),
			.n_losses = 3,
			.losses = {{0, 9}, {9, 0x1234}, {0xa1a2a3a4, 0x0b0c0d0e}}},
		{.base = WH_PN_MAX - 1 - UINT64_C(0x1fffffffe), .n_losses = WH_RANGES_MAX},
	};

	packet->nak = naks[size];
	if (size != SAMPLE_MOST)
		return;
	for (uint32_t i = 0; i < WH_RANGES_MAX; i++)
		packet->nak.losses[i] = (struct wh_range){i, 1};
	packet->nak.losses[WH_RANGES_MAX - 1] = (struct wh_range){UINT32_MAX, UINT32_MAX};
}

static void sample_delay_warning(enum sample_size size, struct wh_packet *packet)
{
	static const struct wh_delay_warning warnings[SAMPLE_SIZES] = {
		{.pct_milli = 0},
		{UINT64_C(0x0102030405060708), 0x0203, 0x0304},
		{WH_PN_MAX - 1, 1000, 1000},
	};

	packet->delay_warning = warnings[size];
}

static void sample_params(enum sample_size size, struct wh_open_params *params)
{
	static const struct wh_open_params samples[SAMPLE_SIZES] = {
		{.initiator_cid = 1,
			.payload_bytes = WH_PAYLOAD_BYTES_MIN,
			.chunk_bytes = WH_CHUNK_BYTES_MIN,
			.window_pkts = 64,
			.period_us = 1},
		{.initiator_cid = 0xa1a2a3a4,
			.profile = 0x5a,
			.recovery = WH_RECOVERY_HYBRID,
			.repair_pkts = 0x0f0e,
			.initiator_token = UINT64_C(0xe1e2e3e4e5e6e7e8),
			.reply_cid = 0xa5a6a7a8,
			.reply_cookie = {0xf1, 0xf2, 0xf3, 0xf4},
			.payload_bytes = 1408,
			.chunk_bytes = 0x00102030,
			.window_pkts = 0x00010000,
			.period_us = 0x00012345,
			.first_pn = UINT64_C(0x0102030405060708),
			.object_bytes = UINT64_C(0xb1b2b3b4b5b6b7b8),
			.name_bytes = 7,
			.name = "run.dat"},
		{.initiator_cid = UINT32_MAX,
			.profile = UINT8_MAX,
			.recovery = WH_RECOVERY_FEC,
			.repair_pkts = 0x0101,
			.initiator_token = UINT64_MAX,
			.reply_cid = UINT32_MAX,
			.payload_bytes = WH_PAYLOAD_BYTES_MAX,
			.chunk_bytes = WH_CHUNK_BYTES_MAX,
			.window_pkts = WH_WINDOW_PACKETS_MAX,
			.period_us = 10000000,
			.first_pn = UINT64_C(1) << 61,
			.object_bytes = WH_OBJECT_BYTES_UNKNOWN,
			.n_options = WH_OPEN_OPTIONS_MAX,
			.name_bytes = WH_NAME_BYTES_MAX},
	};

	*params = samples[size];
	if (size == SAMPLE_MOST)
		memset(params->name, 0xff, WH_NAME_BYTES_MAX);
	for (uint32_t i = 0; i < params->n_options; i++)
		params->options[i] = (struct wh_open_option){
			.number = (uint8_t)(UINT8_MAX - WH_OPEN_OPTIONS_MAX + 1 + i),
			.bits = UINT64_MAX - i,
		};
}

static void sample_cookie(enum sample_size size, uint8_t cookie[WH_COOKIE_BYTES])
{
	for (uint32_t i = 0; i < WH_COOKIE_BYTES; i++)
		cookie[i] = size == SAMPLE_LEAST ? 0 : (uint8_t)(0xf0 - size - i);
}

static void sample_open(enum sample_size size, struct wh_packet *packet)
{
	static const uint32_t stamps_us[SAMPLE_SIZES] = {0, 0xc1c2c3c4, UINT32_MAX};

	packet->open.stamp_us = stamps_us[size];
	packet->open.answer_cid = ~stamps_us[size];
	sample_params(size, &packet->open.params);
}

static void sample_accept(enum sample_size size, struct wh_packet *packet)
{
	static const struct wh_accept accepts[SAMPLE_SIZES] = {
		{.refused = WH_STATUS_BUSY},
		{.acceptor_cid = 0xa1a2a3a4, .stamp_us = 0xb1b2b3b4, .buffer_chunks = 0xc1c2c3c4},
		{.acceptor_cid = UINT32_MAX,
			.stamp_us = UINT32_MAX,
			.buffer_chunks = UINT32_MAX,
			.refused = WH_STATUS_STALLED},
	};

	packet->accept = accepts[size];
	sample_cookie(size, packet->accept.cookie);
}

static void sample_confirm(enum sample_size size, struct wh_packet *packet)
{
	static const uint32_t cids[SAMPLE_SIZES] = {1, 0xd1d2d3d4, UINT32_MAX};

	packet->confirm.acceptor_cid = cids[size];
	sample_cookie(size, packet->confirm.cookie);
	sample_params(size, &packet->confirm.params);
}

static void sample_release(enum sample_size size, struct wh_packet *packet)
{
	static const struct wh_release releases[SAMPLE_SIZES] = {
		{.stage = WH_RELEASE_REQUEST},
		{.stage = WH_RELEASE_REPLY,
			.status = WH_STATUS_NO_SPACE,
			.chunks = 0xa1a2a3a4,
			.total_bytes = UINT64_C(0xb1b2b3b4b5b6b7b8),
			.pn_end = UINT64_C(0x0102030405060708)},
		{.stage = WH_RELEASE_ABORT,
			.status = WH_STATUS_STALLED,
			.chunks = UINT32_MAX,
			.total_bytes = UINT64_MAX,
			.pn_end = WH_PN_MAX - 1},
	};

	packet->release = releases[size];
	for (uint32_t i = 0; i < WH_DIGEST_BYTES; i++)
		packet->release.digest.bytes[i] = size == SAMPLE_LEAST ? 0 : (uint8_t)(0x80 + i);
}

static void sample_bitmap(enum sample_size size, struct wh_packet *packet)
{
	static const struct wh_bitmap bitmaps[SAMPLE_SIZES] = {
		{.pkts = 1},
		{.first = UINT64_C(0x0102030405060708),
			.pkts = 70,
			.bits = {UINT64_C(0xa1a2a3a4a5a6a7a8), 0x2b}},
		{.first = WH_PN_MAX - 1 - WH_BITMAP_PKTS_MAX, .pkts = WH_BITMAP_PKTS_MAX},
	};

	packet->bitmap = bitmaps[size];
	for (uint32_t i = 0; size == SAMPLE_MOST && i < WH_BITMAP_WORDS_MAX; i++)
		packet->bitmap.bits[i] = UINT64_MAX - i;
}

static void sample_probe(enum sample_size size, struct wh_packet *packet)
{
	static const struct wh_probe probes[SAMPLE_SIZES] = {
		{.count = 1},
		{.stamp_ns = UINT64_C(0xa1a2a3a4a5a6a7a8),
			.made_us = UINT64_C(0xb1b2b3b4b5b6b7b8),
			.index = 0x4142,
			.count = 0x5152,
			.padding_bytes = 9,
			.train = 0xc1c2,
			.sa = 0xd1d2d3d4},
		{.stamp_ns = UINT64_MAX,
			.made_us = UINT64_MAX,
			.index = WH_PROBE_PKTS_MAX - 1,
			.count = WH_PROBE_PKTS_MAX,
			.padding_bytes = WH_PAYLOAD_BYTES_MAX,
			.train = UINT16_MAX,
			.sa = UINT32_MAX},
	};
	static const uint8_t flags[SAMPLE_SIZES] = {0, WH_FLAG_ECHO, WH_FLAG_FETCH};

	packet->flags = flags[size];
	packet->probe = probes[size];
}

static void sample_probe_answer(enum sample_size size, struct wh_packet *packet)
{
	static const struct wh_probe_answer answers[SAMPLE_SIZES] = {
		{.index = 0},
		{.stamp_ns = UINT64_C(0xa1a2a3a4a5a6a7a8),
			.index = 0x4142,
			.total = 0x5152,
			.heard = 0xb1b2b3b4,
			.train = 0xc1c2,
			.n_words = 2,
			.status = WH_STATUS_BUSY,
			.words = {UINT64_C(0xd1d2d3d4d5d6d7d8), UINT64_C(0xe1e2e3e4e5e6e7e8)}},
		{.stamp_ns = UINT64_MAX,
			.index = WH_PROBE_PKTS_MAX - 1,
			.total = WH_PROBE_PKTS_MAX,
			.heard = UINT32_MAX,
			.train = UINT16_MAX,
			.n_words = WH_PROBE_WORDS_MAX,
			.status = WH_STATUS_UNREPAIRED},
	};
	static const uint8_t flags[SAMPLE_SIZES] = {WH_FLAG_ECHO, WH_FLAG_ASK, WH_FLAG_FETCH};

	packet->flags = flags[size];
	packet->probe_answer = answers[size];
	for (uint32_t i = 0; size == SAMPLE_MOST && i < WH_PROBE_WORDS_MAX; i++)
		packet->probe_answer.words[i] = UINT64_MAX - i;
}

static void sample_ask(enum sample_size size, struct wh_packet *packet)
{
	static const uint64_t handshakes[SAMPLE_SIZES] = {
		0, UINT64_C(0xa1a2a3a4a5a6a7a8), UINT64_MAX};

	packet->ask.handshake = handshakes[size];
}

static void sample_handshake_cookie(enum sample_size size, uint8_t cookie[WH_COOKIE_BYTES])
{
	for (uint32_t i = 0; i < WH_COOKIE_BYTES; i++)
		cookie[i] = size == SAMPLE_LEAST   ? 0
			    : size == SAMPLE_USUAL ? (uint8_t)(0xef - i)
						   : UINT8_MAX;
}

static void sample_cookie_answer(enum sample_size size, struct wh_packet *packet)
{
	sample_ask(size, packet);
	sample_handshake_cookie(size, packet->cookie.cookie);
}

static void sample_crypto(enum sample_size size, struct wh_packet *packet)
{
	static const uint8_t flags[SAMPLE_SIZES] = {0, WH_FLAG_ANSWER, 0};
	static const struct wh_crypto pieces[SAMPLE_SIZES] = {
		{.handshake = 0},
		{.handshake = UINT64_C(0xa1a2a3a4a5a6a7a8),
			.offset = 0x1122,
			.acked = 0x0102,
			.bytes = 7,
			.padding_bytes = 3},
		{.handshake = UINT64_MAX,
			.offset = WH_CRYPTO_STREAM_MAX - WH_CRYPTO_BYTES_MAX,
			.acked = WH_CRYPTO_STREAM_MAX,
			.bytes = WH_CRYPTO_BYTES_MAX},
	};

	packet->flags = flags[size];
	packet->crypto = pieces[size];
	sample_handshake_cookie(size, packet->crypto.cookie);
	memcpy(packet->crypto.data, sample_payload(), packet->crypto.bytes);
}

static void sample_path(enum sample_size size, struct wh_packet *packet)
{
	sample_ask(size, packet); /* one number, at the same place */
	packet->flags = size == SAMPLE_USUAL ? WH_FLAG_ANSWER : 0;
}

static inline void sample_make(
	enum wh_packet_type type, enum sample_size size, struct wh_packet *packet)
{
	static void (*const makers[WH_PACKET_TYPES])(enum sample_size, struct wh_packet *) = {
		[WH_PACKET_DATA] = sample_data,
		[WH_PACKET_REPAIR] = sample_repair,
		[WH_PACKET_RCV_REPORT] = sample_rcv_report,
		[WH_PACKET_TRANS_REPORT] = sample_trans_report,
		[WH_PACKET_ACK2] = sample_ack2,
		[WH_PACKET_NAK] = sample_nak,
		[WH_PACKET_DELAY_WARNING] = sample_delay_warning,
		[WH_PACKET_OPEN] = sample_open,
		[WH_PACKET_ACCEPT] = sample_accept,
		[WH_PACKET_CONFIRM] = sample_confirm,
		[WH_PACKET_RELEASE] = sample_release,
		[WH_PACKET_BITMAP] = sample_bitmap,
		[WH_PACKET_PROBE] = sample_probe,
		[WH_PACKET_PROBE_ANSWER] = sample_probe_answer,
		[WH_PACKET_ASK] = sample_ask,
		[WH_PACKET_COOKIE] = sample_cookie_answer,
		[WH_PACKET_CRYPTO] = sample_crypto,
		[WH_PACKET_PATH] = sample_path,
	};
	static const uint32_t cids[SAMPLE_SIZES] = {0, 0x11223344, UINT32_MAX};
	static const uint64_t pns[SAMPLE_SIZES] = {0, UINT64_C(0x2122232425262728), WH_PN_MAX - 1};

	*packet = (struct wh_packet){
		.type = type,
		.cid = cids[size],
		.pn = pns[size],
	};
	makers[type](size, packet);
}

/* Any packet as one string of bytes, head and payload together, not closed; returns its length. */
static inline size_t sample_encode(const struct wh_packet *packet, uint8_t *bytes)
{
	memset(bytes, 0, WH_HEAD_BYTES);
	if (packet->type != WH_PACKET_DATA && packet->type != WH_PACKET_REPAIR)
		return wh_packet_encode(packet, bytes, SAMPLE_BYTES_MAX);
	wh_packet_encode_data(packet, bytes);
	memcpy(bytes + WH_HEAD_BYTES, packet->payload, packet->data.payload_bytes);
	return WH_HEAD_BYTES + packet->data.payload_bytes;
}
