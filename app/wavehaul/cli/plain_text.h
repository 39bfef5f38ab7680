/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PLAIN_TEXT_H
#define WH_APP_PLAIN_TEXT_H

/*
 * Text of a peer, or a file's name, for a terminal or a log. It moves no cursor, changes no colour,
 * turns no line around and hides nothing: what could is written as C does.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The longest way to write one character. */
#define WH_PLAIN_CHAR_BYTES 11

/* Whether a terminal may take it for anything but a character. */
bool wh_plain_is_escaped(uint32_t code_point);

/*
 * What is no UTF-8, and what is escaped, as \xNN, \uNNNN or \UNNNNNNNN; backslashes doubled where
 * that is to be told apart from text. As much as there is room for; returns `plain`.
 */
const char *wh_plain_text(const char *text, bool double_backslashes, char *plain, size_t room);

/* JSON text, in whose strings alone such characters can be: as \uNNNN there. */
void wh_plain_json(const char *json, FILE *to);

#endif
