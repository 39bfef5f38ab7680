/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/forms.h"

#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "console/forms";

/* Of one command with an argument of each type: as spelt. */
static bool add(struct wh_forms *forms, const char *words)
{
	json_t *command = json_pack("{s:s, s:s, s:s, s:[{s:s, s:s}, {s:s, s:s}, {s:s, s:s}, {s:s, "
				    "s:s}]}",
		"name", "thing", "help", "it is done", "words", words, "arguments", "name", "text",
		"type", "text", "name", "count", "type", "count", "name", "now", "type", "switch",
		"name", "texts", "type", "texts");
	bool good = wh_forms_add(forms, command);

	json_decref(command);
	return good;
}

static void expect_ways(const char *words, uint32_t count, const char *const *ways)
{
	struct wh_forms forms = {0};
	char text[256];

	CU_ASSERT_TRUE(add(&forms, words));
	CU_ASSERT_EQUAL_FATAL(forms.count, count);
	for (uint32_t i = 0; i < count; i++) {
		wh_form_print(&forms.form[i], text, sizeof(text));
		CU_ASSERT_STRING_EQUAL(text, ways[i]);
		CU_ASSERT_STRING_EQUAL(forms.form[i].command, "thing");
	}
	wh_forms_free(&forms);
}

static void test_ways(void)
{
	static const char *const choices[] = {
		"do COUNT", "do COUNT to TEXT", "do COUNT now", "do COUNT to TEXT now"};
	static const char *const others[] = {"do COUNT...", "it do TEXTS..."};

	expect_ways("do <count> [to <text>] [now]", 4, choices);
	expect_ways("do <count...> | it do <texts...>", 2, others);
}

static void test_kinds(void)
{
	struct wh_forms forms = {0};
	const struct wh_form_word *word;

	CU_ASSERT_TRUE_FATAL(add(&forms, "do {now} <count>"));
	word = forms.form[0].word;
	CU_ASSERT_EQUAL(forms.form[0].words, 3);
	CU_ASSERT_EQUAL(word[0].kind, WH_FORM_LITERAL);
	CU_ASSERT_FALSE(word[0].sets);
	CU_ASSERT_EQUAL(word[1].kind, WH_FORM_UNSAID);
	CU_ASSERT_EQUAL(word[2].kind, WH_FORM_ARGUMENT);
	CU_ASSERT_EQUAL(word[2].type, WH_CONTROL_COUNT);
	wh_forms_free(&forms);
	CU_ASSERT_TRUE_FATAL(add(&forms, "do now"));
	CU_ASSERT_TRUE(forms.form[0].word[1].sets);
	wh_forms_free(&forms);
}

/* Whatever a server of another version says, or one that is none. */
static void test_nonsense(void)
{
	static const char *const wrong[] = {"", "<count>", "do <other>", "do [a", "do [a [b]]",
		"do <texts...> more", "do {count}", "do <now>", "do ]", "do <>", "do a/b",
		"do a-word-that-is-longer-than-any-word-is",
		"a a a a a a a a a a a a a a a a a a a a a a a a a", "do [a] [b] [c] [d] [e]",
		"do | ", "do \x1b[2J"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct wh_forms forms = {0};

		CU_ASSERT_FALSE(add(&forms, wrong[i]));
		wh_forms_free(&forms);
	}
}

CU_TestInfo wh_tests[] = {
	{"ways to say it", test_ways},
	{"kinds of words", test_kinds},
	{"nonsense", test_nonsense},
	CU_TEST_INFO_NULL,
};
