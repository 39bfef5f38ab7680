/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Words of a line: bare, or with blanks inside '...' or "...", as in a shell; except within '...',
 * a backslash quotes the next character. '#' at the beginning of a word begins a comment.
 */

#include <sys/types.h>

/*
 * Reads the word at `line`, unquoted and truncated to the room; returns its length in the line. 0:
 * there is none; -1: its quote is not closed.
 */
ssize_t wh_word_take(const char *line, char *word, size_t room);

/* Number of blanks before a word. */
size_t wh_word_blanks(const char *line);

/*
 * Appends a word, quoted so that wh_word_take returns it; 0 or -ENOSPC. `length`: of `line` so far.
 */
int wh_word_add(char *line, size_t room, size_t *length, const char *word);

/* The length of the first command: up to a ';' or line end outside of quotes and comments. */
size_t wh_command_bytes(const char *text);
