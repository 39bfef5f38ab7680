/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_MEASURE_WINDOW_MAX_H
#define WH_MEASURE_WINDOW_MAX_H

/*
 * The greatest of the latest values, in constant room (Nichols): the best of the whole window, of
 * what came after it, and of what came after that. When the best is too old the next takes its
 * place. Of values that fall all the time it is a little forgetful: at worst it answers with the
 * best of the last quarter of the window. Time is any number that never falls: rounds, nanoseconds.
 */

#include <stdint.h>

struct wh_window_value {
	uint64_t at;
	double value;
};

struct wh_window_max {
	struct wh_window_value best[3]; /* by age, the oldest first; values never rise */
};

void wh_window_max_reset(struct wh_window_max *max, uint64_t at, double value);

/* What is older than `window` counts no more. */
void wh_window_max_add(struct wh_window_max *max, uint64_t window, uint64_t at, double value);

static inline double wh_window_max_value(const struct wh_window_max *max)
{
	return max->best[0].value;
}

#endif
