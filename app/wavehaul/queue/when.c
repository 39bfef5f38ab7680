/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/when.h"

#include <stdlib.h>
#include <time.h>

#include "base/units.h"

#define DAY_S 86400

static bool is_whole(const char *end)
{
	return end != NULL && *end == '\0';
}

/* A number and s, m, h or d. */
static bool parse_span(const char *text, int64_t *span_s)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', DAY_S}};
	uint64_t number;
	const char *end = wh_scan_count(text, &number);

	for (size_t i = 0; end != NULL && i < sizeof(units) / sizeof(units[0]); i++) {
		if (end[0] != units[i].unit || end[1] != '\0' || number > 10000000)
			continue;
		*span_s = (int64_t)number * units[i].seconds;
		return true;
	}
	return false;
}

bool wh_when_parse(const char *text, int64_t now_s, int64_t *when_s)
{
	time_t now = (time_t)now_s;
	struct tm local;
	int64_t span_s;

	if (parse_span(text, &span_s)) {
		*when_s = now_s + span_s;
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
	localtime_r(&now, &local);
	local.tm_sec = 0;
	if (!is_whole(strptime(text, "%H:%M", &local)))
		return false;
	local.tm_isdst = -1;
	*when_s = mktime(&local);
	if (*when_s <= now_s) {
		local.tm_mday++;
		local.tm_isdst = -1;
		*when_s = mktime(&local);
	}
	return *when_s > now_s;
}
