/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include <gfal_plugins_api.h>

/* Of gfal2.d and `gfal-copy -D`. */
#define PLUGIN_GROUP "WAVEHAUL PLUGIN"

#define PLUGIN_NAME "wavehaul"

struct plugin {
	gfal2_context_t context;
	bool is_deaf; /* goes on when the context's operations are cancelled */
};

GQuark plugin_quark(void);

/* Seconds that gfal2's own settings give an operation: of [CORE]. */
guint64 plugin_timeout_s(const struct plugin *plugin, const char *key, int otherwise);
