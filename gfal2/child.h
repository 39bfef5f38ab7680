/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <glib.h>

#include "plugin.h"

/* What a child reads and says, as it comes. A function that fails sets the error, and ends it. */
struct flow {
	/* Its standard input: how many bytes were put there, 0 at their end, or -1. NULL: none. */
	ssize_t (*feed)(void *context, void *buffer, size_t bytes, GError **err);

	/* Of its standard output. */
	bool (*take)(void *context, const void *bytes, size_t count, GError **err);

	/* Several times a second. */
	bool (*beat)(void *context, GError **err);

	void *context;
};

/*
 * Runs a program until it has ended, or the operation is cancelled or takes longer than `timeout_s`
 * (0: no limit). What it says on standard error comes into `said`. Its exit status; -1: it was not
 * run, was ended, or failed by a signal, and `err` says why.
 */
int child_run(const struct plugin *plugin, char **words, guint64 timeout_s, const struct flow *flow,
	GString *said, GError **err);
