/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/fingerprint.h"

#include "unit.h"

const char wh_suite_name[] = "fingerprint";

static uint8_t id[WH_IDENTITY_BYTES];

static void set_bit(uint32_t bit)
{
	memset(id, 0, sizeof(id));
	id[bit / 8] = (uint8_t)(0x80 >> bit % 8);
}

static void test_text(void)
{
	char text[WH_FINGERPRINT_BYTES];

	memset(id, 0, sizeof(id));
	CU_ASSERT_STRING_EQUAL(wh_fingerprint_text(id, text), "0000-0000-0000-0000-0000");
	memset(id, 0xff, sizeof(id));
	CU_ASSERT_STRING_EQUAL(wh_fingerprint_text(id, text), "zzzz-zzzz-zzzz-zzzz-zzzz");
	/* 00001 00010 00011 00100 00101 00110 00111 01000: five bytes are eight letters. */
	memcpy(id, (const uint8_t[]){0x08, 0x86, 0x42, 0x98, 0xe8}, 5);
	CU_ASSERT_NSTRING_EQUAL(wh_fingerprint_text(id, text), "1234-5678-zzzz", 14);
}

/* Each bit that is said to be shown changes what is shown, and no other does. */
static void test_bits_shown(void)
{
	uint32_t shown = 0;

	for (uint32_t bit = 0; bit < 8 * WH_IDENTITY_BYTES; bit++) {
		char text[WH_FINGERPRINT_BYTES];

		set_bit(bit);
		shown += strcmp(wh_fingerprint_text(id, text), "0000-0000-0000-0000-0000") != 0;
	}
	CU_ASSERT_EQUAL(shown, 100);
	CU_ASSERT_EQUAL(WH_FINGERPRINT_BITS, 100);
}

static void test_id_text(void)
{
	static const struct {
		const char *text;
		bool good;
	} cases[] = {
		{"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", true},
		{"sha256:00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff", false},
		{"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeef", false},
		{"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff0", false},
		{"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeefg", false},
		{"sha512:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", false},
		{"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", false},
		{"sha256:", false},
		{"", false},
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[WH_ID_TEXT_BYTES];

		CU_ASSERT_EQUAL(wh_id_read(cases[i].text, id), cases[i].good);
		if (cases[i].good)
			CU_ASSERT_STRING_EQUAL(wh_id_text(id, text), cases[i].text);
	}
}

CU_TestInfo wh_tests[] = {
	{"twenty letters", test_text},
	{"as many bits as are promised", test_bits_shown},
	{"as it stands in files", test_id_text},
	CU_TEST_INFO_NULL,
};
