/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * For bash: words by verb and by the previous option. File names are left to the shell, which
 * completes them better.
 */

#include <stdio.h>

#include "completion/completion_words.h"

static const char head[] =
	"# bash completion for wavehaul, made by `wavehaul completion bash`\n"
	"\n"
	"_wavehaul_jobs()\n"
	"{\n"
	"\t\"${COMP_WORDS[0]}\" job list --all 2>/dev/null | sed -n 's/^\\([0-9][0-9]*\\) "
	".*/\\1/p'\n"
	"}\n"
	"\n"
	"_wavehaul_peers()\n"
	"{\n"
	"\t\"${COMP_WORDS[0]}\" trust list --json 2>/dev/null |\n"
	"\t\tsed -n 's/^ *\"name\": \"\\([^\"]*\\)\".*/\\1'\"${1-}\"'/p'\n"
	"}\n"
	"\n"
	"_wavehaul_scenarios()\n"
	"{\n"
	"\t\"${COMP_WORDS[0]}\" sim --list 2>/dev/null | sed 's/ .*//'\n"
	"}\n"
	"\n"
	"_wavehaul()\n"
	"{\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
	"\n"
	"\t# --option=VALUE comes as three words, as does HOST:PATH.\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $word == : || $before == : ]]; then\n"
	"\t\treturn\n"
	"\telif [[ $word == = ]]; then\n"
	"\t\tword=\n"
	"\telif [[ $before == = ]]; then\n"
	"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\tbefore=verb\n"
	"\tfi\n"
	"\tcase ${COMP_WORDS[1]},$before in\n";

/* HOST:PATH is one of two words where a file's name is the other. */
static const char hosts[] = "\t\t\tif %s; then\n"
			    "\t\t\t\tcompopt -o default\n"
			    "\t\t\t\treturn\n"
			    "\t\t\tfi\n"
			    "\t\t\tcompopt -o nospace -o default\n"
			    "\t\t\twords=$(_wavehaul_peers :)\n"
			    "\t\t\t;;\n";

static const char foot[] = "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
			   "}\n"
			   "complete -F _wavehaul wavehaul\n";

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

static void print_verb_names(void)
{
	const char *summary;
	enum wh_verb verb;

	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		printf("%s ", wh_verb_name(verb));
}

static void print_verbs(void)
{
	const char *summary;
	enum wh_verb verb;

	printf("\t*,verb)\n\t\twords='");
	print_verb_names();
	printf("help --help --version'\n\t\t;;\n");
	printf("\thelp,help)\n\t\twords='");
	print_verb_names();
	printf("'\n\t\t;;\n");
	printf("\tprofiles,profiles)\n\t\twords='");
	wh_complete_profiles();
	printf("--json --help'\n\t\t;;\n");
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++) {
		const char *name = wh_verb_name(verb);

		if (wh_complete_first(verb)[0] == '\0')
			continue;
		printf("\t%s,%s)\n\t\twords='%s", name, name, wh_complete_first(verb));
		print_flag_names_of(verb);
		printf(" --help'\n\t\t;;\n");
	}
}

static bool is_in(const struct wh_setting *setting, enum wh_verb verb, enum wh_completes what)
{
	return (setting->verbs & verb) != 0 && setting->argument != NULL &&
	       wh_complete_value(setting) == what;
}

/* Prints them as a pattern verb,--a|verb,--b; returns their number. */
static uint32_t print_pattern(enum wh_verb verb, enum wh_completes what)
{
	char before[32] = "\t";
	uint32_t count = 0;

	for (uint32_t i = 0; i < wh_settings_count; i++) {
		if (!is_in(&wh_settings_table[i], verb, what))
			continue;
		snprintf(before, sizeof(before), "%s%s,", count++ == 0 ? "\t" : "|",
			wh_verb_name(verb));
		print_flag_names(&wh_settings_table[i], verb, before);
	}
	return count;
}

static void print_values(enum wh_verb verb)
{
	if (print_pattern(verb, WH_COMPLETES_LOCAL) > 0)
		printf(")\n\t\tcompopt -o default\n\t\treturn\n\t\t;;\n");
	if (print_pattern(verb, WH_COMPLETES_NOTHING) > 0)
		printf(")\n\t\treturn\n\t\t;;\n");
	if (print_pattern(verb, WH_COMPLETES_JOB) > 0)
		printf(")\n\t\twords=$(_wavehaul_jobs)\n\t\t;;\n");
	if (print_pattern(verb, WH_COMPLETES_OPTIONS) > 0) {
		printf(")\n\t\twords='");
		wh_complete_options(true, " ", "=");
		printf(" ");
		wh_complete_options(false, " ", "=");
		printf("'\n\t\tcompopt -o nospace\n\t\t;;\n");
	}
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		if (!is_in(&wh_settings_table[i], verb, WH_COMPLETES_WORDS))
			continue;
		printf("\t%s,--%s)\n\t\twords='", wh_verb_name(verb), wh_settings_table[i].flag);
		wh_complete_words(&wh_settings_table[i]);
		printf("'\n\t\t;;\n");
	}
}

static void print_option_values(void)
{
	printf("\t*,");
	wh_complete_options(true, "|*,", "");
	printf(")\n\t\twords='on off'\n\t\t;;\n\t*,");
	wh_complete_options(false, "|*,", "");
	printf(")\n\t\treturn\n\t\t;;\n");
}

/* Prints the words by verb and first operand; indented as the rest of the case that it is in. */
static void print_operands(void)
{
	const char *summary;
	enum wh_verb verb;

	printf("\t\tcase ${COMP_WORDS[1]},${COMP_WORDS[2]-} in\n"
	       "\t\tjob,add)\n");
	printf(hosts, "[[ -z $word || -n $(compgen -f -- \"$word\") ]]");
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++) {
		enum wh_completes what = wh_complete_operands(verb);

		if (what == WH_COMPLETES_NOTHING)
			continue;
		printf("\t\t%s,*)\n", wh_verb_name(verb));
		if (what == WH_COMPLETES_EITHER)
			printf(hosts, "[[ -z $word || -n $(compgen -f -- \"$word\") ]]");
		else if (what == WH_COMPLETES_FETCHED)
			printf(hosts, "[[ \" ${COMP_WORDS[*]}\" == *:* ]]");
		else if (what == WH_COMPLETES_REMOTE)
			printf("\t\t\tcompopt -o nospace\n\t\t\twords=$(_wavehaul_peers :)\n"
			       "\t\t\t;;\n");
		else if (what == WH_COMPLETES_SCENARIO)
			printf("\t\t\tcompopt -o default\n\t\t\twords=$(_wavehaul_scenarios)\n"
			       "\t\t\t;;\n");
		else
			printf("\t\t\twords=$(_wavehaul_%s)\n\t\t\t;;\n",
				what == WH_COMPLETES_JOB ? "jobs" : "peers");
	}
	printf("\t\tesac\n");
}

void wh_complete_bash(void)
{
	const char *summary;
	enum wh_verb verb;

	printf("%s", head);
	print_verbs();
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		print_values(verb);
	print_option_values();
	printf("\t*,*)\n\t\tcase ${COMP_WORDS[1]},$word in\n");
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++) {
		printf("\t\t%s,-*)\n\t\t\twords='", wh_verb_name(verb));
		print_flag_names_of(verb);
		printf(" --help'\n\t\t\t;;\n");
	}
	printf("\t\t*)\n");
	print_operands();
	printf("\t\tesac\n\tesac\n%s", foot);
}
