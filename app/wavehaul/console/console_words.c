/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/console_words.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool ends_word(char c)
{
	return c == '\0' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The quote that is open after `c`; 0: none. */
static char quote_after(char open, char c)
{
	if (open != 0)
		return c == open ? 0 : open;
	return c == '\'' || c == '"' ? c : 0;
}

size_t wh_word_blanks(const char *line)
{
	return strspn(line, " \t");
}

ssize_t wh_word_take(const char *line, char *word, size_t room)
{
	size_t length = 0;
	size_t at = 0;
	char open = 0;

	if (line[0] == '#')
		return 0;
	for (; line[at] != '\0' && (open != 0 || !ends_word(line[at])); at++) {
		char before = open;

		open = quote_after(open, line[at]);
		if (open != before)
			continue;
		if (line[at] == '\\' && open != '\'' && line[at + 1] != '\0' &&
			line[at + 1] != '\n')
			at++;
		if (length + 1 < room)
			word[length++] = line[at];
	}
	if (room > 0)
		word[length] = '\0';
	return open != 0 ? -1 : (ssize_t)at;
}

int wh_word_add(char *line, size_t room, size_t *length, const char *word)
{
	/* Each byte may need four: its quote closed, escaped and opened again. */
	if (*length + 4 * strlen(word) + 4 > room)
		return -ENOSPC;
	if (*length > 0)
		line[(*length)++] = ' ';
	line[(*length)++] = '\'';
	for (; *word != '\0'; word++) {
		if (*word == '\'') {
			memcpy(line + *length, "'\\'", 3);
			*length += 3;
		}
		line[(*length)++] = *word;
	}
	line[(*length)++] = '\'';
	line[*length] = '\0';
	return 0;
}

size_t wh_command_bytes(const char *text)
{
	bool comment = false;
	char open = 0;
	size_t at = 0;

	for (; text[at] != '\0' && text[at] != '\n'; at++) {
		if (comment)
			continue;
		if (open == 0 && text[at] == ';')
			break;
		comment = open == 0 && text[at] == '#' && (at == 0 || ends_word(text[at - 1]));
		if (text[at] == '\\' && open != '\'' && text[at + 1] != '\0' &&
			text[at + 1] != '\n')
			at++;
		else
			open = quote_after(open, text[at]);
	}
	return at;
}
