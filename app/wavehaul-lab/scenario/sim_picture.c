/* SPDX-License-Identifier: BSD-3-Clause */

/* --plot: a run's samples of flows and links, over time. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "lab/sim/sim_memory.h"
#include "plot/chart.h"
#include "plot/svg.h"
#include "scenario/list.h"
#include "scenario/sim_report.h"

#define POINTS_MAX  400
#define LINES_MAX   WH_SVG_COLOURS
#define TITLE_BYTES 200

/* Samples of links or flows, each a curve in several panels. */
struct lines {
	uint32_t count;
	uint32_t first[LINES_MAX]; /* first flow or link of a line */
	uint32_t flows[LINES_MAX]; /* number of flows, from the first one on, whose sum it shows */
	char name[LINES_MAX][WH_POINT_NAME_BYTES];
};

struct picture {
	const struct wh_point *point;
	const struct wh_monitor *monitor;
	uint32_t points;
	uint32_t samples; /* per point; the last point has the rest */
	double *end_s;
	struct lines flows;
	struct lines links;
};

uint64_t wh_sim_plot_interval_ps(const struct wh_point *point)
{
	return point->scenario.interval_ps > 0
		       ? point->scenario.interval_ps
		       : wh_max_u64(point->scenario.duration_ps / POINTS_MAX, 1);
}

/* Each flow if there are few of them, else the flows of a group together. */
static void find_flows(struct picture *picture)
{
	const struct wh_point *point = picture->point;
	struct lines *lines = &picture->flows;
	uint32_t all = wh_scenario_flows(&point->scenario);
	bool each = all <= LINES_MAX;

	for (uint32_t flow = 0, count; flow < all && lines->count < LINES_MAX; flow += count) {
		const struct wh_scenario_group *group = wh_point_group_of(point, flow);
		char *name = lines->name[lines->count];

		count = each ? 1 : group->count;
		lines->first[lines->count] = flow;
		lines->flows[lines->count] = count;
		wh_point_flow_name(point, flow, name);
		if (count > 1)
			snprintf(name, WH_POINT_NAME_BYTES, "%u x %s", count, group->name);
		lines->count++;
	}
}

/* Only links with queueing or losses. */
static void find_links(struct picture *picture)
{
	struct lines *lines = &picture->links;
	uint32_t samples = wh_monitor_samples(picture->monitor);

	for (uint32_t i = 0; i < picture->point->scenario.n_links; i++) {
		bool any = false;

		for (uint32_t k = 0; k < samples && !any; k++) {
			struct wh_sim_link_stats link =
				wh_monitor_link_sample(picture->monitor, i, k);

			any = link.queue_pkts + link.overflow_pkts + link.early_pkts +
				      link.lost_pkts >
			      0;
		}
		if (!any || lines->count == LINES_MAX)
			continue;
		lines->first[lines->count] = i;
		wh_point_link_name(picture->point, i, lines->name[lines->count++]);
	}
}

enum quantity {
	GOODPUT,
	RATE,
	WINDOW,
	QUEUE,
	DROPPED,
};

static double of_flow(
	const struct picture *picture, enum quantity what, uint32_t flow, uint32_t sample)
{
	const struct wh_monitor *monitor = picture->monitor;
	const struct wh_monitor_look *look = wh_monitor_look_sample(monitor, flow, sample);

	if (what == GOODPUT)
		return 8.0 * (double)wh_monitor_flow_sample(monitor, flow, sample).goodput_bytes /
		       wh_ps_to_seconds(picture->point->scenario.interval_ps);
	if (what == RATE)
		return look->rate_bps;
	/* The window is meaningful for window-based flows only. */
	return look->rate_bps > 0.0 ? 0.0 : look->window_pkts;
}

static double of_link(
	const struct picture *picture, enum quantity what, uint32_t link, uint32_t sample)
{
	struct wh_sim_link_stats one = wh_monitor_link_sample(picture->monitor, link, sample);

	return what == QUEUE ? (double)one.queue_pkts
			     : (double)(one.overflow_pkts + one.early_pkts + one.lost_pkts);
}

static double of_line(
	const struct picture *picture, enum quantity what, uint32_t line, uint32_t sample)
{
	const struct lines *flows = &picture->flows;
	double sum = 0.0;

	if (what >= QUEUE)
		return of_link(picture, what, picture->links.first[line], sample);
	for (uint32_t i = 0; i < flows->flows[line]; i++)
		sum += of_flow(picture, what, flows->first[line] + i, sample);
	return sum;
}

/* Over a point's samples: the mean, but of a queue the maximum, and of drops the sum. */
static double of_point(
	const struct picture *picture, enum quantity what, uint32_t line, uint32_t point)
{
	uint32_t all = wh_monitor_samples(picture->monitor);
	uint32_t from = point * picture->samples;
	uint32_t count = (uint32_t)wh_min_u64(picture->samples, all - from);
	double sum = 0.0;
	double most = 0.0;

	for (uint32_t i = 0; i < count; i++) {
		double value = of_line(picture, what, line, from + i);

		sum += value;
		most = fmax(most, value);
	}
	if (what == QUEUE)
		return most;
	if (what == DROPPED)
		return sum;
	/* A rate or window of 0 means that there is none. */
	return sum == 0.0 && what != GOODPUT ? NAN : sum / count;
}

/* The caller frees its series and their values. */
static struct wh_chart_panel panel_of(
	const struct picture *picture, enum quantity what, const char *title, const char *empty)
{
	static const char *const names[] = {"goodput", "rate", "window", "queue", "dropped"};
	const struct lines *lines = what >= QUEUE ? &picture->links : &picture->flows;
	struct wh_chart_series *series =
		wh_sim_allocate((lines->count + 1) * sizeof(struct wh_chart_series));

	for (uint32_t k = 0; k < lines->count; k++) {
		double *values = wh_sim_allocate((picture->points + 1) * sizeof(*values));

		for (uint32_t i = 0; i < picture->points; i++)
			values[i] = of_point(picture, what, k, i);
		series[k] = (struct wh_chart_series){
			.name = lines->name[k], .value = values, .colour = k};
	}
	return (struct wh_chart_panel){
		.name = names[what],
		.title = title,
		.kind = what == DROPPED ? WH_CHART_STEPS : WH_CHART_LINES,
		.unit = what <= RATE ? WH_CHART_BPS : WH_CHART_COUNT,
		.series = series,
		.n_series = lines->count,
		.empty = empty,
	};
}

static void free_panel(const struct wh_chart_panel *panel)
{
	for (uint32_t k = 0; k < panel->n_series; k++)
		free((void *)panel->series[k].value);
	free((void *)panel->series);
}

static void space_points(struct picture *picture)
{
	uint32_t samples = wh_monitor_samples(picture->monitor);

	picture->samples = (samples + POINTS_MAX - 1) / POINTS_MAX;
	picture->points = samples == 0 ? 0 : (samples + picture->samples - 1) / picture->samples;
	picture->end_s = wh_sim_allocate((picture->points + 1) * sizeof(*picture->end_s));
	for (uint32_t i = 0; i < picture->points; i++) {
		uint64_t end = wh_min_u64((uint64_t)(i + 1) * picture->samples, samples);

		picture->end_s[i] = wh_ps_to_seconds(end * picture->point->scenario.interval_ps);
	}
}

static int draw(
	const struct picture *picture, const struct wh_ini *ini, uint64_t seed, const char *path)
{
	const char *title = wh_scenario_text(ini, "title");
	char interval[TITLE_BYTES], below[TITLE_BYTES];

	snprintf(interval, sizeof(interval), "Packets dropped in %g s",
		wh_ps_to_seconds(picture->samples * picture->point->scenario.interval_ps));
	snprintf(below, sizeof(below), "wavehaul sim %s, seed %lu%s; wavehaul %s", ini->path, seed,
		wh_scenario_flows(&picture->point->scenario) > LINES_MAX
			? "; flows of a kind are summed up"
			: "",
		WH_VERSION);

	const struct wh_chart_panel panels[] = {
		panel_of(picture, GOODPUT, "Payload that arrives", "there is no flow"),
		panel_of(picture, RATE, "Paced rate", "no flow is paced"),
		panel_of(picture, WINDOW, "Window (packets), of flows that are not paced",
			"all flows are paced"),
		panel_of(picture, QUEUE, "Queue (packets)", "nothing waited"),
		panel_of(picture, DROPPED, interval, "nothing was dropped"),
	};
	const struct wh_chart chart = {
		.title = title[0] != '\0' ? title : ini->path,
		.subtitle = below,
		.failure = "",
		.time = "the beginning",
		.end_s = picture->end_s,
		.count = picture->points,
		.panels = panels,
		.n_panels = sizeof(panels) / sizeof(panels[0]),
	};
	int rc = wh_chart_write(&chart, path);

	for (size_t i = 0; i < sizeof(panels) / sizeof(panels[0]); i++)
		free_panel(&panels[i]);
	return rc;
}

bool wh_sim_plot(const struct wh_point *point, const struct wh_ini *ini,
	const struct wh_scenario_run *run, uint64_t seed, const char *path)
{
	struct picture *picture = wh_sim_allocate(sizeof(*picture));
	int rc;

	WH_ASSERT(point->scenario.interval_ps > 0);
	picture->point = point;
	picture->monitor = wh_scenario_run_monitor(run);
	space_points(picture);
	find_flows(picture);
	find_links(picture);
	rc = draw(picture, ini, seed, path);
	free(picture->end_s);
	free(picture);
	if (rc != 0)
		wh_complain("the picture %s is not written: %s", path, strerror(-rc));
	return rc == 0;
}
