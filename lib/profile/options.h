/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Settings of a profile. Its file has the table; command line, configuration, scenarios, listings
 * and OPEN derive from it. A value is a number, at the index of its option in the table.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WH_OPTIONS_MAX 16

/* How values are written, by base/units.h. */
enum wh_option_type {
	WH_OPTION_SWITCH, /* on, off: 1, 0 */
	WH_OPTION_COUNT,  /* whole */
	WH_OPTION_REAL,
	WH_OPTION_SHARE,
	WH_OPTION_RATE,    /* whole bits per second */
	WH_OPTION_TIME,    /* whole nanoseconds */
	WH_OPTION_SHARING, /* dedicated, fair, scavenger: 0, 1, 2 */
};

struct wh_option {
	const char *name; /* as in PROFILE.NAME: small letters, digits, underscores */
	enum wh_option_type type;
	double least;
	double most;
	/* May be outside of the range: then it means what `help` says, and is written "auto". */
	double preset;
	bool told;         /* the receiver uses it: OPEN contains it unless it is the preset */
	const char *paper; /* place in the paper; NULL: not in the paper */
	const char *help;  /* one line */
	bool live;         /* read at each event: it may be changed during a session */
};

/* How a flow behaves beside other flows. */
enum wh_sharing {
	WH_SHARING_DEDICATED, /* as if alone: it has the path to itself */
	WH_SHARING_FAIR,      /* shares equally, with TCPs too */
	WH_SHARING_SCAVENGER, /* uses only what others leave */
};

struct wh_open_option;
struct wh_profile;

struct wh_profile_options {
	double value[WH_OPTIONS_MAX];
};

void wh_profile_options_init(struct wh_profile_options *options, const struct wh_profile *profile);

/* NULL: the profile has no such option. */
const struct wh_option *wh_profile_option(const struct wh_profile *profile, const char *name);

/*
 * 0, or -ENOENT (no such option), -EINVAL (unreadable value), -ERANGE (outside of the limits); the
 * options change only on success.
 */
int wh_profile_options_set(struct wh_profile_options *options, const struct wh_profile *profile,
	const char *name, const char *text);

/*
 * The same during a session. Also -EDOM: the value contradicts another, *why says which; -EPERM:
 * not changeable during a session.
 */
int wh_profile_options_change(struct wh_profile_options *options, const struct wh_profile *profile,
	const char *name, const char *text, const char **why);

/* The same with a number instead of text. */
int wh_profile_options_put(struct wh_profile_options *options, const struct wh_profile *profile,
	const char *name, double value);

/* The value of an option; the profile must have it. */
double wh_profile_options_get(const struct wh_profile_options *options,
	const struct wh_profile *profile, const char *name);

/* Whether every value is its option's preset or within its limits, and unused values are 0. */
bool wh_profile_options_valid(
	const struct wh_profile_options *options, const struct wh_profile *profile);

/*
 * For OPEN: _tell lists the options that the receiver must know and that are not the preset, and
 * returns their number. _hear reads such a list, with presets for all others; false if the profile
 * does not have an option or a value is outside of its limits.
 */
uint32_t wh_profile_options_tell(const struct wh_profile_options *options,
	const struct wh_profile *profile, struct wh_open_option *told);
bool wh_profile_options_hear(struct wh_profile_options *options, const struct wh_profile *profile,
	const struct wh_open_option *told, uint32_t n_told);

/*
 * Writes a value as text that reads back as exactly the same value. Returns `text`, for which
 * WH_OPTION_TEXT_MAX bytes suffice. Also for an option's least and most.
 */
#define WH_OPTION_TEXT_MAX 32
const char *wh_option_print(const struct wh_option *option, double value, char *text, size_t room);

/* switch, count, number, share, rate, time, sharing */
const char *wh_option_type_name(enum wh_option_type type);

/* Names of the type's values, from 0 on, terminated by NULL; NULL: values are numbers. */
const char *const *wh_option_words(enum wh_option_type type);
