/* SPDX-License-Identifier: BSD-3-Clause */
#include "complain.h"

#include <stdarg.h>
#include <stdio.h>

static char last[1024];

void wh_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last, sizeof(last), format, args);
	va_end(args);
	fprintf(stderr, "wavehaul: %s\n", last);
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
	fprintf(stderr, "wavehaul: %s\n", line); /* one call: lines of threads do not mix */
}
