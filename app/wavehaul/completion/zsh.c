/* SPDX-License-Identifier: BSD-3-Clause */

/* For zsh: a spec for each option, with what it is, for zsh's own _arguments. */

#include <stdio.h>
#include <string.h>

#include "completion/completion_words.h"

static const char head[] =
	"#compdef wavehaul\n"
	"# zsh completion for wavehaul, made by `wavehaul completion zsh`\n"
	"\n"
	"_wavehaul_jobs() {\n"
	"\tcompadd \"$@\" - ${(f)\"$($program job list --all 2>/dev/null |\n"
	"\t\tsed -n 's/^\\([0-9][0-9]*\\) .*/\\1/p')\"}\n"
	"}\n"
	"\n"
	"_wavehaul_peers() {\n"
	"\tcompadd \"$@\" - ${(f)\"$($program trust list --json 2>/dev/null |\n"
	"\t\tsed -n 's/^ *\"name\": \"\\([^\"]*\\)\".*/\\1/p')\"}\n"
	"}\n"
	"\n"
	"_wavehaul_remote() { _wavehaul_peers \"$@\" -S : }\n"
	"_wavehaul_either() { _alternative 'files:file:_files' 'peers:peer:_wavehaul_remote' }\n"
	"\n"
	"_wavehaul_fetched() {\n"
	"\tif [[ ${words[(r)*:*]} == *:* ]]; then _files; else _wavehaul_remote \"$@\"; fi\n"
	"}\n"
	"\n"
	"_wavehaul_scenarios() {\n"
	"\tcompadd \"$@\" - ${(f)\"$($program sim --list 2>/dev/null | sed 's/ .*//')\"}\n"
	"\t_files\n"
	"}\n"
	"\n"
	"_wavehaul_job() {\n"
	"\tif [[ $words[2] == add ]]; then _wavehaul_either; else _wavehaul_jobs \"$@\"; fi\n"
	"}\n"
	"\n"
	"_wavehaul() {\n"
	"\tlocal program=$words[1]\n"
	"\tlocal -a verbs\n"
	"\n"
	"\tverbs=(\n";

static const char foot[] = "\tesac\n"
			   "}\n"
			   "\n"
			   "# Loaded by itself from a folder of $fpath, or read by `source`.\n"
			   "if [[ $funcstack[1] == _wavehaul ]]; then\n"
			   "\t_wavehaul \"$@\"\n"
			   "else\n"
			   "\tcompdef _wavehaul wavehaul\n"
			   "fi\n";

/* Within single quotes, in a spec: the first line of a text. */
static void print_quoted(const char *text)
{
	for (; *text != '\0' && *text != '\n'; text++) {
		if (*text == '\'')
			fputs("'\\'", stdout);
		else if (strchr("[]:\\", *text) != NULL)
			putchar('\\');
		putchar(*text);
	}
}

static const char *function_of(enum wh_completes what)
{
	switch (what) {
	case WH_COMPLETES_LOCAL:
		return "_files";
	case WH_COMPLETES_REMOTE:
		return "_wavehaul_remote";
	case WH_COMPLETES_EITHER:
		return "_wavehaul_either";
	case WH_COMPLETES_FETCHED:
		return "_wavehaul_fetched";
	case WH_COMPLETES_HOST:
	case WH_COMPLETES_PEER:
		return "_wavehaul_peers";
	case WH_COMPLETES_JOB:
		return "_wavehaul_jobs";
	case WH_COMPLETES_SCENARIO:
		return "_wavehaul_scenarios";
	case WH_COMPLETES_OPTIONS:
		return "_wavehaul_options";
	default:
		return " ";
	}
}

static void print_words(const struct wh_setting *setting)
{
	putchar('(');
	if (setting->words != NULL)
		print_quoted(setting->words);
	else
		wh_complete_words(setting);
	putchar(')');
}

/* Such as '--rate=[upper bound]:RATE:(max)'; what may be given several times begins with a star. */
static void print_option(const struct wh_setting *setting, enum wh_verb verb, const char *flag)
{
	const char *equals = setting->argument != NULL ? "=" : "";
	bool repeats = wh_setting_is_list(setting) || setting->type == WH_SETTING_PATTERN ||
		       setting->type == WH_SETTING_OPTION;

	printf("\t\t\t");
	if (setting->letter != 0)
		printf("'(-%c --%s)'{-%c,--%s%s}'", setting->letter, flag, setting->letter, flag,
			equals);
	else
		printf("'%s--%s%s", repeats ? "*" : "", flag, equals);
	putchar('[');
	print_quoted(wh_setting_help(setting, verb));
	putchar(']');
	if (setting->argument != NULL) {
		putchar(':');
		print_quoted(setting->argument[0] == '\'' ? "TEXT" : setting->argument);
		putchar(':');
		if (wh_complete_value(setting) == WH_COMPLETES_WORDS)
			print_words(setting);
		else
			fputs(function_of(wh_complete_value(setting)), stdout);
	}
	printf("' \\\n");
}

static void print_verb(enum wh_verb verb)
{
	const char *first = wh_complete_first(verb);
	enum wh_completes operands = wh_complete_operands(verb);

	printf("\t%s)\n\t\t_arguments -s -S \\\n", wh_verb_name(verb));
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if ((setting->verbs & verb) == 0)
			continue;
		print_option(setting, verb, setting->flag);
		if (setting->alias != NULL && verb == WH_VERB_BENCH)
			print_option(setting, verb, setting->alias);
	}
	if (first[0] != '\0')
		printf("\t\t\t'1:command:(%s)' \\\n", first);
	if (verb == WH_VERB_PROFILES) {
		printf("\t\t\t'1:profile:(");
		wh_complete_profiles();
		printf(")' \\\n");
	}
	if (operands != WH_COMPLETES_NOTHING)
		printf("\t\t\t'*:operand:%s' \\\n",
			verb == WH_VERB_JOB ? "_wavehaul_job" : function_of(operands));
	printf("\t\t\t'(-h --help)'{-h,--help}'[print help]'\n\t\t;;\n");
}

void wh_complete_zsh(void)
{
	const char *summary;
	enum wh_verb verb;

	printf("%s", head);
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++) {
		printf("\t\t'%s:", wh_verb_name(verb));
		print_quoted(summary);
		printf("'\n");
	}
	printf("\t\t'help:explain a verb'\n"
	       "\t)\n"
	       "\tif ((CURRENT == 2)); then\n"
	       "\t\t_describe -t verbs verb verbs\n"
	       "\t\treturn\n"
	       "\tfi\n"
	       "\tshift words\n"
	       "\t((CURRENT--))\n"
	       "\tcase $words[1] in\n"
	       "\thelp)\n"
	       "\t\t_describe -t verbs verb verbs\n"
	       "\t\t;;\n");
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		print_verb(verb);
	printf("\tesac\n}\n\n_wavehaul_options() {\n\tcompadd \"$@\" -S '' - ");
	wh_complete_options(true, " ", "=");
	putchar(' ');
	wh_complete_options(false, " ", "=");
	printf("\n%s", foot + strlen("\tesac\n"));
}
