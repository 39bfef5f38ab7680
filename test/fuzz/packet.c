/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: whatever decodes must encode to the same bytes. */
#include "wire/packet.h"

#include <string.h>

#include "base/assert.h"
#include "encode.h"
#include "fuzz.h"
#include "maker.h"
#include "tally.h"
#include "wire/versions.h"

static struct wh_tally tally;

static void decode_and_encode(const uint8_t *bytes, size_t length)
{
	static uint8_t again[WH_FUZZ_PACKET_BYTES_MAX];
	struct wh_packet packet;
	enum wh_wire_reason reason = wh_packet_decode(bytes, length, &packet);

	wh_tally_add(&tally, reason, &packet);
	if (reason != WH_WIRE_OK)
		return;
	WH_ASSERT(wh_fuzz_encode(&packet, 0, again) == length);
	/* Key number and tag are the seal's. */
	again[WH_KEY_OFFSET] = bytes[WH_KEY_OFFSET];
	memcpy(again + WH_TAG_OFFSET, bytes + WH_TAG_OFFSET, WH_TAG_BYTES);
	/* Nobody looks at padding. */
	if (packet.type == WH_PACKET_PROBE)
		length = WH_HEAD_BYTES;
	if (packet.type == WH_PACKET_CRYPTO)
		length -= packet.crypto.padding_bytes;
	WH_ASSERT(memcmp(bytes, again, length) == 0);
}

/* No answer is longer than what it answers, nor answered; none is ours and another's at once. */
static void answer_versions(const uint8_t *bytes, size_t length)
{
	uint8_t answer[WH_VERSIONS_BYTES], again[WH_VERSIONS_BYTES];
	struct wh_versions versions;
	bool answered = wh_versions_answer(bytes, length, answer);

	WH_ASSERT(!wh_versions_read(bytes, length, &versions) || !answered);
	if (!answered)
		return;
	WH_ASSERT(length >= sizeof(answer));
	WH_ASSERT(!wh_versions_answer(answer, sizeof(answer), again));
	WH_ASSERT(!wh_versions_read(answer, sizeof(answer), &versions));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	decode_and_encode(bytes, length);
	answer_versions(bytes, length);
	return 0;
}

#define PARAMS                                                                                     \
	{                                                                                          \
		.initiator_cid = 7, .payload_bytes = 1408, .chunk_bytes = 1 << 20,                 \
		.window_pkts = 1024, .period_us = 10000, .name_bytes = 5, .name = "a.dat"          \
	}

static const uint8_t payload[64];

static const struct wh_packet seeds[] = {
	{.type = WH_PACKET_DATA, .payload = payload, .data = {.k = 4, .payload_bytes = 64}},
	{.type = WH_PACKET_DATA,
		.payload = payload,
		.data = {.k = 4,
			.r = 2,
			.code = 2,
			.blocks = 1,
			.last_bytes = 9,
			.payload_bytes = 64}},
	{.type = WH_PACKET_REPAIR,
		.payload = payload,
		.data = {.k = 4,
			.r = 2,
			.index = 5,
			.code = 1,
			.blocks = 2,
			.last_bytes = 9,
			.payload_bytes = 64}},
	{.type = WH_PACKET_RCV_REPORT,
		.rcv_report = {.upper = 64,
			.highest_end = 64,
			.cover_end = 64,
			.n_holes = 3,
			.holes = {{0, 4}, {8, 1}, {60, 4}}}},
	{.type = WH_PACKET_TRANS_REPORT, .trans_report = {.lower = 4, .upper = 9}},
	{.type = WH_PACKET_ACK2, .ack2 = {.ack_pn = 1}},
	{.type = WH_PACKET_NAK, .nak = {.n_losses = 3, .losses = {{0, 4}, {4, 1}, {60, 4}}}},
	{.type = WH_PACKET_DELAY_WARNING, .delay_warning = {.pct_milli = 600}},
	{.type = WH_PACKET_OPEN, .open = {.params = PARAMS}},
	{.type = WH_PACKET_ACCEPT, .accept = {.acceptor_cid = 7}},
	{.type = WH_PACKET_CONFIRM, .confirm = {.params = PARAMS, .acceptor_cid = 7}},
	{.type = WH_PACKET_BITMAP, .bitmap = {.first = 9, .pkts = 70, .bits = {~UINT64_C(4), 63}}},
	{.type = WH_PACKET_RELEASE, .release = {.stage = WH_RELEASE_REQUEST, .chunks = 1}},
	{.type = WH_PACKET_PROBE, .probe = {.count = 3, .index = 2, .padding_bytes = 40}},
	{.type = WH_PACKET_PROBE_ANSWER,
		.flags = WH_FLAG_FETCH,
		.probe_answer = {.total = 2, .n_words = 2, .words = {7, 9}}},
	{.type = WH_PACKET_ASK, .ask = {.handshake = 7}},
	{.type = WH_PACKET_COOKIE, .cookie = {.handshake = 7}},
	{.type = WH_PACKET_CRYPTO, .crypto = {.offset = 9, .bytes = 30, .padding_bytes = 5}},
	{.type = WH_PACKET_PATH, .path = {.token = 7}},
};

#define SEEDS (sizeof(seeds) / sizeof(seeds[0]))

/* More holes than a state has room for, in the place of the losses that may follow them. */
static size_t holes_in_place_of_losses(uint32_t more, uint8_t *bytes, size_t room)
{
	struct wh_packet packet;

	sample_make(WH_PACKET_RCV_REPORT, SAMPLE_MOST, &packet);
	packet.flags = 0;
	packet.rcv_report.n_holes = (uint16_t)(WH_RANGES_MAX + more);
	return raw_encode(&packet, bytes, room);
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	WH_ASSERT(room >= WH_FUZZ_PACKET_BYTES_MAX);
	if (number < SEEDS)
		return wh_fuzz_encode(&seeds[number], 0, bytes);
	return number < SEEDS + 5 ? holes_in_place_of_losses(number - SEEDS, bytes, room) : 0;
}

size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	size_t length =
		maker_packet(prng, (uint32_t)wh_prng_u64(prng), wh_prng_u64(prng), bytes, room);

	/* Of another version, or an answer to one. */
	if (length > 0 && maker_one_in(prng, 32))
		bytes[0] = (uint8_t)wh_prng_below(prng, 4);
	if (length > WH_VERSIONS_BYTES && maker_one_in(prng, 64)) {
		for (uint32_t i = WH_VERSIONS_BYTES; i-- > 8;)
			bytes[i] = bytes[i - 8];
		for (uint32_t i = 0; i < 8; i++)
			bytes[i] = i > 0 && i < 4 ? (uint8_t)wh_prng_below(prng, 4) : 0;
		length = WH_VERSIONS_BYTES;
	}
	return length;
}

void wh_fuzz_report(void)
{
	wh_tally_print(&tally);
}
