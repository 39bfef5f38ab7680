/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Reads settings as a verb would, from a command line and a file, and keeps what was said. */

#include <stddef.h>

#include "cli/settings.h"

#define WH_RIG_ARGS_MAX 128

struct wh_rig {
	struct wh_settings settings;
	int status;        /* of wh_settings_read */
	char out[1 << 16]; /* what it printed */
	char said[1024];   /* its complaint; "": none */
	char *argv[WH_RIG_ARGS_MAX];
	int argc;
};

/* With `words`, separated by '|', behind the verb's name; nothing else is added. */
void wh_rig_read(struct wh_rig *rig, enum wh_verb verb, const char *words);

/* As above, behind `--config` and a file of these bytes (in a folder that goes with the test). */
void wh_rig_read_file(
	struct wh_rig *rig, enum wh_verb verb, const char *bytes, size_t length, const char *words);

/* The file of wh_rig_read_file. */
extern char wh_rig_path[];

/* What a file has, to be freed, with an end; NULL: it cannot be read. */
char *wh_rig_slurp(const char *path);

/* The value of a setting by its name ("transfer.rate"); "?" when the verb does not know it. */
const char *wh_rig_value(const struct wh_rig *rig, enum wh_verb verb, const char *name);
