/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/settings_table.h"

#include <string.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/ini.h"
#include "cli/nearest/nearest.h"
#include "cli/plain_text.h"
#include "cli/profile_set.h"

#define SECTIONS_MAX 24

const struct wh_setting *wh_setting_find(const char *section, const char *key)
{
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if (setting->key != NULL && strcmp(setting->section, section) == 0 &&
			strcmp(setting->key, key) == 0)
			return setting;
	}
	return NULL;
}

static bool has_keys(const char *section)
{
	if (strcmp(section, WH_SETTINGS_PROFILE_SECTION) == 0)
		return true;
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if (wh_settings_table[i].key != NULL &&
			strcmp(wh_settings_table[i].section, section) == 0)
			return true;
	return false;
}

/* Lists may span several lines. */
static bool may_repeat(const char *section, const char *key)
{
	const struct wh_setting *setting = wh_setting_find(section, key);

	return setting != NULL && wh_setting_is_list(setting);
}

static int refuse_key(const struct wh_ini_section *section, const struct wh_ini_entry *entry)
{
	struct wh_nearest nearest = {.typed = entry->key};
	char text[WH_NEAREST_TEXT_BYTES];
	char known[WH_SETTINGS_TEXT_BYTES] = "its keys are";
	uint32_t keys = 0;

	WH_ASSERT(has_keys(section->word)); /* other sections do not occur in the file */
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if (setting->key == NULL || strcmp(setting->section, section->word) != 0)
			continue;
		wh_nearest_try(&nearest, setting->key);
		wh_text_add(known, sizeof(known), keys++ > 0 ? ", " : " ", setting->key);
	}
	return wh_fail(WH_EXIT_USAGE, "%s: [%s] has no key '%s'; %s", entry->where, section->word,
		entry->key, wh_nearest_text(&nearest, "", known, text));
}

static int take_entry(const struct wh_ini_section *section, const struct wh_ini_entry *entry,
	struct wh_settings *settings, struct wh_settings *others, enum wh_verb verb)
{
	const struct wh_setting *setting = wh_setting_find(section->word, entry->key);
	char advice[WH_SETTINGS_TEXT_BYTES];

	if (strcmp(section->word, WH_SETTINGS_PROFILE_SECTION) == 0)
		return wh_profile_set(settings, entry->where, entry->key, entry->value)
			       ? -1
			       : WH_EXIT_USAGE;
	if (setting == NULL)
		return refuse_key(section, entry);

	const char *wrong = wh_setting_take(
		setting, entry->value, (setting->verbs & verb) != 0 ? settings : others);

	if (wrong == NULL)
		return -1;
	wh_setting_advise(setting, advice);
	return wh_fail(WH_EXIT_USAGE, "%s: %s = '%s' %s; write for example %s = %s", entry->where,
		entry->key, entry->value, wrong, entry->key, advice);
}

static int take_entries(const struct wh_ini *ini, struct wh_settings *settings, enum wh_verb verb)
{
	/* Receives the values of other verbs, only to check them. */
	struct wh_settings others = *settings;
	int status = -1;

	for (uint32_t i = 0; i < ini->n_sections; i++)
		for (uint32_t k = 0; status == -1 && k < ini->sections[i].n_entries; k++)
			status = take_entry(&ini->sections[i], &ini->sections[i].entries[k],
				settings, &others, verb);
	return status;
}

int wh_settings_read_file(struct wh_settings *settings, enum wh_verb verb, const char *path)
{
	struct wh_ini_kind kinds[SECTIONS_MAX];
	struct wh_ini_form form = {
		.what = "configuration",
		.else_do = "--config none ignores it",
		.kinds = kinds,
		.may_repeat = may_repeat,
	};
	struct wh_ini ini;

	for (const struct wh_settings_section *s = wh_settings_sections; s->name != NULL; s++) {
		WH_ASSERT(form.n_kinds < SECTIONS_MAX);
		if (has_keys(s->name))
			kinds[form.n_kinds++] = (struct wh_ini_kind){.word = s->name};
	}
	form.n_unnamed = form.n_kinds;

	int status = wh_ini_read(&ini, &form, path);

	if (status == -1)
		status = take_entries(&ini, settings, verb);
	wh_ini_free(&ini);
	return status;
}
