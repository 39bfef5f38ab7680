/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SETTINGS_HELP_H
#define WH_APP_SETTINGS_HELP_H

#include "cli/settings.h"

/* --help of a verb, on stdout. */
void wh_settings_help(enum wh_verb verb);

#endif
