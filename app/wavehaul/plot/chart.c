/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "plot/svg.h"

#define WIDTH  960
#define LEFT   86
#define RIGHT  (WIDTH - 24)
#define TOP    82  /* top of the first panel's frame */
#define HIGH   132 /* height of a frame */
#define APART  52  /* between frames: a title and a legend */
#define BOTTOM 44

#define TICKS_X 10
#define TICKS_Y 4

#define LANE_PART 0.8 /* part of a lane's height used by a share of 1 */

#define FAINT_TEXT "fill=\"" WH_SVG_FAINT "\" font-size=\"11\""

/* Maps values to pixels. */
struct scale {
	double from_px;
	double to_px;
	double from;
	double to;
};

static double at(const struct scale *scale, double value)
{
	WH_ASSERT(scale->to > scale->from);
	return scale->from_px +
	       (value - scale->from) / (scale->to - scale->from) * (scale->to_px - scale->from_px);
}

/* A step of 1, 2 or 5 times a power of ten, so that at most `ticks` of them reach `most`. */
static double step_of(double most, double ticks)
{
	double power = pow(10.0, floor(log10(most / ticks)));

	WH_ASSERT(most > 0.0);
	for (double times = 1.0;; times *= times == 2.0 ? 2.5 : 2.0)
		if (times * power * ticks >= most * (1.0 - 1e-9))
			return times * power;
}

struct prefix {
	double factor;
	const char *name;
};

/* The usual unit for the largest of the values. */
static struct prefix prefix_of(enum wh_chart_unit unit, double most)
{
	static const struct prefix bps[] = {{1e12, "Tb/s"}, {1e9, "Gb/s"}, {1e6, "Mb/s"},
		{1e3, "kb/s"}, {1.0, "b/s"}},
				   seconds[] = {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}},
				   counts[] = {
					   {1e9, "10^9"}, {1e6, "10^6"}, {1e3, "1000"}, {1.0, ""}};
	const struct prefix *of = unit == WH_CHART_BPS       ? bps
				  : unit == WH_CHART_SECONDS ? seconds
							     : counts;
	uint32_t last = unit == WH_CHART_BPS ? 4 : unit == WH_CHART_SECONDS ? 2 : 3;
	uint32_t i = 0;

	if (unit == WH_CHART_SHARE)
		return (struct prefix){0.01, "%"};
	/* Thousands of packets are shown without a prefix. */
	while (i < last && of[i].factor * (unit == WH_CHART_COUNT ? 10.0 : 1.0) > most)
		i++;
	return of[i];
}

static double most_of(const struct wh_chart_panel *panel, uint32_t count, bool *any)
{
	double most = 0.0;

	*any = false;
	for (uint32_t k = 0; k < panel->n_series; k++)
		for (uint32_t i = 0; i < count; i++)
			if (isfinite(panel->series[k].value[i])) {
				*any = true;
				most = fmax(most, panel->series[k].value[i]);
			}
	return most;
}

static void draw_times(
	struct wh_svg *svg, const struct scale *x, double top_px, double bottom_px, const char *of)
{
	static const struct prefix units[] = {{86400.0, "days"}, {3600.0, "hours"},
		{60.0, "minutes"}, {1.0, "seconds"}, {1e-3, "milliseconds"}};
	uint32_t i = 0;
	double step;

	while (i < 4 && units[i].factor * (i < 3 ? 5.0 : 0.2) > x->to)
		i++;
	step = step_of(x->to / units[i].factor, TICKS_X);
	for (double tick = 0.0; tick <= x->to / units[i].factor * (1.0 + 1e-9); tick += step) {
		double px = at(x, tick * units[i].factor);

		fprintf(svg->file, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\"/>\n", px, top_px,
			bottom_px, WH_SVG_GRID);
		if (of != NULL)
			wh_svg_text(svg, px, bottom_px + 16, WH_SVG_MIDDLE, FAINT_TEXT, "%g", tick);
	}
	if (of != NULL)
		wh_svg_text(svg, (LEFT + RIGHT) / 2.0, bottom_px + 34, WH_SVG_MIDDLE, "",
			"%s since %s", units[i].name, of);
}

static void draw_levels(
	struct wh_svg *svg, const struct scale *y, const struct prefix *prefix, double step)
{
	for (double tick = 0.0; tick <= y->to * (1.0 + 1e-9); tick += step) {
		double px = at(y, tick);

		fprintf(svg->file, "<path d=\"M%d %.1fH%d\" stroke=\"%s\"/>\n", LEFT, px, RIGHT,
			WH_SVG_GRID);
		wh_svg_text(svg, LEFT - 8, px + 4, WH_SVG_END, FAINT_TEXT, "%.10g",
			round(tick / prefix->factor * 1e6) / 1e6);
	}
}

static void begin_path(struct wh_svg *svg, const struct wh_chart_series *series,
	const struct scale *x, const struct scale *y)
{
	fputs("<path data-name=\"", svg->file);
	wh_svg_escaped(svg, series->name);
	fprintf(svg->file, "\" data-x=\"%.9g %.9g %.9g %.9g\" data-y=\"%.9g %.9g %.9g %.9g\" ",
		x->from_px, x->to_px, x->from, x->to, y->from_px, y->to_px, y->from, y->to);
}

static void draw_line(struct wh_svg *svg, const struct wh_chart *chart,
	const struct wh_chart_series *series, const struct scale *x, const struct scale *y)
{
	bool pen_down = false;

	begin_path(svg, series, x, y);
	fprintf(svg->file,
		"fill=\"none\" stroke=\"%s\" stroke-width=\"1.4\" stroke-linejoin=\"round\" "
		"stroke-linecap=\"round\" d=\"",
		wh_svg_colour[series->colour]);
	for (uint32_t i = 0; i < chart->count; i++) {
		if (!isfinite(series->value[i])) {
			pen_down = false;
			continue;
		}
		fprintf(svg->file, "%c%.2f %.2f", pen_down ? 'L' : 'M', at(x, chart->end_s[i]),
			at(y, series->value[i]));
		/* A single value is drawn as a dot. */
		if (!pen_down)
			fputs("h0", svg->file);
		pen_down = true;
	}
	fputs("\"/>\n", svg->file);
}

/*
 * For each run of intervals with values: M x base, then V and H alternately from one interval's end
 * to the next, and back.
 */
static void draw_steps(struct wh_svg *svg, const struct wh_chart *chart,
	const struct wh_chart_series *series, const struct scale *x, const struct scale *y)
{
	begin_path(svg, series, x, y);
	fprintf(svg->file,
		"fill=\"%s\" fill-opacity=\"0.35\" stroke=\"%s\" stroke-width=\"0.8\" d=\"",
		wh_svg_colour[series->colour], wh_svg_colour[series->colour]);
	for (uint32_t i = 0; i < chart->count; i++) {
		bool before = i > 0 && isfinite(series->value[i - 1]);

		if (!isfinite(series->value[i]))
			continue;
		if (!before)
			fprintf(svg->file, "M%.2f %.2f", at(x, i > 0 ? chart->end_s[i - 1] : 0.0),
				at(y, 0.0));
		fprintf(svg->file, "V%.2fH%.2f", at(y, series->value[i]), at(x, chart->end_s[i]));
		if (i + 1 == chart->count || !isfinite(series->value[i + 1]))
			fprintf(svg->file, "V%.2fZ", at(y, 0.0));
	}
	fputs("\"/>\n", svg->file);
}

/* To the right of the title; as one text, whose width only the viewer knows. */
static void draw_legend(struct wh_svg *svg, const struct wh_chart_panel *panel, double top_px)
{
	fprintf(svg->file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" font-size=\"11\">", RIGHT,
		top_px - 9);
	for (uint32_t k = 0; k < panel->n_series; k++) {
		const struct wh_chart_series *series = &panel->series[k];

		fprintf(svg->file, "<tspan fill=\"%s\"%s>\u25a0</tspan> ",
			wh_svg_colour[series->colour], k > 0 ? " dx=\"14\"" : "");
		wh_svg_escaped(svg, series->name);
	}
	fputs("</text>\n", svg->file);
}

static void draw_lanes(struct wh_svg *svg, const struct wh_chart *chart,
	const struct wh_chart_panel *panel, const struct scale *x, double top_px)
{
	double high = (double)HIGH / panel->n_series;

	for (uint32_t k = 0; k < panel->n_series; k++) {
		const struct scale y = {
			.from_px = top_px + (k + 1) * high,
			.to_px = top_px + (k + 1 - LANE_PART) * high,
			.to = 1.0,
		};

		fprintf(svg->file, "<path d=\"M%d %.1fH%d\" stroke=\"%s\"/>\n", LEFT, y.from_px,
			RIGHT, WH_SVG_GRID);
		wh_svg_text(svg, LEFT - 8, y.from_px - high * LANE_PART / 2 + 4, WH_SVG_END,
			"font-size=\"11\"", "%s", panel->series[k].name);
		draw_steps(svg, chart, &panel->series[k], x, &y);
	}
}

static void draw_values(struct wh_svg *svg, const struct wh_chart *chart,
	const struct wh_chart_panel *panel, const struct scale *x, double top_px, double most)
{
	const struct prefix prefix = prefix_of(panel->unit, most);
	double step = step_of(most > 0.0 ? most / prefix.factor : 1.0, TICKS_Y) * prefix.factor;

	/* Packets are counted in whole numbers. */
	if (panel->unit == WH_CHART_COUNT)
		step = fmax(step, 1.0);

	const struct scale y = {
		.from_px = top_px + HIGH,
		.to_px = top_px,
		.to = fmax(ceil(most / step * (1.0 - 1e-9)), 1.0) * step,
	};

	draw_levels(svg, &y, &prefix, step);
	if (prefix.name[0] != '\0')
		wh_svg_text(svg, LEFT - 8, top_px - 9, WH_SVG_END, FAINT_TEXT, "%s", prefix.name);
	for (uint32_t k = 0; k < panel->n_series; k++) {
		if (panel->kind == WH_CHART_LINES)
			draw_line(svg, chart, &panel->series[k], x, &y);
		else
			draw_steps(svg, chart, &panel->series[k], x, &y);
	}
	draw_legend(svg, panel, top_px);
}

static void draw_panel(struct wh_svg *svg, const struct wh_chart *chart, uint32_t number)
{
	const struct wh_chart_panel *panel = &chart->panels[number];
	double top_px = TOP + number * (HIGH + APART);
	double all_s = chart->count > 0 ? chart->end_s[chart->count - 1] : 1.0;
	const struct scale x = {.from_px = LEFT, .to_px = RIGHT, .to = all_s};
	bool any;
	double most = most_of(panel, chart->count, &any);

	fprintf(svg->file, "<g data-panel=\"%s\">\n", panel->name);
	draw_times(
		svg, &x, top_px, top_px + HIGH, number + 1 == chart->n_panels ? chart->time : NULL);
	wh_svg_text(
		svg, LEFT, top_px - 9, WH_SVG_START, "font-weight=\"bold\"", "%s", panel->title);
	if (!any)
		wh_svg_text(svg, (LEFT + RIGHT) / 2.0, top_px + HIGH / 2.0, WH_SVG_MIDDLE,
			FAINT_TEXT, "%s", panel->empty);
	else if (panel->kind == WH_CHART_LANES)
		draw_lanes(svg, chart, panel, &x, top_px);
	else
		draw_values(svg, chart, panel, &x, top_px, most);
	fprintf(svg->file, "<path d=\"M%d %.1fV%.1fH%d\" fill=\"none\" stroke=\"%s\"/>\n</g>\n",
		LEFT, top_px, top_px + HIGH, RIGHT, WH_SVG_FAINT);
}

static uint32_t height_of(const struct wh_chart *chart)
{
	return TOP + chart->n_panels * (HIGH + APART) - APART + BOTTOM;
}

static void draw(struct wh_svg *svg, const struct wh_chart *chart)
{
	wh_svg_text(svg, LEFT, 22, WH_SVG_START, "font-size=\"15\" font-weight=\"bold\"", "%s",
		chart->title);
	wh_svg_text(svg, LEFT, 38, WH_SVG_START, FAINT_TEXT, "%s", chart->subtitle);
	if (chart->failure[0] != '\0')
		wh_svg_text(svg, LEFT, 53, WH_SVG_START, "font-size=\"11\" font-weight=\"bold\"",
			"failed: %s", chart->failure);
	for (uint32_t i = 0; i < chart->n_panels; i++)
		draw_panel(svg, chart, i);
}

int wh_chart_write(const struct wh_chart *chart, const char *path)
{
	struct wh_svg svg;
	int rc = wh_svg_open(&svg, path, WIDTH, height_of(chart));

	if (rc != 0)
		return rc;
	draw(&svg, chart);
	return wh_svg_close(&svg);
}

char *wh_chart_text(const struct wh_chart *chart)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);
	struct wh_svg svg;

	if (file == NULL)
		return NULL;
	wh_svg_begin(&svg, file, WIDTH, height_of(chart));
	draw(&svg, chart);
	wh_svg_end(&svg);
	if (fclose(file) == 0)
		return text;
	free(text);
	return NULL;
}
