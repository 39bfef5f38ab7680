/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Options of a profile as a peer may wish for them: anything within their limits. */

#include <math.h>

#include "profile/profile.h"
#include "script.h"

static inline double wh_script_option(struct wh_script *script, const struct wh_option *option)
{
	double share = (double)wh_script_below(script, 1000) / 1000.0;
	double value = option->preset;

	switch (wh_script_below(script, 6)) {
	case 0:
		return option->least;
	case 1:
		return option->most;
	case 2:
		value = option->least + share * (option->most - option->least);
		break;
	case 3: /* as often near the least as near the most */
		value = fmin(fmax(option->least, 1e-9) *
				     pow(option->most / fmax(option->least, 1e-9), share),
			option->most);
		break;
	default:
		return option->preset;
	}
	return option->type == WH_OPTION_REAL || option->type == WH_OPTION_SHARE
		       ? fmax(value, option->least)
		       : fmax(floor(value), option->least);
}

/* False: not together. */
static inline bool wh_script_options(struct wh_script *script, const struct wh_profile *profile,
	struct wh_profile_options *options)
{
	const char *why;

	wh_profile_options_init(options, profile);
	for (uint32_t i = 0; i < profile->n_options; i++)
		options->value[i] = wh_script_option(script, &profile->options[i]);
	WH_ASSERT(wh_profile_options_valid(options, profile));
	return profile->contradiction == NULL || profile->contradiction(options, &why) == NULL;
}
