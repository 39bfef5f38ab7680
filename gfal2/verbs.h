/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include <glib.h>
#include <jansson.h>

#include "child.h"
#include "place.h"
#include "plugin.h"

/*
 * The command line of a verb: the program, the words up to NULL, and what gfal2.d adds. `place` is
 * the one whose port is used, NULL for a verb of the queue. Free it by g_strfreev().
 */
char **verb_words(const struct plugin *plugin, const struct place *place, const char *verb,
	...) G_GNUC_NULL_TERMINATED;

/* Runs it. Its report, if it says that all is well; else NULL, and the error has its sentence. */
json_t *verb_ask(const struct plugin *plugin, char **words, guint64 timeout_s,
	const struct flow *flow, GError **err);

/* The same of one that prints something else than a report. */
bool verb_run(const struct plugin *plugin, char **words, guint64 timeout_s, const struct flow *flow,
	GError **err);

/* The errno that says most of what an exit status and a sentence say. */
int verb_errno(int status, const char *sentence);
