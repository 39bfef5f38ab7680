/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/timetable.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "cli/settings.h"

#define WORDS_MAX    3
#define TEXT_BYTES   512
#define ALL_DAYS     0x7f
#define DAY_MIN      (24 * 60)
#define RATE_MAX_BPS UINT64_C(1000000000000)

static const char *const day_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

static int day_of(const char *text)
{
	for (int day = 0; day < 7; day++)
		if (strcmp(day_names[day], text) == 0)
			return day;
	return -1;
}

/* mon, or mon-fri, which may span the end of a week. 0: invalid. */
static uint8_t days_of_span(char *text)
{
	char *dash = strchr(text, '-');
	uint8_t days = 0;

	if (dash != NULL)
		*dash = '\0';

	int day = day_of(text);
	int last = dash != NULL ? day_of(dash + 1) : day;

	if (dash != NULL)
		*dash = '-';
	if (day < 0 || last < 0)
		return 0;
	for (;; day = (day + 1) % 7) {
		days |= (uint8_t)(1u << day);
		if (day == last)
			return days;
	}
}

static uint8_t days_of(char *text)
{
	uint8_t days = 0;
	char *rest;

	if (strcmp(text, "daily") == 0)
		return ALL_DAYS;
	if (strcmp(text, "weekdays") == 0)
		return 0x3e;
	if (strcmp(text, "weekends") == 0)
		return 0x41;
	for (char *one = strtok_r(text, "+", &rest); one != NULL;
		one = strtok_r(NULL, "+", &rest)) {
		uint8_t found = days_of_span(one);

		if (found == 0)
			return 0;
		days |= found;
	}
	return days;
}

/* H:MM, up to 24:00; returns the rest of the text, or NULL. */
static const char *scan_clock(const char *text, uint16_t *minute)
{
	uint64_t hours;
	uint64_t minutes;
	const char *colon = wh_scan_count(text, &hours);
	const char *end =
		colon != NULL && *colon == ':' ? wh_scan_count(colon + 1, &minutes) : NULL;

	if (end == NULL || end - colon != 3 || hours > 24 || minutes > 59 ||
		(hours == 24 && minutes > 0))
		return NULL;
	*minute = (uint16_t)(hours * 60 + minutes);
	return end;
}

static bool take_hours(const char *text, struct wh_timetable_line *line)
{
	const char *dash = scan_clock(text, &line->from_min);
	const char *end = dash != NULL && *dash == '-' ? scan_clock(dash + 1, &line->to_min) : NULL;

	return end != NULL && *end == '\0' && line->from_min < DAY_MIN &&
	       line->from_min != line->to_min;
}

static bool take_rate(const char *text, uint64_t *rate_bps)
{
	if (strcmp(text, "max") == 0) {
		*rate_bps = WH_RATE_MAX;
		return true;
	}
	return wh_parse_rate(text, rate_bps) == 0 && *rate_bps >= WH_RATE_MIN &&
	       *rate_bps <= RATE_MAX_BPS;
}

/* One line; `last`: it is `else`, or only a rate. */
static const char *take_line(char *text, struct wh_timetable *table, bool *last)
{
	struct wh_timetable_line line = {.days = ALL_DAYS, .to_min = DAY_MIN};
	char *word[WORDS_MAX + 1] = {NULL};
	uint32_t words = 0;
	uint32_t at = 0;
	char *rest;

	for (char *one = strtok_r(text, " \t", &rest); one != NULL && words <= WORDS_MAX;
		one = strtok_r(NULL, " \t", &rest))
		word[words++] = one;
	if (words == 0 || words > WORDS_MAX)
		return "is no timetable: a line is DAYS HOURS RATE";
	if (!take_rate(word[words - 1], &line.rate_bps))
		return "is no timetable: a line ends with a rate, from 1M to 1000G, or max";
	*last = words == 1 || (words == 2 && strcmp(word[0], "else") == 0);
	if (*last) {
		table->else_bps = line.rate_bps;
		return NULL;
	}
	if (strchr(word[0], ':') == NULL && (line.days = days_of(word[at++])) == 0)
		return "is no timetable: days are daily, weekdays, weekends, mon, mon-fri, sat+sun";
	if (at + 1 < words && !take_hours(word[at++], &line))
		return "is no timetable: hours are written 8:00-18:00";
	if (at + 1 != words)
		return "is no timetable: a line is DAYS HOURS RATE";
	if (table->lines == WH_TIMETABLE_LINES_MAX)
		return "has too many lines for a timetable";
	table->line[table->lines++] = line;
	return NULL;
}

const char *wh_timetable_parse(const char *text, struct wh_timetable *table)
{
	struct wh_timetable found = {.else_bps = WH_RATE_MAX};
	char copy[TEXT_BYTES];
	bool last = false;
	char *rest = copy;
	char *one;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return "is too long for a timetable";
	while ((one = strsep(&rest, ",")) != NULL) {
		if (last)
			return "goes on behind its last line, which `else` begins";

		const char *wrong = take_line(one, &found, &last);

		if (wrong != NULL)
			return wrong;
	}
	if (!last)
		return "wants a last line, as: else 9.5G";
	*table = found;
	return NULL;
}

static bool holds(const struct wh_timetable_line *line, const struct tm *local)
{
	uint32_t minute = (uint32_t)(local->tm_hour * 60 + local->tm_min);
	bool today = (line->days & 1u << local->tm_wday) != 0;
	bool yesterday = (line->days & 1u << (local->tm_wday + 6) % 7) != 0;

	if (line->from_min < line->to_min)
		return today && minute >= line->from_min && minute < line->to_min;
	return (today && minute >= line->from_min) || (yesterday && minute < line->to_min);
}

uint64_t wh_timetable_bps(const struct wh_timetable *table, const struct tm *local)
{
	WH_ASSERT(local->tm_wday >= 0 && local->tm_wday < 7 && table->else_bps > 0);
	for (uint32_t i = 0; i < table->lines; i++)
		if (holds(&table->line[i], local))
			return table->line[i].rate_bps;
	return table->else_bps;
}
