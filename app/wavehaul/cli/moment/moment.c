/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/moment/moment.h"

#include <string.h>
#include <time.h>

const char *wh_moment_text(int64_t seconds, char text[WH_MOMENT_BYTES])
{
	time_t when = (time_t)seconds;
	struct tm parts;

	if (localtime_r(&when, &parts) == NULL ||
		strftime(text, WH_MOMENT_BYTES, "%Y-%m-%d %H:%M:%S", &parts) == 0)
		strcpy(text, "?");
	return text;
}
