/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Combines the results of all points' runs: the table, the CSV files, the JSON object. */

#include <jansson.h>

#include "scenario/point.h"

struct wh_sim_report {
	const struct wh_ini *ini;
	const struct wh_sweep *sweep;
	bool json;
	const char *csv; /* folder; NULL: none */

	uint32_t failed; /* expectations that failed, over all points */
	json_t *points;
	json_t *results; /* of the present point's runs */
};

void wh_sim_report_init(
	struct wh_sim_report *report, const struct wh_ini *ini, const struct wh_sweep *sweep);

/*
 * Takes the text of wh_sim_result, run by run; `last`: the point's last run. False after a
 * complaint.
 */
bool wh_sim_report_take(
	struct wh_sim_report *report, uint32_t point, uint64_t seed, const char *text, bool last);

/* Call at the end, or after a failure; prints the JSON object if requested. */
void wh_sim_report_end(struct wh_sim_report *report, int status);

/* Prints a point as in wavehaul-sim(1). */
void wh_sim_table_print(const json_t *point, uint32_t n_points);

/* Write files in the folder. False after a complaint. */
bool wh_sim_csv_run(const char *folder, uint32_t point, uint64_t seed, const json_t *run);
bool wh_sim_csv_points(const char *folder, const struct wh_ini *ini, const json_t *points);

/* The sampling interval for a picture: the scenario's, or a suitable one. */
uint64_t wh_sim_plot_interval_ps(const struct wh_point *point);

/* Draws a run sampled at that interval. False after a complaint. */
bool wh_sim_plot(const struct wh_point *point, const struct wh_ini *ini,
	const struct wh_scenario_run *run, uint64_t seed, const char *path);
