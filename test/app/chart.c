/* SPDX-License-Identifier: BSD-3-Clause */

/* Pictures: what is drawn where, what of a text is escaped, and what is left when it fails. */

#include "plot/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plot/svg.h"
#include "unit.h"

const char wh_suite_name[] = "chart";

static char top[] = "/tmp/wavehaul-chart-XXXXXX";
static char path[64];
static char drawn[65536];

static void make_folder(void)
{
	strcpy(top, "/tmp/wavehaul-chart-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	snprintf(path, sizeof(path), "%s/a.svg", top);
}

static void read_drawn(void)
{
	FILE *file = fopen(path, "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	drawn[fread(drawn, 1, sizeof(drawn) - 1, file)] = '\0';
	fclose(file);
}

static const double ends_s[] = {1, 2, 4};
static const double rates[] = {5e8, NAN, 2e9};
static const double counts[] = {3, 0, 1};
static const double none[] = {NAN, NAN, NAN};

static struct wh_chart chart_of(const struct wh_chart_panel *panels, uint32_t count)
{
	return (struct wh_chart){
		.title = "a < b & \"c\" > d",
		.subtitle = "below",
		.failure = "",
		.time = "the beginning",
		.end_s = ends_s,
		.count = 3,
		.panels = panels,
		.n_panels = count,
	};
}

static void values(void)
{
	const struct wh_chart_series rate = {"sent", rates, 0}, count = {"lost", counts, 1},
				     unknown = {"rtt", none, 2};
	const struct wh_chart_panel panels[] = {
		{"rate", "Rate", WH_CHART_LINES, WH_CHART_BPS, &rate, 1, "?"},
		{"loss", "Lost", WH_CHART_STEPS, WH_CHART_COUNT, &count, 1, "?"},
		{"rtt", "Round trip", WH_CHART_LINES, WH_CHART_SECONDS, &unknown, 1,
			"not measured"},
		{"limit", "Limit", WH_CHART_LANES, WH_CHART_SHARE, NULL, 0, "not known"},
	};
	const struct wh_chart chart = chart_of(panels, 4);

	make_folder();
	CU_ASSERT_EQUAL(wh_chart_write(&chart, path), 0);
	read_drawn();
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, ">a &lt; b &amp; &quot;c&quot; &gt; d</text>"));
	/* 0 to 4 s over 850 pixels from 86 on; 0 to 2 Gb/s over 132 pixels up from 214. */
	CU_ASSERT_PTR_NOT_NULL(strstr(
		drawn, "<path data-name=\"sent\" data-x=\"86 936 0 4\" data-y=\"214 82 0 2e+09\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, "d=\"M298.50 181.00h0M936.00 82.00h0\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, "data-y=\"398 266 0 3\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(
		drawn, "d=\"M86.00 398.00V266.00H298.50V398.00H511.00V354.00H936.00V398.00Z\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, ">not measured</text>"));
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, ">not known</text>"));
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, ">Gb/s</text>"));
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, ">seconds since the beginning</text>"));
	CU_ASSERT_PTR_NULL(strstr(drawn, "nan"));
	CU_ASSERT_PTR_NULL(strstr(drawn, "failed"));
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(top), 0); /* nothing else was left there */
}

/* Where there is no sample, nothing is drawn: not 0, and no line across. */
static void gaps(void)
{
	static const double begin[] = {NAN, 1, 1}, end[] = {1, 1, NAN};
	const struct wh_chart_series series[] = {
		{"middle", rates, 0}, {"begin", begin, 1}, {"end", end, 2}, {"none", none, 3}};
	const struct wh_chart_panel panels[] = {
		{"steps", "Steps", WH_CHART_STEPS, WH_CHART_BPS, series, 4, "?"},
		{"lanes", "Lanes", WH_CHART_LANES, WH_CHART_SHARE, &series[1], 1, "?"},
	};
	const struct wh_chart chart = chart_of(panels, 2);

	make_folder();
	CU_ASSERT_EQUAL(wh_chart_write(&chart, path), 0);
	read_drawn();
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn,
		"d=\"M86.00 214.00V181.00H298.50V214.00ZM511.00 214.00V82.00H936.00V214.00Z\""));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(drawn, "d=\"M298.50 214.00V214.00H511.00V214.00H936.00V214.00Z\""));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(drawn, "d=\"M86.00 214.00V214.00H298.50V214.00H511.00V214.00Z\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, "d=\"\"/>"));
	CU_ASSERT_PTR_NULL(strstr(drawn, "nan"));
	unlink(path);
	rmdir(top);
}

/* Panels of nothing, at no time: nothing divides by it. */
static void empty(void)
{
	const struct wh_chart_panel panel = {
		"rate", "Rate", WH_CHART_LINES, WH_CHART_BPS, NULL, 0, "nothing was sent"};
	struct wh_chart chart = chart_of(&panel, 1);

	chart.count = 0;
	chart.failure = "the disk is full";
	make_folder();
	CU_ASSERT_EQUAL(wh_chart_write(&chart, path), 0);
	read_drawn();
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, ">failed: the disk is full</text>"));
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, ">nothing was sent</text>"));
	unlink(path);
	rmdir(top);
}

static void whole_or_not(void)
{
	struct wh_svg svg;
	struct stat status;
	char older[8] = "";
	FILE *file;

	make_folder();
	file = fopen(path, "w");
	fputs("older", file);
	fclose(file);
	CU_ASSERT_EQUAL(wh_svg_open(&svg, path, 10, 10), 0);
	fputs("<!-- new -->", svg.file);
	fflush(svg.file);
	file = fopen(path, "r");
	CU_ASSERT_EQUAL(fread(older, 1, 5, file), 5);
	fclose(file);
	CU_ASSERT_STRING_EQUAL(older, "older");
	CU_ASSERT_EQUAL(wh_svg_close(&svg), 0);
	read_drawn();
	CU_ASSERT_PTR_NOT_NULL(strstr(drawn, "<!-- new -->"));
	CU_ASSERT_EQUAL(stat(path, &status), 0);
	CU_ASSERT_EQUAL(status.st_mode & 0600, 0600);

	/* A folder took its name meanwhile: nothing is left of it. */
	CU_ASSERT_EQUAL(wh_svg_open(&svg, path, 10, 10), 0);
	unlink(path);
	CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
	CU_ASSERT(wh_svg_close(&svg) < 0);
	CU_ASSERT_EQUAL(rmdir(path), 0);
	CU_ASSERT_EQUAL(rmdir(top), 0);
}

static void refused(void)
{
	char folder[80];

	make_folder();
	CU_ASSERT_TRUE(wh_svg_may_write(path));
	CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0); /* it was a question */
	snprintf(folder, sizeof(folder), "%s/", path);
	CU_ASSERT_FALSE(wh_svg_may_write(folder));
	CU_ASSERT_FALSE(wh_svg_may_write(top));
	CU_ASSERT_FALSE(wh_svg_may_write("/dev/null"));
	CU_ASSERT_FALSE(wh_svg_may_write("/nowhere/way.svg"));
	CU_ASSERT_EQUAL(rmdir(top), 0);
}

CU_TestInfo wh_tests[] = {
	{"gaps", gaps},
	{"values", values},
	{"empty", empty},
	{"whole or not", whole_or_not},
	{"refused", refused},
	CU_TEST_INFO_NULL,
};
