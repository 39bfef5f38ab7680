/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A line that is typed at a terminal, with DPDK's editor and its completion. The console adds its
 * own sentences for unknown words, lists each choice once, and knows Ctrl-U.
 */

#include <stdbool.h>

#include "console/grammar.h"

struct rdline;

struct wh_editor {
	struct wh_grammar *grammar;
	const char *prompt;
	struct rdline *line;
	bool explains; /* since '?' */
};

/* Shows the prompt, on stdout. Both are borrowed. 0 or -ENOMEM. */
int wh_editor_open(struct wh_editor *editor, struct wh_grammar *grammar, const char *prompt);
void wh_editor_close(struct wh_editor *editor);

/* A key, or a part of its sequence; a whole line is run. False: the end was asked for. */
bool wh_editor_key(struct wh_editor *editor, char key);
