/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SETTINGS_CHECK_H
#define WH_APP_SETTINGS_CHECK_H

#include "cli/settings.h"

/* Both: -1, or the exit status after a complaint. */

/* Settings that contradict each other. */
int wh_settings_check(const struct wh_settings *settings);

/* What no verb can do without. */
int wh_settings_check_whole(const struct wh_settings *settings, enum wh_verb verb);

#endif
