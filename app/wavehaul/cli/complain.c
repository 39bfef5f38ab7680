/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/complain.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/plain_text.h"

#define LINE_BYTES 1024

static _Thread_local char last[LINE_BYTES];
static const char *_Atomic open_line;
static _Atomic bool says_nothing;
static _Atomic bool complains_to_nobody;

/* A sentence may contain a peer's text or a file's name: control characters are escaped. */
static void format_plain(char *line, size_t room, const char *format, va_list args)
{
	char said[LINE_BYTES];

	vsnprintf(said, sizeof(said), format, args);
	wh_plain_text(said, false, line, room);
}

/* With one call, so that lines of several threads do not mix. */
static void print(const char *line)
{
	const char *erase = atomic_exchange(&open_line, NULL);

	fprintf(stderr, "%swavehaul: %s\n", erase != NULL ? erase : "", line);
}

static void complain(const char *format, va_list args)
{
	format_plain(last, sizeof(last), format, args);
	if (!atomic_load(&complains_to_nobody))
		print(last);
}

void wh_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
}

int wh_fail(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain(format, args);
	va_end(args);
	return status;
}

void wh_complain_over(const char *erase)
{
	atomic_store(&open_line, erase);
}

const char *wh_last_complaint(void)
{
	return last;
}

void wh_complaint_forget(void)
{
	last[0] = '\0';
}

void wh_say_nothing(void)
{
	atomic_store(&says_nothing, true);
}

void wh_complain_to_nobody(void)
{
	atomic_store(&complains_to_nobody, true);
}

void wh_say(const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;

	if (atomic_load(&says_nothing))
		return;
	va_start(args, format);
	format_plain(line, sizeof(line), format, args);
	va_end(args);
	print(line);
}

bool wh_words_contain(int argc, char *const *argv, const char *word)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], word) == 0)
			return true;
	return false;
}
