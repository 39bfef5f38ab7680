/* SPDX-License-Identifier: BSD-3-Clause */

/* Options of profiles, by flag and by file. */

#include <stdio.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/settings_table.h"
#include "settings_rig.h"
#include "unit.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define WHOLE "--config|none|--port|memif:/run/x.sock|--addr|192.0.2.1/24"

static struct wh_rig rig;

static double option_of(const char *profile, const char *option)
{
	const struct wh_profile *found = wh_profile_find(profile);

	return wh_profile_options_get(
		wh_profile_choice(&rig.settings.choices, found), found, option);
}

/* Options of the profile in use, of any verb with one; what is not set is as the paper has it. */
static void test_profile_options(void)
{
	static const enum wh_verb verbs[] = {
		WH_VERB_SEND, WH_VERB_GET, WH_VERB_BENCH, WH_VERB_DEMO};
	char words[512];

	for (size_t i = 0; i < LENGTH(verbs); i++) {
		snprintf(words, sizeof(words),
			"%s--set|udt.beta=1e-6|--profile|udt|--set|udt.formula3=off|--set|udt.beta="
			"2e-6",
			(verbs[i] & WH_VERBS_CONFIGURED) != 0 ? WHOLE "|" : "");
		wh_rig_read(&rig, verbs[i], words);
		CU_ASSERT_EQUAL(rig.status, -1);
		CU_ASSERT_EQUAL(option_of("udt", "beta"), 2e-6);
		CU_ASSERT_EQUAL(option_of("udt", "formula3"), 0);
		CU_ASSERT_EQUAL(option_of("udt", "loss_threshold"), 0.01);
		CU_ASSERT_EQUAL(option_of("ttp", "q"), 3);
	}
	CU_ASSERT_STRING_EQUAL(wh_rig_value(&rig, WH_VERB_SEND, "profile.udt.beta"), "2e-06");
	wh_rig_read(&rig, WH_VERB_PLAN, "--set|udt.beta=1e-6|--set|ttp.q=9");
	CU_ASSERT_EQUAL(rig.status, -1);
	CU_ASSERT_EQUAL(option_of("ttp", "q"), 9);
}

/* From a file they are for whoever uses the profile, and what is printed gives them again. */
static void test_profile_options_of_file(void)
{
	static char first[sizeof(rig.out)];
	static const char text[] = "[transfer]\nprofile = ttp\n[profile]\nudt.beta = 1e-6\n"
				   "ttp.q = 7\nttp.bottleneck = auto\n";

	wh_rig_read_file(&rig, WH_VERB_GET, text, strlen(text), "--print-config|--set|ttp.n=64");
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_OK);
	CU_ASSERT_EQUAL(option_of("udt", "beta"), 1e-6);
	CU_ASSERT_EQUAL(option_of("ttp", "q"), 7);
	CU_ASSERT_EQUAL(option_of("ttp", "n"), 64);
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.out, "\nudt.beta = 1e-06\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(rig.out, "\nttp.bottleneck = auto\n"));
	strcpy(first, rig.out);
	wh_rig_read_file(&rig, WH_VERB_GET, first, strlen(first), "--print-config");
	CU_ASSERT_STRING_EQUAL(rig.out, first);
	wh_rig_read_file(&rig, WH_VERB_SERVE, text, strlen(text), "--print-config");
	CU_ASSERT_EQUAL(rig.status, WH_EXIT_OK);
	CU_ASSERT_PTR_NULL(strstr(rig.out, "[profile]"));
}

/* What is no profile is refused with the names of all, what is no option with its profile's. */
static void test_refusals_name_all_that_are_known(void)
{
	char words[512];

	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++) {
		const struct wh_profile *profile = wh_profile_at(i);

		wh_rig_read(&rig, WH_VERB_DEMO, "--profile|quick");
		CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
		CU_ASSERT_PTR_NOT_NULL(strstr(rig.said, profile->name));
		wh_rig_read(&rig, WH_VERB_DEMO, "--set|quick.beta=1");
		CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
		CU_ASSERT_PTR_NOT_NULL(strstr(rig.said, profile->name));

		snprintf(words, sizeof(words), "--set|%s.xyzxyz=1", profile->name);
		wh_rig_read(&rig, WH_VERB_DEMO, words);
		CU_ASSERT_EQUAL(rig.status, WH_EXIT_USAGE);
		for (uint32_t o = 0; o < profile->n_options; o++)
			CU_ASSERT_PTR_NOT_NULL(strstr(rig.said, profile->options[o].name));
	}
}

const char wh_suite_name[] = "settings options";

CU_TestInfo wh_tests[] = {
	{"flags", test_profile_options},
	{"file", test_profile_options_of_file},
	{"refusals name all that are known", test_refusals_name_all_that_are_known},
	CU_TEST_INFO_NULL,
};
