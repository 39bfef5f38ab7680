/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CONSOLE_WORDS_H
#define WH_CONSOLE_WORDS_H

/*
 * Words of a line: bare, or with blanks in '...' or "...", as a shell has them; a backslash takes
 * what follows it as it is, but for within '...'. '#' at the beginning of a word is a comment.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The word at `line`, unquoted, as far as there is room: how much of the line it takes. 0: there is
 * none; -1: its quote is not closed.
 */
ssize_t wh_word_take(const char *line, char *word, size_t room);

/* Blanks before a word. */
size_t wh_word_blanks(const char *line);

/* A word such that take gives it again; false: no room. `length`: of `line` so far. */
int wh_word_add(char *line, size_t room, size_t *length, const char *word);

/*
 * How much of a text is its first command: up to a ';' or an end of the line, outside of quotes and
 * comments.
 */
size_t wh_command_bytes(const char *text);

#endif
