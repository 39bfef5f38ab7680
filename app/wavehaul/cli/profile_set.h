/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Options of profiles as given by an operator, udt.beta=1e-6: with --set, in [profile] of a
 * configuration. A complaint begins with `where`.
 */

#include <stdbool.h>

#include "cli/settings.h"

/* The profile of "udt.beta", with *option after the dot; NULL: no such profile. */
const struct wh_profile *wh_profile_of(const char *name, const char **option);

/* Both: false after a complaint. */

/* Sets "udt.beta" to `text`. */
bool wh_profile_set(
	struct wh_settings *settings, const char *where, const char *name, const char *text);

/* "udt.beta=1e-6" */
bool wh_profile_set_both(struct wh_settings *settings, const char *where, const char *both);

/* Refuses options that contradict each other, or belong to a profile not in use. */
bool wh_profile_set_check(const struct wh_settings *settings);

/* Complains that the profile has no such option: suggests similar names, or lists all. */
void wh_profile_refuse_option(
	const char *where, const struct wh_profile *profile, const char *option);

/* Valid values of an option: "from 1e-12 to 1", "on or off"; also returned. */
#define WH_OPTION_RANGE_BYTES 96
const char *wh_option_range(const struct wh_option *option, char text[WH_OPTION_RANGE_BYTES]);
