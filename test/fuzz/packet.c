/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: whatever decodes must encode to the same bytes, and be decoded by two steps, too. */
#include "wire/packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "encode.h"
#include "fuzz.h"
#include "wire/tag.h"

/* Two steps, of which the first believes nothing, come to what one does. */
static void decode_in_steps(const uint8_t *bytes, size_t length, enum wh_wire_reason reason)
{
	static uint8_t payload[WH_PAYLOAD_BYTES_MAX];
	struct wh_packet packet;

	if (wh_packet_decode_head(bytes, length, &packet))
		WH_ASSERT(wh_packet_decode_body(bytes, &packet, payload) == reason);
	else
		WH_ASSERT(reason != WH_WIRE_OK || bytes[1] != WH_PACKET_DATA);
}

static void decode_and_encode(const uint8_t *bytes, size_t length)
{
	static uint8_t again[WH_FUZZ_PACKET_BYTES_MAX];
	struct wh_packet packet;
	enum wh_wire_reason reason = wh_packet_decode(bytes, length, &packet);

	decode_in_steps(bytes, length, reason);
	if (reason != WH_WIRE_OK)
		return;
	WH_ASSERT(wh_fuzz_encode(&packet, again) == length);
	WH_ASSERT(memcmp(bytes, again, length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	decode_and_encode(bytes, length);
	if (length < WH_HEAD_BYTES)
		return 0;

	/* No mutation finds a tag that agrees, and behind the tag is most of the decoder. */
	uint8_t *tagged = malloc(length);

	WH_ASSERT(tagged != NULL);
	memcpy(tagged, bytes, length);
	wh_tag_write(tagged, tagged + WH_HEAD_BYTES, length - WH_HEAD_BYTES);
	decode_and_encode(tagged, length);
	free(tagged);
	return 0;
}

#define PARAMS                                                                                     \
	{                                                                                          \
		.initiator_lci = 7, .payload_bytes = 1408, .chunk_bytes = 1 << 20,                 \
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
	{.type = WH_PACKET_RCV_STATE,
		.rcv_state = {.upper = 64,
			.highest_end = 64,
			.cover_end = 64,
			.n_holes = 3,
			.holes = {{0, 4}, {8, 1}, {60, 4}}}},
	{.type = WH_PACKET_TRANS_STATE, .trans_state = {.lower = 4, .upper = 9}},
	{.type = WH_PACKET_ACK2, .ack2 = {.ack_serial = 1}},
	{.type = WH_PACKET_NAK, .nak = {.n_losses = 3, .losses = {{0, 4}, {4, 1}, {60, 4}}}},
	{.type = WH_PACKET_DELAY_WARNING, .delay_warning = {.pct_milli = 600}},
	{.type = WH_PACKET_PROBE, .probe = {.train_length = 4, .padding_bytes = 64}},
	{.type = WH_PACKET_OPEN, .open = {.params = PARAMS}},
	{.type = WH_PACKET_ACCEPT, .accept = {.acceptor_lci = 7}},
	{.type = WH_PACKET_CONFIRM, .confirm = {.params = PARAMS, .acceptor_lci = 7}},
	{.type = WH_PACKET_BITMAP, .bitmap = {.first = 9, .pkts = 70, .bits = {~UINT64_C(4), 63}}},
	{.type = WH_PACKET_RELEASE, .release = {.stage = WH_RELEASE_REQUEST, .chunks = 1}},
};

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	WH_ASSERT(room >= WH_FUZZ_PACKET_BYTES_MAX);
	return number < sizeof(seeds) / sizeof(seeds[0]) ? wh_fuzz_encode(&seeds[number], bytes)
							 : 0;
}
