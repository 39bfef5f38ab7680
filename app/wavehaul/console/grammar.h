/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CONSOLE_GRAMMAR_H
#define WH_CONSOLE_GRAMMAR_H

/*
 * Forms as DPDK's cmdline has them: it parses, completes and helps, whether a person types, a
 * script is read or words come from a shell. What begins with "show" may be followed by "live", and
 * a number of times.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "console/forms.h"

struct cmdline;
struct wh_grammar_instance;

/* What a line asks for. */
struct wh_saying {
	const struct wh_form *form;
	json_t *request; /* with "do" and its arguments; freed by who calls back */
	bool live;
	uint64_t times; /* live: 0 without an end */
};

/* Of values that only a running server knows: job numbers and the like. */
struct wh_grammar_values {
	uint32_t count;
	char value[64][WH_FORM_WORD_BYTES];
};

struct wh_grammar {
	struct wh_forms forms;
	struct cmdline *parser;
	int status; /* of the line that was run last */
	struct wh_grammar_instance **instance;
	void **context_of_parser; /* as cmdline wants them */
	uint32_t count;

	/* The caller's, before it is made. An exit status. */
	int (*on_saying)(void *context, const struct wh_saying *said);
	/* NULL: values are not completed. */
	void (*find_values)(void *context, const char *argument, struct wh_grammar_values *values);
	void *context;
	struct wh_grammar_values values; /* that a completion goes through */
};

/*
 * Of forms that were added; a terminal's lines come from one file and answers go to the other, -1:
 * there is no terminal. 0 or -ENOMEM.
 */
int wh_grammar_make(struct wh_grammar *grammar, const char *prompt, int in_fd, int out_fd);
void wh_grammar_free(struct wh_grammar *grammar);

/* One command, without its end: an exit status, after a complaint if it is none of ours. */
int wh_grammar_run(struct wh_grammar *grammar, const char *line);

#endif
