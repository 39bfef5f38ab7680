/* SPDX-License-Identifier: BSD-3-Clause */

/* The verb profiles: lists the profiles and their options. */

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/profile_set.h"
#include "profile/profile.h"
#include "verbs.h"

static const char about_lambda[] =
	"It is told nothing and finds the rate by itself. First a train of packets is sent at\n"
	"once; the distances in which they arrive give the capacity. Half of that is sent for one\n"
	"round trip, and all of it once that has caused no queue. What an earlier transfer or\n"
	"`wavehaul probe` has kept of the path (--state, --known) is used where trains tell\n"
	"nothing, as between busy hosts.\n"
	"\n"
	"From then on a few packets of its own stand in the queue of the narrowest link, whatever\n"
	"the round trip. If there are more, the rate falls; if there are none, it rises, faster\n"
	"and faster until the delay reacts. If there is far too much queue, and less arrives than\n"
	"is sent, the rate falls at once to less than what arrives. If the queue was not seen\n"
	"empty for two seconds it is drained, to learn the delay of the empty path.\n"
	"\n"
	"Losses alone do not slow it down. If packets are lost without a queue, a lower rate is\n"
	"tried: if the same share is lost there, this is noise, and the rate comes back; if not,\n"
	"there is a ceiling, perhaps of a policer, which is tested again more and more rarely.\n"
	"Losses in a queue tell how short it is, and fewer packets are left in it.\n"
	"\n"
	"Beside others of its kind all get equal shares. Beside flows that fill every queue, as\n"
	"TCPs do, it has as much in flight as one of them would, until the queue has been empty\n"
	"for a while (share fair). As a scavenger it withdraws at the first sign of others and\n"
	"comes back a little later; alone it leaves 3.5 % of the path free, so that it sees them.\n"
	"If dedicated, it neither competes nor gives way.\n"
	"\n"
	"--rate is an upper bound, needed only where less is to be used than there is.\n";

/* Half a page about a profile whose options are not sufficient explanation. */
static const struct {
	const char *name;
	const char *text;
} abouts[] = {
	{"lambda", about_lambda},
};

/* "": none. */
static const char *about_of(const struct wh_profile *profile)
{
	for (size_t i = 0; i < sizeof(abouts) / sizeof(abouts[0]); i++)
		if (strcmp(abouts[i].name, profile->name) == 0)
			return abouts[i].text;
	return "";
}

static void print_option(const struct wh_profile *profile, const struct wh_option *option)
{
	char name[64];
	char range[WH_OPTION_RANGE_BYTES];
	char preset[WH_OPTION_TEXT_MAX];

	snprintf(name, sizeof(name), "%s.%s", profile->name, option->name);
	wh_option_print(option, option->preset, preset, sizeof(preset));
	printf("\n  %-24s %s, %s (%s)\n", name, wh_option_type_name(option->type),
		wh_option_range(option, range), preset);
	printf("  %-24s %s\n", "", option->help);
	if (option->paper != NULL)
		printf("  %-24s paper: %s\n", "", option->paper);
	if (option->live)
		printf("  %-24s may change while a session runs\n", "");
}

static void print_one(const struct wh_profile *profile)
{
	printf("%s: %s\n", profile->name, profile->summary);
	if (about_of(profile)[0] != '\0')
		printf("\n%s", about_of(profile));
	for (uint32_t i = 0; i < profile->n_options; i++)
		print_option(profile, &profile->options[i]);
	if (profile->n_options > 0)
		printf("\nSet them by --set PROFILE.OPTION=VALUE, or in [profile] of a "
		       "configuration.\n");
}

static void print_all(void)
{
	const struct wh_profile *profile;

	for (uint32_t i = 0; (profile = wh_profile_at(i)) != NULL; i++)
		printf("%-8s %s\n", profile->name, profile->summary);
	printf("\n`wavehaul profiles NAME` lists the options of one.\n");
}

static json_t *option_json(const struct wh_option *option)
{
	char least[WH_OPTION_TEXT_MAX];
	char most[WH_OPTION_TEXT_MAX];
	char preset[WH_OPTION_TEXT_MAX];

	const char *const *named = wh_option_words(option->type);
	json_t *words = json_array();

	for (uint32_t i = 0; named != NULL && named[i] != NULL; i++)
		json_array_append_new(words, json_string(named[i]));
	return json_pack("{s:s, s:s, s:o, s:s, s:s, s:s, s:o, s:s, s:b}", "name", option->name,
		"type", wh_option_type_name(option->type), "words", words, "least",
		wh_option_print(option, option->least, least, sizeof(least)), "most",
		wh_option_print(option, option->most, most, sizeof(most)), "default",
		wh_option_print(option, option->preset, preset, sizeof(preset)), "paper",
		option->paper == NULL ? json_null() : json_string(option->paper), "help",
		option->help, "live", option->live);
}

static json_t *profile_json(const struct wh_profile *profile)
{
	json_t *options = json_array();

	for (uint32_t i = 0; i < profile->n_options; i++)
		json_array_append_new(options, option_json(&profile->options[i]));
	return json_pack("{s:s, s:s, s:o, s:o}", "name", profile->name, "summary", profile->summary,
		"about", wh_text_to_json(about_of(profile)), "options", options);
}

/* Of one profile, or of all if NULL. */
static void print_json(const struct wh_profile *only)
{
	json_t *list = json_array();
	const struct wh_profile *profile;

	for (uint32_t i = 0; (profile = wh_profile_at(i)) != NULL; i++)
		if (only == NULL || only == profile)
			json_array_append_new(list, profile_json(profile));
	wh_json_print(
		json_pack("{s:s, s:b, s:o}", "verb", "profiles", "ok", true, "profiles", list),
		JSON_INDENT(2));
}

static int find(const struct wh_settings *settings, const struct wh_profile **profile)
{
	if (settings->operand_count == 0)
		return -1;
	*profile = wh_profile_find(settings->operands[0]);
	if (settings->operand_count == 1 && *profile != NULL)
		return -1;
	return wh_fail(WH_EXIT_USAGE,
		"wavehaul profiles takes the name of one, or none; `wavehaul profiles` lists them");
}

int wh_verb_profiles(int argc, char **argv)
{
	struct wh_settings settings;
	const struct wh_profile *profile = NULL;
	int status = wh_settings_read(&settings, WH_VERB_PROFILES, argc, argv);

	if (status == -1)
		status = find(&settings, &profile);
	if (status != -1)
		return status;
	if (settings.json)
		print_json(profile);
	else if (profile != NULL)
		print_one(profile);
	else
		print_all();
	return WH_EXIT_OK;
}
