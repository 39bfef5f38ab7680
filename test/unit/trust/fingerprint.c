/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/fingerprint.h"

#include <stdio.h>
#include <string.h>

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

static void test_scenes(void)
{
	char text[WH_SCENE_BYTES];

	memset(id, 0, sizeof(id));
	for (uint32_t scene = 0; scene < WH_SCENES; scene++)
		CU_ASSERT_STRING_EQUAL(
			wh_fingerprint_scene(id, scene, text), "amber ant admires anchors");
	memset(id, 0xff, sizeof(id));
	CU_ASSERT_STRING_EQUAL(wh_fingerprint_scene(id, 0, text), "yellow zebra weighs windows");
	set_bit(128 + 24 + 6 + 5); /* the last bit of the second word of the second scene */
	CU_ASSERT_STRING_EQUAL(wh_fingerprint_scene(id, 1, text), "amber badger admires anchors");
	CU_ASSERT_STRING_EQUAL(wh_fingerprint_scene(id, 0, text), "amber ant admires anchors");
}

/* Each bit that is said to be shown changes what is shown, and no other does. */
static void test_bits_shown(void)
{
	uint32_t in_text = 0;
	uint32_t in_scenes = 0;

	for (uint32_t bit = 0; bit < 8 * WH_IDENTITY_BYTES; bit++) {
		char text[WH_FINGERPRINT_BYTES];

		set_bit(bit);
		in_text += strcmp(wh_fingerprint_text(id, text), "0000-0000-0000-0000-0000") != 0;
		for (uint32_t scene = 0; scene < WH_SCENES; scene++) {
			char said[WH_SCENE_BYTES];

			in_scenes += strcmp(wh_fingerprint_scene(id, scene, said),
					     "amber ant admires anchors") != 0;
		}
	}
	CU_ASSERT_EQUAL(in_text, 100);
	CU_ASSERT_EQUAL(in_scenes, 96);
	CU_ASSERT_EQUAL(WH_FINGERPRINT_BITS, 100);
	CU_ASSERT_EQUAL(WH_SCENE_BITS, 96);
}

/* The word that `value` is at a place. */
static void word_of(uint32_t place, uint32_t value, char word[WH_SCENE_BYTES])
{
	uint32_t bits = value << (6 * (WH_SCENE_WORDS - 1 - place));
	char scene[WH_SCENE_BYTES];
	char *at = scene;

	memset(id, 0, sizeof(id));
	id[16] = (uint8_t)(bits >> 16);
	id[17] = (uint8_t)(bits >> 8);
	id[18] = (uint8_t)bits;
	wh_fingerprint_scene(id, 0, scene);
	for (uint32_t i = 0; i < place; i++)
		at = strchr(at, ' ') + 1;
	snprintf(word, WH_SCENE_BYTES, "%.*s", (int)strcspn(at, " "), at);
}

/* Who hears only how it begins knows the word: in a place no two begin alike. */
static void test_words_differ(void)
{
	for (uint32_t place = 0; place < WH_SCENE_WORDS; place++) {
		char before[WH_SCENE_BYTES] = "";

		for (uint32_t value = 0; value < 64; value++) {
			char word[WH_SCENE_BYTES];

			word_of(place, value, word);
			CU_ASSERT(strncmp(before, word, 4) < 0);
			snprintf(before, sizeof(before), "%s", word);
		}
	}
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
	{"four scenes", test_scenes},
	{"as many bits as are promised", test_bits_shown},
	{"no two words begin alike", test_words_differ},
	{"as it stands in files", test_id_text},
	CU_TEST_INFO_NULL,
};
