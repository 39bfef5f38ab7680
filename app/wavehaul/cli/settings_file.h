/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SETTINGS_FILE_H
#define WH_APP_SETTINGS_FILE_H

#include "cli/settings.h"

/*
 * The configuration file at `path`: INI, "#" begins a comment, "\#" is the sign itself. A key that
 * `verb` does not know is checked and left to the verbs that do. -1, or the exit status after a
 * complaint that names file and line.
 */
int wh_settings_read_file(struct wh_settings *settings, enum wh_verb verb, const char *path);

#endif
