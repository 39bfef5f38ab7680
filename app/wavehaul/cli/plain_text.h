/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Makes text from a peer, or a file's name, safe for a terminal or a log: characters that could
 * move the cursor, change colours, reverse the line or be invisible are escaped as in C.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The longest escape of one character. */
#define WH_PLAIN_CHAR_BYTES 11

/* Whether a terminal might interpret it as anything but a character. */
bool wh_plain_is_escaped(uint32_t code_point);

/*
 * Writes invalid UTF-8 and escaped characters as \xNN, \uNNNN or \UNNNNNNNN; doubles backslashes if
 * they must be distinguishable. Truncates to the room; returns `plain`.
 */
const char *wh_plain_text(const char *text, bool double_backslashes, char *plain, size_t room);

/* Appends to a text, behind `between` unless it is the first. */
void wh_text_add(char *text, size_t room, const char *between, const char *word);

/* JSON text, in which such characters can occur only in strings: there as \uNNNN. */
void wh_plain_json(const char *json, FILE *to);

/* "" after "1 file", "s" after any other number of them. */
static inline const char *wh_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}
