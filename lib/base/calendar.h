/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BASE_CALENDAR_H
#define WH_BASE_CALENDAR_H

/*
 * The time of day beside a clock that nobody sets. Whoever removes what is old by the one looks at
 * the other first: a step of years, taken back soon after, has made nothing old.
 */

#include <stdbool.h>
#include <stdint.h>

/* What differs by more between two looks is a step. */
#define WH_CALENDAR_STEP_S INT64_C(60)

/* So long after a step, and after the start, nothing is old. */
#define WH_CALENDAR_SETTLES_S INT64_C(3600)

/* All zeros to begin with. */
struct wh_calendar {
	int64_t ahead_s;
	int64_t since_s;
	bool known;
};

/* To be asked every few seconds: whether the time of day goes on as it should, for long enough. */
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

#endif
