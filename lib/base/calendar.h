/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Checks the time of day against a monotonic clock. Code that deletes data by its age asks here
 * first, so that a step of the time of day by years, soon corrected, deletes nothing.
 */

#include <stdbool.h>
#include <stdint.h>

/* A larger change of the difference between two checks is a step. */
#define WH_CALENDAR_STEP_S INT64_C(60)

/* Time after the start and after each step during which no data counts as old. */
#define WH_CALENDAR_SETTLES_S INT64_C(3600)

/* Initialized with zeros. */
struct wh_calendar {
	int64_t ahead_s;
	int64_t since_s;
	bool known;
};

/* True: the time of day has not stepped for long enough. Call this every few seconds. */
static inline bool wh_calendar_is_settled(
	struct wh_calendar *calendar, int64_t day_s, int64_t steady_s)
{
	int64_t ahead_s = day_s - steady_s;
	int64_t step_s = ahead_s - calendar->ahead_s;

	if (!calendar->known || step_s > WH_CALENDAR_STEP_S || step_s < -WH_CALENDAR_STEP_S)
		calendar->since_s = steady_s;
	calendar->known = true;
	calendar->ahead_s = ahead_s;
	return steady_s - calendar->since_s >= WH_CALENDAR_SETTLES_S;
}
