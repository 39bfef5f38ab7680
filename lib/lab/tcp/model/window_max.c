/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/tcp/model/window_max.h"

#include "base/assert.h"

void wh_window_max_reset(struct wh_window_max *max, uint64_t at, double value)
{
	for (uint32_t i = 0; i < 3; i++)
		max->best[i] = (struct wh_window_value){.at = at, .value = value};
}

static void drop_oldest(struct wh_window_max *max, struct wh_window_value latest)
{
	max->best[0] = max->best[1];
	max->best[1] = max->best[2];
	max->best[2] = latest;
}

/* Drops an expired best. Keeps the second and third best younger, by parts of the window. */
static void age(struct wh_window_max *max, uint64_t window, struct wh_window_value latest)
{
	uint64_t old = latest.at - max->best[0].at;

	if (old > window) {
		drop_oldest(max, latest);
		if (latest.at - max->best[0].at > window)
			drop_oldest(max, latest);
	} else if (max->best[1].at == max->best[0].at && old > window / 4) {
		max->best[1] = max->best[2] = latest;
	} else if (max->best[2].at == max->best[1].at && old > window / 2) {
		max->best[2] = latest;
	}
}

void wh_window_max_add(struct wh_window_max *max, uint64_t window, uint64_t at, double value)
{
	struct wh_window_value latest = {.at = at, .value = value};

	WH_ASSERT(at >= max->best[2].at);
	if (value >= max->best[0].value || at - max->best[2].at > window) {
		wh_window_max_reset(max, at, value);
		return;
	}
	if (value >= max->best[1].value)
		max->best[1] = max->best[2] = latest;
	else if (value >= max->best[2].value)
		max->best[2] = latest;
	age(max, window, latest);
	WH_ASSERT(max->best[0].value >= max->best[1].value &&
		  max->best[1].value >= max->best[2].value);
}
