/* SPDX-License-Identifier: BSD-3-Clause */

/* Every character there is, and every byte that is none, on its way to a terminal. */

#include "cli/plain_text.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "unit.h"

const char wh_suite_name[] = "app/plain_text";

/* Of a code point, strict or not. */
static void write_utf8(uint32_t c, char text[5])
{
	memset(text, 0, 5);
	if (c < 0x80) {
		text[0] = (char)c;
	} else if (c < 0x800) {
		text[0] = (char)(0xc0 | c >> 6);
		text[1] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		text[0] = (char)(0xe0 | c >> 12);
		text[1] = (char)(0x80 | (c >> 6 & 0x3f));
		text[2] = (char)(0x80 | (c & 0x3f));
	} else {
		text[0] = (char)(0xf0 | c >> 18);
		text[1] = (char)(0x80 | (c >> 12 & 0x3f));
		text[2] = (char)(0x80 | (c >> 6 & 0x3f));
		text[3] = (char)(0x80 | (c & 0x3f));
	}
}

static bool is_ascii(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text < 0x20 || *text > 0x7e)
			return false;
	return true;
}

static void test_every_code_point(void)
{
	char text[5];
	char plain[64];
	uint32_t escaped = 0;

	for (uint32_t c = 1; c < 0x110000; c++) {
		bool surrogate = c >= 0xd800 && c <= 0xdfff;

		write_utf8(c, text);
		wh_plain_text(text, false, plain, sizeof(plain));
		if (surrogate || wh_plain_is_escaped(c)) {
			escaped += !surrogate;
			if (!is_ascii(plain) || plain[0] != '\\')
				CU_FAIL("what should be escaped is not");
		} else if (strcmp(plain, text) != 0) {
			CU_FAIL("what is harmless is not as it was");
		}
	}
	CU_ASSERT_EQUAL(escaped, 31 + 33 + 1 + 1 + 1 + 2 + 7 + 16 + 1 + 3 + 0x1000);
}

/* By name, so that the table above is not its own judge. */
static void test_what_matters(void)
{
	static const uint32_t escaped[] = {0x01, 0x07, 0x08, 0x0a, 0x0d, 0x1b, 0x7f, 0x80, 0x84,
		0x85, 0x90, 0x9b, 0x9c, 0x9d, 0x9f, 0x061c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a,
		0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff, 0xe0001,
		0xe007f};
	static const uint32_t kept[] = {
		0x20, 0x7e, 0xa0, 0xe4, 0x200c, 0x200d, 0x20ac, 0x4e2d, 0xfffd, 0x1f600, 0x10ffff};

	for (size_t i = 0; i < sizeof(escaped) / sizeof(escaped[0]); i++)
		CU_ASSERT_TRUE(wh_plain_is_escaped(escaped[i]));
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		CU_ASSERT_FALSE(wh_plain_is_escaped(kept[i]));
}

static void test_texts(void)
{
	static const struct {
		const char *text;
		bool doubled;
		const char *plain;
	} cases[] = {
		{"", false, ""},
		{"plain \xc3\xa4", false, "plain \xc3\xa4"},
		{"a\x1b[2Jb", false, "a\\x1b[2Jb"},
		{"\xc2\x9b"
		 "31m",
			false, "\\u009b31m"},
		{"\xe2\x80\xae"
		 "fdp",
			false, "\\u202efdp"},
		{"\xf3\xa0\x80\x81", false, "\\U000e0001"},
		{"a\\b", false, "a\\b"},
		{"a\\b", true, "a\\\\b"},
		{"\xff", true, "\\xff"},
		{"\x9b"
		 "31m",
			true, "\\x9b31m"},
		{"\xc2", true, "\\xc2"},
		{"\xc2"
		 "a",
			true, "\\xc2a"},
		{"\xc0\x9b", true, "\\xc0\\x9b"},                   /* too long for what it says */
		{"\xe0\x82\x9b", true, "\\xe0\\x82\\x9b"},          /* likewise */
		{"\xed\xa0\x80", true, "\\xed\\xa0\\x80"},          /* a surrogate */
		{"\xf4\x90\x80\x80", true, "\\xf4\\x90\\x80\\x80"}, /* beyond the last */
		{"\xf8\x88\x80\x80\x80", true, "\\xf8\\x88\\x80\\x80\\x80"},
		{"\xe2\x80", true, "\\xe2\\x80"},
	};
	char plain[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wh_plain_text(cases[i].text, cases[i].doubled, plain, sizeof(plain));
		CU_ASSERT_STRING_EQUAL(plain, cases[i].plain);
	}
}

/* No character is cut in two, and nothing is written beyond the room. */
static void test_room(void)
{
	static const char text[] = "a\xc3\xa4\x1b\xe2\x80\xae";
	char plain[32];

	for (size_t room = 1; room <= 20; room++) {
		char *exact = malloc(room);

		wh_plain_text(text, false, exact, room);
		wh_plain_text(text, false, plain, sizeof(plain));
		CU_ASSERT_TRUE(strlen(exact) < room);
		CU_ASSERT_EQUAL(strncmp(exact, plain, strlen(exact)), 0);
		CU_ASSERT_TRUE(strlen(exact) != 2);
		free(exact);
	}
}

/* The same value to whoever reads JSON, and nothing in it that a terminal obeys. */
static void test_json(void)
{
	for (uint32_t c = 1; c < 0x110000; c += c < 0x3000 ? 1 : 61) {
		char text[5];
		char out[128] = "";

		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		write_utf8(c, text);

		json_t *value = json_pack("{s:s}", "k", text);
		char *dumped = json_dumps(value, JSON_INDENT(1));
		FILE *file = fmemopen(out, sizeof(out), "w");

		wh_plain_json(dumped, file);
		fclose(file);

		json_t *read = json_loads(out, 0, NULL);

		if (json_equal(read, value) != 1)
			CU_FAIL("another value");
		if (wh_plain_is_escaped(c) && strchr(out, '\\') == NULL)
			CU_FAIL("not escaped");
		json_decref(read);
		json_decref(value);
		free(dumped);
	}
}

CU_TestInfo wh_tests[] = {
	{"every code point", test_every_code_point},
	{"what matters", test_what_matters},
	{"texts", test_texts},
	{"room", test_room},
	{"json", test_json},
	CU_TEST_INFO_NULL,
};
