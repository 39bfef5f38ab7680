/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CONSOLE_FORMS_H
#define WH_CONSOLE_FORMS_H

/*
 * How commands are spelled as words. A command of the control socket says it itself (line.h), and a
 * server is asked for its own, so that a console speaks what its server knows:
 *
 *   show sessions {rows} [from <first>] | show all sessions {rows}
 *
 *   word       is said as it stands; one that is a switch of the command sets it
 *   <name>     the command's argument of that name; <name...>: all words to the end of the line, a
 *              list, a text, or a request for each, as the argument's type is
 *   {name}     a switch that is set and not said
 *   [ ... ]    may be left out
 *   |          another way to say it
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/line.h"

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
	bool sets;                 /* a literal that is a switch, too */
	bool rest;                 /* an argument of all that follows */
};

/* One way to say a command, with nothing left to choose. */
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
 * Adds all ways to say a command, as it is described by the control's `commands`. False: the
 * description makes no sense, or there are too many.
 */
bool wh_forms_add(struct wh_forms *forms, const json_t *command);
void wh_forms_free(struct wh_forms *forms);

/* As help shows it: "pause JOB...". */
void wh_form_print(const struct wh_form *form, char *text, size_t room);

#endif
