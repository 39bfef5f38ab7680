/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/options.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "profile/profile.h"

#define AUTO "auto"

/* Whole numbers up to this are exact in a double. */
#define WHOLE_MAX 0x1p53

const char *wh_option_type_name(enum wh_option_type type)
{
	static const char *const names[] = {
		[WH_OPTION_SWITCH] = "switch",
		[WH_OPTION_COUNT] = "count",
		[WH_OPTION_REAL] = "number",
		[WH_OPTION_SHARE] = "share",
		[WH_OPTION_RATE] = "rate",
		[WH_OPTION_TIME] = "time",
		[WH_OPTION_SHARING] = "sharing",
	};

	static_assert(sizeof(names) / sizeof(names[0]) == WH_OPTION_SHARING + 1, "each has a name");
	WH_ASSERT(type <= WH_OPTION_SHARING);
	return names[type];
}

const char *const *wh_option_words(enum wh_option_type type)
{
	static const char *const switches[] = {"off", "on", NULL};
	static const char *const sharings[] = {
		[WH_SHARING_DEDICATED] = "dedicated",
		[WH_SHARING_FAIR] = "fair",
		[WH_SHARING_SCAVENGER] = "scavenger",
		NULL,
	};

	if (type == WH_OPTION_SWITCH)
		return switches;
	return type == WH_OPTION_SHARING ? sharings : NULL;
}

void wh_profile_options_init(struct wh_profile_options *options, const struct wh_profile *profile)
{
	WH_ASSERT(profile->n_options <= WH_OPTIONS_MAX);
	*options = (struct wh_profile_options){0};
	for (uint32_t i = 0; i < profile->n_options; i++)
		options->value[i] = profile->options[i].preset;
}

const struct wh_option *wh_profile_option(const struct wh_profile *profile, const char *name)
{
	for (uint32_t i = 0; i < profile->n_options; i++)
		if (strcmp(profile->options[i].name, name) == 0)
			return &profile->options[i];
	return NULL;
}

static bool is_whole(enum wh_option_type type)
{
	return type != WH_OPTION_REAL && type != WH_OPTION_SHARE;
}

/* A peer may send any bits; NaN is outside of all limits. */
static bool value_valid(const struct wh_option *option, double value)
{
	if (value == option->preset)
		return true;
	if (!(value >= option->least && value <= option->most))
		return false;
	return !is_whole(option->type) ||
	       (value >= 0.0 && value <= WHOLE_MAX && value == (double)(uint64_t)value);
}

bool wh_profile_options_valid(
	const struct wh_profile_options *options, const struct wh_profile *profile)
{
	for (uint32_t i = 0; i < WH_OPTIONS_MAX; i++) {
		if (i < profile->n_options ? !value_valid(&profile->options[i], options->value[i])
					   : options->value[i] != 0.0)
			return false;
	}
	return true;
}

static int parse_word(const char *const *words, const char *text, double *value)
{
	for (uint32_t i = 0; words[i] != NULL; i++)
		if (strcmp(text, words[i]) == 0) {
			*value = i;
			return 0;
		}
	return -EINVAL;
}

static int parse(const struct wh_option *option, const char *text, double *value)
{
	uint64_t whole = 0;
	int rc;

	if (strcmp(text, AUTO) == 0 &&
		(option->preset < option->least || option->preset > option->most)) {
		*value = option->preset;
		return 0;
	}
	switch (option->type) {
	case WH_OPTION_SWITCH:
	case WH_OPTION_SHARING:
		return parse_word(wh_option_words(option->type), text, value);
	case WH_OPTION_REAL:
		return wh_parse_number(text, value);
	case WH_OPTION_SHARE:
		return wh_parse_share(text, value);
	case WH_OPTION_COUNT:
		rc = wh_parse_count(text, &whole);
		break;
	case WH_OPTION_RATE:
		rc = wh_parse_rate(text, &whole);
		break;
	default:
		WH_ASSERT(option->type == WH_OPTION_TIME);
		rc = wh_parse_time(text, &whole);
	}
	*value = (double)whole;
	return rc;
}

int wh_profile_options_put(struct wh_profile_options *options, const struct wh_profile *profile,
	const char *name, double value)
{
	const struct wh_option *option = wh_profile_option(profile, name);

	if (option == NULL)
		return -ENOENT;
	if (!value_valid(option, value))
		return -ERANGE;
	options->value[option - profile->options] = value;
	return 0;
}

int wh_profile_options_set(struct wh_profile_options *options, const struct wh_profile *profile,
	const char *name, const char *text)
{
	const struct wh_option *option = wh_profile_option(profile, name);
	double value;
	int rc = option == NULL ? -ENOENT : parse(option, text, &value);

	return rc != 0 ? rc : wh_profile_options_put(options, profile, name, value);
}

int wh_profile_options_change(struct wh_profile_options *options, const struct wh_profile *profile,
	const char *name, const char *text, const char **why)
{
	const struct wh_option *option = wh_profile_option(profile, name);
	struct wh_profile_options changed = *options;
	int rc = wh_profile_options_set(&changed, profile, name, text);

	if (rc != 0)
		return rc;
	if (!option->live)
		return -EPERM;
	if (profile->contradiction != NULL && profile->contradiction(&changed, why) != NULL)
		return -EDOM;
	*options = changed;
	return 0;
}

double wh_profile_options_get(const struct wh_profile_options *options,
	const struct wh_profile *profile, const char *name)
{
	const struct wh_option *option = wh_profile_option(profile, name);

	WH_ASSERT(option != NULL);
	return options->value[option - profile->options];
}

static_assert(WH_OPTIONS_MAX <= WH_OPEN_OPTIONS_MAX, "OPEN has room for all");
static_assert(sizeof(double) == sizeof(uint64_t), "a value is told by its bits");

uint32_t wh_profile_options_tell(const struct wh_profile_options *options,
	const struct wh_profile *profile, struct wh_open_option *told)
{
	uint32_t n_told = 0;

	WH_ASSERT(wh_profile_options_valid(options, profile));
	for (uint32_t i = 0; i < profile->n_options; i++) {
		const struct wh_option *option = &profile->options[i];

		if (!option->told || options->value[i] == option->preset)
			continue;
		told[n_told].number = (uint8_t)i;
		WH_ASSERT(n_told < WH_OPTIONS_MAX && i <= UINT8_MAX);
		memcpy(&told[n_told].bits, &options->value[i], sizeof(double));
		n_told++;
	}
	return n_told;
}

bool wh_profile_options_hear(struct wh_profile_options *options, const struct wh_profile *profile,
	const struct wh_open_option *told, uint32_t n_told)
{
	wh_profile_options_init(options, profile);
	for (uint32_t i = 0; i < n_told; i++) {
		uint8_t number = told[i].number;

		if (number >= profile->n_options || !profile->options[number].told)
			return false;
		memcpy(&options->value[number], &told[i].bits, sizeof(double));
	}
	return wh_profile_options_valid(options, profile);
}

struct option_unit {
	double factor;
	const char *name;
};

/* In the largest unit that gives a whole number. */
static const char *print_whole(
	char *text, size_t room, uint64_t value, const struct option_unit *units, uint32_t n_units)
{
	uint32_t i = 0;

	WH_ASSERT(n_units > 0 && units[n_units - 1].factor == 1.0);
	while (i < n_units - 1 && (value == 0 || value % (uint64_t)units[i].factor != 0))
		i++;
	snprintf(text, room, "%llu%s", (unsigned long long)(value / (uint64_t)units[i].factor),
		units[i].name);
	return text;
}

/* With the fewest digits that give the same number when read. */
static const char *print_real(char *text, size_t room, double value)
{
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, room, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}

const char *wh_option_print(const struct wh_option *option, double value, char *text, size_t room)
{
	static const struct option_unit rates[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "K"}, {1, ""}};
	static const struct option_unit times[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	static const struct option_unit one[] = {{1, ""}};

	WH_ASSERT(room >= WH_OPTION_TEXT_MAX);
	if (value < option->least || value > option->most) {
		snprintf(text, room, AUTO);
		return text;
	}
	switch (option->type) {
	case WH_OPTION_SWITCH:
	case WH_OPTION_SHARING:
		snprintf(text, room, "%s", wh_option_words(option->type)[(uint32_t)value]);
		return text;
	case WH_OPTION_COUNT:
		return print_whole(text, room, (uint64_t)value, one, 1);
	case WH_OPTION_RATE:
		return print_whole(text, room, (uint64_t)value, rates, 4);
	case WH_OPTION_TIME:
		return print_whole(text, room, (uint64_t)value, times, 4);
	default:
		return print_real(text, room, value);
	}
}
