/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* One point of a scenario's sweep: the network and its flows, or a fleet, and the questions. */

#include "fleet/forecast/forecast.h"
#include "lab/scenario/scenario.h"
#include "scenario/expr.h"
#include "scenario/list.h"
#include "scenario/sweep.h"
#include "scenario/take.h"

#define WH_POINT_NODES_MAX  1000
#define WH_POINT_LINKS_MAX  2000
#define WH_POINT_GROUPS_MAX 1000
#define WH_POINT_FLOWS_MAX  100000
#define WH_POINT_MARKS_MAX  200
#define WH_POINT_SERIES_MAX 16
#define WH_POINT_SPANS_MAX  1000

/* The pauses of a machine, from a file. */
struct wh_point_noise {
	struct wh_point_noise *next;
	uint32_t count;
	struct wh_absence_span spans[WH_POINT_SPANS_MAX];
};

/* No nodes: there is a network. */
struct wh_point_fleet {
	struct wh_forecast_config config;
	struct wh_shards shards; /* filled by each run */
	uint32_t receivers;
	double receiver_bps;
	uint32_t files;
	double file_bytes;
	double spread; /* of the logarithms */
};

#define WH_POINT_FLEET_RESULTS 13

struct wh_point {
	struct wh_scenario scenario;
	uint64_t warmup_ps;
	uint64_t seed;
	uint32_t repeat;
	struct wh_point_fleet fleet;

	struct wh_sweep_values swept;
	struct wh_variable *variables; /* swept; duration and warmup, or what a fleet's run told */
	uint32_t n_variables;

	char *nodes[WH_POINT_NODES_MAX]; /* names */
	struct wh_sim_link_config links[WH_POINT_LINKS_MAX];
	struct wh_scenario_group groups[WH_POINT_GROUPS_MAX];
	char *agents[WH_POINT_GROUPS_MAX]; /* names as in the file */
	uint64_t marks_ps[WH_POINT_MARKS_MAX];
	uint64_t series_ps[WH_POINT_SERIES_MAX];
	struct wh_point_noise *noises; /* freed with the point */
	bool shows_delays;             /* of all queues, in rows and samples */
};

/*
 * Builds the point and checks all questions, so that none can fail later. -1 and the point, or the
 * exit status after a complaint.
 */
int wh_point_build(
	struct wh_ini *ini, const struct wh_sweep *sweep, uint32_t number, struct wh_point **point);
void wh_point_free(struct wh_point *point);

/* Each reads a part of it; false after a complaint. */
bool wh_point_take_link(struct wh_point *point, struct wh_taker *taker);
bool wh_point_take_flow(struct wh_point *point, struct wh_taker *taker);
bool wh_point_take_fleet(struct wh_point *point, struct wh_taker *taker);

/* Sets the variables that it tells. False: after a complaint, or without memory. */
bool wh_point_run_fleet(struct wh_point *point, uint64_t seed);

/* When a machine is away from its port: the mean times away and at it, or a file of real ones. */
struct wh_absence_keys {
	const char *away;
	const char *here;
	const char *noise;
};
void wh_point_take_absence(struct wh_point *point, struct wh_taker *taker,
	const struct wh_absence_keys *keys, struct wh_absence_config *absence);

/*
 * Reads flows of a group that differ from each other, from lists or a trace; freed with the group.
 */
#define WH_POINT_SIZE_MAX (UINT64_C(1) << 60)
void wh_point_take_members(struct wh_taker *taker, struct wh_scenario_group *group, bool has_size);

/* UINT32_MAX: unknown name. */
uint32_t wh_point_find_node(const struct wh_point *point, const char *name, size_t chars);

/* Adds a moment for questions as a mark. False: too many. */
bool wh_point_add_mark(struct wh_point *point, uint64_t at_ps);

/* The series with that period, added if there is none; UINT32_MAX: too many. */
uint32_t wh_point_series(struct wh_point *point, uint64_t period_ps);

/* "A-B" of a link, "NAME" or "NAME.2" of a flow. */
#define WH_POINT_NAME_BYTES (2 * WH_WORD_BYTES + 16)
const char *wh_point_link_name(
	const struct wh_point *point, uint32_t link, char text[WH_POINT_NAME_BYTES]);
const char *wh_point_flow_name(
	const struct wh_point *point, uint32_t flow, char text[WH_POINT_NAME_BYTES]);

/* The group of a flow, and its agent. */
const struct wh_scenario_group *wh_point_group_of(const struct wh_point *point, uint32_t flow);
const char *wh_point_agent_of(const struct wh_point *point, uint32_t flow);
