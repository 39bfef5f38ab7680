/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Forms as commands of DPDK's cmdline, which parses, completes and explains them: for a person at a
 * terminal, a script, or words from a shell. A command beginning with "show" may be followed by
 * "live", and a number of times.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "console/forms.h"

struct cmdline;
struct wh_grammar_instance;

/* A parsed line. */
struct wh_saying {
	const struct wh_form *form;
	json_t *request; /* with "do" and its arguments; freed by the caller of on_saying */
	bool live;
	uint64_t times; /* if live; 0: without end */
};

/* Possible values known only by a running server: job numbers and the like. */
struct wh_grammar_values {
	uint32_t count;
	char value[64][WH_FORM_WORD_BYTES];
};

struct wh_grammar {
	struct wh_forms forms;
	struct cmdline *parser;
	int status; /* exit status of the last line */
	struct wh_grammar_instance **instance;
	void **context_of_parser; /* in the form needed by cmdline */
	uint32_t count;

	/* Set by the caller before wh_grammar_make. Returns an exit status. */
	int (*on_saying)(void *context, const struct wh_saying *said);
	/* NULL: values are not completed. */
	void (*find_values)(void *context, const char *argument, struct wh_grammar_values *values);
	void *context;
	struct wh_grammar_values values; /* values during a completion */
};

/* Makes the commands, from the forms that were added. 0 or -ENOMEM. */
int wh_grammar_make(struct wh_grammar *grammar);
void wh_grammar_free(struct wh_grammar *grammar);

/* Runs one command, without its end: an exit status, after a complaint if it is unknown. */
int wh_grammar_run(struct wh_grammar *grammar, const char *line);
