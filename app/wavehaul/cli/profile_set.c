/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/profile_set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/nearest/nearest.h"
#include "cli/plain_text.h"

#define NAME_BYTES  64
#define KNOWN_BYTES 512

static uint32_t place_of(const struct wh_profile *profile)
{
	uint32_t place = 0;

	while (wh_profile_at(place) != profile) {
		WH_ASSERT(wh_profile_at(place) != NULL);
		place++;
	}
	WH_ASSERT(place < WH_SETTINGS_PROFILES_MAX);
	return place;
}

void wh_profile_choices_init(struct wh_profile_choices *choices)
{
	*choices = (struct wh_profile_choices){0};
	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++) {
		WH_ASSERT(i < WH_SETTINGS_PROFILES_MAX);
		wh_profile_options_init(&choices->of[i], wh_profile_at(i));
	}
}

const struct wh_profile_options *wh_profile_choice(
	const struct wh_profile_choices *choices, const struct wh_profile *profile)
{
	return &choices->of[place_of(profile)];
}

const struct wh_profile *wh_profile_of(const char *name, const char **option)
{
	const char *dot = strchr(name, '.');
	const struct wh_profile *profile;

	for (uint32_t i = 0; dot != NULL && (profile = wh_profile_at(i)) != NULL; i++) {
		if (strlen(profile->name) != (size_t)(dot - name) ||
			memcmp(profile->name, name, (size_t)(dot - name)) != 0)
			continue;
		*option = dot + 1;
		return profile;
	}
	return NULL;
}

static void refuse_profile(const char *where, const char *name)
{
	char known[KNOWN_BYTES] = "";

	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++)
		wh_text_add(known, sizeof(known), ", ", wh_profile_at(i)->name);
	wh_complain("%s: '%s' must begin with a profile and a dot, as udt.beta does; the profiles "
		    "are %s",
		where, name, known);
}

void wh_profile_refuse_option(
	const char *where, const struct wh_profile *profile, const char *option)
{
	struct wh_nearest nearest = {.typed = option};
	char text[WH_NEAREST_TEXT_BYTES];
	char known[KNOWN_BYTES] = "its options are";

	for (uint32_t i = 0; i < profile->n_options; i++) {
		wh_nearest_try(&nearest, profile->options[i].name);
		wh_text_add(known, sizeof(known), i == 0 ? " " : ", ", profile->options[i].name);
	}
	wh_complain("%s: %s has no option '%s', see `wavehaul profiles %s`; %s", where,
		profile->name, option, profile->name, wh_nearest_text(&nearest, "", known, text));
}

/* "dedicated, fair or scavenger" */
static void list_words(const char *const *words, uint32_t count, char text[WH_OPTION_RANGE_BYTES])
{
	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++)
		wh_text_add(text, WH_OPTION_RANGE_BYTES, i + 1 == count ? " or " : ", ", words[i]);
}

const char *wh_option_range(const struct wh_option *option, char text[WH_OPTION_RANGE_BYTES])
{
	char least[WH_OPTION_TEXT_MAX];
	char most[WH_OPTION_TEXT_MAX];
	bool automatic = option->preset < option->least || option->preset > option->most;

	if (option->type == WH_OPTION_SWITCH)
		snprintf(text, WH_OPTION_RANGE_BYTES, "on or off");
	else if (wh_option_words(option->type) != NULL)
		list_words(wh_option_words(option->type), (uint32_t)option->most + 1, text);
	else
		snprintf(text, WH_OPTION_RANGE_BYTES, "from %s to %s%s",
			wh_option_print(option, option->least, least, sizeof(least)),
			wh_option_print(option, option->most, most, sizeof(most)),
			automatic ? ", or auto" : "");
	return text;
}

bool wh_profile_set(
	struct wh_settings *settings, const char *where, const char *name, const char *text)
{
	const char *option = NULL;
	const struct wh_profile *profile = wh_profile_of(name, &option);
	char range[WH_OPTION_RANGE_BYTES];

	if (profile == NULL) {
		refuse_profile(where, name);
		return false;
	}

	int rc = wh_profile_options_set(
		&settings->choices.of[place_of(profile)], profile, option, text);

	if (rc == 0)
		return true;
	WH_ASSERT((rc == -ENOENT) == (wh_profile_option(profile, option) == NULL));
	if (rc == -ENOENT)
		wh_profile_refuse_option(where, profile, option);
	else
		wh_complain("%s: '%s' is %s; %s is a %s %s", where, text,
			rc == -ERANGE ? "out of bounds" : "not understood", name,
			wh_option_type_name(wh_profile_option(profile, option)->type),
			wh_option_range(wh_profile_option(profile, option), range));
	return false;
}

bool wh_profile_set_both(struct wh_settings *settings, const char *where, const char *both)
{
	const char *equals = strchr(both, '=');
	const char *option;
	char name[NAME_BYTES];

	if (equals == NULL || equals[1] == '\0' || (size_t)(equals - both) >= sizeof(name))
		return wh_fail(
			false, "%s: write PROFILE.OPTION=VALUE, for example udt.beta=1e-6", where);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - both), both);
	if (!wh_profile_set(settings, where, name, equals + 1))
		return false;
	settings->choices.told |= UINT32_C(1) << place_of(wh_profile_of(name, &option));
	return true;
}

bool wh_profile_set_check(const struct wh_settings *settings)
{
	const struct wh_profile *used = settings->profile;
	const struct wh_profile *profile;

	for (uint32_t i = 0; (profile = wh_profile_at(i)) != NULL; i++) {
		const char *why = NULL;
		const struct wh_option *wrong =
			profile->contradiction == NULL
				? NULL
				: profile->contradiction(&settings->choices.of[i], &why);

		if (wrong != NULL)
			return wh_fail(false, "%s.%s %s", profile->name, wrong->name, why);
		if (used == NULL || used == profile || (settings->choices.told >> i & 1) == 0)
			continue;
		return wh_fail(false,
			"an option of %s is set, but the profile is %s; add --profile %s, or leave "
			"the option out",
			profile->name, used->name, profile->name);
	}
	return true;
}
