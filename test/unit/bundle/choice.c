/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/choice.h"

#include "unit.h"

const char wh_suite_name[] = "choice";

static const struct {
	const char *pattern;
	const char *path; /* with a '/' behind: a folder */
	bool matches;
} matches[] = {
	{"a", "a", true},
	{"a", "b/a", true},
	{"a", "a/b", false},
	{"a", "aa", false},
	{"*.o", "b/x.o", true},
	{"*.o", ".o", true},
	{"*.o", "x.oo", false},
	{"*", "a/b", true},
	{"?", "a", true},
	{"?", "ab", false},
	{"x?z", "x/z", false},
	{"/a", "a", true},
	{"/a", "b/a", false},
	{"/a/*", "a/b", true},
	{"/a/*", "a/b/c", false},
	{"/a/**", "a/b/c", true},
	{"/a/**/c", "a/b/b/c", true},
	{"/a/**/c", "a/c", false},
	{"/**.c", "a/b/x.c", true},
	{"a/b", "x/a/b", true},
	{"a/b", "xa/b", false},
	{"a/*.c", "x/y/a/z.c", true},
	{"a/*.c", "x/y/a/b/z.c", false},
	{"a/", "a/", true},
	{"a/", "b/a/", true},
	{"a/", "a", false},
	{"*/", "a/b/", true},
	{"[abc]", "b", true},
	{"[a-c]x", "bx", true},
	{"[a-c]", "d", false},
	{"[!a-c]", "d", true},
	{"[^a-c]", "b", false},
	{"[]]", "]", true},
	{"[!]]", "]", false},
	{"[a-]", "-", true},
	{"[\\]a]", "]", true},
	{"/x[!a]y", "x/y", false},
	{"\\*", "*", true},
	{"\\*", "a", false},
	{"/\\**", "*a", true},
	{"/\\**", "*a/b", false},
	{"/[*]*", "*a/b", false},
	{"*a*b*c", "xxaxxbxxc", true},
	{"*a*b*c", "xxaxxcxxb", false},
	{"a\xff?", "a\xff\xfe", true},
};

static void test_patterns(void)
{
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
		const char *path = matches[i].path;
		size_t bytes = strlen(path);
		bool is_folder = path[bytes - 1] == '/';
		bool found =
			wh_pattern_matches(matches[i].pattern, path, bytes - is_folder, is_folder);

		if (found != matches[i].matches)
			printf("%s with %s\n", matches[i].pattern, path);
		CU_ASSERT_EQUAL(found, matches[i].matches);
	}
}

/* What takes time without end where a matcher tries every way. */
static void test_cost(void)
{
	char pattern[WH_PATTERN_BYTES_MAX + 1];
	char path[4095];

	for (size_t i = 0; i < WH_PATTERN_BYTES_MAX; i++)
		pattern[i] = i % 3 == 2 ? 'a' : '*';
	pattern[WH_PATTERN_BYTES_MAX - 1] = 'b';
	pattern[WH_PATTERN_BYTES_MAX] = '\0';
	memset(path, 'a', sizeof(path));
	CU_ASSERT_FALSE(wh_pattern_matches(pattern, path, sizeof(path), false));
	path[sizeof(path) - 1] = 'b';
	CU_ASSERT_TRUE(wh_pattern_matches(pattern, path, sizeof(path), false));

	/* Stars in a row; were it of their square, this would take minutes. */
	memset(pattern, '*', WH_PATTERN_BYTES_MAX - 2);
	memcpy(pattern + WH_PATTERN_BYTES_MAX - 2, "/b", 3);
	for (int i = 0; i < 100; i++)
		CU_ASSERT_FALSE(wh_pattern_matches(pattern, path, sizeof(path), false));
	path[sizeof(path) - 2] = '/';
	CU_ASSERT_TRUE(wh_pattern_matches(pattern, path, sizeof(path), false));
}

static void test_wrong(void)
{
	static const char *const wrong[] = {"", "a", "+", "-", "+/", "-a[b", "-[", "-[]", "+a\\",
		">", ">-1", ">1x", "<9223372036854775808", "@", "#1"};
	char longest[WH_PATTERN_BYTES_MAX + 3] = "+";

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_PTR_NOT_NULL(wh_term_wrong(wrong[i]));
	CU_ASSERT_PTR_NULL(wh_term_wrong("<9223372036854775807"));
	CU_ASSERT_PTR_NULL(wh_term_wrong("!1000000"));
	CU_ASSERT_PTR_NOT_NULL(wh_term_wrong("!1000001"));
	CU_ASSERT_PTR_NULL(wh_term_wrong("~.before"));
	CU_ASSERT_PTR_NOT_NULL(wh_term_wrong("~"));
	CU_ASSERT_PTR_NOT_NULL(wh_term_wrong("~a/b"));
	CU_ASSERT_PTR_NOT_NULL(wh_term_wrong("~a\tb"));
	memset(longest + 1, 'a', WH_PATTERN_BYTES_MAX);
	CU_ASSERT_PTR_NULL(wh_term_wrong(longest));
	longest[1 + WH_PATTERN_BYTES_MAX] = 'a';
	CU_ASSERT_PTR_NOT_NULL(wh_term_wrong(longest));
}

static void test_order(void)
{
	static const char *const term[] = {"+keep.o", "-*.o", "-/tmp/", ">10", "<20", "@1000"};
	struct wh_choice choice;
	struct stat status = {.st_size = 10, .st_mtim.tv_sec = 1001};

	CU_ASSERT_EQUAL_FATAL(wh_choice_parse(&choice, WH_CHOICE_UPDATE, term, 6), 0);
	CU_ASSERT_TRUE(wh_choice_takes_path(&choice, "a/keep.o", 8, false));
	CU_ASSERT_FALSE(wh_choice_takes_path(&choice, "a/b.o", 5, false));
	CU_ASSERT_FALSE(wh_choice_takes_path(&choice, "tmp", 3, true));
	CU_ASSERT_TRUE(wh_choice_takes_path(&choice, "tmp", 3, false));
	CU_ASSERT_TRUE(wh_choice_takes_file(&choice, &status));
	status.st_size = 9;
	CU_ASSERT_FALSE(wh_choice_takes_file(&choice, &status));
	status.st_size = 21;
	CU_ASSERT_FALSE(wh_choice_takes_file(&choice, &status));
	status.st_size = 20;
	status.st_mtim.tv_sec = 1000;
	CU_ASSERT_FALSE(wh_choice_takes_file(&choice, &status));
	CU_ASSERT_EQUAL(wh_choice_parse(&choice, WH_CHOICES_ALL + 1, term, 0), -EINVAL);
}

/* Of a file some bytes, none behind its end; and never with a wish for all of it. */
static void test_range(void)
{
	static const char *const term[] = {"[10", "]30", "]5"};
	struct wh_choice choice;
	uint64_t from;

	CU_ASSERT_EQUAL_FATAL(wh_choice_parse(&choice, 0, term, 0), 0);
	CU_ASSERT_EQUAL(wh_choice_range(&choice, 20, &from), 20);
	CU_ASSERT_EQUAL(from, 0);
	CU_ASSERT_EQUAL_FATAL(wh_choice_parse(&choice, WH_CHOICE_XATTRS, term, 2), 0);
	CU_ASSERT_EQUAL(wh_choice_range(&choice, 100, &from), 20);
	CU_ASSERT_EQUAL(from, 10);
	CU_ASSERT_EQUAL(wh_choice_range(&choice, 25, &from), 15);
	CU_ASSERT_EQUAL(wh_choice_range(&choice, 10, &from), 0);
	CU_ASSERT_EQUAL(wh_choice_range(&choice, 3, &from), 0);
	CU_ASSERT_EQUAL(from, 3);
	CU_ASSERT_FALSE(choice.by_status);
	CU_ASSERT_EQUAL_FATAL(wh_choice_parse(&choice, 0, term, 1), 0);
	CU_ASSERT_EQUAL(wh_choice_range(&choice, 100, &from), 90);
	CU_ASSERT_EQUAL_FATAL(wh_choice_parse(&choice, 0, term, 3), 0);
	CU_ASSERT_EQUAL(wh_choice_range(&choice, 100, &from), 0);
	for (uint32_t wish = 1; wish <= WH_CHOICES_ALL; wish *= 2)
		CU_ASSERT_EQUAL(wh_choice_parse(&choice, wish, term, 2),
			(wish & WH_CHOICE_KEEPS) != 0 ? 0 : -EINVAL);
}

static void test_too_many(void)
{
	static const char *term[WH_TERMS_MAX + 1];
	char longest[WH_PATTERN_BYTES_MAX + 2] = "+";
	struct wh_choice choice;

	for (size_t i = 0; i <= WH_TERMS_MAX; i++)
		term[i] = "-a";
	CU_ASSERT_EQUAL(wh_choice_parse(&choice, 0, term, WH_TERMS_MAX), 0);
	CU_ASSERT_EQUAL(wh_choice_parse(&choice, 0, term, WH_TERMS_MAX + 1), -E2BIG);
	memset(longest + 1, 'a', WH_PATTERN_BYTES_MAX);
	for (size_t i = 0; i < 33; i++)
		term[i] = longest;
	CU_ASSERT_EQUAL(wh_choice_parse(&choice, 0, term, 32), 0);
	CU_ASSERT_EQUAL(wh_choice_parse(&choice, 0, term, 33), -E2BIG);
}

CU_TestInfo wh_tests[] = {
	{"patterns", test_patterns},
	{"what it costs", test_cost},
	{"what is no term", test_wrong},
	{"the first that matches", test_order},
	{"a range of a file", test_range},
	{"too many", test_too_many},
	CU_TEST_INFO_NULL,
};
