/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Kathleen Nichols' windowed maximum (lib/win_minmax.c of Linux), in constant memory. It keeps the
 * best value of the window, the best after that one, and the best after the second. When the best
 * expires the next takes its place. While values keep falling the result is approximate: at worst
 * the best of the last quarter of the window. Time is any number that never decreases: rounds,
 * nanoseconds.
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
