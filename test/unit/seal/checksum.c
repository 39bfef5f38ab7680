/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/seal.h"

#include "packet_samples.h"
#include "seal/hash.h"
#include "unit.h"

const char wh_suite_name[] = "checksum";

#define BODY_MAX 9216

static uint8_t head[64];
static uint8_t body[BODY_MAX];

static void fill(void)
{
	for (uint32_t i = 0; i < sizeof(head); i++)
		head[i] = (uint8_t)i;
	for (uint32_t i = 0; i < sizeof(body); i++)
		body[i] = (uint8_t)(i * 7 + 3);
}

/* The token of fill(): 56, 57 and so on. */
#define TOKEN UINT64_C(0x3f3e3d3c3b3a3938)

static void write_tag(size_t body_bytes, uint8_t *to)
{
	struct wh_seal seal;

	wh_seal_begin_checksum(&seal, TOKEN);
	seal.ops->close(&seal, head, body, body_bytes, to);
}

static bool agrees_to(const uint8_t *from, size_t body_bytes, uint8_t *to)
{
	struct wh_seal seal;

	wh_seal_begin_checksum(&seal, TOKEN);
	return seal.ops->open(&seal, head, from, body_bytes, to);
}

static bool agrees(size_t body_bytes)
{
	return agrees_to(body, body_bytes, body);
}

/* Of the bytes of fill(), by the library libxxhash itself: the lengths go through all its ways. */
static const struct {
	size_t body_bytes;
	uint64_t hash;
} known[] = {
	{0, UINT64_C(0xd768ec638a5ab097)},
	{1, UINT64_C(0xbd3e6f2b9a5a241c)},
	{16, UINT64_C(0xf773383daaac6fd1)},
	{128, UINT64_C(0xf7c5a4af30b2ebc2)},
	{129, UINT64_C(0x8d4ff07f406d39ea)},
	{240, UINT64_C(0x4fcc8e562ea5382c)},
	{241, UINT64_C(0x320fe79ebaf281e6)},
	{1024, UINT64_C(0xc800a8fb28c7ac46)},
	{1025, UINT64_C(0x47e5647897605223)},
	{1408, UINT64_C(0x5266ec77f7cda03b)},
	{8928, UINT64_C(0xc75f4e67a4735783)},
	{9216, UINT64_C(0x52a3f8df2723c404)},
};

#define KNOWN_COUNT (sizeof(known) / sizeof(known[0]))

static void known_tags(void)
{
	for (size_t i = 0; i < KNOWN_COUNT; i++) {
		fill();
		memset(head + 48, 0xee, 16);
		write_tag(known[i].body_bytes, NULL);
		for (uint32_t b = 0; b < 8; b++) {
			CU_ASSERT_EQUAL(head[48 + b], (uint8_t)(known[i].hash >> 8 * b) ^ (56 + b));
			CU_ASSERT_EQUAL(head[56 + b], 56 + b);
		}
		for (uint32_t b = 0; b < 48; b++)
			CU_ASSERT_EQUAL(head[b], b);
		CU_ASSERT(agrees(known[i].body_bytes));
	}
}

/* Wherever a payload lies, and whichever unit the peer's CPU has; a copy is one, and no more. */
static void units_agree(void)
{
	static uint8_t shifted[BODY_MAX + 64];
	static uint8_t copy[BODY_MAX + 2];

	CU_ASSERT_PTR_NOT_NULL(wh_seal_hash_by(0));
	CU_ASSERT_PTR_NULL(wh_seal_hash_by(WH_SEAL_HASHES));
	fill();
	for (uint32_t number = 0; number < WH_SEAL_HASHES; number++) {
		const struct wh_seal_hash *unit = wh_seal_hash_by(number);

		for (size_t i = 0; unit != NULL && i < KNOWN_COUNT; i++)
			for (size_t shift = 0; shift < 64; shift += 21) {
				size_t bytes = known[i].body_bytes;

				memcpy(shifted + shift, body, bytes);
				memset(copy, 0xee, sizeof(copy));
				CU_ASSERT_EQUAL(
					unit->hash(head, shifted + shift, bytes), known[i].hash);
				CU_ASSERT_EQUAL(
					unit->hash_copy(head, shifted + shift, bytes, copy + 1),
					known[i].hash);
				CU_ASSERT_EQUAL(memcmp(copy + 1, body, bytes), 0);
				CU_ASSERT_EQUAL(copy[0], 0xee);
				CU_ASSERT_EQUAL(copy[1 + bytes], 0xee);
			}
	}
}

/* At every length units agree with the first, which is the library's. */
static void units_agree_at_all_lengths(void)
{
	static uint8_t copy[BODY_MAX];
	uint32_t wrong = 0;

	fill();
	for (uint32_t number = 1; number < WH_SEAL_HASHES; number++) {
		const struct wh_seal_hash *unit = wh_seal_hash_by(number);

		for (size_t bytes = 0; unit != NULL && bytes <= BODY_MAX; bytes++) {
			uint64_t hash = wh_seal_hash_by(0)->hash(head, body, bytes);

			memset(copy, 0xee, bytes);
			wrong += unit->hash(head, body, bytes) != hash;
			wrong += unit->hash_copy(head, body, bytes, copy) != hash;
			wrong += memcmp(copy, body, bytes) != 0;
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
}

static void copies(void)
{
	static uint8_t copy[BODY_MAX];

	for (size_t i = 1; i < KNOWN_COUNT; i++) {
		size_t bytes = known[i].body_bytes;

		fill();
		memset(copy, 0xee, sizeof(copy));
		write_tag(bytes, copy);
		CU_ASSERT_EQUAL(memcmp(copy, body, bytes), 0);
		CU_ASSERT(agrees_to(copy, bytes, copy));

		memset(copy, 0xee, sizeof(copy));
		CU_ASSERT(agrees_to(body, bytes, copy));
		CU_ASSERT_EQUAL(memcmp(copy, body, bytes), 0);
		body[bytes - 1] ^= 1;
		CU_ASSERT_FALSE(agrees_to(body, bytes, copy));
	}
}

static void no_body(void)
{
	fill();
	write_tag(0, NULL);
	CU_ASSERT(agrees(0));
	CU_ASSERT_FALSE(agrees(1));
}

static void any_bit_matters(void)
{
	static const size_t lengths[] = {0, 1, 64, 1408, BODY_MAX};
	uint32_t unnoticed = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fill();
		write_tag(lengths[i], body);
		for (size_t bit = 0; bit < 8 * (sizeof(head) + lengths[i]); bit++) {
			uint8_t *byte = bit / 8 < sizeof(head) ? &head[bit / 8]
							       : &body[bit / 8 - sizeof(head)];

			*byte ^= (uint8_t)(1u << bit % 8);
			unnoticed += agrees(lengths[i]);
			*byte ^= (uint8_t)(1u << bit % 8);
		}
		CU_ASSERT(agrees(lengths[i]));
	}
	CU_ASSERT_EQUAL(unnoticed, 0);
}

static void length_matters(void)
{
	fill();
	memset(body, 0, sizeof(body));
	write_tag(1408, body);
	CU_ASSERT_FALSE(agrees(1407));
	CU_ASSERT_FALSE(agrees(1409));
	CU_ASSERT_FALSE(agrees(0));
}

/* Each bit of the token is asked, and the key number before anything else. */
static void other_seals(void)
{
	static uint8_t packet[64 + 1408];
	struct wh_seal seal;

	wh_seal_begin_checksum(&seal, TOKEN);
	wh_seal_close_packet(&seal, packet, sizeof(packet));
	CU_ASSERT_EQUAL(wh_seal_open_packet(&seal, packet, sizeof(packet)), WH_WIRE_OK);
	for (uint32_t bit = 0; bit < 64; bit++) {
		wh_seal_begin_checksum(&seal, TOKEN ^ UINT64_C(1) << bit);
		CU_ASSERT_EQUAL(wh_seal_open_packet(&seal, packet, sizeof(packet)), WH_WIRE_TAG);
	}
	CU_ASSERT_EQUAL(
		wh_seal_open_packet(&wh_seal_to_listener, packet, sizeof(packet)), WH_WIRE_TAG);
	wh_seal_begin_checksum(&seal, TOKEN);
	packet[WH_KEY_OFFSET] = 1;
	CU_ASSERT_EQUAL(wh_seal_open_packet(&seal, packet, sizeof(packet)), WH_WIRE_KEY);
	packet[WH_KEY_OFFSET] = 0;
	packet[64] ^= 1;
	CU_ASSERT_EQUAL(wh_seal_open_packet(&seal, packet, sizeof(packet)), WH_WIRE_TAG);
}

/* Of any packet: a flip that changes what it says, or that it is one, does not go unnoticed. */
static void single_bit_flips(void)
{
	static uint8_t bytes[SAMPLE_BYTES_MAX];
	uint32_t accepted = 0, flips = 0;
	struct wh_packet packet;
	struct wh_seal seal;

	wh_seal_begin_checksum(&seal, TOKEN);
	for (uint32_t type = 1; type < WH_PACKET_TYPES; type++)
		for (uint32_t size = 0; size < SAMPLE_SIZES; size++) {
			sample_make(type, size, &packet);

			size_t length = sample_encode(&packet, bytes);

			wh_seal_close_packet(&seal, bytes, length);
			for (size_t bit = 0; bit < length * 8; bit++, flips++) {
				bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
				accepted += wh_seal_open_packet(&seal, bytes, length) == WH_WIRE_OK;
				bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			}
			CU_ASSERT_EQUAL(wh_seal_open_packet(&seal, bytes, length), WH_WIRE_OK);
			CU_ASSERT_EQUAL(wh_packet_decode(bytes, length, &packet), WH_WIRE_OK);
		}
	CU_ASSERT_EQUAL(accepted, 0);
	CU_ASSERT(flips > 200000);
}

CU_TestInfo wh_tests[] = {
	{"known tags", known_tags},
	{"units agree", units_agree},
	{"units agree at all lengths", units_agree_at_all_lengths},
	{"copies", copies},
	{"no body", no_body},
	{"any bit matters", any_bit_matters},
	{"length matters", length_matters},
	{"other seals", other_seals},
	{"single bit flips", single_bit_flips},
	CU_TEST_INFO_NULL,
};
