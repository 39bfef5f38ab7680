/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/tag.h"

#include <string.h>

#include "unit.h"

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
static void known_tags(void)
{
	static const struct {
		size_t body_bytes;
		uint64_t low, high;
	} cases[] = {
		{0, UINT64_C(0x0910097235971983), UINT64_C(0xa68b3ea4be8ae5c7)},
		{1, UINT64_C(0x9c2731f6ed920a4a), UINT64_C(0x50de3fb4696f5f1d)},
		{16, UINT64_C(0x8b384a2bef6fa021), UINT64_C(0x8289d538e60dbcd6)},
		{240, UINT64_C(0xf4354da12d082f2d), UINT64_C(0x9bb814bcad7bcf68)},
		{241, UINT64_C(0xc2be6c269245f327), UINT64_C(0xc793b082e50cc149)},
		{1408, UINT64_C(0x1d6f731e712256f7), UINT64_C(0x45b2f97dabe9931a)},
		{9216, UINT64_C(0x3b0c71a40be53cef), UINT64_C(0x61c443859fae0d5e)},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fill();
		wh_tag_write(head, body, cases[i].body_bytes);
		for (uint32_t b = 0; b < 8; b++) {
			CU_ASSERT_EQUAL(head[48 + b], (uint8_t)(cases[i].low >> 8 * b));
			CU_ASSERT_EQUAL(head[56 + b], (uint8_t)(cases[i].high >> 8 * b));
		}
		for (uint32_t b = 0; b < 48; b++)
			CU_ASSERT_EQUAL(head[b], b);
		CU_ASSERT(wh_tag_agrees(head, body, cases[i].body_bytes));
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
	{"no body", no_body},
	{"any bit matters", any_bit_matters},
	{"length matters", length_matters},
	CU_TEST_INFO_NULL,
};
