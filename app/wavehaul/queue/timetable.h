/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Rates by the time of the week, as operators write them:
 *
 *   weekdays 8:00-18:00 2G, sat+sun 0:00-6:00 max, else 9.5G
 *
 * The first matching line determines the rate: days (daily, weekdays, weekends, mon, mon-fri,
 * sat+sun), or none for all, then hours, or none for the whole day, then a rate. Hours that end
 * before they begin continue into the next day. The last line is `else`, or only a rate. Hours are
 * in local time: when clocks are set forward some are skipped, and when they are set back some are
 * repeated.
 */

#include <stdint.h>
#include <time.h>

#define WH_TIMETABLE_LINES_MAX 16

struct wh_timetable_line {
	uint8_t days;      /* bits: 0 is Sunday, as in struct tm */
	uint16_t from_min; /* of the day */
	uint16_t to_min;   /* of the day, exclusive; from >= to: on the next day */
	uint64_t rate_bps; /* WH_RATE_MAX: unlimited */
};

struct wh_timetable {
	uint32_t lines;
	struct wh_timetable_line line[WH_TIMETABLE_LINES_MAX];
	uint64_t else_bps;
};

/* NULL, or what is wrong with the text, to follow it in a sentence. */
const char *wh_timetable_parse(const char *text, struct wh_timetable *table);

/* At that local time. */
uint64_t wh_timetable_bps(const struct wh_timetable *table, const struct tm *local);
