/* SPDX-License-Identifier: BSD-3-Clause */
#include "completion/offers.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/profile_set.h"
#include "cli/settings_table.h"
#include "fec/fec.h"
#include "profile/profile.h"

#define FILES "@files"
#define JOBS  "@jobs"
#define PEERS "@peers"
#define HOSTS "@peers:"

/* The command line. bash makes three words of --option=VALUE, and of HOST:PATH. */
struct line {
	uint32_t count;
	char *const *words;
	enum wh_verb verb;
	const char *last;   /* the word that is completed; behind the = of --option=VALUE */
	const char *before; /* the word before it, or that option; "": none */
	/* What stands before the value in its word, and in each offer. */
	int prefix_chars;
	const char *prefix;
};

/* A verb's first operand is one of the words; the others are of that kind. */
static const struct {
	enum wh_verb verb;
	const char *first;
	const char *others;
} operands[] = {
	{WH_VERB_SEND, "", HOSTS},
	{WH_VERB_GET, "", HOSTS},
	{WH_VERB_BENCH, "", PEERS},
	{WH_VERB_PROBE, "", PEERS},
	{WH_VERB_PING, "", PEERS},
	{WH_VERB_LS, "", HOSTS},
	{WH_VERB_DU, "", HOSTS},
	{WH_VERB_RM, "", HOSTS},
	{WH_VERB_MKDIR, "", HOSTS},
	{WH_VERB_MV, "", HOSTS},
	{WH_VERB_SIM, "", "@scenarios"},
	{WH_VERB_JOB, "add list show pause resume cancel retry set move watch", JOBS},
	{WH_VERB_TRUST, "list show add remove", PEERS},
	{WH_VERB_FLEET, "scan send status cancel retry report task", ""},
	{WH_VERB_NIC, "bind release", ""},
	{WH_VERB_PARTS, "list rm", ""},
	{WH_VERB_COMPLETION, "bash zsh fish", ""},
};

/* zsh and fish would otherwise offer words that only contain what was typed. */
static void print_offer(const struct line *line, const char *word, const char *about)
{
	if (strncmp(word, line->last, strlen(line->last)) != 0)
		return;
	printf("%.*s%s\t%.*s\n", line->prefix_chars, line->prefix, word, (int)strcspn(about, "\n"),
		about);
}

/* Each of the words between blanks. */
static void print_words(const struct line *line, const char *words)
{
	char word[64];

	for (words += strspn(words, " "); *words != '\0'; words += strspn(words, " ")) {
		size_t chars = strcspn(words, " ");

		snprintf(word, sizeof(word), "%.*s", (int)chars, words);
		print_offer(line, word, "");
		words += chars;
	}
}

static void print_verbs(const struct line *line)
{
	const char *summary;
	enum wh_verb verb;

	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		print_offer(line, wh_verb_name(verb), summary);
	print_offer(line, "help", "explain a verb");
}

static void print_flags(const struct line *line)
{
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];
		const char *help = wh_setting_help(setting, line->verb);
		char flag[64];

		if ((setting->verbs & line->verb) == 0)
			continue;
		snprintf(flag, sizeof(flag), "--%s", setting->flag);
		print_offer(line, flag, help);
		snprintf(flag, sizeof(flag), "-%c", setting->letter);
		if (setting->letter != 0 && line->last[0] == '-')
			print_offer(line, flag, help);
	}
	print_offer(line, "--help", "print this help");
}

static void print_profiles(const struct line *line)
{
	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++)
		print_offer(line, wh_profile_at(i)->name, wh_profile_at(i)->summary);
}

/* PROFILE.OPTION=; once that is there, what a switch may be. */
static void print_options(const struct line *line)
{
	const struct wh_profile *profile;
	char text[128];

	for (uint32_t p = 0; (profile = wh_profile_at(p)) != NULL; p++) {
		for (uint32_t i = 0; i < profile->n_options; i++) {
			const struct wh_option *option = &profile->options[i];
			int chars =
				snprintf(text, sizeof(text), "%s.%s=", profile->name, option->name);

			if (strncmp(line->last, text, (size_t)chars) != 0) {
				print_offer(line, text, option->help);
			} else if (option->type == WH_OPTION_SWITCH) {
				strcpy(text + chars, "on");
				print_offer(line, text, "");
				strcpy(text + chars, "off");
				print_offer(line, text, "");
			}
		}
	}
}

static void print_values(const struct line *line, const struct wh_setting *setting)
{
	if (setting->type == WH_SETTING_PATH)
		printf(FILES "\n");
	else if (setting->type == WH_SETTING_OPTION || setting->type == WH_SETTING_SETS)
		print_options(line);
	else if (setting->type == WH_SETTING_PROFILE)
		print_profiles(line);
	else if (setting->type == WH_SETTING_CODE)
		for (uint32_t code = WH_FEC_NONE + 1; code < WH_FEC_CODES; code++)
			print_offer(line, wh_fec_code_name((enum wh_fec_code)code), "");
	else if (strcmp(setting->flag, "after") == 0)
		printf(JOBS "\n");
	else if (setting->words != NULL)
		print_words(line, setting->words);
}

/* The setting whose value follows the word before; NULL: none. */
static const struct wh_setting *setting_before(const struct line *line)
{
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];
		const char letter[] = {'-', setting->letter, '\0'};

		if ((setting->verbs & line->verb) == 0 || setting->argument == NULL)
			continue;
		if (strncmp(line->before, "--", 2) == 0 &&
			strcmp(line->before + 2, setting->flag) == 0)
			return setting;
		if (setting->letter != 0 && strcmp(line->before, letter) == 0)
			return setting;
	}
	return NULL;
}

/* send has files, then HOST:PATH; get has HOST:PATH, then a file. */
static void print_paths(const struct line *line, bool sends)
{
	bool fetched = false;

	for (uint32_t i = 1; i + 1 < line->count; i++)
		fetched |= strchr(line->words[i], ':') != NULL;
	if (sends)
		printf(FILES "\n" HOSTS "\n");
	else
		printf(fetched ? FILES "\n" : HOSTS "\n" FILES "\n");
}

static void print_operands(const struct line *line)
{
	size_t i = 0;

	if (line->verb == WH_VERB_PROFILES && line->count == 2)
		print_profiles(line);
	while (i < sizeof(operands) / sizeof(operands[0]) && operands[i].verb != line->verb)
		i++;
	if (i == sizeof(operands) / sizeof(operands[0]))
		return;
	if (line->count == 2 && operands[i].first[0] != '\0') {
		print_words(line, operands[i].first);
		print_flags(line);
	} else if (line->verb == WH_VERB_SEND || line->verb == WH_VERB_GET) {
		print_paths(line, line->verb == WH_VERB_SEND);
	} else if (line->verb == WH_VERB_JOB && strcmp(line->words[1], "add") == 0) {
		print_paths(line, true);
	} else if (operands[i].others[0] != '\0') {
		printf("%s\n", operands[i].others);
	}
	if (line->verb == WH_VERB_SIM)
		printf(FILES "\n");
}

static enum wh_verb verb_of(const char *name)
{
	const char *summary;
	enum wh_verb verb;
	uint32_t i = 0;

	while ((verb = wh_verb_at(i, &summary)) != 0 && strcmp(wh_verb_name(verb), name) != 0)
		i++;
	return verb;
}

/* Finds the word that is completed and the one before it, whether or not the shell splits at =. */
static void find_last(struct line *line)
{
	const char *equals;

	line->last = line->words[line->count - 1];
	line->before = line->count > 1 ? line->words[line->count - 2] : "";
	line->prefix = line->last;
	equals = strncmp(line->last, "--", 2) == 0 ? strchr(line->last, '=') : NULL;
	if (strcmp(line->last, "=") == 0) {
		line->last = "";
	} else if (strcmp(line->before, "=") == 0 && line->count > 2) {
		line->before = line->words[line->count - 3];
	} else if (equals != NULL) {
		static char option[64];

		snprintf(option, sizeof(option), "%.*s", (int)(equals - line->last), line->last);
		line->before = option;
		line->prefix_chars = (int)(equals + 1 - line->last);
		line->last = equals + 1;
	}
}

/* bash has split PROFILE.OPTION=VALUE. */
static bool print_switch(const struct line *line)
{
	const char *name;
	const struct wh_profile *profile = wh_profile_of(line->before, &name);
	const struct wh_option *option = profile != NULL ? wh_profile_option(profile, name) : NULL;

	if (option != NULL && option->type == WH_OPTION_SWITCH)
		print_words(line, "on off");
	return option != NULL;
}

void wh_offers_print(uint32_t count, char *const *words)
{
	struct line line = {.count = count, .words = words};
	const struct wh_setting *setting;

	if (count == 0)
		return;
	find_last(&line);
	if (count == 1 || (count == 2 && strcmp(words[0], "help") == 0)) {
		print_verbs(&line);
		if (count == 1)
			print_words(&line, "--help --version");
		return;
	}
	line.verb = verb_of(words[0]);
	if (line.verb == 0 || strcmp(line.last, ":") == 0 || strcmp(line.before, ":") == 0)
		return;
	setting = setting_before(&line);
	if (setting != NULL)
		print_values(&line, setting);
	else if (print_switch(&line))
		return;
	else if (line.last[0] == '-')
		print_flags(&line);
	else
		print_operands(&line);
}
