/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PROFILE_SET_H
#define WH_APP_PROFILE_SET_H

/*
 * Options of profiles as an operator gives them, udt.beta=1e-6, by --set, in [profile] of a
 * configuration and by --udt of old. `where` is what a complaint begins with.
 */

#include <stdbool.h>
#include <stddef.h>

#include "cli/settings.h"

/* The profile of "udt.beta", and *option what follows the dot; NULL: no profile is named so. */
const struct wh_profile *wh_profile_of(const char *name, const char **option);

/* All three: false after a complaint. */

/* "udt.beta" becomes what `text` says. */
bool wh_profile_set(
	struct wh_settings *settings, const char *where, const char *name, const char *text);

/* "udt.beta=1e-6" */
bool wh_profile_set_both(struct wh_settings *settings, const char *where, const char *both);

/* Words by commas: no-formula-3, bytes ... */
bool wh_profile_set_words(struct wh_settings *settings, const char *where, const char *words);

/* Options that contradict each other, or are of a profile that is not the one in use. */
bool wh_profile_set_check(const struct wh_settings *settings);

/* Complains that the profile has no such option: names those near it, or all when none is. */
void wh_profile_refuse_option(
	const char *where, const struct wh_profile *profile, const char *option);

/* What an option may be: "from 1e-12 to 1", "on or off"; also returned. */
#define WH_OPTION_RANGE_BYTES 96
const char *wh_option_range(const struct wh_option *option, char text[WH_OPTION_RANGE_BYTES]);

#endif
