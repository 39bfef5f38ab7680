/* SPDX-License-Identifier: BSD-3-Clause */
#include "said.h"

#include <stdarg.h>
#include <stdio.h>

#include "cli/complain.h"

static bool is_verbose;

void said_verbosely(bool verbose)
{
	is_verbose = verbose;
}

static void say(const char *format, va_list args)
{
	if (!is_verbose)
		return;
	printf("  ");
	vprintf(format, args);
	printf("\n");
}

void wh_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void wh_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}
