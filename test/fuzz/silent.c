/* SPDX-License-Identifier: BSD-3-Clause */
/* Complaints, in place of the program's: written as they would be, and shown to nobody. */
#include "cli/complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char last[2048];

void wh_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last, sizeof(last), format, args);
	va_end(args);
}

int wh_fail(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last, sizeof(last), format, args);
	va_end(args);
	return status;
}

void wh_say(const char *format, ...)
{
	char said[sizeof(last)];
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

void wh_complain_over(const char *erase)
{
	(void)erase;
}

void wh_complaint_forget(void)
{
}

const char *wh_last_complaint(void)
{
	return last;
}

bool wh_words_contain(int argc, char *const *argv, const char *word)
{
	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], word) == 0)
			return true;
	return false;
}
