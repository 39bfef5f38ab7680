/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * How commands are spelled as words. Each command of the control socket has its spelling (line.h),
 * and a server is asked for its commands, so that a console knows exactly what its server does:
 *
 *   show sessions {rows} [from <first>] | show all sessions {rows}
 *
 *   word       a literal word; if the command has a switch of this name, it is set
 *   <name>     the command's argument of that name; <name...>: all words to the end of the line: a
 *              list, a text, or one request for each word, by the argument's type
 *   {name}     a switch that is set without a word
 *   [ ... ]    optional
 *   |          separates alternatives
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/control_line.h"

#define WH_FORM_WORDS_MAX  24
#define WH_FORM_WORD_BYTES 32
#define WH_FORMS_MAX       1024

enum wh_form_kind {
	WH_FORM_LITERAL,
	WH_FORM_ARGUMENT,
	WH_FORM_UNSAID, /* a switch */
};

struct wh_form_word {
	enum wh_form_kind kind;
	char text[WH_FORM_WORD_BYTES];
	enum wh_control_type type; /* of an argument */
	bool sets;                 /* a literal that is also a switch */
	bool rest;                 /* an argument that takes the rest of the line */
};

/* One way to spell a command, without alternatives. */
struct wh_form {
	char *command;
	char *help;
	uint32_t words;
	struct wh_form_word word[WH_FORM_WORDS_MAX];
};

struct wh_forms {
	uint32_t count;
	struct wh_form *form;
	uint32_t room;
};

/*
 * Adds all ways to spell a command, as described by the control's `commands`. False: an invalid
 * description, or too many ways.
 */
bool wh_forms_add(struct wh_forms *forms, const json_t *command);
void wh_forms_free(struct wh_forms *forms);

/* Prints a form as help shows it: "pause JOB...". */
void wh_form_print(const struct wh_form *form, char *text, size_t room);
