/* SPDX-License-Identifier: BSD-3-Clause */
#include "completion/completion_words.h"

#include <stdio.h>
#include <string.h>

#include "fec/fec.h"
#include "profile/profile.h"

static const struct {
	enum wh_verb verb;
	enum wh_completes operands;
	const char *first;
} operands[] = {
	{WH_VERB_SEND, WH_COMPLETES_EITHER, ""},
	{WH_VERB_GET, WH_COMPLETES_FETCHED, ""},
	{WH_VERB_BENCH, WH_COMPLETES_HOST, ""},
	{WH_VERB_PROBE, WH_COMPLETES_HOST, ""},
	{WH_VERB_PING, WH_COMPLETES_HOST, ""},
	{WH_VERB_LS, WH_COMPLETES_REMOTE, ""},
	{WH_VERB_DU, WH_COMPLETES_REMOTE, ""},
	{WH_VERB_RM, WH_COMPLETES_REMOTE, ""},
	{WH_VERB_MKDIR, WH_COMPLETES_REMOTE, ""},
	{WH_VERB_MV, WH_COMPLETES_REMOTE, ""},
	{WH_VERB_SIM, WH_COMPLETES_SCENARIO, ""},
	{WH_VERB_JOB, WH_COMPLETES_JOB, "add list show pause resume cancel retry set move watch"},
	{WH_VERB_TRUST, WH_COMPLETES_PEER, "list show add remove"},
	{WH_VERB_PARTS, WH_COMPLETES_NOTHING, "list rm"},
	{WH_VERB_COMPLETION, WH_COMPLETES_NOTHING, "bash zsh fish"},
};

const char *wh_complete_first(enum wh_verb verb)
{
	for (size_t i = 0; i < sizeof(operands) / sizeof(operands[0]); i++)
		if (operands[i].verb == verb)
			return operands[i].first;
	return "";
}

enum wh_completes wh_complete_operands(enum wh_verb verb)
{
	for (size_t i = 0; i < sizeof(operands) / sizeof(operands[0]); i++)
		if (operands[i].verb == verb)
			return operands[i].operands;
	return WH_COMPLETES_NOTHING;
}

enum wh_completes wh_complete_value(const struct wh_setting *setting)
{
	if (setting->type == WH_SETTING_PATH)
		return WH_COMPLETES_LOCAL;
	if (setting->type == WH_SETTING_OPTION || setting->type == WH_SETTING_SETS)
		return WH_COMPLETES_OPTIONS;
	if (strcmp(setting->flag, "after") == 0)
		return WH_COMPLETES_JOB;
	return setting->type == WH_SETTING_PROFILE || setting->type == WH_SETTING_CODE ||
			       setting->words != NULL
		       ? WH_COMPLETES_WORDS
		       : WH_COMPLETES_NOTHING;
}

void wh_complete_profiles(void)
{
	for (uint32_t i = 0; wh_profile_at(i) != NULL; i++)
		printf("%s ", wh_profile_at(i)->name);
}

void wh_complete_words(const struct wh_setting *setting)
{
	if (setting->type == WH_SETTING_PROFILE) {
		wh_complete_profiles();
	} else if (setting->type == WH_SETTING_CODE) {
		for (uint32_t code = WH_FEC_NONE + 1; code < WH_FEC_CODES; code++)
			printf("%s ", wh_fec_code_name((enum wh_fec_code)code));
	} else {
		printf("%s ", setting->words);
	}
}

void wh_complete_options(bool switches, const char *between, const char *behind)
{
	const struct wh_profile *profile;
	const char *before = "";

	for (uint32_t p = 0; (profile = wh_profile_at(p)) != NULL; p++) {
		for (uint32_t i = 0; i < profile->n_options; i++) {
			if ((profile->options[i].type == WH_OPTION_SWITCH) != switches)
				continue;
			printf("%s%s.%s%s", before, profile->name, profile->options[i].name,
				behind);
			before = between;
		}
	}
}
