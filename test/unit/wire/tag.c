/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/tag.h"

#include <string.h>

#include "unit.h"
#include "wire/tag_hash.h"

const char wh_suite_name[] = "tag";

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
		wh_tag_write(head, body, known[i].body_bytes);
		/* The token of fill() is 56, 57 and so on. */
		for (uint32_t b = 0; b < 8; b++) {
			CU_ASSERT_EQUAL(head[48 + b], (uint8_t)(known[i].hash >> 8 * b) ^ (56 + b));
			CU_ASSERT_EQUAL(head[56 + b], 56 + b);
		}
		for (uint32_t b = 0; b < 48; b++)
			CU_ASSERT_EQUAL(head[b], b);
		CU_ASSERT(wh_tag_agrees(head, body, known[i].body_bytes));
	}
}

/* Wherever a payload lies, and whichever unit the peer's CPU has; a copy is one, and no more. */
static void units_agree(void)
{
	static uint8_t shifted[BODY_MAX + 64];
	static uint8_t copy[BODY_MAX + 2];

	CU_ASSERT_PTR_NOT_NULL(wh_tag_hash_by(0));
	CU_ASSERT_PTR_NULL(wh_tag_hash_by(WH_TAG_HASHES));
	fill();
	for (uint32_t number = 0; number < WH_TAG_HASHES; number++) {
		const struct wh_tag_hash *unit = wh_tag_hash_by(number);

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
	for (uint32_t number = 1; number < WH_TAG_HASHES; number++) {
		const struct wh_tag_hash *unit = wh_tag_hash_by(number);

		for (size_t bytes = 0; unit != NULL && bytes <= BODY_MAX; bytes++) {
			uint64_t hash = wh_tag_hash_by(0)->hash(head, body, bytes);

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
		wh_tag_write_copy(head, body, bytes, copy);
		CU_ASSERT_EQUAL(memcmp(copy, body, bytes), 0);
		CU_ASSERT(wh_tag_agrees(head, copy, bytes));

		memset(copy, 0xee, sizeof(copy));
		CU_ASSERT(wh_tag_agrees_copy(head, body, bytes, copy));
		CU_ASSERT_EQUAL(memcmp(copy, body, bytes), 0);
		body[bytes - 1] ^= 1;
		CU_ASSERT_FALSE(wh_tag_agrees_copy(head, body, bytes, copy));
	}
}

static void no_body(void)
{
	fill();
	wh_tag_write(head, NULL, 0);
	CU_ASSERT(wh_tag_agrees(head, body, 0));
	CU_ASSERT(wh_tag_agrees(head, NULL, 0));
	CU_ASSERT_FALSE(wh_tag_agrees(head, body, 1));
}

static void any_bit_matters(void)
{
	static const size_t lengths[] = {0, 1, 64, 1408, BODY_MAX};
	uint32_t unnoticed = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fill();
		wh_tag_write(head, body, lengths[i]);
		for (size_t bit = 0; bit < 8 * (sizeof(head) + lengths[i]); bit++) {
			uint8_t *byte = bit / 8 < sizeof(head) ? &head[bit / 8]
							       : &body[bit / 8 - sizeof(head)];

			*byte ^= (uint8_t)(1u << bit % 8);
			unnoticed += wh_tag_agrees(head, body, lengths[i]);
			*byte ^= (uint8_t)(1u << bit % 8);
		}
		CU_ASSERT(wh_tag_agrees(head, body, lengths[i]));
	}
	CU_ASSERT_EQUAL(unnoticed, 0);
}

static void length_matters(void)
{
	fill();
	memset(body, 0, sizeof(body));
	wh_tag_write(head, body, 1408);
	CU_ASSERT_FALSE(wh_tag_agrees(head, body, 1407));
	CU_ASSERT_FALSE(wh_tag_agrees(head, body, 1409));
	CU_ASSERT_FALSE(wh_tag_agrees(head, body, 0));
}

CU_TestInfo wh_tests[] = {
	{"known tags", known_tags},
	{"units agree", units_agree},
	{"units agree at all lengths", units_agree_at_all_lengths},
	{"copies", copies},
	{"no body", no_body},
	{"any bit matters", any_bit_matters},
	{"length matters", length_matters},
	CU_TEST_INFO_NULL,
};
