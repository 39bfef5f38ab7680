/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../rig/packet_names.h"
#include "base/prng.h"
#include "packet_samples.h"
#include "unit.h"
#include "wire/packet.h"

const char wh_suite_name[] = "decode";

#define STRINGS 1000000
#define SEED    UINT64_C(20050501)
#define GROWTH  16

/* Decodes from a block of exactly that size, so that a sanitizer sees any byte read beyond. */
static enum wh_wire_reason decode_exact(
	const uint8_t *bytes, size_t length, struct wh_packet *packet, uint8_t **copy)
{
	*copy = malloc(length);
	if (length > 0)
		memcpy(*copy, bytes, length);
	return wh_packet_decode(*copy, length, packet);
}

static size_t make_bytes(enum wh_packet_type type, enum sample_size size, uint8_t *bytes)
{
	struct wh_packet packet;

	sample_make(type, size, &packet);
	return sample_encode(&packet, bytes);
}

/* test/unit/encode.c pins each field's place, so equal bytes mean that no field was lost. */
static void round_trip(void)
{
	static uint8_t bytes[SAMPLE_BYTES_MAX], again[SAMPLE_BYTES_MAX];
	struct wh_packet packet;
	uint8_t *copy;

	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++)
		for (uint32_t size = 0; size < SAMPLE_SIZES; size++) {
			size_t length = make_bytes(type, size, bytes);

			memset(&packet, 0xdd, sizeof(packet));
			CU_ASSERT_EQUAL_FATAL(
				decode_exact(bytes, length, &packet, &copy), WH_WIRE_OK);
			CU_ASSERT_EQUAL(packet.type, type);
			CU_ASSERT_EQUAL(sample_encode(&packet, again), length);
			CU_ASSERT_EQUAL(memcmp(bytes, again, length), 0);
			free(copy);
		}
}

static void payload_in_place(void)
{
	static uint8_t bytes[SAMPLE_BYTES_MAX + 1];
	struct wh_packet packet;

	for (uint32_t shift = 0; shift < 2; shift++) {
		size_t length = make_bytes(WH_PACKET_REPAIR, SAMPLE_USUAL, bytes + shift);

		CU_ASSERT_EQUAL(wh_packet_decode(bytes + shift, length, &packet), WH_WIRE_OK);
		CU_ASSERT_PTR_EQUAL(packet.payload, bytes + shift + 64);
		CU_ASSERT_EQUAL(packet.data.payload_bytes, 1408);
	}
}

static void name_is_closed(void)
{
	static uint8_t bytes[SAMPLE_BYTES_MAX];
	struct wh_packet packet;

	memset(&packet, 0xdd, sizeof(packet));
	CU_ASSERT_EQUAL(
		wh_packet_decode(bytes, make_bytes(WH_PACKET_OPEN, SAMPLE_USUAL, bytes), &packet),
		WH_WIRE_OK);
	CU_ASSERT_STRING_EQUAL(packet.open.params.name, "run.dat");
	memset(&packet, 0xdd, sizeof(packet));
	CU_ASSERT_EQUAL(
		wh_packet_decode(bytes, make_bytes(WH_PACKET_CONFIRM, SAMPLE_MOST, bytes), &packet),
		WH_WIRE_OK);
	CU_ASSERT_EQUAL(strlen(packet.confirm.params.name), 255);
}

#define SAME UINT16_MAX /* length as it was */

/* A good packet with `width` bytes at `offset` replaced, cut or grown to `length`. */
struct malformed {
	const char *what;
	enum wh_packet_type type;
	enum sample_size size;
	uint16_t length;
	uint16_t offset;
	uint8_t width;
	uint64_t value;
	enum wh_wire_reason reason;
};

#define LEAST SAMPLE_LEAST
#define USUAL SAMPLE_USUAL
#define MOST  SAMPLE_MOST
#define TOP   WH_PN_MAX

/* clang-format off */
static const struct malformed malformed[] = {
	{"nothing",             WH_PACKET_DATA, USUAL, 0, 0, 0, 0, WH_WIRE_SHORT},
	{"one byte",            WH_PACKET_DATA, USUAL, 1, 0, 0, 0, WH_WIRE_SHORT},
	{"head less one",       WH_PACKET_ACK2, USUAL, 63, 0, 0, 0, WH_WIRE_SHORT},
	{"version 0",           WH_PACKET_DATA, USUAL, SAME, 0, 1, 0, WH_WIRE_VERSION_UNKNOWN},
	{"version before ours", WH_PACKET_DATA, USUAL, SAME, 0, 1,
		WH_WIRE_VERSION - 1, WH_WIRE_VERSION_UNKNOWN},
	{"version after ours",  WH_PACKET_DATA, USUAL, SAME, 0, 1,
		WH_WIRE_VERSION + 1, WH_WIRE_VERSION_UNKNOWN},
	{"type 0",              WH_PACKET_DATA, USUAL, SAME, 1, 1, 0, WH_WIRE_TYPE_UNKNOWN},
	{"type 19",             WH_PACKET_DATA, USUAL, SAME, 1, 1, 19, WH_WIRE_TYPE_UNKNOWN},
	{"type 255",            WH_PACKET_DATA, USUAL, SAME, 1, 1, 255, WH_WIRE_TYPE_UNKNOWN},

	{"data, no payload",    WH_PACKET_DATA, LEAST, 64, 0, 0, 0, WH_WIRE_SHORT},
	{"repair, no payload",  WH_PACKET_REPAIR, LEAST, 64, 0, 0, 0, WH_WIRE_SHORT},
	{"state less one",      WH_PACKET_RCV_REPORT, LEAST, 127, 0, 0, 0, WH_WIRE_SHORT},
	{"NAK, no loss",        WH_PACKET_NAK, LEAST, 64, 0, 0, 0, WH_WIRE_SHORT},
	{"open less one",       WH_PACKET_OPEN, LEAST, 131, 0, 0, 0, WH_WIRE_SHORT},
	{"confirm less one",    WH_PACKET_CONFIRM, LEAST, 131, 0, 0, 0, WH_WIRE_SHORT},
	{"bitmap, no word",     WH_PACKET_BITMAP, LEAST, 64, 0, 0, 0, WH_WIRE_SHORT},
	{"bitmap less one",     WH_PACKET_BITMAP, LEAST, 71, 0, 0, 0, WH_WIRE_SHORT},
	{"release less one",    WH_PACKET_RELEASE, LEAST, 79, 0, 0, 0, WH_WIRE_SHORT},
	{"data too long",       WH_PACKET_DATA, MOST, 9281, 0, 0, 0, WH_WIRE_LONG},
	{"repair too long",     WH_PACKET_REPAIR, MOST, 9281, 0, 0, 0, WH_WIRE_LONG},
	{"state too long",      WH_PACKET_RCV_REPORT, MOST, 1201, 0, 0, 0, WH_WIRE_LONG},
	{"trans state too long",   WH_PACKET_TRANS_REPORT, MOST, 65, 0, 0, 0, WH_WIRE_LONG},
	{"ACK2 too long",       WH_PACKET_ACK2, MOST, 65, 0, 0, 0, WH_WIRE_LONG},
	{"bitmap too long",     WH_PACKET_BITMAP, MOST, 193, 0, 0, 0, WH_WIRE_LONG},
	{"NAK too long",        WH_PACKET_NAK, MOST, 1089, 0, 0, 0, WH_WIRE_LONG},
	{"warning too long",    WH_PACKET_DELAY_WARNING, MOST, 65, 0, 0, 0, WH_WIRE_LONG},
	{"open too long",       WH_PACKET_OPEN, MOST, 532, 0, 0, 0, WH_WIRE_LONG},
	{"accept too long",     WH_PACKET_ACCEPT, MOST, 65, 0, 0, 0, WH_WIRE_LONG},
	{"confirm too long",    WH_PACKET_CONFIRM, MOST, 532, 0, 0, 0, WH_WIRE_LONG},
	{"release too long",    WH_PACKET_RELEASE, MOST, 81, 0, 0, 0, WH_WIRE_LONG},
	{"probe too long",      WH_PACKET_PROBE, MOST, 9281, 0, 0, 0, WH_WIRE_LONG},
	{"probe answer too long",  WH_PACKET_PROBE_ANSWER, MOST, 1089, 0, 0, 0, WH_WIRE_LONG},

	{"first and second",    WH_PACKET_DATA, USUAL, SAME, 2, 1, 6, WH_WIRE_FLAGS},
	{"first, retransmitted",   WH_PACKET_DATA, USUAL, SAME, 2, 1, 3, WH_WIRE_FLAGS},
	{"second, retransmitted",  WH_PACKET_DATA, USUAL, SAME, 2, 1, 5, WH_WIRE_FLAGS},
	{"unknown flag",        WH_PACKET_DATA, USUAL, SAME, 2, 1, 8, WH_WIRE_FLAGS},
	{"high flag",           WH_PACKET_DATA, USUAL, SAME, 2, 1, 128, WH_WIRE_FLAGS},
	{"repair, both of a pair", WH_PACKET_REPAIR, USUAL, SAME, 2, 1, 6, WH_WIRE_FLAGS},
	{"state with a flag",   WH_PACKET_RCV_REPORT, USUAL, SAME, 2, 1, 8, WH_WIRE_FLAGS},
	{"losses not said",     WH_PACKET_RCV_REPORT, USUAL, SAME, 2, 1, 0, WH_WIRE_LENGTH},
	{"losses missing",      WH_PACKET_RCV_REPORT, LEAST, SAME, 2, 1, 1, WH_WIRE_LENGTH},
	{"delivery not said",   WH_PACKET_RCV_REPORT, USUAL, SAME, 2, 1, 1, WH_WIRE_LENGTH},
	{"delivery missing",    WH_PACKET_RCV_REPORT, LEAST, SAME, 2, 1, 2, WH_WIRE_LENGTH},
	{"delivery beyond",     WH_PACKET_RCV_REPORT, USUAL, SAME, 184, 8,
		TOP + 1, WH_WIRE_FIELD},
	{"data, cut",           WH_PACKET_DATA, USUAL, 1471, 0, 0, 0, WH_WIRE_LENGTH},
	{"pn",              WH_PACKET_DATA, USUAL, SAME, 8, 8, TOP, WH_WIRE_FIELD},
	{"control pn",      WH_PACKET_ACK2, USUAL, SAME, 8, 8, UINT64_MAX, WH_WIRE_FIELD},

	{"data reserved, first",   WH_PACKET_DATA, USUAL, SAME, 47, 1, 1, WH_WIRE_RESERVED},
	{"data reserved, last", WH_PACKET_DATA, USUAL, SAME, 47, 1, 128, WH_WIRE_RESERVED},
	{"repair reserved, all",   WH_PACKET_REPAIR, USUAL, SAME, 47, 1,
		UINT64_MAX, WH_WIRE_RESERVED},
	{"ACK2 reserved, first",   WH_PACKET_ACK2, USUAL, SAME, 36, 1, 1, WH_WIRE_RESERVED},
	{"ACK2 reserved, last", WH_PACKET_ACK2, USUAL, SAME, 47, 1, 1, WH_WIRE_RESERVED},
	{"bitmap reserved, first", WH_PACKET_BITMAP, USUAL, SAME, 26, 1, 1, WH_WIRE_RESERVED},
	{"bitmap reserved, last",  WH_PACKET_BITMAP, USUAL, SAME, 47, 1, 1, WH_WIRE_RESERVED},
	{"bit behind the last", WH_PACKET_BITMAP, USUAL, SAME, 72, 1, 0x40, WH_WIRE_RESERVED},
	{"last bit of the word",   WH_PACKET_BITMAP, LEAST, SAME, 71, 1, 0x80, WH_WIRE_RESERVED},
	{"NAK reserved, first", WH_PACKET_NAK, USUAL, SAME, 26, 1, 1, WH_WIRE_RESERVED},
	{"NAK reserved, last",  WH_PACKET_NAK, USUAL, SAME, 47, 1, 1, WH_WIRE_RESERVED},
	{"warning reserved",    WH_PACKET_DELAY_WARNING, USUAL, SAME, 28, 1,
		1, WH_WIRE_RESERVED},
	{"warning reserved, last", WH_PACKET_DELAY_WARNING, USUAL, SAME, 47, 1,
		1, WH_WIRE_RESERVED},
	{"open reserved, first",   WH_PACKET_OPEN, USUAL, SAME, 24, 1, 1, WH_WIRE_RESERVED},
	{"open reserved, last", WH_PACKET_OPEN, USUAL, SAME, 47, 1, 1, WH_WIRE_RESERVED},
	{"accept reserved, first", WH_PACKET_ACCEPT, USUAL, SAME, 45, 1, 1, WH_WIRE_RESERVED},
	{"accept reserved, last",  WH_PACKET_ACCEPT, USUAL, SAME, 47, 1, 1, WH_WIRE_RESERVED},
	{"confirm reserved",    WH_PACKET_CONFIRM, USUAL, SAME, 36, 1, 1, WH_WIRE_RESERVED},
	{"confirm reserved, last", WH_PACKET_CONFIRM, USUAL, SAME, 47, 1, 1, WH_WIRE_RESERVED},
	{"release reserved",    WH_PACKET_RELEASE, USUAL, SAME, 42, 1, 1, WH_WIRE_RESERVED},
	{"release reserved, last", WH_PACKET_RELEASE, USUAL, SAME, 47, 1, 1, WH_WIRE_RESERVED},
	{"answer reserved",     WH_PACKET_PROBE_ANSWER, USUAL, SAME, 41, 1, 1, WH_WIRE_RESERVED},
	{"answer reserved, last",  WH_PACKET_PROBE_ANSWER, USUAL, SAME, 47, 1, 1, WH_WIRE_RESERVED},

	{"payload + 1",         WH_PACKET_DATA, USUAL, SAME, 40, 2, 1409, WH_WIRE_LENGTH},
	{"payload 0",           WH_PACKET_DATA, USUAL, SAME, 40, 2, 0, WH_WIRE_LENGTH},
	{"payload 65535",       WH_PACKET_DATA, MOST, SAME, 40, 2, 65535, WH_WIRE_LENGTH},
	{"repair, grown",       WH_PACKET_REPAIR, USUAL, 1473, 0, 0, 0, WH_WIRE_LENGTH},
	{"holes less one",      WH_PACKET_RCV_REPORT, USUAL, SAME, 124, 2, 1, WH_WIRE_LENGTH},
	{"holes 65537",         WH_PACKET_RCV_REPORT, USUAL, SAME, 124, 4, 65537, WH_WIRE_LENGTH},
	{"holes, most",         WH_PACKET_RCV_REPORT, USUAL, SAME, 124, 4,
		UINT32_MAX, WH_WIRE_LENGTH},
	{"holes 129",           WH_PACKET_RCV_REPORT, MOST, SAME, 124, 2, 129, WH_WIRE_LENGTH},
	{"holes 65535",         WH_PACKET_RCV_REPORT, LEAST, SAME, 124, 2, 65535, WH_WIRE_LENGTH},
	{"half a hole",         WH_PACKET_RCV_REPORT, USUAL, 220, 0, 0, 0, WH_WIRE_LENGTH},
	{"hole missing",        WH_PACKET_RCV_REPORT, USUAL, 216, 0, 0, 0, WH_WIRE_LENGTH},
	{"losses 0",            WH_PACKET_NAK, LEAST, SAME, 24, 2, 0, WH_WIRE_LENGTH},
	{"losses 129",          WH_PACKET_NAK, MOST, SAME, 24, 2, 129, WH_WIRE_LENGTH},
	{"half a loss",         WH_PACKET_NAK, USUAL, 84, 0, 0, 0, WH_WIRE_LENGTH},
	{"bits 0",              WH_PACKET_BITMAP, LEAST, SAME, 24, 2, 0, WH_WIRE_LENGTH},
	{"bits 65 in a word",   WH_PACKET_BITMAP, LEAST, SAME, 24, 2, 65, WH_WIRE_LENGTH},
	{"bits 64 in two words",   WH_PACKET_BITMAP, USUAL, SAME, 24, 2, 64, WH_WIRE_LENGTH},
	{"bits 1025",           WH_PACKET_BITMAP, MOST, SAME, 24, 2, 1025, WH_WIRE_LENGTH},
	{"bits 65535",          WH_PACKET_BITMAP, MOST, SAME, 24, 2, 65535, WH_WIRE_LENGTH},
	{"half a word",         WH_PACKET_BITMAP, USUAL, 76, 0, 0, 0, WH_WIRE_LENGTH},
	{"name cut",            WH_PACKET_OPEN, USUAL, 138, 0, 0, 0, WH_WIRE_LENGTH},
	{"name less one",       WH_PACKET_OPEN, MOST, SAME, 98, 1, 254, WH_WIRE_LENGTH},
	{"options less one",    WH_PACKET_OPEN, MOST, SAME, 99, 1, 15, WH_WIRE_LENGTH},
	{"options 17 in 153",   WH_PACKET_OPEN, MOST, SAME, 98, 2, 246 | 17 << 8, WH_WIRE_FIELD},
	{"name 65535",          WH_PACKET_CONFIRM, MOST, SAME, 98, 2, 65535, WH_WIRE_LENGTH},
	{"padding less one",    WH_PACKET_PROBE, USUAL, SAME, 40, 2, 8, WH_WIRE_LENGTH},
	{"padding 9217",        WH_PACKET_PROBE, MOST, SAME, 40, 2, 9217, WH_WIRE_LENGTH},
	{"piece less one",      WH_PACKET_CRYPTO, USUAL, SAME, 64, 2, 6, WH_WIRE_LENGTH},
	{"padding less one",    WH_PACKET_CRYPTO, USUAL, SAME, 66, 2, 2, WH_WIRE_LENGTH},
	{"words less one",      WH_PACKET_PROBE_ANSWER, USUAL, SAME, 38, 2, 1, WH_WIRE_LENGTH},
	{"words 129",           WH_PACKET_PROBE_ANSWER, MOST, SAME, 38, 2, 129, WH_WIRE_LENGTH},
	{"half a word of arrivals", WH_PACKET_PROBE_ANSWER, USUAL, 76, 0, 0, 0, WH_WIRE_LENGTH},
	{"name surplus",        WH_PACKET_CONFIRM, LEAST, 133, 0, 0, 0, WH_WIRE_LENGTH},

	{"transmission",        WH_PACKET_DATA, USUAL, SAME, 16, 8, TOP, WH_WIRE_FIELD},
	{"chunk",               WH_PACKET_DATA, USUAL, SAME, 24, 4, UINT32_MAX, WH_WIRE_FIELD},
	{"index = k",           WH_PACKET_DATA, USUAL, SAME, 34, 2, 0x456, WH_WIRE_FIELD},
	{"k 0",                 WH_PACKET_DATA, LEAST, SAME, 36, 2, 0, WH_WIRE_FIELD},
	{"k + r 65536",         WH_PACKET_DATA, USUAL, SAME, 38, 2,
		65536 - 0x456, WH_WIRE_FIELD},
	{"repair index < k",    WH_PACKET_REPAIR, USUAL, SAME, 34, 2, 0x455, WH_WIRE_FIELD},
	{"repair index = k + r",   WH_PACKET_REPAIR, LEAST, SAME, 34, 2, 2, WH_WIRE_FIELD},
	{"repair r 0",          WH_PACKET_REPAIR, LEAST, SAME, 38, 2, 0, WH_WIRE_FIELD},
	{"code unknown",        WH_PACKET_DATA, USUAL, SAME, 46, 1, 3, WH_WIRE_FIELD},
	{"no code, blocks",     WH_PACKET_DATA, LEAST, SAME, 32, 2, 1, WH_WIRE_FIELD},
	{"last of none",        WH_PACKET_REPAIR, LEAST, SAME, 42, 2, 0, WH_WIRE_FIELD},

	{"lower > cover",       WH_PACKET_RCV_REPORT, LEAST, SAME, 16, 8, 1, WH_WIRE_FIELD},
	{"cover_first > end",   WH_PACKET_RCV_REPORT, USUAL, SAME, 40, 8,
		UINT64_C(0x0a00000000008001), WH_WIRE_FIELD},
	{"cover_end > highest", WH_PACKET_RCV_REPORT, USUAL, SAME, 64, 8,
		UINT64_C(0x0a00000000009001), WH_WIRE_FIELD},
	{"highest > upper",     WH_PACKET_RCV_REPORT, USUAL, SAME, 32, 8,
		UINT64_C(0x0a00000000010011), WH_WIRE_FIELD},
	{"window too wide",     WH_PACKET_RCV_REPORT, USUAL, SAME, 24, 8,
		UINT64_C(0x0a00000001000011), WH_WIRE_FIELD},
	{"upper too high",      WH_PACKET_RCV_REPORT, MOST, SAME, 24, 8, TOP, WH_WIRE_FIELD},
	{"empty hole",          WH_PACKET_RCV_REPORT, USUAL, SAME, 132, 4, 0, WH_WIRE_RANGE},
	{"holes touch",         WH_PACKET_RCV_REPORT, USUAL, SAME, 132, 4, 6, WH_WIRE_RANGE},
	{"holes overlap",       WH_PACKET_RCV_REPORT, USUAL, SAME, 132, 4, 7, WH_WIRE_RANGE},
	{"holes out of order",  WH_PACKET_RCV_REPORT, USUAL, SAME, 128, 4, 0x7000, WH_WIRE_RANGE},
	{"hole beyond cover",   WH_PACKET_RCV_REPORT, USUAL, SAME, 140, 4, 0x7fdb, WH_WIRE_RANGE},
	{"hole wraps",          WH_PACKET_RCV_REPORT, USUAL, SAME, 140, 4,
		UINT32_MAX, WH_WIRE_RANGE},
	{"last of many empty",  WH_PACKET_RCV_REPORT, MOST, SAME, 1148, 4, 0, WH_WIRE_RANGE},

	{"trans lower > upper", WH_PACKET_TRANS_REPORT, LEAST, SAME, 16, 8, 1, WH_WIRE_FIELD},
	{"trans window too wide",  WH_PACKET_TRANS_REPORT, LEAST, SAME, 24, 8,
		0x1000001, WH_WIRE_FIELD},
	{"trans upper too high",   WH_PACKET_TRANS_REPORT, MOST, SAME, 24, 8, TOP, WH_WIRE_FIELD},
	{"ACK pn",          WH_PACKET_ACK2, USUAL, SAME, 16, 8, TOP, WH_WIRE_FIELD},
	{"ACK2 lower",          WH_PACKET_ACK2, USUAL, SAME, 24, 8, TOP, WH_WIRE_FIELD},

	{"NAK base",            WH_PACKET_NAK, LEAST, SAME, 16, 8, TOP, WH_WIRE_FIELD},
	{"NAK base, huge",      WH_PACKET_NAK, LEAST, SAME, 16, 8, UINT64_MAX, WH_WIRE_FIELD},
	{"loss ends at the top",   WH_PACKET_NAK, LEAST, SAME, 16, 8, TOP - 1, WH_WIRE_FIELD},
	{"most losses, base + 1",  WH_PACKET_NAK, MOST, SAME, 16, 8,
		TOP - UINT64_C(0x1fffffffe), WH_WIRE_RANGE},
	{"empty loss",          WH_PACKET_NAK, USUAL, SAME, 76, 4, 0, WH_WIRE_RANGE},
	{"losses overlap",      WH_PACKET_NAK, USUAL, SAME, 68, 4, 10, WH_WIRE_RANGE},
	{"losses out of order", WH_PACKET_NAK, USUAL, SAME, 64, 4, 0xb0000000, WH_WIRE_RANGE},

	{"warning pn",      WH_PACKET_DELAY_WARNING, USUAL, SAME, 16, 8, TOP, WH_WIRE_FIELD},
	{"PCT 1.001",           WH_PACKET_DELAY_WARNING, MOST, SAME, 24, 2, 1001, WH_WIRE_FIELD},
	{"PDT 1.001",           WH_PACKET_DELAY_WARNING, MOST, SAME, 26, 2, 1001, WH_WIRE_FIELD},
	{"bitmap at the top",   WH_PACKET_BITMAP, MOST, SAME, 16, 8, TOP - 1024, WH_WIRE_FIELD},
	{"bitmap, huge",        WH_PACKET_BITMAP, LEAST, SAME, 16, 8,
		UINT64_MAX, WH_WIRE_FIELD},

	{"initiator 0",         WH_PACKET_OPEN, USUAL, SAME, 64, 4, 0, WH_WIRE_FIELD},
	{"chunk too small",     WH_PACKET_OPEN, USUAL, SAME, 68, 4, 4095, WH_WIRE_FIELD},
	{"chunk too large",     WH_PACKET_OPEN, MOST, SAME, 68, 4, 0x1000001, WH_WIRE_FIELD},
	{"chunk too many packets", WH_PACKET_OPEN, LEAST, SAME, 68, 4, 0x1fffe1, WH_WIRE_FIELD},
	{"window 32",           WH_PACKET_OPEN, USUAL, SAME, 72, 4, 32, WH_WIRE_FIELD},
	{"window 2^25",         WH_PACKET_OPEN, USUAL, SAME, 72, 4, 0x2000000, WH_WIRE_FIELD},
	{"window no power",     WH_PACKET_OPEN, USUAL, SAME, 72, 4, 96, WH_WIRE_FIELD},
	{"period 0",            WH_PACKET_OPEN, USUAL, SAME, 76, 4, 0, WH_WIRE_FIELD},
	{"period over 10 s",    WH_PACKET_CONFIRM, MOST, SAME, 76, 4, 10000001, WH_WIRE_FIELD},
	{"first pn",        WH_PACKET_CONFIRM, USUAL, SAME, 80, 8, TOP / 2 + 1,
		WH_WIRE_FIELD},
	{"payload unaligned",   WH_PACKET_CONFIRM, USUAL, SAME, 96, 2, 1409, WH_WIRE_FIELD},
	{"payload 0",           WH_PACKET_CONFIRM, USUAL, SAME, 96, 2, 0, WH_WIRE_FIELD},
	{"payload too large",   WH_PACKET_CONFIRM, USUAL, SAME, 96, 2, 9248, WH_WIRE_FIELD},
	{"option twice",        WH_PACKET_OPEN, MOST, SAME, 149, 1, 0xf0, WH_WIRE_FIELD},
	{"option out of order", WH_PACKET_OPEN, MOST, SAME, 140, 1, 0xff, WH_WIRE_FIELD},
	{"NUL first in name",   WH_PACKET_OPEN, USUAL, SAME, 132, 1, 0, WH_WIRE_FIELD},
	{"NUL last in name",    WH_PACKET_CONFIRM, MOST, SAME, 386, 1, 0, WH_WIRE_FIELD},
	{"confirm acceptor 0",  WH_PACKET_CONFIRM, USUAL, SAME, 16, 4, 0, WH_WIRE_FIELD},
	{"accept acceptor 0",   WH_PACKET_ACCEPT, USUAL, SAME, 16, 4, 0, WH_WIRE_FIELD},
	{"refused: verified",   WH_PACKET_ACCEPT, USUAL, SAME, 44, 1, 1, WH_WIRE_FIELD},
	{"refused: peer gone",  WH_PACKET_ACCEPT, USUAL, SAME, 44, 1, 9, WH_WIRE_FIELD},
	{"refused: unknown",    WH_PACKET_ACCEPT, USUAL, SAME, 44, 1, 16, WH_WIRE_FIELD},
	{"recovery unknown",    WH_PACKET_OPEN, USUAL, SAME, 101, 1, 3, WH_WIRE_FIELD},
	{"repair for none",     WH_PACKET_OPEN, USUAL, SAME, 101, 1, 0, WH_WIRE_FIELD},
	{"none for recovery",   WH_PACKET_CONFIRM, USUAL, SAME, 102, 2, 0, WH_WIRE_FIELD},

	{"stage 0",             WH_PACKET_RELEASE, USUAL, SAME, 40, 1, 0, WH_WIRE_FIELD},
	{"stage 5",             WH_PACKET_RELEASE, USUAL, SAME, 40, 1, 5, WH_WIRE_FIELD},
	{"status: peer gone",   WH_PACKET_RELEASE, USUAL, SAME, 41, 1, 9, WH_WIRE_FIELD},
	{"status: unknown",     WH_PACKET_RELEASE, USUAL, SAME, 41, 1, 255, WH_WIRE_FIELD},
	{"chunks",              WH_PACKET_RELEASE, USUAL, SAME, 16, 8,
		UINT64_C(1) << 32, WH_WIRE_FIELD},
	{"pn end",          WH_PACKET_RELEASE, USUAL, SAME, 32, 8, TOP, WH_WIRE_FIELD},
	{"probe of two kinds",  WH_PACKET_PROBE, USUAL, SAME, 2, 1, 3, WH_WIRE_FLAGS},
	{"piece behind the end",   WH_PACKET_CRYPTO, MOST, SAME, 40, 4, 16384 - 1132 + 1,
		WH_WIRE_FIELD},
	{"piece acked too far", WH_PACKET_CRYPTO, MOST, SAME, 44, 4, 16385, WH_WIRE_FIELD},
	{"ask reserved",        WH_PACKET_ASK, USUAL, SAME, 24, 1, 1, WH_WIRE_RESERVED},
	{"cookie reserved",     WH_PACKET_COOKIE, USUAL, SAME, 40, 1, 1, WH_WIRE_RESERVED},
	{"answer to nothing",   WH_PACKET_PROBE_ANSWER, USUAL, SAME, 2, 1, 0, WH_WIRE_FLAGS},
	{"index = count",       WH_PACKET_PROBE, USUAL, SAME, 32, 4, 0x5152, WH_WIRE_FIELD},
	{"train of none",       WH_PACKET_PROBE, LEAST, SAME, 36, 4, 0, WH_WIRE_FIELD},
	{"train too long",      WH_PACKET_PROBE, MOST, SAME, 36, 4, 65537, WH_WIRE_FIELD},
	{"answer: total",       WH_PACKET_PROBE_ANSWER, USUAL, SAME, 28, 4,
		65537, WH_WIRE_FIELD},
	{"answer: index",       WH_PACKET_PROBE_ANSWER, USUAL, SAME, 24, 4,
		65536, WH_WIRE_FIELD},
	{"answer: peer gone",   WH_PACKET_PROBE_ANSWER, USUAL, SAME, 40, 1, 9, WH_WIRE_FIELD},
};
/* clang-format on */

static void poke(uint8_t *bytes, uint32_t offset, uint32_t width, uint64_t value)
{
	for (uint32_t b = 0; b < width; b++)
		bytes[offset + b] = (uint8_t)(value >> 8 * b);
}

static void malformed_packets(void)
{
	static uint8_t bytes[SAMPLE_BYTES_MAX + 1];
	struct wh_packet packet;
	uint8_t *copy;

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		const struct malformed *m = &malformed[i];

		memset(bytes, 0, sizeof(bytes));

		size_t length = make_bytes(m->type, m->size, bytes);

		poke(bytes, m->offset, m->width, m->value);
		if (m->length != SAME)
			length = m->length;

		enum wh_wire_reason reason = decode_exact(bytes, length, &packet, &copy);

		if (reason != m->reason)
			printf("%s %s: %s\n", wh_rig_packet_name(m->type), m->what,
				wh_wire_reason_name(reason));
		CU_ASSERT_EQUAL(reason, m->reason);
		free(copy);
	}
}

/* Lengths and fields of data and repair are judged alike when the payload is virtual. */
static void malformed_virtual(void)
{
	static uint8_t bytes[SAMPLE_BYTES_MAX + 1];
	struct wh_packet packet;
	uint32_t tried = 0;

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		const struct malformed *m = &malformed[i];

		if ((m->type != WH_PACKET_DATA && m->type != WH_PACKET_REPAIR) || m->length < 64)
			continue;

		size_t length = make_bytes(m->type, m->size, bytes);

		poke(bytes, m->offset, m->width, m->value);
		if (m->length != SAME)
			length = m->length;
		CU_ASSERT_EQUAL(wh_packet_decode_virtual(bytes, length - 64, &packet), m->reason);
		tried++;
	}
	CU_ASSERT(tried > 20);
}

static void round_trip_virtual(void)
{
	uint8_t head[WH_HEAD_BYTES] = {0}, again[WH_HEAD_BYTES] = {0};
	struct wh_packet sample, packet;

	for (uint32_t type = WH_PACKET_DATA; type <= WH_PACKET_REPAIR; type++)
		for (uint32_t size = 0; size < SAMPLE_SIZES; size++) {
			sample_make((enum wh_packet_type)type, (enum sample_size)size, &sample);
			wh_packet_encode_data(&sample, head);
			memset(&packet, 0xdd, sizeof(packet));
			CU_ASSERT_EQUAL_FATAL(
				wh_packet_decode_virtual(head, sample.data.payload_bytes, &packet),
				WH_WIRE_OK);
			CU_ASSERT_PTR_NULL(packet.payload);
			wh_packet_encode_data(&packet, again);
			CU_ASSERT_EQUAL(memcmp(head, again, sizeof(head)), 0);
		}
	for (uint32_t type = WH_PACKET_RCV_REPORT; type < WH_PACKET_TYPES; type++) {
		static uint8_t bytes[SAMPLE_BYTES_MAX];

		size_t length = make_bytes((enum wh_packet_type)type, SAMPLE_LEAST, bytes);

		CU_ASSERT_EQUAL(wh_packet_decode_virtual(bytes, length - 64, &packet),
			WH_WIRE_TYPE_UNKNOWN);
	}
}

/* From the cheapest question to the dearest. */
static void order_of_checks(void)
{
	static uint8_t bytes[SAMPLE_BYTES_MAX];
	size_t length = make_bytes(WH_PACKET_DATA, SAMPLE_USUAL, bytes);
	struct wh_packet packet;

	bytes[20] = 0; /* k */
	bytes[36] = bytes[37] = 0;
	CU_ASSERT_EQUAL(wh_packet_decode(bytes, length, &packet), WH_WIRE_FIELD);
	CU_ASSERT_EQUAL(wh_packet_decode(bytes, length - 1, &packet), WH_WIRE_LENGTH);
	bytes[47] = 1;
	CU_ASSERT_EQUAL(wh_packet_decode(bytes, length - 1, &packet), WH_WIRE_RESERVED);
	bytes[2] = 6;
	CU_ASSERT_EQUAL(wh_packet_decode(bytes, length, &packet), WH_WIRE_FLAGS);
	CU_ASSERT_EQUAL(wh_packet_decode(bytes, 64, &packet), WH_WIRE_SHORT);
	bytes[1] = 0;
	CU_ASSERT_EQUAL(wh_packet_decode(bytes, 64, &packet), WH_WIRE_TYPE_UNKNOWN);
	bytes[0] = 0;
	CU_ASSERT_EQUAL(wh_packet_decode(bytes, 64, &packet), WH_WIRE_VERSION_UNKNOWN);
	CU_ASSERT_EQUAL(wh_packet_decode(bytes, 63, &packet), WH_WIRE_SHORT);
}

/* The first step tells what is needed to find who has the seal, and reads no field. */
static void two_steps(void)
{
	static uint8_t bytes[SAMPLE_BYTES_MAX];
	struct wh_packet packet;

	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++)
		for (uint32_t size = 0; size < SAMPLE_SIZES; size++) {
			size_t length = make_bytes(type, size, bytes);
			struct wh_packet sample;

			sample_make(type, size, &sample);
			memset(&packet, 0xdd, sizeof(packet));
			memset(bytes + 16, 0xff, 32);
			CU_ASSERT_EQUAL(wh_packet_peek(bytes, length, &packet), WH_WIRE_OK);
			CU_ASSERT_EQUAL(packet.type, type);
			CU_ASSERT_EQUAL(packet.flags, sample.flags);
			CU_ASSERT_EQUAL(packet.cid, sample.cid);
			CU_ASSERT_EQUAL(packet.pn, sample.pn);
			CU_ASSERT_NOT_EQUAL(wh_packet_read(bytes, length, &packet), WH_WIRE_OK);
		}
}

/* The limits once more, each as packet.h states it and none as lib/wire computes it. */
static bool ranges_within(
	const struct wh_range *ranges, uint32_t count, uint64_t base, uint64_t end)
{
	uint64_t at = base;

	for (uint32_t i = 0; i < count; i++) {
		if (ranges[i].count < 1 || base + ranges[i].offset < at)
			return false;
		at = base + ranges[i].offset + ranges[i].count;
	}
	return at <= end;
}

static bool data_within(const struct wh_packet *packet, const uint8_t *bytes, size_t length)
{
	const struct wh_data_fields *d = &packet->data;
	bool repair = packet->type == WH_PACKET_REPAIR;
	bool index = repair ? d->index >= d->k && d->index < d->k + d->r : d->index < d->k;
	bool coded = d->code == 1 || d->code == 2;
	bool code =
		coded ? d->r >= 1 && d->blocks >= 1 && d->last_bytes >= 1 && d->last_bytes <= 9216
		      : d->code == 0 && d->r == 0 && d->blocks == 0 && d->last_bytes == 0;

	return index && code && d->k >= 1 && d->k + d->r <= 65535 && d->chunk < UINT32_MAX &&
	       packet->payload == bytes + 64 && d->payload_bytes == length - 64 &&
	       d->payload_bytes >= 1 && d->payload_bytes <= 9216 && packet->flags <= 4;
}

static bool params_within(const struct wh_open_params *p)
{
	return p->initiator_cid > 0 && p->payload_bytes >= 32 && p->payload_bytes <= 9216 &&
	       p->payload_bytes % 32 == 0 && p->chunk_bytes >= 4096 &&
	       p->chunk_bytes <= 16 * 1024 * 1024 &&
	       p->chunk_bytes <= (uint64_t)p->payload_bytes * 65535 && p->window_pkts >= 64 &&
	       p->window_pkts <= 16777216 && __builtin_popcount(p->window_pkts) == 1 &&
	       p->period_us >= 1 && p->period_us <= 10000000 && p->first_pn <= TOP / 2 &&
	       p->n_options <= 16 && strlen(p->name) == p->name_bytes && p->recovery <= 2 &&
	       (p->recovery == 0) == (p->repair_pkts == 0) &&
	       p->chunk_bytes <= (uint64_t)p->payload_bytes * (65535 - p->repair_pkts);
}

static bool control_within(const struct wh_packet *packet)
{
	switch (packet->type) {
	case WH_PACKET_RCV_REPORT: {
		const struct wh_rcv_report *s = &packet->rcv_report;

		return s->lower <= s->cover_first && s->cover_first <= s->cover_end &&
		       s->cover_end <= s->highest_end && s->highest_end <= s->upper &&
		       s->upper < TOP && s->upper - s->lower <= 16777216 && s->n_holes <= 128 &&
		       ranges_within(s->holes, s->n_holes, s->cover_first, s->cover_end);
	}
	case WH_PACKET_TRANS_REPORT:
		return packet->trans_report.lower <= packet->trans_report.upper &&
		       packet->trans_report.upper < TOP;
	case WH_PACKET_ACK2:
		return packet->ack2.ack_pn < TOP && packet->ack2.lower < TOP;
	case WH_PACKET_NAK:
		return packet->nak.base < TOP && packet->nak.n_losses >= 1 &&
		       packet->nak.n_losses <= 128 &&
		       ranges_within(
			       packet->nak.losses, packet->nak.n_losses, packet->nak.base, TOP - 1);
	case WH_PACKET_DELAY_WARNING:
		return packet->delay_warning.highest_end < TOP &&
		       packet->delay_warning.pct_milli <= 1000 &&
		       packet->delay_warning.pdt_milli <= 1000;
	case WH_PACKET_BITMAP:
		return packet->bitmap.pkts >= 1 && packet->bitmap.pkts <= 1024 &&
		       packet->bitmap.first < TOP &&
		       packet->bitmap.first + packet->bitmap.pkts < TOP;
	case WH_PACKET_OPEN:
		return params_within(&packet->open.params);
	case WH_PACKET_ACCEPT:
		return packet->accept.refused <= 15 &&
		       packet->accept.refused != WH_STATUS_PEER_GONE &&
		       packet->accept.refused != WH_STATUS_VERIFIED;
	case WH_PACKET_CONFIRM:
		return params_within(&packet->confirm.params) && packet->confirm.acceptor_cid > 0;
	case WH_PACKET_RELEASE:
		return packet->release.stage >= 1 && packet->release.stage <= 4 &&
		       packet->release.status <= 15 &&
		       packet->release.status != WH_STATUS_PEER_GONE &&
		       packet->release.pn_end < TOP;
	case WH_PACKET_PROBE:
		return packet->probe.index < packet->probe.count && packet->probe.count <= 65536 &&
		       packet->probe.padding_bytes <= 9216;
	case WH_PACKET_PROBE_ANSWER:
		return packet->probe_answer.index < 65536 && packet->probe_answer.total <= 65536 &&
		       packet->probe_answer.n_words <= 128 && packet->probe_answer.status <= 15 &&
		       packet->probe_answer.status != WH_STATUS_PEER_GONE;
	case WH_PACKET_ASK:
	case WH_PACKET_COOKIE:
	case WH_PACKET_PATH:
		return true;
	case WH_PACKET_CRYPTO:
		return packet->crypto.bytes + packet->crypto.padding_bytes <= 1132 &&
		       packet->crypto.offset + packet->crypto.bytes <= 16384 &&
		       packet->crypto.acked <= 16384;
	default:
		return false;
	}
}

static bool all_within(const struct wh_packet *packet, const uint8_t *bytes, size_t length)
{
	if (packet->pn >= TOP)
		return false;
	if (packet->type == WH_PACKET_DATA || packet->type == WH_PACKET_REPAIR)
		return data_within(packet, bytes, length);
	return control_within(packet);
}

static uint8_t good[WH_PACKET_TYPES][SAMPLE_SIZES][SAMPLE_BYTES_MAX];
static size_t good_length[WH_PACKET_TYPES][SAMPLE_SIZES];

/* Half of the pokes go to the head, where one byte in 9280 would seldom fall. */
static void disturb(struct wh_prng *prng, uint8_t *bytes, size_t length)
{
	static const uint64_t edges[] = {0, 1, 2, 63, 64, 255, 1000, 65534, 65535, UINT32_MAX - 1,
		UINT32_MAX, TOP - 1, TOP, UINT64_MAX};

	for (uint64_t pokes = 1 + wh_prng_below(prng, 3); pokes > 0; pokes--) {
		size_t reach = wh_prng_below(prng, 2) == 0 && length > 136 ? 136 : length;
		uint32_t width = 1u << wh_prng_below(prng, 4);
		uint64_t value =
			wh_prng_below(prng, 2) == 0
				? wh_prng_u64(prng)
				: edges[wh_prng_below(prng, sizeof(edges) / sizeof(edges[0]))];

		if (width <= reach)
			poke(bytes, (uint32_t)wh_prng_below(prng, reach / width) * width, width,
				value);
	}
}

static size_t random_string(struct wh_prng *prng, uint8_t *bytes)
{
	uint64_t kind = wh_prng_below(prng, 8);

	if (kind == 0) {
		size_t length = wh_prng_below(prng, 400);

		for (size_t i = 0; i < length; i += 8)
			poke(bytes, (uint32_t)i, 8, wh_prng_u64(prng));
		return length;
	}

	uint32_t type = 1 + (uint32_t)wh_prng_below(prng, WH_PACKET_TYPES - 1);
	/* The longest seldom: they take the time of twenty. */
	uint32_t size = wh_prng_below(prng, 16) == 0 ? SAMPLE_MOST : kind % 2;
	size_t length = good_length[type][size];

	memcpy(bytes, good[type][size], length);
	if (kind > 1)
		disturb(prng, bytes, length);
	if (kind == 2)
		length = wh_prng_below(prng, length + 1);
	if (kind == 3) {
		memset(bytes + length, 0, GROWTH);
		length += wh_prng_below(prng, GROWTH + 1);
	}
	return length;
}

static void random_strings(void)
{
	static uint8_t bytes[SAMPLE_BYTES_MAX + GROWTH];
	uint64_t reasons[WH_WIRE_REASONS] = {0};
	uint64_t outside = 0;
	struct wh_packet packet;
	struct wh_prng prng;
	uint8_t *copy;

	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++)
		for (uint32_t size = 0; size < SAMPLE_SIZES; size++)
			good_length[type][size] = make_bytes(type, size, good[type][size]);
	wh_prng_init(&prng, SEED);
	for (uint32_t i = 0; i < STRINGS; i++) {
		size_t length = random_string(&prng, bytes);
		enum wh_wire_reason reason = decode_exact(bytes, length, &packet, &copy);

		reasons[reason]++;
		outside += reason == WH_WIRE_OK && !all_within(&packet, copy, length);
		free(copy);
	}
	CU_ASSERT_EQUAL(outside, 0);
	/* The strings are worth something: thousands get as far as each reason. */
	for (uint32_t reason = 0; reason < WH_WIRE_REASONS; reason++)
		CU_ASSERT((reasons[reason] > 1000) !=
			  (reason == WH_WIRE_KEY || reason == WH_WIRE_TAG)); /* the seal's */
}

CU_TestInfo wh_tests[] = {
	{"round trip", round_trip},
	{"payload stays in place", payload_in_place},
	{"name is closed", name_is_closed},
	{"malformed packets", malformed_packets},
	{"malformed, virtual payload", malformed_virtual},
	{"round trip, virtual payload", round_trip_virtual},
	{"order of checks", order_of_checks},
	{"two steps", two_steps},
	{"random strings", random_strings},
	CU_TEST_INFO_NULL,
};
