/* SPDX-License-Identifier: BSD-3-Clause */

/* --set of sim: a key of a section, or an option of a profile in all its flows. */

#include <stdio.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/profile_set.h"
#include "profile/profile.h"
#include "scenario/lex.h"
#include "scenario/list.h"

/* Whether a list of [sweep] has the name, alone or in step with others ("agent : window"). */
static bool is_swept(const struct wh_ini *ini, const char *name)
{
	const struct wh_ini_section *sweep = &ini->sections[WH_INI_SWEEP];
	char item[WH_ITEM_BYTES];

	for (uint32_t i = 0; i < sweep->n_entries; i++) {
		const char *names = sweep->entries[i].key;

		while (wh_lex_item(&names, ':', item))
			if (strcmp(item, name) == 0)
				return true;
	}
	return false;
}

/*
 * Whether a flow may be of the profile. Also true if a sweep decides the agent: the key then
 * applies at the points with that profile.
 */
static bool may_be_of(
	const struct wh_ini *ini, const struct wh_ini_section *flow, const char *profile)
{
	const struct wh_ini_entry *agent = wh_ini_find(flow, "agent");

	return agent != NULL && (strcmp(agent->value, profile) == 0 || is_swept(ini, agent->value));
}

static int set_option(struct wh_ini *ini, const struct wh_profile *profile, const char *option,
	const char *setting)
{
	const char *equals = strchr(option, '=');
	char where[512];
	char key[64];
	uint32_t flows = 0;

	snprintf(where, sizeof(where), "--set %s", setting);
	if (equals == NULL || equals[1] == '\0' || (size_t)(equals - option) >= sizeof(key))
		return wh_fail(WH_EXIT_USAGE,
			"%s: write PROFILE.OPTION=VALUE, for example udt.beta=1e-6", where);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - option), option);
	if (wh_profile_option(profile, key) == NULL) {
		wh_profile_refuse_option(where, profile, key);
		return WH_EXIT_USAGE;
	}
	for (uint32_t i = 0; i < ini->n_sections; i++) {
		struct wh_ini_section *flow = &ini->sections[i];

		if (flow->kind != WH_INI_FLOW || !may_be_of(ini, flow, profile->name))
			continue;
		wh_ini_put(flow, key, equals + 1, where);
		flows++;
	}
	if (flows > 0)
		return -1;
	return wh_fail(WH_EXIT_USAGE, "%s: %s has no flow of %s", where, ini->path, profile->name);
}

int wh_scenario_set(struct wh_ini *ini, const char *setting)
{
	const char *option;
	const struct wh_profile *profile = wh_profile_of(setting, &option);

	return profile == NULL ? wh_ini_set(ini, setting)
			       : set_option(ini, profile, option, setting);
}
