/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_MEASURE_WINDOW_MAX_H
#define WH_MEASURE_WINDOW_MAX_H

/*
 * The maximum of recent values, in constant memory (Nichols): the best of the whole window, of the
 * values after it, and of the values after that. When the best expires the next takes its place.
 * For values that fall all the time it is approximate: at worst it returns the best of the last
 * quarter of the window. Time is any number that never decreases: rounds, nanoseconds.
 */

#include <stdint.h>

struct wh_window_value {
	uint64_t at;
	double value;
};

struct wh_window_max {
	struct wh_window_value best[3]; /* oldest first; values never increase */
};

void wh_window_max_reset(struct wh_window_max *max, uint64_t at, double value);

/* Values older than `window` expire. */
void wh_window_max_add(struct wh_window_max *max, uint64_t window, uint64_t at, double value);

static inline double wh_window_max_value(const struct wh_window_max *max)
{
	return max->best[0].value;
}

#endif
