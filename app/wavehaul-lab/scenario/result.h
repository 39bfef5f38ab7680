/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The result of one run of a point, as JSON between processes and in --json:
 *
 *   {"report": [value, ...], "expect": [[{"left", "sign", "right"}, ...] or null, ...],
 *    "run": as wavehaul-sim(1) shows it}
 *
 * Reports and expectations are in the order of the file, and an expectation whose condition does
 * not hold is null. Signs are enum wh_sign. Numbers that are not finite are strings until they are
 * shown.
 */

#include <jansson.h>

#include "scenario/point.h"

json_t *wh_sim_result(struct wh_point *point, const struct wh_ini *ini,
	const struct wh_scenario_run *run, uint64_t seed, bool samples);

/* Of a fleet that has run. */
json_t *wh_fleet_result(struct wh_point *point, const struct wh_ini *ini, uint64_t seed);

/* For output: null if not finite. */
json_t *wh_json_shown(double x);

/* For transfer between processes, without loss of precision. */
json_t *wh_json_number(double x);
double wh_json_to_number(const json_t *value);
