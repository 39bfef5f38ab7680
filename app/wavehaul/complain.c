/* SPDX-License-Identifier: BSD-3-Clause */
#include "complain.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char last[1024];
static const char *_Atomic open_line;

/* A sentence may repeat what a peer says, or a file's name: that does not move the terminal. */
static void make_plain(char *line)
{
	for (; *line != '\0'; line++)
		if ((unsigned char)*line < 0x20 || *line == 0x7f)
			*line = '?';
}

/* In one call: lines of threads do not mix. */
static void print(const char *line)
{
	const char *erase = atomic_exchange(&open_line, NULL);

	fprintf(stderr, "%swavehaul: %s\n", erase != NULL ? erase : "", line);
}

void wh_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last, sizeof(last), format, args);
	va_end(args);
	make_plain(last);
	print(last);
}

void wh_complain_over(const char *erase)
{
	atomic_store(&open_line, erase);
}

const char *wh_last_complaint(void)
{
	return last;
}

void wh_say(const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	make_plain(line);
	print(line);
}

bool wh_words_contain(int argc, char *const *argv, const char *word)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], word) == 0)
			return true;
	return false;
}
