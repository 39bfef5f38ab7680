/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_CHART_H
#define WH_APP_CHART_H

/*
 * Panels one above the other, over the same time: a picture for a report. A path of data says in
 * its attributes data-x and data-y, "pixel pixel value value", how its pixels are read back.
 */

#include <stdint.h>

enum wh_chart_kind {
	WH_CHART_LINES, /* values of the ends of intervals */
	WH_CHART_STEPS, /* what each interval has had, from 0 */
	WH_CHART_LANES, /* each series a lane of its own, with its share of each interval */
};

enum wh_chart_unit {
	WH_CHART_BPS,
	WH_CHART_SECONDS,
	WH_CHART_COUNT,
	WH_CHART_SHARE,
};

struct wh_chart_series {
	const char *name;
	const double *value; /* one for each interval; not finite: there is none */
	uint32_t colour;     /* of wh_svg_colour */
};

struct wh_chart_panel {
	const char *name; /* for programs */
	const char *title;
	enum wh_chart_kind kind;
	enum wh_chart_unit unit;
	const struct wh_chart_series *series;
	uint32_t n_series;
	const char *empty; /* in place of what no series has a value of */
};

struct wh_chart {
	const char *title;
	const char *subtitle;
	const char *failure; /* "": none */
	const char *time;    /* what it is counted from */
	const double *end_s; /* of the intervals, ascending from above 0 */
	uint32_t count;
	const struct wh_chart_panel *panels;
	uint32_t n_panels;
};

/* 0 or a negative errno. */
int wh_chart_write(const struct wh_chart *chart, const char *path);

#endif
