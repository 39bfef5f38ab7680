/* SPDX-License-Identifier: BSD-3-Clause */
#include "complain.h"

#include <stdarg.h>
#include <stdio.h>

static char last[1024];

/* A sentence may repeat what a peer says, or a file's name: that does not move the terminal. */
static void make_plain(char *line)
{
	for (; *line != '\0'; line++)
		if ((unsigned char)*line < 0x20 || *line == 0x7f)
			*line = '?';
}

void wh_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last, sizeof(last), format, args);
	va_end(args);
	make_plain(last);
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
	make_plain(line);
	fprintf(stderr, "wavehaul: %s\n", line); /* one call: lines of threads do not mix */
}
