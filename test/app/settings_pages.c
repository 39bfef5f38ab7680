/* SPDX-License-Identifier: BSD-3-Clause */

/* --help and --print-config as texts, and the manual pages that must name the same. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/settings_table.h"
#include "settings_rig.h"
#include "unit.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define NAMES_MAX  120
#define NAME_BYTES 40

static struct wh_rig rig;

static const enum wh_verb verbs[] = {WH_VERB_SERVE, WH_VERB_SEND, WH_VERB_GET, WH_VERB_BENCH};

struct names {
	uint32_t count;
	char name[NAMES_MAX][NAME_BYTES];
};

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The letters, dashes and underscores at `text`; a backslash of troff does not count. */
static void add_name(struct names *names, const char *text)
{
	CU_ASSERT_FATAL(names->count < NAMES_MAX);

	char *name = names->name[names->count++];
	size_t used = 0;

	for (; *text == '\\' || *text == '-' || *text == '_' || (*text >= 'a' && *text <= 'z');
		text++)
		if (*text != '\\' && used + 1 < NAME_BYTES)
			name[used++] = *text;
	name[used] = '\0';
}

static void expect_same(struct names *a, struct names *b)
{
	qsort(a->name, a->count, NAME_BYTES, compare);
	qsort(b->name, b->count, NAME_BYTES, compare);
	CU_ASSERT_EQUAL(a->count, b->count);
	for (uint32_t i = 0; i < a->count && i < b->count; i++)
		CU_ASSERT_STRING_EQUAL(a->name[i], b->name[i]);
}

/* What follows each `mark` in the text. */
static void find_names(struct names *names, const char *text, const char *mark)
{
	names->count = 0;
	while ((text = strstr(text, mark)) != NULL) {
		text += strlen(mark);
		add_name(names, text);
	}
}

/* After `mark` and the rest of a dash, or a letter, a comma and two dashes. */
static void find_options(struct names *names, const char *text, const char *mark, const char *dash)
{
	size_t bytes = strlen(dash);

	names->count = 0;
	while ((text = strstr(text, mark)) != NULL) {
		text += strlen(mark);
		if (text[1] == ',')
			text += 3 + bytes;
		CU_ASSERT(strncmp(text, dash, bytes) == 0);
		text += bytes;
		add_name(names, text);
	}
}

static char *read_page(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), WH_TREE "/man/%s", name);

	char *page = wh_rig_slurp(path);

	CU_ASSERT_PTR_NOT_NULL_FATAL(page);
	return page;
}

static void test_lines_are_short(void)
{
	for (size_t i = 0; i < LENGTH(verbs); i++) {
		for (size_t what = 0; what < 2; what++) {
			wh_rig_read(&rig, verbs[i],
				what == 0 ? "--help" : "--config|none|--print-config");
			CU_ASSERT_EQUAL(rig.status, WH_EXIT_OK);
			CU_ASSERT_STRING_EQUAL(rig.said, "");
			for (char *line = strtok(rig.out, "\n"); line != NULL;
				line = strtok(NULL, "\n"))
				CU_ASSERT(strlen(line) <= 80);
		}
	}
}

static void test_help(void)
{
	wh_rig_read(&rig, WH_VERB_SEND, "x|--help|--rate|nonsense");
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_OK);
	CU_ASSERT_NSTRING_EQUAL(
		rig.out, "usage: wavehaul send [OPTIONS] FILE... HOST:PATH\n\n", 50);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(rig.out, "\nThe port\n  --port PORT           udp: sockets of the kernel"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(rig.out, "\n  --queues N            number of queue pairs; sessions "
				"are spread over them (1)\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(rig.out, "\n                        full, 1.5 times rate times round "
				"trip (512M)\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.out, "\n                        udt    UDT: AIMD "));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(rig.out, "\n  --rx-descriptors N    descriptors of a receive queue; "));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.out, "\n\n" WH_EXIT_HELP));
	CU_ASSERT_PTR_NULL(strstr(rig.out, "\nServing\n"));
	wh_rig_read(&rig, WH_VERB_SERVE, "--help");
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.out, "rate times round trip (1G)\n"));
	CU_ASSERT_PTR_NULL(strstr(rig.out, "--parallel"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(rig.out, "\n  --rate RATE           upper bound of all that one peer"));
}

static void test_print(void)
{
	wh_rig_read(&rig, WH_VERB_SERVE, "--config|none|--print-config|--eal|a#b");
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_OK);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.out, "\n[port]\n\n# udp: sockets of the kernel"));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.out, "\n# port = 0000:3b:00.0\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(rig.out, "\n# number of sessions at once, at most (64)\nsessions = 64\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.out, "\neal = a\\#b\n"));
	CU_ASSERT_PTR_NULL(strstr(rig.out, "\n[bench]\n"));
}

static void test_options_of_pages(void)
{
	struct names of_help;
	struct names of_page;

	for (size_t i = 0; i < LENGTH(verbs); i++) {
		char name[64];

		snprintf(name, sizeof(name), "wavehaul-%s.1", wh_verb_name(verbs[i]));

		char *page = read_page(name);

		wh_rig_read(&rig, verbs[i], "--help");
		find_options(&of_help, strstr(rig.out, "\nThe port\n"), "\n  -", "-");
		find_options(&of_page, page, "\n.TP\n.B \\-", "\\-");

		struct names valued;

		find_options(&valued, page, "\n.TP\n.BI \\-", "\\-");
		for (uint32_t b = 0; b < valued.count; b++)
			add_name(&of_page, valued.name[b]);
		CU_ASSERT(of_help.count > 20);
		expect_same(&of_help, &of_page);
		free(page);
	}
}

/* wavehaul.conf(5) has each section under .SS, and its keys behind .TP. */
static void test_keys_of_page(void)
{
	char *page = read_page("wavehaul.conf.5");
	char *section = page;
	uint32_t found = 0;
	struct names of_page;
	struct names of_table;

	while ((section = strstr(section, "\n.SS [")) != NULL) {
		char *end = strstr(section + 1, "\n.S");
		char name[NAME_BYTES];

		CU_ASSERT_PTR_NOT_NULL_FATAL(end);
		CU_ASSERT_EQUAL_FATAL(sscanf(section, "\n.SS [%39[a-z]]", name), 1);
		*end = '\0';
		find_names(&of_page, section, "\n.TP\n.BI ");
		*end = '\n';
		of_table.count = 0;
		for (uint32_t i = 0; i < wh_settings_count; i++)
			if (wh_settings_table[i].key != NULL &&
				strcmp(wh_settings_table[i].section, name) == 0)
				add_name(&of_table, wh_settings_table[i].key);
		expect_same(&of_page, &of_table);
		found += of_page.count;
		section = end;
	}

	uint32_t keys = 0;

	for (uint32_t i = 0; i < wh_settings_count; i++)
		keys += wh_settings_table[i].key != NULL;
	CU_ASSERT_EQUAL(found, keys);
	free(page);
}

const char wh_suite_name[] = "settings pages";

/* What an operator is told to write is understood: of "500p, or 64M" the first. */
static void test_examples(void)
{
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];
		static struct wh_settings settings;
		char example[64];

		if (setting->type < WH_SETTING_COUNT || setting->type > WH_SETTING_SHARE)
			continue;
		snprintf(example, sizeof(example), "%.*s", (int)strcspn(setting->example, ","),
			setting->example);
		if (wh_setting_take(setting, example, &settings) != NULL) {
			fprintf(stderr, "\n    --%s %s\n", setting->flag, example);
			CU_FAIL("an example is not understood");
		}
	}
}

CU_TestInfo wh_tests[] = {
	{"examples", test_examples},
	{"lines are short", test_lines_are_short},
	{"help", test_help},
	{"print", test_print},
	{"options of pages", test_options_of_pages},
	{"keys of page", test_keys_of_page},
	CU_TEST_INFO_NULL,
};
