/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/settings.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/nearest/nearest.h"
#include "cli/profile_set.h"
#include "cli/settings_table.h"

/* getopt's values: the flag of setting i is FLAG_FIRST + i. */
#define FLAG_HELP  256
#define FLAG_FIRST 257

/* Passes over the command line: first for the flags that tell where settings come from. */
enum pass {
	PASS_SOURCES, /* --config, --print-config, --help, and unknown flags */
	PASS_VALUES,
};

struct flags {
	enum wh_verb verb;
	/* Flags, --help and the terminator. */
	struct option options[WH_SETTINGS_MAX + 2];
	char letters[2 * WH_SETTINGS_MAX + 3]; /* after a ':', see getopt(3), and 'h' */
};

static void add_flag(struct flags *flags, uint32_t *used, const char *name, bool valued, int value)
{
	WH_ASSERT(*used + 1 < sizeof(flags->options) / sizeof(flags->options[0]));
	flags->options[(*used)++] =
		(struct option){name, valued ? required_argument : no_argument, NULL, value};
}

/* Builds the list for getopt_long: the flags of the verb. */
static void flags_init(struct flags *flags, enum wh_verb verb)
{
	uint32_t used = 0;
	uint32_t letters = 0;

	*flags = (struct flags){.verb = verb};
	flags->letters[letters++] = ':';
	flags->letters[letters++] = 'h';
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];
		bool valued = setting->argument != NULL;

		wh_setting_check(setting);
		if ((setting->verbs & verb) == 0)
			continue;
		add_flag(flags, &used, setting->flag, valued, FLAG_FIRST + (int)i);
		WH_ASSERT(setting->letter == 0 || strchr(flags->letters, setting->letter) == NULL);
		if (setting->letter != 0)
			flags->letters[letters++] = setting->letter;
		if (setting->letter != 0 && valued)
			flags->letters[letters++] = ':';
		WH_ASSERT(letters < sizeof(flags->letters)); /* a NUL follows */
	}
	add_flag(flags, &used, "help", false, FLAG_HELP);
}

/* The setting of getopt's value; NULL: none. */
static const struct wh_setting *setting_of(const struct flags *flags, int value)
{
	WH_ASSERT(value < FLAG_FIRST + (int)wh_settings_count);
	if (value >= FLAG_FIRST)
		return &wh_settings_table[value - FLAG_FIRST];
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if (wh_settings_table[i].letter == value &&
			(wh_settings_table[i].verbs & flags->verb) != 0)
			return &wh_settings_table[i];
	return NULL;
}

/* Writes "--port, --profile": the verb's options that begin so. Returns how many. */
static uint32_t list_options(const char *name, size_t chars, enum wh_verb verb, char *text)
{
	uint32_t count = 0;
	int used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if ((setting->verbs & verb) == 0 || strncmp(setting->flag, name, chars) != 0)
			continue;
		used += snprintf(text + used, (size_t)(WH_SETTINGS_TEXT_BYTES - used), "%s--%s",
			count++ > 0 ? ", " : "", setting->flag);
		WH_ASSERT(used < WH_SETTINGS_TEXT_BYTES);
	}
	return count;
}

void wh_settings_complain(const char *option, enum wh_verb verb)
{
	const char *name = option + strspn(option, "-");
	size_t chars = strcspn(name, "=");
	struct wh_nearest nearest = {0};
	char typed[WH_SETTINGS_KEY_BYTES];
	char text[WH_NEAREST_TEXT_BYTES];
	char known[WH_SETTINGS_TEXT_BYTES];
	char otherwise[64];

	if (list_options(name, chars, verb, known) > 1) {
		wh_complain("'%s' may be %s", option, known);
		return;
	}
	snprintf(typed, sizeof(typed), "%.*s", (int)RTE_MIN(chars, sizeof(typed)), name);
	nearest.typed = typed;
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if ((wh_settings_table[i].verbs & verb) != 0)
			wh_nearest_try(&nearest, wh_settings_table[i].flag);
	snprintf(otherwise, sizeof(otherwise), "`wavehaul %s --help` lists the options",
		wh_verb_name(verb));
	wh_complain("'%s' is not an option of %s; %s", option, wh_verb_name(verb),
		wh_nearest_text(&nearest, "--", otherwise, text));
}

static int refuse_spelling(const struct flags *flags, int answer, char **argv)
{
	const char *verb = wh_verb_name(flags->verb);
	const struct wh_setting *setting = optopt >= FLAG_FIRST ? setting_of(flags, optopt) : NULL;
	char advice[WH_SETTINGS_TEXT_BYTES];

	if (setting != NULL && answer == ':') {
		const char *flag = argv[optind - 1];

		wh_setting_advise(setting, advice);
		wh_complain("%s needs a value; write for example %s %s", flag, flag, advice);
	} else if (optopt >= FLAG_HELP) {
		wh_complain(
			"'%s' takes no value; remove the = and what follows it", argv[optind - 1]);
	} else if (optopt != 0) {
		wh_complain("'-%c' is not an option of %s; `wavehaul %s --help` lists the options",
			optopt, verb, verb);
	} else {
		wh_settings_complain(argv[optind - 1], flags->verb);
	}
	return WH_EXIT_USAGE;
}

static int take_option(
	const struct wh_setting *setting, const char *value, struct wh_settings *settings)
{
	char where[WH_SETTINGS_TEXT_BYTES];
	char both[80];

	snprintf(where, sizeof(where), "--%s %s", setting->flag, value);

	if (setting->type == WH_SETTING_OPTION)
		return wh_profile_set_both(settings, where, value) ? -1 : WH_EXIT_USAGE;
	if (value[0] == '\0') /* is refused by its words, not as a form of --set */
		return wh_profile_set(settings, where, "lambda.share", value) ? -1 : WH_EXIT_USAGE;
	snprintf(both, sizeof(both), "lambda.share=%.64s", value);
	return wh_profile_set_both(settings, where, both) ? -1 : WH_EXIT_USAGE;
}

/* Flags replace values of the file; repeated flags add to a list. */
static int take_flag(const struct flags *flags, const struct wh_setting *setting, const char *value,
	struct wh_settings *settings)
{
	bool *given = &settings->given[setting - wh_settings_table];
	char advice[WH_SETTINGS_TEXT_BYTES];

	WH_ASSERT((setting->verbs & flags->verb) != 0);
	if (!*given && wh_setting_is_list(setting))
		wh_setting_clear(setting, settings);
	*given = true;
	if (setting->type == WH_SETTING_OPTION || setting->type == WH_SETTING_SHARING)
		return take_option(setting, value, settings);

	const char *wrong = wh_setting_take(setting, value, settings);

	if (wrong == NULL)
		return -1;
	wh_setting_advise(setting, advice);
	return wh_fail(WH_EXIT_USAGE, "--%s '%s' %s; write for example --%s %s", setting->flag,
		value, wrong, setting->flag, advice);
}

/* Whether the setting tells where settings come from, or what to do with them. */
static bool is_source(const struct wh_setting *setting)
{
	return strcmp(setting->section, "config") == 0;
}

static int take_flags(
	struct flags *flags, enum pass pass, int argc, char **argv, struct wh_settings *settings)
{
	opterr = 0;
	optind = 0; /* getopt(3): restart */
	for (;;) {

		int answer = getopt_long(argc, argv, flags->letters, flags->options, NULL);

		if (answer == -1)
			break;
		if (answer == FLAG_HELP || answer == 'h') {
			wh_settings_help(flags->verb);
			return WH_EXIT_OK;
		}
		if (answer == '?' || answer == ':')
			return refuse_spelling(flags, answer, argv);

		const struct wh_setting *setting = setting_of(flags, answer);

		WH_ASSERT(setting != NULL);
		if (is_source(setting) != (pass == PASS_SOURCES))
			continue;

		const char *value = setting->argument == NULL ? "yes" : optarg;
		int status = take_flag(flags, setting, value, settings);

		if (status != -1)
			return status;
	}
	settings->operands = argv + optind;
	settings->operand_count = argc - optind;
	return -1;
}

/* A verb with a configuration also has the settings of other such verbs: its file may name them. */
static void take_standards(struct wh_settings *settings, enum wh_verb verb)
{
	enum wh_verb verbs = (verb & WH_VERBS_CONFIGURED) != 0 ? WH_VERBS_CONFIGURED : verb;

	memset(settings, 0, sizeof(*settings));
	wh_profile_choices_init(&settings->choices);
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];
		const char *standard = wh_setting_standard(setting, verb);

		if ((setting->verbs & verbs) != 0 && standard[0] != '\0')
			WH_ASSERT(wh_setting_take(setting, standard, settings) == NULL);
	}
}

static int read_file(struct wh_settings *settings, enum wh_verb verb)
{
	if ((verb & WH_VERBS_CONFIGURED) == 0)
		return -1;
	if (strcmp(settings->config, "none") == 0)
		return -1;
	if (settings->config[0] != '\0')
		return wh_settings_read_file(settings, verb, settings->config);
	if (!settings->for_client && access(WH_SETTINGS_FILE, F_OK) == 0)
		return wh_settings_read_file(settings, verb, WH_SETTINGS_FILE);
	return -1;
}

static void print_setting(const struct wh_setting *setting, const struct wh_settings *settings,
	enum wh_verb verb, FILE *to)
{
	char value[WH_SETTINGS_TEXT_BYTES];
	char escaped[2 * WH_SETTINGS_TEXT_BYTES];

	fprintf(to, "\n# ");
	wh_setting_print_help(
		wh_setting_help(setting, verb), wh_setting_standard(setting, verb), "# ", to);
	if (setting->type == WH_SETTING_PROFILE)
		for (uint32_t i = 0; wh_profile_at(i) != NULL; i++) {
			fprintf(to, "#   %-6s ", wh_profile_at(i)->name);
			wh_setting_print_help(wh_profile_at(i)->summary, "", "#          ", to);
		}
	wh_setting_format(setting, settings, value);
	wh_setting_escape(value, escaped);
	if (escaped[0] == '\0')
		fprintf(to, "# %s = %s\n", setting->key, setting->example);
	for (char *rest = escaped, *line; escaped[0] != '\0' && (line = strsep(&rest, "\n"));)
		fprintf(to, "%s = %s\n", setting->key, line);
}

/*
 * Whether the verb has the options of the client's profile. A configuration file may set those of
 * all profiles.
 */
static bool has_options(enum wh_verb verb)
{
	return (verb & WH_VERBS_CONFIGURED) != 0 && verb != WH_VERB_SERVE && verb != WH_VERB_PROBE;
}

static void print_options(const struct wh_settings *settings, FILE *to)
{
	const struct wh_profile *profile;
	char text[WH_OPTION_TEXT_MAX];
	char range[WH_OPTION_RANGE_BYTES];

	fprintf(to, "\n[" WH_SETTINGS_PROFILE_SECTION "]\n");
	for (uint32_t p = 0; (profile = wh_profile_at(p)) != NULL; p++) {
		for (uint32_t i = 0; i < profile->n_options; i++) {
			const struct wh_option *option = &profile->options[i];

			fprintf(to, "\n# %s\n# %s", option->help, wh_option_range(option, range));
			fprintf(to, " (%s)\n",
				wh_option_print(option, option->preset, text, sizeof(text)));
			fprintf(to, "%s.%s = %s\n", profile->name, option->name,
				wh_option_print(option, settings->choices.of[p].value[i], text,
					sizeof(text)));
		}
	}
}

static bool is_kept(const struct wh_setting *setting, enum wh_verb verb)
{
	return setting->key != NULL && (setting->verbs & verb) != 0;
}

/* The effective settings of a verb as a configuration file with the same effect. */
static void print_settings(const struct wh_settings *settings, enum wh_verb verb, FILE *to)
{
	fprintf(to,
		"# The settings of `wavehaul %s`: --config FILE takes them back.\n"
		"# A comment begins with #; within a value the sign is written \\#.\n",
		wh_verb_name(verb));
	for (const struct wh_settings_section *s = wh_settings_sections; s->name != NULL; s++) {
		bool headed = false;

		if (strcmp(s->name, WH_SETTINGS_PROFILE_SECTION) == 0 && has_options(verb))
			print_options(settings, to);

		for (uint32_t i = 0; i < wh_settings_count; i++) {
			const struct wh_setting *setting = &wh_settings_table[i];

			if (!is_kept(setting, verb) || strcmp(setting->section, s->name) != 0)
				continue;
			if (!headed)
				fprintf(to, "\n[%s]\n", s->name);
			headed = true;
			print_setting(setting, settings, verb, to);
		}
	}
}

int wh_settings_read(struct wh_settings *settings, enum wh_verb verb, int argc, char **argv)
{
	struct flags flags;

	flags_init(&flags, verb);
	take_standards(settings, verb);

	int status = take_flags(&flags, PASS_SOURCES, argc, argv, settings);

	if (status == -1)
		status = read_file(settings, verb);
	if (status == -1)
		status = take_flags(&flags, PASS_VALUES, argc, argv, settings);
	/* A server does this for each client, by the client's profile: wh_hello_request. */
	if (status == -1 && verb != WH_VERB_SERVE && settings->profile != NULL)
		wh_repair_settle(&settings->repair, settings->profile);
	settings->recursive |= settings->archive;
	if (status == -1)
		status = wh_settings_check(settings, verb);
	if (status == -1 && settings->print_config) {
		print_settings(settings, verb, stdout);
		return WH_EXIT_OK;
	}
	return status == -1 ? wh_settings_check_whole(settings, verb) : status;
}

void wh_settings_archive(struct wh_settings *settings, bool owners, bool set_ids)
{
	settings->owners |= settings->archive && owners;
	settings->set_ids |= settings->archive && set_ids;
}

bool wh_settings_given(const struct wh_settings *settings, enum wh_verb verb, const char *flag)
{
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if ((wh_settings_table[i].verbs & verb) != 0 &&
			strcmp(wh_settings_table[i].flag, flag) == 0)
			return settings->given[i];
	WH_ASSERT(false);
	return false;
}

const char *wh_settings_given_beside(const struct wh_settings *settings, const char *const *allowed)
{
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const char *const *one = allowed;

		while (*one != NULL && strcmp(*one, wh_settings_table[i].flag) != 0)
			one++;
		if (settings->given[i] && *one == NULL)
			return wh_settings_table[i].flag;
	}
	return NULL;
}

bool wh_settings_at(const struct wh_settings *settings, enum wh_verb verb, uint32_t i,
	char key[WH_SETTINGS_KEY_BYTES], char value[WH_SETTINGS_TEXT_BYTES])
{
	for (uint32_t s = 0; s < wh_settings_count; s++) {
		const struct wh_setting *setting = &wh_settings_table[s];

		if (!is_kept(setting, verb) || i-- > 0)
			continue;
		snprintf(key, WH_SETTINGS_KEY_BYTES, "%s", setting->name);
		wh_setting_format(setting, settings, value);
		return true;
	}
	WH_ASSERT(!has_options(verb) || settings->profile != NULL); /* it has a default */
	if (!has_options(verb) || i >= settings->profile->n_options)
		return false;

	const struct wh_option *option = &settings->profile->options[i];

	snprintf(key, WH_SETTINGS_KEY_BYTES, WH_SETTINGS_PROFILE_SECTION ".%s.%s",
		settings->profile->name, option->name);
	wh_option_print(option, wh_profile_choice(&settings->choices, settings->profile)->value[i],
		value, WH_SETTINGS_TEXT_BYTES);
	return true;
}
