/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/order_words.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"

#define WORDS_MAX 512

uint32_t wh_texts_of(const json_t *list, const char **texts, uint32_t room)
{
	uint32_t count = 0;

	for (size_t i = 0; i < json_array_size(list) && count < room; i++) {
		const char *text = json_string_value(json_array_get(list, i));

		if (text == NULL)
			return 0;
		texts[count++] = text;
	}
	return count;
}

static bool is_below(const char *path)
{
	if (path == NULL || path[0] == '\0' || path[0] == '/' || strlen(path) > WH_PATH_BYTES_MAX)
		return false;
	for (const char *at = path; at != NULL; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
			return false;
	}
	return true;
}

bool wh_paths_are_below(const json_t *paths)
{
	for (size_t i = 0; i < json_array_size(paths); i++)
		if (!is_below(json_string_value(json_array_get(paths, i))))
			return false;
	return json_array_size(paths) > 0;
}

/* Resolves a path's folder, without its last name; or the whole path. */
static bool resolve(const char *path, char whole[PATH_MAX])
{
	char copy[PATH_MAX];
	char *slash;
	const char *name;

	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy))
		return false;
	slash = strrchr(copy, '/');
	name = slash != NULL ? slash + 1 : copy;
	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return realpath(path, whole) != NULL;
	if (slash == NULL)
		return realpath(".", whole) != NULL &&
		       strlen(whole) + strlen(name) + 2 < PATH_MAX &&
		       strcat(strcat(whole, "/"), name) != NULL;
	*slash = '\0';
	return realpath(slash == copy ? "/" : copy, whole) != NULL &&
	       strlen(whole) + strlen(name) + 2 < PATH_MAX &&
	       strcat(strcat(whole, "/"), name) != NULL;
}

char *wh_path_below(const char *root, const char *path)
{
	char copy[PATH_MAX];
	char whole[PATH_MAX];
	size_t bytes = strlen(path);
	size_t root_bytes = strlen(root);
	bool is_folder = bytes > 0 && path[bytes - 1] == '/';
	char *below = NULL;

	if (bytes == 0 || bytes >= sizeof(copy))
		return NULL;
	memcpy(copy, path, bytes + 1);
	while (bytes > 1 && copy[bytes - 1] == '/')
		copy[--bytes] = '\0';
	if (!resolve(copy, whole))
		return NULL;
	while (root_bytes > 0 && root[root_bytes - 1] == '/')
		root_bytes--;
	if (strncmp(whole, root, root_bytes) != 0)
		return NULL;
	if (whole[root_bytes] == '\0')
		return strdup(is_folder ? "./" : ".");
	if (whole[root_bytes] != '/')
		return NULL;
	return asprintf(&below, "%s%s", whole + root_bytes + 1, is_folder ? "/" : "") < 0 ? NULL
											  : below;
}

/* Options whose effect is complete when they are read, or that an order has in another form. */
static bool is_used_up(const struct wh_setting *setting)
{
	static const char *const flags[] = {"control", "retries", "files-from", "null"};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(setting->flag, flags[i]) == 0)
			return true;
	return false;
}

bool wh_order_knows(const struct wh_setting *setting)
{
	static const char *const sections[] = {"transfer", "choice", "files"};

	if ((setting->verbs & WH_VERB_JOB) == 0 ||
		(setting->verbs & (WH_VERB_SEND | WH_VERB_GET)) == 0 || is_used_up(setting))
		return false;
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strcmp(setting->section, sections[i]) == 0)
			return true;
	return false;
}

/* Whether the value of the option is a path at this end. */
static bool is_file(const struct wh_setting *setting)
{
	return setting->type == WH_SETTING_PATH;
}

/* Repeatable options with different values are each passed on separately. */
static bool has_form(const struct wh_setting *setting)
{
	return setting->type != WH_SETTING_OPTION && setting->type != WH_SETTING_SHARING &&
	       setting->type != WH_SETTING_PATTERN;
}

static void add_profile_options(const struct wh_settings *settings, json_t *words)
{
	const struct wh_profile *profile = settings->profile;
	const struct wh_profile_options *chosen = wh_profile_choice(&settings->choices, profile);
	char value[WH_OPTION_TEXT_MAX];

	for (uint32_t i = 0; i < profile->n_options; i++) {
		const struct wh_option *option = &profile->options[i];

		if (chosen->value[i] == option->preset)
			continue;
		wh_option_print(option, chosen->value[i], value, sizeof(value));
		json_array_append_new(
			words, json_sprintf("--set=%s.%s=%s", profile->name, option->name, value));
	}
}

/* The first matching pattern decides, so their order is kept. False after a complaint. */
static bool add_patterns(const struct wh_settings *settings, json_t *words)
{
	bool good = true;

	for (uint32_t i = 0; good && i < settings->patterns; i++)
		good = wh_list_add(words,
			json_sprintf("--%s=%s", settings->pattern_takes[i] ? "include" : "exclude",
				settings->pattern[i]),
			settings->pattern[i]);
	return good;
}

/* False after a complaint. */
static bool add_word(
	const struct wh_setting *setting, const char *value, const char *root, json_t *words)
{
	char *below;
	bool good;

	if (setting->type == WH_SETTING_SWITCH)
		return wh_list_add(words, json_sprintf("--%s", setting->flag), value);
	if (!is_file(setting))
		return wh_list_add(words, json_sprintf("--%s=%s", setting->flag, value), value);
	below = wh_path_below(root, value);
	if (below == NULL)
		return wh_fail(false,
			"--%s %s is not below %s, the server's root: the server may read and write "
			"only there",
			setting->flag, value, root);
	good = wh_list_add(words, json_sprintf("--%s=%s", setting->flag, below), value);
	free(below);
	return good;
}

static bool add_others(const struct wh_settings *settings, const struct wh_settings *preset,
	const char *root, json_t *words)
{
	char value[WH_SETTINGS_TEXT_BYTES];
	char usual[WH_SETTINGS_TEXT_BYTES];
	bool good = true;

	for (uint32_t i = 0; good && i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if (!wh_order_knows(setting) || !has_form(setting))
			continue;
		wh_setting_format(setting, settings, value);
		wh_setting_format(setting, preset, usual);
		if (strcmp(value, usual) != 0)
			good = add_word(setting, value, root, words);
	}
	return good;
}

json_t *wh_order_words(const struct wh_settings *settings, const char *root)
{
	struct wh_settings *preset = malloc(sizeof(*preset));
	char *argv[] = {(char[]){"job"}, NULL};
	json_t *words = json_array();

	if (preset == NULL || wh_settings_read(preset, WH_VERB_JOB, 1, argv) != -1 ||
		!add_others(settings, preset, root, words) || !add_patterns(settings, words)) {
		free(preset);
		json_decref(words);
		return NULL;
	}
	add_profile_options(settings, words);
	free(preset);
	return words;
}

/* The first given option that an order cannot have; NULL: none. */
static const struct wh_setting *find_other(const struct wh_settings *settings)
{
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if (settings->given[i] && !wh_order_knows(&wh_settings_table[i]))
			return &wh_settings_table[i];
	return NULL;
}

static bool is_of(const char *flag, enum wh_verb verb)
{
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if ((wh_settings_table[i].verbs & verb) != 0 &&
			strcmp(wh_settings_table[i].flag, flag) == 0)
			return true;
	return false;
}

int wh_order_settings_of(const struct wh_settings *settings, enum wh_verb verb)
{
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const char *flag = wh_settings_table[i].flag;
		char option[64];

		if (!settings->given[i] || is_of(flag, verb))
			continue;
		snprintf(option, sizeof(option), "--%s", flag);
		wh_settings_complain(option, verb);
		return WH_EXIT_USAGE;
	}
	return -1;
}

static const char *file_not_below(const struct wh_settings *settings)
{
	if (settings->manifest[0] != '\0' && !is_below(settings->manifest))
		return "manifest";
	return settings->expect[0] != '\0' && !is_below(settings->expect) ? "expect" : NULL;
}

static int judge(const struct wh_settings *settings)
{
	const struct wh_setting *other = find_other(settings);
	const char *file = file_not_below(settings);

	if (settings->operand_count > 0)
		wh_complain("an order's words are options of wavehaul job, and nothing else");
	else if (other != NULL)
		wh_complain("--%s is no option of an order: what it says has a place of its own, "
			    "or is for its client to do",
			other->flag);
	else if (file != NULL)
		wh_complain("--%s of an order is a path below the folder that the server serves, "
			    "and written relative to it",
			file);
	else
		return -1;
	return WH_EXIT_USAGE;
}

static const struct wh_setting *find_known(const char *flag, size_t chars)
{
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if (wh_order_knows(setting) && strlen(setting->flag) == chars &&
			strncmp(setting->flag, flag, chars) == 0)
			return setting;
	}
	return NULL;
}

const char *wh_order_words_wrong(const json_t *words)
{
	if (!json_is_array(words))
		return "its options are no list";
	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));
		const struct wh_setting *setting;

		if (word == NULL || strncmp(word, "--", 2) != 0)
			return "its options are to be written as --parallel=4";
		setting = find_known(word + 2, strcspn(word + 2, "="));
		if (setting == NULL)
			return "one of its options is none of an order";
		/* That host sends: maps of its own users are not accepted either. */
		if (strcmp(setting->section, "files") == 0)
			return "one of its options is of what comes, and nothing comes there";
		if (is_file(setting))
			return "one of its options names a file, and an order between two other "
			       "hosts has none";
	}
	return NULL;
}

/*
 * Whether a word is --help, or an abbreviation that getopt_long(3) accepts. The server would print
 * its own help for it.
 */
static bool asks_for_help(const char *const *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (strncmp(words[i], "--h", 3) == 0 &&
			strncmp("--help", words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

int wh_order_settings(const json_t *words, struct wh_settings *settings)
{
	const char *argv[WORDS_MAX + 2] = {"job"};
	uint32_t count = wh_texts_of(words, argv + 1, WORDS_MAX + 1);
	int status = WH_EXIT_OK;

	if (count > WORDS_MAX)
		return wh_fail(WH_EXIT_USAGE, "an order has no more than %d options", WORDS_MAX);
	if (!asks_for_help(argv + 1, count))
		status = wh_settings_read(settings, WH_VERB_JOB, (int)count + 1, (char **)argv);
	if (status == WH_EXIT_OK) {
		wh_complain("--help is no option of an order");
		status = WH_EXIT_USAGE;
	}
	if (status == -1)
		status = judge(settings);
	settings->operands = NULL;
	return status;
}
