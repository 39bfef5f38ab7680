/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Panels one above the other over the same time axis, for a report. The attributes data-x and
 * data-y of a data path, "pixel pixel value value", tell how to convert its pixels back to values.
 */

#include <stdint.h>

enum wh_chart_kind {
	WH_CHART_LINES, /* values at the ends of intervals */
	WH_CHART_STEPS, /* each interval's total, from 0 */
	WH_CHART_LANES, /* a lane for each series, with its share of each interval */
};

enum wh_chart_unit {
	WH_CHART_BPS,
	WH_CHART_SECONDS,
	WH_CHART_COUNT,
	WH_CHART_SHARE,
};

struct wh_chart_series {
	const char *name;
	const double *value; /* one per interval; not finite: missing */
	uint32_t colour;     /* index in wh_svg_colour */
};

struct wh_chart_panel {
	const char *name; /* for programs */
	const char *title;
	enum wh_chart_kind kind;
	enum wh_chart_unit unit;
	const struct wh_chart_series *series;
	uint32_t n_series;
	const char *empty; /* text shown if no series has a value */
};

struct wh_chart {
	const char *title;
	const char *subtitle;
	const char *failure; /* "": none */
	const char *time;    /* what the time is counted from */
	const double *end_s; /* of the intervals, ascending from above 0 */
	uint32_t count;
	const struct wh_chart_panel *panels;
	uint32_t n_panels;
};

/* 0 or a negative errno. */
int wh_chart_write(const struct wh_chart *chart, const char *path);

/* The same file as a text, which the caller frees; NULL: no memory. */
char *wh_chart_text(const struct wh_chart *chart);
