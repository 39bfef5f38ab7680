/* SPDX-License-Identifier: BSD-3-Clause */

/* What is offered for mistyped words. */

#include "cli/nearest/nearest.h"

#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "app/nearest";

static const char *const verbs[] = {"demo", "serve", "send", "get", "bench", "probe", "ls", "du",
	"rm", "mkdir", "mv", "ping", "completion", "profiles"};

static struct wh_nearest look(const char *typed)
{
	struct wh_nearest nearest = {.typed = typed};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		wh_nearest_try(&nearest, verbs[i]);
	return nearest;
}

static void test_words(void)
{
	static const struct {
		const char *typed;
		const char *word; /* NULL: none */
		uint32_t edits;
	} cases[] = {
		{"sned", "send", 1},         /* swapped */
		{"sen", "send", 1},          /* one is missing */
		{"sendd", "send", 1},        /* one too many */
		{"sand", "send", 1},         /* another one */
		{"get", "get", 0},           /* the same */
		{"l", NULL, 0},              /* too short to tell */
		{"lx", "ls", 1},             /* two letters, one of them right */
		{"xx", NULL, 0},             /* none of them */
		{"comp", "completion", 1},   /* its beginning */
		{"prfolies", "profiles", 2}, /* swapped twice */
		{"files", "profiles", 1},    /* a part of it */
		{"abend", NULL, 0},          /* two edits are too many for five characters */
		{"download", NULL, 0},
		{"", NULL, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_nearest nearest = look(cases[i].typed);

		CU_ASSERT_EQUAL(nearest.word == NULL, cases[i].word == NULL);
		if (cases[i].word == NULL || nearest.word == NULL)
			continue;
		CU_ASSERT_STRING_EQUAL(nearest.word, cases[i].word);
		CU_ASSERT_EQUAL(nearest.edits, cases[i].edits);
	}
}

/* The first of those that are equally near; words of any length are no harm. */
static void test_order_and_length(void)
{
	char text[WH_NEAREST_TEXT_BYTES];
	struct wh_nearest nearest = {.typed = "--prot"};
	char longest[64 + 1];
	char far[1000];

	wh_nearest_try(&nearest, "--port");
	wh_nearest_try(&nearest, "--pro");
	CU_ASSERT_STRING_EQUAL(nearest.word, "--port");

	memset(longest, 'x', sizeof(longest));
	longest[63] = '\0';
	memset(far, 'x', sizeof(far));
	far[sizeof(far) - 1] = '\0';
	nearest = (struct wh_nearest){.typed = longest};
	wh_nearest_try(&nearest, far);
	CU_ASSERT_PTR_NULL(nearest.word);
	wh_nearest_try(&nearest, longest);
	CU_ASSERT_EQUAL(nearest.edits, 0);
	nearest = (struct wh_nearest){.typed = far};
	wh_nearest_try(&nearest, longest);
	CU_ASSERT_PTR_NULL(nearest.word);
	CU_ASSERT_STRING_EQUAL(wh_nearest_text(&nearest, "--", "it is far", text), "it is far");
}

static void test_text(void)
{
	struct wh_nearest nearest = look("sned");
	char text[WH_NEAREST_TEXT_BYTES];

	CU_ASSERT_STRING_EQUAL(wh_nearest_text(&nearest, "--", "", text), "did you mean '--send'?");
}

CU_TestInfo wh_tests[] = {
	{"words", test_words},
	{"order and length", test_order_and_length},
	{"text", test_text},
	CU_TEST_INFO_NULL,
};
