/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * `wavehaul completion`: for bash, words by verb and by the previous option, all from the table.
 * File names are left to the shell, which completes them better.
 */

#include <stdio.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/settings_table.h"
#include "fec/fec.h"
#include "profile/profile.h"
#include "verbs.h"

static const char head[] =
	"# bash completion for wavehaul, made by `wavehaul completion bash`\n"
	"\n"
	"_wavehaul()\n"
	"{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
	"\n"
	"\t# --option=VALUE comes as three words.\n"
	"\tif [[ $word == = ]]; then\n"
	"\t\tword=\n"
	"\telif [[ $before == = ]]; then\n"
	"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tCOMPREPLY=()\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\tbefore=verb\n"
	"\tfi\n"
	"\tcase ${COMP_WORDS[1]},$before in\n";

static const char middle[] = "\t*)\n"
			     "\t\tif [[ $word != -* ]]; then\n"
			     "\t\t\tcompopt -o default\n"
			     "\t\t\treturn\n"
			     "\t\tfi\n"
			     "\t\tcase ${COMP_WORDS[1]} in\n";

static const char foot[] = "\t\tesac\n"
			   "\tesac\n"
			   "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
			   "}\n"
			   "complete -F _wavehaul wavehaul\n";

static bool is_options(const struct wh_setting *setting)
{
	return setting->type == WH_SETTING_OPTION || setting->type == WH_SETTING_SETS;
}

static bool has_words(const struct wh_setting *setting)
{
	return setting->type == WH_SETTING_PROFILE || setting->type == WH_SETTING_CODE ||
	       is_options(setting) || setting->words != NULL;
}

static void print_profiles(void)
{
	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++)
		printf("%s ", wh_profile_at(i)->name);
}

static void print_flag_names(
	const struct wh_setting *setting, enum wh_verb verb, const char *before)
{
	printf("%s--%s", before, setting->flag);
	if (setting->alias != NULL && verb == WH_VERB_BENCH)
		printf("%s--%s", before, setting->alias);
}

static void print_flag_names_of(enum wh_verb verb)
{
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if ((wh_settings_table[i].verbs & verb) != 0)
			print_flag_names(&wh_settings_table[i], verb, " ");
}

static void print_verbs(void)
{
	const char *summary;
	enum wh_verb verb;

	printf("\t*,verb)\n\t\twords='");
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		printf("%s ", wh_verb_name(verb));
	printf("--help --version'\n\t\t;;\n");
	printf("\tprofiles,profiles)\n\t\twords='");
	print_profiles();
	printf("--json --help'\n\t\t;;\n");
	printf("\ttrust,trust)\n\t\twords='list show add remove");
	print_flag_names_of(WH_VERB_TRUST);
	printf(" --help'\n\t\t;;\n");
	printf("\tjob,job)\n\t\twords='add list show pause resume cancel retry set move watch");
	print_flag_names_of(WH_VERB_JOB);
	printf(" --help'\n\t\t;;\n");
	printf("\tcompletion,completion)\n\t\twords='bash --help'\n\t\t;;\n");
}

/* Prints PROFILE.OPTION for all switches, or all others; `first` before, `next` between them. */
static void print_options(bool switches, const char *first, const char *next, const char *behind)
{
	const struct wh_profile *profile;
	const char *before = first;

	for (uint32_t p = 0; (profile = wh_profile_at(p)) != NULL; p++) {
		for (uint32_t i = 0; i < profile->n_options; i++) {
			if ((profile->options[i].type == WH_OPTION_SWITCH) != switches)
				continue;
			printf("%s%s.%s%s", before, profile->name, profile->options[i].name,
				behind);
			before = next;
		}
	}
}

static void print_words(const struct wh_setting *setting)
{
	if (is_options(setting)) {
		print_options(true, "", " ", "=");
		print_options(false, " ", " ", "=");
	} else if (setting->type == WH_SETTING_PROFILE) {
		print_profiles();
	} else if (setting->type == WH_SETTING_CODE) {
		for (uint32_t code = WH_FEC_NONE + 1; code < WH_FEC_CODES; code++)
			printf("%s ", wh_fec_code_name((enum wh_fec_code)code));
	} else {
		printf("%s", setting->words);
	}
}

enum group {
	GROUP_PATHS, /* names of files */
	GROUP_TOLD,  /* words from the table */
	GROUP_FREE,  /* quantities and texts, without completion */
};

static bool is_in(const struct wh_setting *setting, enum wh_verb verb, enum group group)
{
	bool path = setting->type == WH_SETTING_PATH;

	if ((setting->verbs & verb) == 0 || setting->argument == NULL)
		return false;
	return group == (path ? GROUP_PATHS : has_words(setting) ? GROUP_TOLD : GROUP_FREE);
}

/* Prints them as a pattern verb,--a|verb,--b; returns their number. */
static uint32_t print_pattern(enum wh_verb verb, enum group group)
{
	char before[32] = "\t";
	uint32_t count = 0;

	for (uint32_t i = 0; i < wh_settings_count; i++) {
		if (!is_in(&wh_settings_table[i], verb, group))
			continue;
		snprintf(before, sizeof(before), "%s%s,", count++ == 0 ? "\t" : "|",
			wh_verb_name(verb));
		print_flag_names(&wh_settings_table[i], verb, before);
	}
	return count;
}

static void print_values(enum wh_verb verb)
{
	if (print_pattern(verb, GROUP_PATHS) > 0)
		printf(")\n\t\tcompopt -o default\n\t\treturn\n\t\t;;\n");
	if (print_pattern(verb, GROUP_FREE) > 0)
		printf(")\n\t\treturn\n\t\t;;\n");
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		if (!is_in(&wh_settings_table[i], verb, GROUP_TOLD))
			continue;
		printf("\t%s,--%s)\n\t\twords='", wh_verb_name(verb), wh_settings_table[i].flag);
		print_words(&wh_settings_table[i]);
		printf("'\n%s\t\t;;\n",
			is_options(&wh_settings_table[i]) ? "\t\tcompopt -o nospace\n" : "");
	}
}

static void print_flags(enum wh_verb verb)
{
	printf("\t\t%s)\n\t\t\twords='", wh_verb_name(verb));
	print_flag_names_of(verb);
	printf(" --help'\n\t\t\t;;\n");
}

static void print_script(void)
{
	const char *summary;
	enum wh_verb verb;

	printf("%s", head);
	print_verbs();
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		print_values(verb);
	print_options(true, "\t*,", "|*,", "");
	printf(")\n\t\twords='on off'\n\t\t;;\n");
	print_options(false, "\t*,", "|*,", "");
	printf(")\n\t\treturn\n\t\t;;\n");
	printf("%s", middle);
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		print_flags(verb);
	printf("%s", foot);
}

int wh_verb_completion(int argc, char **argv)
{
	struct wh_settings settings;
	int status = wh_settings_read(&settings, WH_VERB_COMPLETION, argc, argv);

	if (status != -1)
		return status;
	if (settings.operand_count != 1 || strcmp(settings.operands[0], "bash") != 0) {
		wh_complain("wavehaul completion needs the name of a shell, and supports one: "
			    "`wavehaul completion bash`");
		return WH_EXIT_USAGE;
	}
	print_script();
	return WH_EXIT_OK;
}
