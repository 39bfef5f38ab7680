/* SPDX-License-Identifier: BSD-3-Clause */

/* Options of an order, as words: they come back as they went, and what is none is refused. */

#include <stdlib.h>
#include <string.h>

#include <CUnit/CUnit.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "transfer/order_words.h"
#include "unit.h"

/* Of each kind; the values as wh_setting_format has them. */
static const char *const options[] = {
	"--recursive",
	"--profile=udt",
	"--set=udt.beta=1e-06",
	"--resume=full",
	"--include=*.dat",
	"--exclude=*",
	"--include=a/**",
	"--min-size=1M",
	"--max-size=10G",
	"--newer=@1700000000",
	"--update",
	"--ignore-existing",
	"--quick-check",
	"--relative",
	"--digest=md5",
	"--delete",
	"--max-delete=7",
	"--backup",
	"--suffix=.old",
	"--hard-links",
	"--owners",
	"--set-ids",
	"--xattrs",
	"--acls",
	"--case-clash=refuse",
	"--map-owners=7=0",
	"--map-groups=7=0",
	"--plain-names",
	"--links-inside",
	"--peer-timeout=5s",
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

const char wh_suite_name[] = "words of orders";

static struct wh_settings settings;

static bool has(const json_t *words, const char *word)
{
	for (size_t i = 0; i < json_array_size(words); i++)
		if (strcmp(json_string_value(json_array_get(words, i)), word) == 0)
			return true;
	return false;
}

static json_t *said(const json_t *words)
{
	int status = wh_order_settings(words, &settings);

	CU_ASSERT_EQUAL(status, -1);
	return wh_order_words(&settings, "/");
}

static void come_back(void)
{
	json_t *words = json_array();
	json_t *again;

	for (size_t i = 0; i < OPTIONS; i++)
		json_array_append_new(words, json_string(options[i]));
	again = said(words);
	CU_ASSERT_EQUAL(json_array_size(again), OPTIONS);
	for (size_t i = 0; i < OPTIONS; i++)
		if (!has(again, options[i]))
			CU_FAIL(options[i]);
	json_decref(again);
	json_decref(words);
}

/* The first that matches decides. */
static void patterns_keep_their_order(void)
{
	json_t *words = json_pack(
		"[s, s, s, s]", "--include=*.dat", "--exclude=b*", "--include=c", "--exclude=*");
	json_t *again = said(words);

	CU_ASSERT_TRUE(json_equal(words, again));
	CU_ASSERT_EQUAL(settings.patterns, 4);
	CU_ASSERT_STRING_EQUAL(settings.pattern[1], "b*");
	CU_ASSERT_FALSE(settings.pattern_takes[1]);
	json_decref(again);
	json_decref(words);
}

static void nothing_is_preset(void)
{
	json_t *words = json_array();
	json_t *again = said(words);

	CU_ASSERT_EQUAL(json_array_size(again), 0);
	CU_ASSERT_EQUAL(settings.resume, WH_RESUME_SPARSE);
	json_decref(again);
	json_decref(words);
}

static void others_are_refused(void)
{
	static const struct {
		const char *word, *says;
	} cases[] = {
		{"--files-from=list", "--files-from is no option of an order"},
		{"--null", "--null is no option of an order"},
		{"--control=/x", "--control is no option of an order"},
		{"--retries=3", "--retries is no option of an order"},
		{"--priority=3", "--priority is no option of an order"},
		{"--rate=3G", "--rate is no option of an order"},
		{"--json", "--json is no option of an order"},
		{"--port=net_null0", "'--port=net_null0' is not an option of job"},
		{"--unsealed", "'--unsealed' is not an option of job"},
		{"--keep-parts=1d", "'--keep-parts=1d' is not an option of job"},
		{"file", "options of wavehaul job, and nothing else"},
		{"--", ""},
		{"--manifest=/etc/passwd", "--manifest of an order is a path below"},
		{"--expect=a/../../b", "--expect of an order is a path below"},
		{"--delete=x", "takes no value"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *words = json_pack("[s]", cases[i].word);
		int status = wh_order_settings(words, &settings);

		CU_ASSERT_EQUAL(status, cases[i].says[0] != '\0' ? WH_EXIT_USAGE : -1);
		if (cases[i].says[0] != '\0')
			CU_ASSERT_PTR_NOT_NULL_FATAL(strstr(wh_last_complaint(), cases[i].says));
		json_decref(words);
	}
}

/* Whatever send and get have of a transfer is an order's, but what is for a port or client. */
static void what_has_no_order_is_known(void)
{
	static const char *const own[] = {"rate", "pipe-timeout", "wait", "retries", "state",
		"daemon", "control", "keep-parts", "keep-records", "files-from", "null",
		"then-run"};
	static const char *const sections[] = {"transfer", "choice", "files"};
	uint32_t found = 0;

	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];
		bool of_transfer = false;
		bool is_own = false;

		for (size_t s = 0; s < sizeof(sections) / sizeof(sections[0]); s++)
			of_transfer |= strcmp(setting->section, sections[s]) == 0;
		if (!of_transfer || (setting->verbs & (WH_VERB_SEND | WH_VERB_GET)) == 0)
			continue;
		for (size_t o = 0; o < sizeof(own) / sizeof(own[0]); o++)
			is_own |= strcmp(setting->flag, own[o]) == 0;
		found += is_own;
		if (wh_order_knows(setting) == is_own)
			CU_FAIL(setting->flag);
	}
	CU_ASSERT_EQUAL(found, sizeof(own) / sizeof(own[0]));
}

static void too_many(void)
{
	json_t *words = json_array();

	for (int i = 0; i < 513; i++)
		json_array_append_new(words, json_string("--update"));
	CU_ASSERT_EQUAL(wh_order_settings(words, &settings), WH_EXIT_USAGE);
	json_array_remove(words, 0);
	CU_ASSERT_EQUAL(wh_order_settings(words, &settings), -1);
	json_decref(words);
}

/* What another host may say at all: nothing that is read, or that prints, before it is refused. */
static void of_another_host(void)
{
	static const char *const wrong[] = {"--config=/etc/shadow", "--print-config", "--help",
		"--manifest=x", "--expect=x", "--files-from=-", "--state=/tmp", "--parallel", "-r",
		"--recursiv", "--recur", "parallel=4", "", "--", "--=", "--rate=1G", "--port=x"};
	json_t *good = json_array();

	for (size_t i = 0; i < OPTIONS; i++) {
		json_t *word = json_pack("[s]", options[i]);
		bool of_files = strstr("--plain-names --links-inside --case-clash=refuse "
				       "--map-owners=7=0 --map-groups=7=0",
					options[i]) != NULL;

		CU_ASSERT_EQUAL(wh_order_words_wrong(word) != NULL, of_files);
		if (!of_files)
			json_array_extend(good, word);
		json_decref(word);
	}
	CU_ASSERT_PTR_NULL(wh_order_words_wrong(good));
	CU_ASSERT_EQUAL(json_array_size(good), OPTIONS - 5);
	json_decref(good);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		json_t *words = json_pack("[ss]", "--recursive", wrong[i]);
		bool is_option = strcmp(wrong[i], "--parallel") == 0;

		CU_ASSERT_EQUAL(wh_order_words_wrong(words) == NULL, is_option);
		json_decref(words);
	}

	json_t *others = json_pack("[i]", 7);

	CU_ASSERT_PTR_NOT_NULL(wh_order_words_wrong(others));
	json_decref(others);
	CU_ASSERT_PTR_NOT_NULL(wh_order_words_wrong(NULL));
}

CU_TestInfo wh_tests[] = {
	{"options come back as they went", come_back},
	{"patterns keep their order", patterns_keep_their_order},
	{"what is preset is not said", nothing_is_preset},
	{"what is none is refused by name", others_are_refused},
	{"of send and get all but what is their own", what_has_no_order_is_known},
	{"too many", too_many},
	{"of another host", of_another_host},
	CU_TEST_INFO_NULL,
};
