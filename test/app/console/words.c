/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/console_words.h"

#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "console/words";

static void expect_word(const char *line, ssize_t bytes, const char *expected)
{
	char word[64];

	CU_ASSERT_EQUAL(wh_word_take(line, word, sizeof(word)), bytes);
	if (bytes > 0)
		CU_ASSERT_STRING_EQUAL(word, expected);
}

static void test_take(void)
{
	expect_word("pause 17", 5, "pause");
	expect_word("", 0, "");
	expect_word("# no more", 0, "");
	expect_word("a#b c", 3, "a#b");
	expect_word("'a b'c\t", 6, "a bc");
	expect_word("\"a'\\\"b\" ", 7, "a'\"b");
	expect_word("a\\ b c", 4, "a b");
	expect_word("'\\' x", 3, "\\");
	expect_word("''", 2, "");
	expect_word("'open", -1, NULL);
	expect_word("a\\", 2, "a\\");
}

/* What is longer than the room is cut off, and the line is gone on with behind it. */
static void test_room(void)
{
	char word[4];

	CU_ASSERT_EQUAL(wh_word_take("abcdef g", word, sizeof(word)), 6);
	CU_ASSERT_STRING_EQUAL(word, "abc");
}

static void test_add(void)
{
	static const char *const words[] = {"a b", "it's", "", "-r", "\\\"", "\n"};
	char line[128] = "";
	char word[64];
	size_t length = 0;
	size_t at = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		CU_ASSERT_EQUAL(wh_word_add(line, sizeof(line), &length, words[i]), 0);
	CU_ASSERT_EQUAL(length, strlen(line));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		at += wh_word_blanks(line + at);
		at += (size_t)wh_word_take(line + at, word, sizeof(word));
		CU_ASSERT_STRING_EQUAL(word, words[i]);
	}
	CU_ASSERT_EQUAL(at, length);
	length = 0;
	CU_ASSERT_NOT_EQUAL(wh_word_add(line, 8, &length, "longer"), 0);
}

static void test_commands(void)
{
	CU_ASSERT_EQUAL(wh_command_bytes("a; b"), 1);
	CU_ASSERT_EQUAL(wh_command_bytes("a ';' b; c"), 7);
	CU_ASSERT_EQUAL(wh_command_bytes("a \\; b\nc"), 6);
	CU_ASSERT_EQUAL(wh_command_bytes("a # b; c\nd"), 8);
	CU_ASSERT_EQUAL(wh_command_bytes("a#b; c"), 3);
	CU_ASSERT_EQUAL(wh_command_bytes("'a; b"), 5);
	CU_ASSERT_EQUAL(wh_command_bytes(""), 0);
}

CU_TestInfo wh_tests[] = {
	{"words", test_take},
	{"room", test_room},
	{"words that come back", test_add},
	{"commands", test_commands},
	CU_TEST_INFO_NULL,
};
