/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet_samples.h"
#include "unit.h"
#include "wire/packet.h"

const char wh_suite_name[] = "encode";

#define GUARD 0xee

static uint8_t bytes[SAMPLE_BYTES_MAX + 64];

static size_t encode(enum wh_packet_type type, enum sample_size size)
{
	struct wh_packet packet;

	sample_make(type, size, &packet);
	memset(bytes, GUARD, sizeof(bytes));
	return sample_encode(&packet, bytes);
}

/* Where each field lies, written down apart from layout.h: offset, width, value. */
struct place {
	uint16_t offset;
	uint8_t width;
	uint64_t value;
};

#define PLACES_MAX 32

static const struct {
	enum wh_packet_type type;
	size_t length;
	struct place places[PLACES_MAX]; /* in order; all bytes between them but the tag are 0 */
} layouts[] = {
	{WH_PACKET_DATA, 64,
		{{0, 1, 7}, {1, 1, 1}, {2, 1, 2}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0x1112131415161718}, {24, 4, 0xa1b2c3d4}, {28, 4, 0xdeadbeef},
			{32, 2, 0x0b0c}, {34, 2, 0x0123}, {36, 2, 0x0456}, {38, 2, 0x0078},
			{40, 2, 1408}, {42, 2, 0x0102}, {44, 2, 0x0d0e}, {46, 1, 2}}},
	{WH_PACKET_REPAIR, 64,
		{{0, 1, 7}, {1, 1, 2}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0x1112131415161718}, {24, 4, 0xa1b2c3d4}, {28, 4, 0xdeadbeef},
			{32, 2, 0x0b0c}, {34, 2, 0x0456}, {36, 2, 0x0456}, {38, 2, 0xfba9},
			{40, 2, 1408}, {42, 2, 0x0102}, {44, 2, 0x0d0e}, {46, 1, 2}}},
	{WH_PACKET_RCV_REPORT, 224,
		{{0, 1, 7}, {1, 1, 3}, {2, 1, 3}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0x0a00000000000010}, {24, 8, 0x0a00000000010010},
			{32, 8, 0x0a00000000009000}, {40, 8, 0x0a00000000000020},
			{64, 8, 0x0a00000000008000}, {72, 8, 0xb1b2b3b4b5b6b7b8},
			{80, 8, 0xc1c2c3c4c5c6c7c8}, {88, 8, 0xd1d2d3d4d5d6d7d8},
			{96, 8, 0xf1f2f3f4e1e2e3e4}, {104, 8, 0x3132333421222324},
			{112, 8, 0x5152535441424344}, {120, 4, 0x61626364}, {124, 2, 2},
			{128, 8, 0x0000000500000000}, {136, 8, 0x00007fda00000006},
			{144, 8, 0x7172737475767778}, {152, 8, 0x8182838485868788},
			{160, 8, 0x9192939495969798}, {168, 4, 0xa1a2a3a4},
			{176, 8, 0xb2b3b4b5b6b7b8b9}, {184, 8, 0x02c3c4c5c6c7c8c9},
			{192, 8, 0xe2e3e4e5d2d3d4d5}, {200, 8, 0x22232425f2f3f4f5},
			{208, 8, 0x4243444532333435}, {216, 8, 0x6263646552535455}}},
	{WH_PACKET_TRANS_REPORT, 64,
		{{0, 1, 7}, {1, 1, 4}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0x0102030405060708}, {24, 8, 0x0102030405070707},
			{32, 8, 0xa1a2a3a4a5a6a7a8}, {40, 4, 0xb1b2b3b4}, {44, 4, 0xc1c2c3c4}}},
	{WH_PACKET_ACK2, 64,
		{{0, 1, 7}, {1, 1, 5}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0x0102030405060708}, {24, 8, 0x1112131415161718},
			{32, 4, 0xa1a2a3a4}}},
	{WH_PACKET_NAK, 88,
		{{0, 1, 7}, {1, 1, 6}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0x0102030405060708}, {24, 2, 3}, {68, 4, 9}, {72, 4, 9},
			{76, 4, 0x1234}, {80, 4, 0xa1a2a3a4}, {84, 4, 0x0b0c0d0e}}},
	{WH_PACKET_DELAY_WARNING, 64,
		{{0, 1, 7}, {1, 1, 7}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0x0102030405060708}, {24, 2, 0x0203}, {26, 2, 0x0304}}},
	{WH_PACKET_OPEN, 139,
		{{0, 1, 7}, {1, 1, 9}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 4, 0xc1c2c3c4}, {20, 4, 0x3e3d3c3b}, {64, 4, 0xa1a2a3a4},
			{68, 4, 0x00102030}, {72, 4, 0x00010000}, {76, 4, 0x00012345},
			{80, 8, 0x0102030405060708}, {88, 8, 0xb1b2b3b4b5b6b7b8}, {96, 2, 1408},
			{98, 2, 7}, {100, 1, 0x5a}, {101, 1, 1}, {102, 2, 0x0f0e},
			{104, 8, 0xe1e2e3e4e5e6e7e8}, {112, 4, 0xa5a6a7a8}, {116, 4, 0xf4f3f2f1},
			{132, 4, 0x2e6e7572}, {136, 2, 0x6164}, {138, 1, 0x74}}}, /* run.dat */
	{WH_PACKET_ACCEPT, 64,
		{{0, 1, 7}, {1, 1, 10}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 4, 0xa1a2a3a4}, {20, 4, 0xb1b2b3b4}, {24, 8, 0xe8e9eaebecedeeef},
			{32, 8, 0xe0e1e2e3e4e5e6e7}, {40, 4, 0xc1c2c3c4}}},
	{WH_PACKET_CONFIRM, 139,
		{{0, 1, 7}, {1, 1, 11}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 4, 0xd1d2d3d4}, {20, 8, 0xe8e9eaebecedeeef},
			{28, 8, 0xe0e1e2e3e4e5e6e7}, {64, 8, 0x00102030a1a2a3a4},
			{72, 8, 0x0001234500010000}, {80, 8, 0x0102030405060708},
			{88, 8, 0xb1b2b3b4b5b6b7b8}, {96, 2, 1408}, {98, 2, 7}, {100, 1, 0x5a},
			{101, 1, 1}, {102, 2, 0x0f0e}, {104, 8, 0xe1e2e3e4e5e6e7e8},
			{112, 4, 0xa5a6a7a8}, {116, 4, 0xf4f3f2f1}, {132, 4, 0x2e6e7572},
			{136, 2, 0x6164}, {138, 1, 0x74}}},
	{WH_PACKET_RELEASE, 80,
		{{0, 1, 7}, {1, 1, 12}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0xa1a2a3a4}, {24, 8, 0xb1b2b3b4b5b6b7b8},
			{32, 8, 0x0102030405060708}, {40, 1, 2}, {41, 1, 3},
			{64, 8, 0x8786858483828180}, {72, 8, 0x8f8e8d8c8b8a8988}}},
	{WH_PACKET_BITMAP, 80,
		{{0, 1, 7}, {1, 1, 8}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0x0102030405060708}, {24, 2, 70}, {64, 8, 0xa1a2a3a4a5a6a7a8},
			{72, 8, 0x2b}}},
	{WH_PACKET_PROBE, 73,
		{{0, 1, 7}, {1, 1, 13}, {2, 1, 1}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0xa1a2a3a4a5a6a7a8}, {24, 8, 0xb1b2b3b4b5b6b7b8}, {32, 4, 0x4142},
			{36, 4, 0x5152}, {40, 2, 9}, {42, 2, 0xc1c2}, {44, 4, 0xd1d2d3d4}}},
	{WH_PACKET_PROBE_ANSWER, 80,
		{{0, 1, 7}, {1, 1, 14}, {2, 1, 2}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0xa1a2a3a4a5a6a7a8}, {24, 4, 0x4142}, {28, 4, 0x5152},
			{32, 4, 0xb1b2b3b4}, {36, 2, 0xc1c2}, {38, 2, 2}, {40, 1, 6},
			{64, 8, 0xd1d2d3d4d5d6d7d8}, {72, 8, 0xe1e2e3e4e5e6e7e8}}},
	{WH_PACKET_ASK, 96,
		{{0, 1, 7}, {1, 1, 15}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0xa1a2a3a4a5a6a7a8}}},
	{WH_PACKET_COOKIE, 64,
		{{0, 1, 7}, {1, 1, 16}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0xa1a2a3a4a5a6a7a8}, {24, 8, 0xe8e9eaebecedeeef},
			{32, 8, 0xe0e1e2e3e4e5e6e7}}},
	{WH_PACKET_CRYPTO, 78,
		{{0, 1, 7}, {1, 1, 17}, {2, 1, 1}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0xa1a2a3a4a5a6a7a8}, {24, 8, 0xe8e9eaebecedeeef},
			{32, 8, 0xe0e1e2e3e4e5e6e7}, {40, 4, 0x1122}, {44, 4, 0x0102}, {64, 2, 7},
			{66, 2, 3}, {68, 4, 0x18110a03}, {72, 3, 0x2d261f}}},
	{WH_PACKET_PATH, 64,
		{{0, 1, 7}, {1, 1, 18}, {2, 1, 1}, {4, 4, 0x11223344}, {8, 8, 0x2122232425262728},
			{16, 8, 0xa1a2a3a4a5a6a7a8}}},
};

static void every_field_at_its_place(void)
{
	uint8_t expected[SAMPLE_BYTES_MAX];

	CU_ASSERT_EQUAL(sizeof(layouts) / sizeof(layouts[0]), WH_PACKET_TYPES - 1);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		size_t length = encode(layouts[i].type, SAMPLE_USUAL);
		bool data =
			layouts[i].type == WH_PACKET_DATA || layouts[i].type == WH_PACKET_REPAIR;

		CU_ASSERT_EQUAL(length, layouts[i].length + (data ? 1408 : 0));
		memset(expected, 0, sizeof(expected));
		for (const struct place *p = layouts[i].places; p->width > 0; p++)
			for (uint32_t b = 0; b < p->width; b++)
				expected[p->offset + b] = (uint8_t)(p->value >> 8 * b);
		CU_ASSERT_EQUAL(memcmp(bytes, expected, 48), 0);
		CU_ASSERT_EQUAL(memcmp(bytes + 64, expected + 64, layouts[i].length - 64), 0);
	}
}

static void lengths(void)
{
	static const struct {
		enum wh_packet_type type;
		uint16_t least, most;
	} cases[] = {
		{WH_PACKET_DATA, 65, 9280},
		{WH_PACKET_REPAIR, 65, 9280},
		{WH_PACKET_RCV_REPORT, 128, 1200},
		{WH_PACKET_TRANS_REPORT, 64, 64},
		{WH_PACKET_ACK2, 64, 64},
		{WH_PACKET_NAK, 72, 1088},
		{WH_PACKET_DELAY_WARNING, 64, 64},
		{WH_PACKET_OPEN, 132, 531},
		{WH_PACKET_ACCEPT, 64, 64},
		{WH_PACKET_CONFIRM, 132, 531},
		{WH_PACKET_RELEASE, 80, 80},
		{WH_PACKET_BITMAP, 72, 192},
		{WH_PACKET_PROBE, 64, 9280},
		{WH_PACKET_PROBE_ANSWER, 64, 1088},
		{WH_PACKET_ASK, 96, 96},
		{WH_PACKET_COOKIE, 64, 64},
		{WH_PACKET_CRYPTO, 68, 1200},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_EQUAL(encode(cases[i].type, SAMPLE_LEAST), cases[i].least);
		CU_ASSERT_EQUAL(bytes[cases[i].least], GUARD);
		CU_ASSERT_EQUAL(encode(cases[i].type, SAMPLE_MOST), cases[i].most);
		CU_ASSERT_EQUAL(bytes[cases[i].most], GUARD);
	}
}

static void data_head_only(void)
{
	struct wh_packet packet;

	sample_make(WH_PACKET_DATA, SAMPLE_USUAL, &packet);
	memset(bytes, GUARD, sizeof(bytes));
	wh_packet_encode_data(&packet, bytes);
	CU_ASSERT_NOT_EQUAL(bytes[0], GUARD);
	CU_ASSERT_EQUAL(bytes[WH_KEY_OFFSET], GUARD); /* the seal's, as is the tag */
	for (uint32_t i = WH_TAG_OFFSET; i < sizeof(bytes); i++)
		CU_ASSERT_EQUAL_FATAL(bytes[i], GUARD);
}

/* The room may be just what the packet takes, and a packet may begin at an odd address. */
static void exact_room(void)
{
	struct wh_packet packet;

	for (uint32_t type = WH_PACKET_RCV_REPORT; type < WH_PACKET_TYPES; type++) {
		sample_make(type, SAMPLE_MOST, &packet);

		size_t length = wh_packet_encode(&packet, bytes, SAMPLE_BYTES_MAX);

		memset(bytes, GUARD, sizeof(bytes));
		CU_ASSERT_EQUAL(wh_packet_encode(&packet, bytes + 1, length), length);
		CU_ASSERT_EQUAL(bytes[0], GUARD);
		CU_ASSERT_EQUAL(bytes[1], WH_WIRE_VERSION);
		CU_ASSERT_EQUAL(bytes[1 + length], GUARD);
	}
}

CU_TestInfo wh_tests[] = {
	{"every field at its place", every_field_at_its_place},
	{"lengths", lengths},
	{"data: only the head is written", data_head_only},
	{"exact room", exact_room},
	CU_TEST_INFO_NULL,
};
