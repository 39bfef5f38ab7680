/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/when.h"

#include <time.h>

#include "base/clock.h"
#include "base/units.h"

static bool is_whole(const char *end)
{
	return end != NULL && *end == '\0';
}

/* A time of each day, or of a day of the week. */
static bool parse_next(const char *text, time_t now, int64_t *when_s)
{
	struct tm local, today;
	int every_days = 1;

	localtime_r(&now, &today);
	today.tm_sec = 0;
	local = today;
	if (!is_whole(strptime(text, "%H:%M", &local))) {
		local = today;
		if (!is_whole(strptime(text, "%a %H:%M", &local)))
			return false;
		every_days = 7;
		local.tm_mday = today.tm_mday + (local.tm_wday - today.tm_wday + 7) % 7;
	}
	local.tm_isdst = -1;
	*when_s = mktime(&local);
	if (*when_s <= now) {
		local.tm_mday += every_days;
		local.tm_isdst = -1;
		*when_s = mktime(&local);
	}
	return *when_s > now;
}

bool wh_when_parse(const char *text, int64_t now_s, int64_t *when_s)
{
	time_t now = (time_t)now_s;
	struct tm local;
	uint64_t span_ns;

	if (wh_parse_time(text, &span_ns) == 0) {
		*when_s = now_s + (int64_t)(span_ns / WH_NS_PER_S);
		return true;
	}
	localtime_r(&now, &local);
	local.tm_sec = 0;
	local.tm_isdst = -1;
	if (is_whole(strptime(text, "%Y-%m-%d %H:%M", &local))) {
		local.tm_isdst = -1;
		*when_s = mktime(&local);
		return *when_s > 0;
	}
	return parse_next(text, now, when_s);
}
