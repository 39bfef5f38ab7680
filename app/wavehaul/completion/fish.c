/* SPDX-License-Identifier: BSD-3-Clause */

/* For fish: a line for each option, with what it is, and the verbs that have it. */

#include <stdio.h>

#include "completion/completion_words.h"

static const char head[] =
	"# fish completion for wavehaul, made by `wavehaul completion fish`\n"
	"\n"
	"# Whether the verb is one of these.\n"
	"function __wavehaul_is\n"
	"\tset -l words (commandline -opc)\n"
	"\ttest (count $words) -gt 1; and contains -- $words[2] $argv\n"
	"end\n"
	"\n"
	"# Likewise, and so many words are before this one.\n"
	"function __wavehaul_first\n"
	"\ttest (count (commandline -opc)) -eq 2; and __wavehaul_is $argv\n"
	"end\n"
	"\n"
	"function __wavehaul_jobs\n"
	"\tset -l words (commandline -opc)\n"
	"\t$words[1] job list --all 2>/dev/null |\n"
	"\t\tsed -n 's/^\\([0-9][0-9]*\\) *\\([^ ]*\\) *\\([^ ]*\\).*/\\1\\t\\2 \\3/p'\n"
	"end\n"
	"\n"
	"# $argv: what is behind a name.\n"
	"function __wavehaul_peers\n"
	"\tset -l words (commandline -opc)\n"
	"\t$words[1] trust list --json 2>/dev/null |\n"
	"\t\tsed -n 's/^ *\"name\": \"\\([^\"]*\\)\".*/\\1'\"$argv\"'\\tpeer/p'\n"
	"end\n"
	"\n"
	"function __wavehaul_scenarios\n"
	"\tset -l words (commandline -opc)\n"
	"\t$words[1] sim --list 2>/dev/null | sed 's/ \\{1,\\}/\\t/'\n"
	"end\n"
	"\n"
	"complete -c wavehaul -f\n";

/* Within single quotes: the first line of a text. */
static void print_quoted(const char *text)
{
	for (; *text != '\0' && *text != '\n'; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
}

static void print_condition(uint32_t verbs, const char *function)
{
	const char *summary;
	enum wh_verb verb;

	printf("complete -c wavehaul -n '%s", function);
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		if ((verbs & verb) != 0)
			printf(" %s", wh_verb_name(verb));
	printf("'");
}

static void print_candidates(enum wh_completes what)
{
	switch (what) {
	case WH_COMPLETES_LOCAL:
		printf(" -F");
		break;
	case WH_COMPLETES_EITHER:
	case WH_COMPLETES_FETCHED:
		printf(" -F -a '(__wavehaul_peers :)'");
		break;
	case WH_COMPLETES_REMOTE:
		printf(" -a '(__wavehaul_peers :)'");
		break;
	case WH_COMPLETES_HOST:
	case WH_COMPLETES_PEER:
		printf(" -a '(__wavehaul_peers)'");
		break;
	case WH_COMPLETES_JOB:
		printf(" -a '(__wavehaul_jobs)'");
		break;
	case WH_COMPLETES_SCENARIO:
		printf(" -F -a '(__wavehaul_scenarios)'");
		break;
	default:
		break;
	}
}

static void print_option(const struct wh_setting *setting, const char *flag, uint32_t verbs)
{
	enum wh_completes what = wh_complete_value(setting);

	print_condition(verbs, "__wavehaul_is");
	printf(" -l %s", flag);
	if (setting->letter != 0)
		printf(" -s %c", setting->letter);
	if (setting->argument != NULL)
		printf(" -r");
	if (setting->argument != NULL && what == WH_COMPLETES_WORDS) {
		printf(" -a '");
		wh_complete_words(setting);
		printf("'");
	} else if (setting->argument != NULL && what == WH_COMPLETES_OPTIONS) {
		printf(" -a '");
		wh_complete_options(true, " ", "=");
		printf(" ");
		wh_complete_options(false, " ", "=");
		printf("'");
	} else if (setting->argument != NULL) {
		print_candidates(what);
	}
	printf(" -d '");
	print_quoted(setting->help);
	printf("'\n");
}

static void print_operands(enum wh_verb verb)
{
	const char *first = wh_complete_first(verb);
	enum wh_completes what = wh_complete_operands(verb);

	if (first[0] != '\0') {
		print_condition(verb, "__wavehaul_first");
		printf(" -a '%s'\n", first);
	}
	if (verb == WH_VERB_PROFILES) {
		print_condition(verb, "__wavehaul_first");
		printf(" -a '");
		wh_complete_profiles();
		printf("'\n");
	}
	if (what == WH_COMPLETES_NOTHING)
		return;
	print_condition(verb, first[0] != '\0' ? "not __wavehaul_first" : "__wavehaul_is");
	if (first[0] != '\0')
		printf(" -n '__wavehaul_is %s'", wh_verb_name(verb));
	print_candidates(what);
	printf("\n");
}

void wh_complete_fish(void)
{
	const char *summary;
	enum wh_verb verb;

	printf("%s", head);
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++) {
		printf("complete -c wavehaul -n '__fish_use_subcommand' -a %s -d '",
			wh_verb_name(verb));
		print_quoted(summary);
		printf("'\n");
		print_condition(0, "__wavehaul_first help");
		printf(" -a %s\n", wh_verb_name(verb));
		print_operands(verb);
	}
	printf("complete -c wavehaul -n '__fish_use_subcommand' -a help -d 'explain a verb'\n");
	printf("complete -c wavehaul -l help -s h -d 'print help'\n");
	printf("complete -c wavehaul -n 'not __fish_use_subcommand; and __wavehaul_is job; and "
	       "contains "
	       "add (commandline -opc)' -F -a '(__wavehaul_peers :)'\n");
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		print_option(setting, setting->flag, setting->verbs);
		if (setting->alias != NULL)
			print_option(setting, setting->alias, WH_VERB_BENCH);
	}
}
