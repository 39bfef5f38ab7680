/* SPDX-License-Identifier: BSD-3-Clause */

/* Arrival time against packet number: on a terminal, and as SVG. */

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "plot/svg.h"
#include "report/probe_tell.h"

#define COLUMNS 64
#define ROWS    14

#define WIDTH  900
#define HEIGHT 500
#define LEFT   80
#define BOTTOM 60
#define TOP    40

/* The most points of a drawing: more cannot be seen, and load slowly. */
#define POINTS_MAX 8192

static uint32_t last_ns(const struct wh_findings *found)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < found->shown_arrivals; i++)
		if (wh_arrival_ns(found->shown[i]) > most)
			most = wh_arrival_ns(found->shown[i]);
	return most;
}

/* For the packets of a column: how many arrived, and how many were sent. */
static void count_columns(
	const struct wh_findings *found, uint32_t sent[COLUMNS], uint32_t came[COLUMNS])
{
	memset(sent, 0, COLUMNS * sizeof(sent[0]));
	memset(came, 0, COLUMNS * sizeof(came[0]));
	for (uint32_t i = 0; i < found->shown_count; i++)
		sent[(uint64_t)i * COLUMNS / found->shown_count]++;
	for (uint32_t i = 0; i < found->shown_arrivals; i++)
		came[(uint64_t)wh_arrival_index(found->shown[i]) * COLUMNS / found->shown_count]++;
}

static void print_losses(const struct wh_findings *found)
{
	static const char shades[] = " .:-=+*#";
	uint32_t sent[COLUMNS], came[COLUMNS];

	count_columns(found, sent, came);
	printf("%10s |", "lost");
	for (uint32_t i = 0; i < COLUMNS; i++) {
		uint32_t lost = sent[i] > came[i] ? sent[i] - came[i] : 0;
		uint32_t shade = lost == 0 ? 0 : 1 + lost * 6 / (sent[i] > 0 ? sent[i] : 1);

		putchar(shades[shade]);
	}
	printf("\n");
}

void wh_probe_picture(const struct wh_findings *found)
{
	char row[ROWS][COLUMNS + 1];
	char text[WH_UNITS_MAX];
	uint64_t most_ns = last_ns(found);

	if (found->shown_count < 2 || found->shown_arrivals == 0)
		return;
	memset(row, ' ', sizeof(row));
	for (uint32_t i = 0; i < found->shown_arrivals; i++) {
		uint32_t index = wh_arrival_index(found->shown[i]);
		uint64_t column = (uint64_t)index * COLUMNS / found->shown_count;
		uint64_t up = wh_arrival_ns(found->shown[i]) * UINT64_C(1) * (ROWS - 1) / most_ns;

		row[ROWS - 1 - up][column] = 'o';
	}
	printf("\nWhen packets of the longest train came, by their number:\n\n");
	for (uint32_t i = 0; i < ROWS; i++) {
		row[i][COLUMNS] = '\0';
		printf("%10s |%s\n",
			i == 0 ? wh_format_time(text, sizeof(text), most_ns)
			       : (i == ROWS - 1 ? "0" : ""),
			row[i]);
	}
	print_losses(found);
	printf("%10s +", "");
	for (uint32_t i = 0; i < COLUMNS; i++)
		putchar('-');
	printf("\n%10s  0%*u\n", "", COLUMNS - 1, found->shown_count);
}

static void write_frame(struct wh_svg *svg, const struct wh_findings *found, const char *host)
{
	char text[WH_UNITS_MAX];

	wh_svg_text(svg, LEFT, 24, WH_SVG_START, "font-size=\"15\" font-weight=\"bold\"",
		"Arrivals of a train of %u packets at line rate, to %s", found->shown_count, host);
	fprintf(svg->file, "<path d=\"M%d %d V%d H%d\" fill=\"none\" stroke=\"%s\"/>\n", LEFT, TOP,
		HEIGHT - BOTTOM, WIDTH - 20, WH_SVG_FAINT);
	wh_svg_text(svg, (LEFT + WIDTH) / 2, HEIGHT - 16, WH_SVG_MIDDLE, "",
		"packet number, 0 to %u; lost ones are ticks below the line", found->shown_count);
	wh_svg_text(svg, LEFT - 8, TOP + 6, WH_SVG_END, "", "%s",
		wh_format_time(text, sizeof(text), last_ns(found)));
	wh_svg_text(svg, LEFT - 8, HEIGHT - BOTTOM, WH_SVG_END, "", "0");
}

static double column_of(const struct wh_findings *found, uint32_t index)
{
	return LEFT + (double)index * (WIDTH - 20 - LEFT) / found->shown_count;
}

/* One path of dots: a tenth of the size of circles. */
static void write_arrivals(FILE *file, const struct wh_findings *found)
{
	uint32_t step = found->shown_arrivals / POINTS_MAX + 1;
	double high = (double)(HEIGHT - BOTTOM - TOP) / last_ns(found);

	fprintf(file, "<path stroke=\"%s\" stroke-width=\"2\" stroke-linecap=\"round\" d=\"",
		wh_svg_colour[0]);
	for (uint32_t i = 0; i < found->shown_arrivals; i += step)
		fprintf(file, "M%.1f %.1fh0", column_of(found, wh_arrival_index(found->shown[i])),
			HEIGHT - BOTTOM - wh_arrival_ns(found->shown[i]) * high);
	fprintf(file, "\"/>\n");
}

static void write_losses(FILE *file, const struct wh_findings *found)
{
	static struct wh_train train;

	if (!wh_train_read(&train, found->shown, found->shown_arrivals, found->shown_count, 1))
		return;
	fprintf(file, "<path stroke=\"%s\" d=\"", wh_svg_colour[2]);
	for (uint32_t i = 0, drawn = 0; i < found->shown_count && drawn < POINTS_MAX; i++)
		if (!wh_train_saw(&train, i)) {
			fprintf(file, "M%.1f %dv8", column_of(found, i), HEIGHT - BOTTOM);
			drawn++;
		}
	fprintf(file, "\"/>\n");
}

int wh_probe_plot(const struct wh_findings *found, const char *host, const char *path)
{
	struct wh_svg svg;
	int rc = wh_svg_open(&svg, path, WIDTH, HEIGHT);

	if (rc != 0)
		return rc;
	write_frame(&svg, found, host);
	if (found->shown_count > 0) {
		write_arrivals(svg.file, found);
		write_losses(svg.file, found);
	}
	return wh_svg_close(&svg);
}
