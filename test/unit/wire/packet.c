/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/packet.h"

#include "packet_samples.h"
#include "unit.h"

const char wh_suite_name[] = "packet";

/* Names are what counters and messages are called: present, different, and of one word. */
static void assert_names(const char *const *names, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(names[i]);
		CU_ASSERT(names[i][0] != '\0');
		CU_ASSERT_PTR_NULL(strchr(names[i], ' '));
		for (uint32_t j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(names[i], names[j]);
	}
}

static void names(void)
{
	const char *reasons[WH_WIRE_REASONS];
	const char *statuses[WH_STATUSES];

	for (uint32_t i = 0; i < WH_WIRE_REASONS; i++)
		reasons[i] = wh_wire_reason_name(i);
	for (uint32_t i = 0; i < WH_STATUSES; i++)
		statuses[i] = wh_release_status_name(i);
	assert_names(reasons, WH_WIRE_REASONS);
	assert_names(statuses, WH_STATUSES);
	CU_ASSERT_STRING_EQUAL(wh_wire_reason_name(WH_WIRE_TAG), "tag");
	CU_ASSERT_STRING_EQUAL(wh_release_status_name(WH_STATUS_VERIFIED), "verified");
}

static void samples_are_within_limits(void)
{
	struct wh_packet packet;

	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++)
		for (uint32_t size = 0; size < SAMPLE_SIZES; size++) {
			sample_make(type, size, &packet);
			CU_ASSERT_EQUAL(wh_packet_check(&packet), WH_WIRE_OK);
		}
}

static void head_limits(void)
{
	struct wh_packet packet;

	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++) {
		sample_make(type, SAMPLE_USUAL, &packet);
		packet.pn = WH_PN_MAX;
		CU_ASSERT_EQUAL(wh_packet_check(&packet), WH_WIRE_FIELD);
		packet.flags = 0x10;
		CU_ASSERT_EQUAL(wh_packet_check(&packet), WH_WIRE_FLAGS);
	}
	packet.type = 0;
	CU_ASSERT_EQUAL(wh_packet_check(&packet), WH_WIRE_TYPE_UNKNOWN);
	packet.type = WH_PACKET_TYPES;
	CU_ASSERT_EQUAL(wh_packet_check(&packet), WH_WIRE_TYPE_UNKNOWN);
}

/* All 256 flag bytes of every type: exactly these may be. */
static void flags(void)
{
	static const uint8_t allowed[WH_PACKET_TYPES][8] = {
		[WH_PACKET_DATA] = {0, WH_FLAG_RETRANSMISSION, WH_FLAG_PAIR_FIRST,
			WH_FLAG_PAIR_SECOND},
		[WH_PACKET_REPAIR] = {0, WH_FLAG_RETRANSMISSION, WH_FLAG_PAIR_FIRST,
			WH_FLAG_PAIR_SECOND},
		[WH_PACKET_RCV_REPORT] = {0, 1, 2, 3, 4, 5, 6,
			WH_FLAG_LOSSES | WH_FLAG_DELIVERY | WH_FLAG_BEHIND},
		[WH_PACKET_PROBE] = {0, WH_FLAG_ECHO, WH_FLAG_ASK, WH_FLAG_FETCH},
		[WH_PACKET_PROBE_ANSWER] = {WH_FLAG_ECHO, WH_FLAG_ASK, WH_FLAG_FETCH, WH_FLAG_FETCH,
			WH_FLAG_FETCH, WH_FLAG_FETCH, WH_FLAG_FETCH, WH_FLAG_FETCH},
		[WH_PACKET_CONFIRM] = {0, WH_FLAG_OFFERED},
		[WH_PACKET_COOKIE] = {0, WH_FLAG_LATER},
		[WH_PACKET_CRYPTO] = {0, WH_FLAG_ANSWER},
		[WH_PACKET_PATH] = {0, WH_FLAG_ANSWER},
	};
	struct wh_packet packet;

	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++) {
		sample_make(type, SAMPLE_USUAL, &packet);
		for (uint32_t value = 0; value < 256; value++) {
			bool expected = memchr(allowed[type], (int)value, 8) != NULL;

			packet.flags = (uint8_t)value;
			CU_ASSERT_EQUAL(wh_packet_check(&packet) == WH_WIRE_OK, expected);
		}
	}
}

static void data_index(void)
{
	static const struct {
		enum wh_packet_type type;
		uint16_t k, r, index;
		enum wh_wire_reason reason;
	} cases[] = {
		{WH_PACKET_DATA, 0, 0, 0, WH_WIRE_FIELD},
		{WH_PACKET_DATA, 0, 1, 0, WH_WIRE_FIELD},
		{WH_PACKET_DATA, 1, 0, 0, WH_WIRE_OK},
		{WH_PACKET_DATA, 1, 0, 1, WH_WIRE_FIELD},
		{WH_PACKET_DATA, 1, 65534, 0, WH_WIRE_OK},
		{WH_PACKET_DATA, 1, 65535, 0, WH_WIRE_FIELD},
		{WH_PACKET_DATA, 65535, 0, 65534, WH_WIRE_OK},
		{WH_PACKET_DATA, 65535, 1, 0, WH_WIRE_FIELD},
		{WH_PACKET_DATA, 65535, 65535, 0, WH_WIRE_FIELD},
		{WH_PACKET_REPAIR, 0, 1, 0, WH_WIRE_FIELD},
		{WH_PACKET_REPAIR, 1, 0, 1, WH_WIRE_FIELD},
		{WH_PACKET_REPAIR, 1, 1, 0, WH_WIRE_FIELD},
		{WH_PACKET_REPAIR, 1, 1, 1, WH_WIRE_OK},
		{WH_PACKET_REPAIR, 1, 1, 2, WH_WIRE_FIELD},
		{WH_PACKET_REPAIR, 65000, 535, 64999, WH_WIRE_FIELD},
		{WH_PACKET_REPAIR, 65000, 535, 65534, WH_WIRE_OK},
		{WH_PACKET_REPAIR, 65000, 535, 65535, WH_WIRE_FIELD},
		{WH_PACKET_REPAIR, 65000, 536, 65000, WH_WIRE_FIELD},
	};
	struct wh_packet packet;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sample_make(cases[i].type, SAMPLE_LEAST, &packet);
		packet.data.k = cases[i].k;
		packet.data.r = cases[i].r;
		packet.data.index = cases[i].index;
		packet.data.code = cases[i].r > 0 ? WH_FEC_RS : WH_FEC_NONE;
		packet.data.blocks = cases[i].r > 0;
		packet.data.last_bytes = cases[i].r > 0;
		CU_ASSERT_EQUAL(wh_packet_check(&packet), cases[i].reason);
	}
}

/* All of a code or nothing of it. */
static void data_code(void)
{
	static const struct {
		uint8_t code;
		uint16_t r, blocks, last_bytes;
		enum wh_wire_reason reason;
	} cases[] = {
		{WH_FEC_NONE, 0, 0, 0, WH_WIRE_OK},
		{WH_FEC_NONE, 1, 0, 0, WH_WIRE_FIELD},
		{WH_FEC_NONE, 0, 1, 0, WH_WIRE_FIELD},
		{WH_FEC_NONE, 0, 0, 1, WH_WIRE_FIELD},
		{WH_FEC_RS, 1, 1, 1, WH_WIRE_OK},
		{WH_FEC_RS, 0, 1, 1, WH_WIRE_FIELD},
		{WH_FEC_RS, 1, 0, 1, WH_WIRE_FIELD},
		{WH_FEC_RS, 1, 1, 0, WH_WIRE_FIELD},
		{WH_FEC_RS, 1, 65535, WH_PAYLOAD_BYTES_MAX, WH_WIRE_OK},
		{WH_FEC_RS, 1, 1, WH_PAYLOAD_BYTES_MAX + 1, WH_WIRE_FIELD},
		{WH_FEC_TORNADO, 1, 1, 1, WH_WIRE_OK},
		{WH_FEC_CODES, 1, 1, 1, WH_WIRE_FIELD},
	};
	struct wh_packet packet;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sample_make(WH_PACKET_DATA, SAMPLE_LEAST, &packet);
		packet.data.code = cases[i].code;
		packet.data.r = cases[i].r;
		packet.data.blocks = cases[i].blocks;
		packet.data.last_bytes = cases[i].last_bytes;
		CU_ASSERT_EQUAL(wh_packet_check(&packet), cases[i].reason);
	}
}

/* Repair packets belong to a recovery that has use for them; a chunk with them is a block still. */
static void params_repair(void)
{
	static const struct {
		uint8_t recovery;
		uint16_t repair_pkts;
		enum wh_wire_reason reason;
	} cases[] = {
		{WH_RECOVERY_NAK, 0, WH_WIRE_OK},
		{WH_RECOVERY_NAK, 1, WH_WIRE_FIELD},
		{WH_RECOVERY_HYBRID, 0, WH_WIRE_FIELD},
		{WH_RECOVERY_HYBRID, 1, WH_WIRE_OK},
		{WH_RECOVERY_FEC, 65533, WH_WIRE_OK}, /* beside the 2 of 4096 by 2048 bytes */
		{WH_RECOVERY_FEC, 65534, WH_WIRE_FIELD},
		{WH_RECOVERIES, 1, WH_WIRE_FIELD},
	};
	struct wh_packet packet;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sample_make(WH_PACKET_OPEN, SAMPLE_USUAL, &packet);
		packet.open.params.chunk_bytes = 4096;
		packet.open.params.payload_bytes = 2048;
		packet.open.params.recovery = cases[i].recovery;
		packet.open.params.repair_pkts = cases[i].repair_pkts;
		CU_ASSERT_EQUAL(wh_packet_check(&packet), cases[i].reason);
	}
}

static void params_sizes(void)
{
	static const struct {
		uint16_t payload_bytes;
		uint32_t chunk_bytes;
		enum wh_wire_reason reason;
	} cases[] = {
		{0, 4096, WH_WIRE_FIELD},
		{31, 4096, WH_WIRE_FIELD},
		{32, 4095, WH_WIRE_FIELD},
		{32, 4096, WH_WIRE_OK},
		{48, 4096, WH_WIRE_FIELD},
		{32, 32 * 65535, WH_WIRE_OK},
		{32, 32 * 65535 + 1, WH_WIRE_FIELD},
		{256, 256 * 65535, WH_WIRE_OK},
		{256, 256 * 65535 + 1, WH_WIRE_FIELD},
		{288, 16777216, WH_WIRE_OK},
		{9216, 16777216, WH_WIRE_OK},
		{9216, 16777217, WH_WIRE_FIELD},
		{9216, UINT32_MAX, WH_WIRE_FIELD},
		{9248, 16777216, WH_WIRE_FIELD},
		{65504, 16777216, WH_WIRE_FIELD},
	};
	struct wh_packet packet;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sample_make(WH_PACKET_OPEN, SAMPLE_LEAST, &packet);
		packet.open.params.payload_bytes = cases[i].payload_bytes;
		packet.open.params.chunk_bytes = cases[i].chunk_bytes;
		CU_ASSERT_EQUAL(wh_packet_check(&packet), cases[i].reason);
	}
}

static void params_window(void)
{
	struct wh_packet packet;

	sample_make(WH_PACKET_CONFIRM, SAMPLE_LEAST, &packet);
	for (uint32_t bit = 0; bit < 32; bit++) {
		bool expected = bit >= 6 && bit <= 24;

		packet.confirm.params.window_pkts = UINT32_C(1) << bit;
		CU_ASSERT_EQUAL(wh_packet_check(&packet) == WH_WIRE_OK, expected);
		packet.confirm.params.window_pkts = (UINT32_C(1) << bit) + 3;
		CU_ASSERT_EQUAL(wh_packet_check(&packet), WH_WIRE_FIELD);
	}
}

/* From nothing to everything, of every length. */
static void bitmap_bits(void)
{
	struct wh_packet packet;

	for (uint32_t pkts = 0; pkts <= 1030; pkts++) {
		bool fits = pkts >= 1 && pkts <= 1024;

		sample_make(WH_PACKET_BITMAP, SAMPLE_LEAST, &packet);
		packet.bitmap.pkts = (uint16_t)pkts;
		CU_ASSERT_EQUAL(wh_packet_check(&packet), fits ? WH_WIRE_OK : WH_WIRE_FIELD);
		if (!fits)
			continue;
		packet.bitmap.bits[(pkts - 1) / 64] = UINT64_C(1) << (pkts - 1) % 64;
		CU_ASSERT_EQUAL(wh_packet_check(&packet), WH_WIRE_OK);
		if (pkts % 64 == 0)
			continue;
		packet.bitmap.bits[pkts / 64] = UINT64_C(1) << pkts % 64;
		CU_ASSERT_EQUAL(wh_packet_check(&packet), WH_WIRE_RESERVED);
	}
}

CU_TestInfo wh_tests[] = {
	{"names", names},
	{"samples are within limits", samples_are_within_limits},
	{"limits of the head", head_limits},
	{"flags", flags},
	{"index, k and r", data_index},
	{"data: code", data_code},
	{"params: repair", params_repair},
	{"payload and chunk sizes", params_sizes},
	{"window", params_window},
	{"bits", bitmap_bits},
	CU_TEST_INFO_NULL,
};
