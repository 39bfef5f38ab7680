/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A table row or a line of JSON for each second of a wan. */

#include <stdbool.h>

#include "wan/wan_report.h"

struct wh_wan_live {
	bool rows; /* on stderr */
	bool stream;
	uint32_t shown;
	struct wh_wan_result last;
};

/* Shows the difference between `now` and the previous call. */
void wh_wan_live_tell(struct wh_wan_live *live, const struct wh_wan_result *now);

/* Shows a change of the path, by the head of its section. */
void wh_wan_live_change(
	const struct wh_wan_live *live, double seconds, const char *head, const char *file);
