/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/progress.h"

#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "progress";

static const struct {
	struct wh_progress_line progress;
	const char *text;
} lines[] = {
	/* 1 GiB of 4 in 2 s: 4.29 Gb/s, and 6 s left; the last 256 MiB took 250 ms */
	{{UINT64_C(1) << 30, 0, UINT64_C(4) << 30, 2, 1 << 28, 0.25, ""},
		"  1.00 GiB  25.0 %  now 8.59 Gb/s  mean 4.29 Gb/s  ETA 6 s"},
	{{UINT64_C(1) << 30, 0, UINT64_C(4) << 30, 2, 0, 0.25, "again 7  stalled by the disk"},
		"  1.00 GiB  25.0 %  now 0 b/s  mean 4.29 Gb/s  ETA 6 s  again 7  stalled by the "
		"disk"},
	/* nothing yet: no time can be told */
	{{0, 0, 1000, 0, 0, 0, "0 files"}, "       0 B   0.0 %  now 0 b/s  mean 0 b/s  0 files"},
	{{1000, 0, 1000, 1, 1000, 1, ""},
		"    1000 B 100.0 %  now 8.00 kb/s  mean 8.00 kb/s  ETA 0 s"},
	/* half of what there is was there */
	{{500, 1000, 2000, 1, 500, 1, ""},
		"     500 B  75.0 %  now 4.00 kb/s  mean 4.00 kb/s  ETA 1 s"},
	/* how much it is to be is not known, or less than what came */
	{{1000, 0, 0, 1, 1000, 1, "1 file"}, "    1000 B  now 8.00 kb/s  mean 8.00 kb/s  1 file"},
	{{1000, 0, 999, 1, 1000, 1, ""}, "    1000 B  now 8.00 kb/s  mean 8.00 kb/s"},
	{{0, 0, 0, 0, 0, 0, ""}, "       0 B  now 0 b/s  mean 0 b/s"},
};

static void texts(void)
{
	char text[WH_PROGRESS_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		CU_ASSERT_PTR_EQUAL(
			wh_progress_text(text, WH_PROGRESS_TEXT_BYTES, &lines[i].progress), text);
		CU_ASSERT_STRING_EQUAL(text, lines[i].text);
		if (strcmp(text, lines[i].text) != 0)
			printf("'%s', not '%s'\n", text, lines[i].text);
	}
}

/* What is said with so many columns, of the same progress. */
static void narrow(void)
{
	static const struct wh_progress_line progress = {
		UINT64_C(1) << 30, 0, UINT64_C(4) << 30, 2, 1 << 28, 0.25, "12 files"};
	static const struct {
		uint32_t columns;
		const char *text;
	} widths[] = {
		{70, "  1.00 GiB  25.0 %  now 8.59 Gb/s  mean 4.29 Gb/s  ETA 6 s  12 files"},
		{67, "  1.00 GiB  25.0 %  now 8.59 Gb/s  ETA 6 s  12 files"},
		{52, "  1.00 GiB  25.0 %  now 8.59 Gb/s  ETA 6 s  12 files"},
		{51, "  1.00 GiB  25.0 %  now 8.59 Gb/s  ETA 6 s"},
		{39, "  1.00 GiB  25.0 %  now 8.59 Gb/s"},
		{30, "  1.00 GiB  25.0 %"},
		{10, "  1.00 GiB"},
		{0, ""},
	};
	char text[WH_PROGRESS_TEXT_BYTES];

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		CU_ASSERT_STRING_EQUAL(
			wh_progress_text(text, widths[i].columns, &progress), widths[i].text);
}

/* What is left, and nothing of it where more has come than was found. */
static void left(void)
{
	char text[WH_PROGRESS_TEXT_BYTES];

	const struct wh_left some = {.files = 30, .bytes = UINT64_C(3) << 30}, none = {0};
	const struct wh_left more = {.files = 5, .bytes = 10, .at_least = true};

	CU_ASSERT_STRING_EQUAL(wh_progress_left(text, 12, &some), "12 of 42 files, 3.00 GiB left");
	CU_ASSERT_STRING_EQUAL(wh_progress_left(text, 1, &none), "1 of 1 file, 0 B left");
	CU_ASSERT_STRING_EQUAL(
		wh_progress_left(text, 7, &more), "7 of at least 12 files, 10 B left");
	/* 3 GiB at 1 GiB in 2 s; what has not begun, or may become more, has no end. */
	CU_ASSERT_EQUAL(wh_progress_eta_s(&some, UINT64_C(1) << 30, 2), 6);
	CU_ASSERT_EQUAL(wh_progress_eta_s(&none, 10, 2), 0);
	CU_ASSERT(wh_progress_eta_s(&some, 0, 2) < 0 && wh_progress_eta_s(&some, 10, 0) < 0);
	CU_ASSERT(wh_progress_eta_s(&more, 10, 2) < 0);
}

/* Words of any length and the largest numbers do not take more than is there. */
static void longest(void)
{
	char words[2 * WH_PROGRESS_TEXT_BYTES];
	char text[WH_PROGRESS_TEXT_BYTES + 1];
	struct wh_progress_line progress = {UINT64_MAX - 1, 0, UINT64_MAX, 1, UINT64_MAX, 1, words};

	memset(words, 'w', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	text[WH_PROGRESS_TEXT_BYTES] = '!';
	wh_progress_text(text, UINT32_MAX, &progress);
	CU_ASSERT_TRUE(strlen(text) < WH_PROGRESS_TEXT_BYTES);
	CU_ASSERT_PTR_NULL(strchr(text, 'w') == NULL ? NULL : strstr(text, "www"));
	CU_ASSERT_EQUAL(text[WH_PROGRESS_TEXT_BYTES], '!');
}

CU_TestInfo wh_tests[] = {
	{"texts", texts},
	{"narrow terminals", narrow},
	{"what is left", left},
	{"the longest is cut", longest},
	CU_TEST_INFO_NULL,
};
