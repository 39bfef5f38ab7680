/* SPDX-License-Identifier: BSD-3-Clause */

/* What the operator writes for ssh, and what becomes of it. */

#include "ssh/destination.h"

#include <string.h>

#include "cli/address_text.h"
#include "unit.h"

const char wh_suite_name[] = "app/ssh_destination";

static void test_right(void)
{
	static const char *const right[] = {"ann@dtn2", "ann@dtn2.example.org",
		"a_b.c-d+e@10.0.0.1", "ann@2001:db8::1", "ann@fe80::1%eth0", "ann@site@gate",
		"0@0"};

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		CU_ASSERT_TRUE(wh_destination_has_user(right[i]));
		CU_ASSERT_PTR_NULL(wh_destination_wrong(right[i]));
	}
	CU_ASSERT_FALSE(wh_destination_has_user("dtn2"));
	CU_ASSERT_STRING_EQUAL(wh_destination_name("ann@site@gate"), "gate");
	CU_ASSERT_STRING_EQUAL(wh_destination_name("ann@2001:db8::1"), "2001:db8::1");
}

/* Any byte but those allowed, at any place of the user or the host; and - in front. */
static void test_wrong(void)
{
	static const char *const wrong[] = {"@", "@dtn2", "ann@", "-ann@dtn2", "ann@-dtn2",
		"-oProxyCommand=id@dtn2", "ann@dtn2 id", "ann@$(id)", "ann@`id`", "an'n@dtn2"};
	char text[] = "ann@dtn2";

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_PTR_NOT_NULL(wh_destination_wrong(wrong[i]));
	for (size_t at = 1; at < sizeof(text) - 1; at++) {
		for (int byte = 1; byte < 256; byte++) {
			char kept = text[at];
			bool good = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
				    (byte >= 'A' && byte <= 'Z') || strchr("._-@", byte) != NULL ||
				    (at < 3 ? byte == '+' : at > 3 && strchr(":%", byte) != NULL);

			if (at == 3 || byte == '@' || byte == '-')
				continue;
			text[at] = (char)byte;
			CU_ASSERT_EQUAL(wh_destination_wrong(text) == NULL, good);
			text[at] = kept;
		}
	}
}

static void test_command(void)
{
	static const char *const behind[] = {
		"-T", "ann@dtn2", "prog", "serve", "--for-client", NULL};
	static const char *const expected[] = {
		"ssh", "-p", "22", "-J", "gate", "-T", "ann@dtn2", "prog", "serve", "--for-client"};
	char ssh[] = "  ssh -p 22\t-J  gate ", empty[] = " \t";
	char many[2 * WH_DESTINATION_WORDS_MAX + 1];
	char *word[WH_DESTINATION_WORDS_MAX];

	CU_ASSERT_TRUE_FATAL(wh_destination_command(ssh, behind, word));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		CU_ASSERT_STRING_EQUAL(word[i], expected[i]);
	CU_ASSERT_PTR_NULL(word[sizeof(expected) / sizeof(expected[0])]);
	CU_ASSERT_FALSE(wh_destination_command(empty, behind, word));
	for (size_t i = 0; i + 1 < sizeof(many); i += 2)
		memcpy(&many[i], "x ", 2);
	many[sizeof(many) - 1] = '\0';
	CU_ASSERT_FALSE(wh_destination_command(many, behind, word));
	for (size_t i = 0; i + 1 < sizeof(many); i += 2)
		memcpy(&many[i], "x ", 2);
	many[2 * (WH_DESTINATION_WORDS_MAX - WH_DESTINATION_WORDS_BEHIND - 1)] = '\0';
	CU_ASSERT_TRUE(wh_destination_command(many, behind, word));
	CU_ASSERT_PTR_NULL(word[WH_DESTINATION_WORDS_MAX - 1]);
}

/* HOST:PATH with a user, whose @ may also be in a path. */
static void test_split(void)
{
	static const struct {
		const char *text;
		const char *host; /* NULL: refused */
		const char *path;
	} cases[] = {
		{"ann@dtn2:runs/", "ann@dtn2", "runs/"},
		{"ann@[2001:db8::1]:x:y", "ann@2001:db8::1", "x:y"},
		{"dtn2:a@b:c", "dtn2", "a@b:c"},
		{"[::1]:a@b", "::1", "a@b"},
		{"a@b@c:", "a@b@c", "."},
		{"ann@[::1]", NULL, NULL},
		{"ann@", NULL, NULL},
		{"ann@:x", NULL, NULL},
		{"a/b@c:d", NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char host[WH_HOST_BYTES] = "";
		const char *path = wh_remote_path(cases[i].text, host);

		CU_ASSERT_EQUAL(path == NULL, cases[i].host == NULL);
		if (path == NULL || cases[i].host == NULL)
			continue;
		CU_ASSERT_STRING_EQUAL(host, cases[i].host);
		CU_ASSERT_STRING_EQUAL(path, cases[i].path);
	}
}

CU_TestInfo wh_tests[] = {
	{"right", test_right},
	{"wrong", test_wrong},
	{"command", test_command},
	{"split", test_split},
	CU_TEST_INFO_NULL,
};
