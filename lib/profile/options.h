/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_OPTIONS_H
#define WH_PROFILE_OPTIONS_H

/*
 * What an operator may set of a profile. The profile's file has the table; command line,
 * configuration, scenarios, listings and OPEN are made from it. A value is a number in the
 * place that its option has in the table.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WH_OPTIONS_MAX 16

/* How people write it, by base/units.h. */
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
	/* May stand outside of the range: it means what `help` says, and is written "auto". */
	double preset;
	bool told;         /* the receiver acts by it: OPEN carries it unless it is the preset */
	const char *paper; /* where the paper has it; NULL: ours */
	const char *help;  /* one line */
	bool live;         /* the controller looks at it at each event: it may change meanwhile */
};

/* How a flow lives beside others. */
enum wh_sharing {
	WH_SHARING_DEDICATED, /* as if alone: the path is its own */
	WH_SHARING_FAIR,      /* as one of equals, TCPs among them */
	WH_SHARING_SCAVENGER, /* of what the others leave */
};

struct wh_open_option;
struct wh_profile;

struct wh_profile_options {
	double value[WH_OPTIONS_MAX];
};

void wh_profile_options_init(struct wh_profile_options *options, const struct wh_profile *profile);

/* NULL when the profile has none of that name. */
const struct wh_option *wh_profile_option(const struct wh_profile *profile, const char *name);

/*
 * 0, or -ENOENT (no such option), -EINVAL (not such a quantity), -ERANGE (beyond its limits); the
 * options change on success only.
 */
int wh_profile_options_set(struct wh_profile_options *options, const struct wh_profile *profile,
	const char *name, const char *text);

/*
 * Likewise, while a session goes by them; *why: what the new value contradicts, with -EDOM. -EPERM:
 * a session keeps what it has begun with.
 */
int wh_profile_options_change(struct wh_profile_options *options, const struct wh_profile *profile,
	const char *name, const char *text, const char **why);

/* Likewise, a number that is read already. */
int wh_profile_options_put(struct wh_profile_options *options, const struct wh_profile *profile,
	const char *name, double value);

/* The option's value; the profile has one of that name. */
double wh_profile_options_get(const struct wh_profile_options *options,
	const struct wh_profile *profile, const char *name);

/* Every value is its option's preset or within its limits, those of no option are 0. */
bool wh_profile_options_valid(
	const struct wh_profile_options *options, const struct wh_profile *profile);

/*
 * What OPEN says of them: those that the receiver must know and that are not the preset, as many as
 * are returned. And back: true when the profile has each of them and it is within its limits; all
 * else is as preset.
 */
uint32_t wh_profile_options_tell(const struct wh_profile_options *options,
	const struct wh_profile *profile, struct wh_open_option *told);
bool wh_profile_options_hear(struct wh_profile_options *options, const struct wh_profile *profile,
	const struct wh_open_option *told, uint32_t n_told);

/*
 * A value as people write it, exactly: setting it again gives the same. Into `text`
 * (WH_OPTION_TEXT_MAX bytes are enough), which is also returned. Also for least and most.
 */
#define WH_OPTION_TEXT_MAX 32
const char *wh_option_print(const struct wh_option *option, double value, char *text, size_t room);

/* switch, count, number, share, rate, time, sharing */
const char *wh_option_type_name(enum wh_option_type type);

/* What values of the type are called, from 0 on, closed by NULL; NULL: they are numbers. */
const char *const *wh_option_words(enum wh_option_type type);

#endif
