/* SPDX-License-Identifier: BSD-3-Clause */

/* The verb sim: reads a scenario, checks every point, runs them in processes, and reports. */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/settings.h"
#include "lab/sim/sim_memory.h"
#include "lab_verbs.h"
#include "plot/svg.h"
#include "scenario/list.h"
#include "scenario/result.h"
#include "scenario/sim_report.h"
#include "scenario/workers.h"

/* One run of one point. */
struct sim_run {
	uint32_t point;
	uint64_t seed;
	bool last; /* of its point */
};

struct verb {
	struct wh_settings settings;
	struct wh_ini ini;
	struct wh_sweep sweep;
	struct sim_run *runs;
	uint32_t n_runs;
	struct wh_sim_report report;
};

static int read_scenario(struct verb *verb)
{
	const struct wh_settings *settings = &verb->settings;
	char *path = wh_scenario_path(settings->operands[0]);
	char seed[sizeof(settings->seed) + sizeof("scenario.seed=")];
	int status = wh_ini_read(&verb->ini, &wh_scenario_form, path);

	free(path);
	for (uint32_t i = 0; status == -1 && i < settings->n_sets; i++)
		status = wh_scenario_set(&verb->ini, settings->sets[i]);
	if (status == -1 && settings->seed[0] != '\0') {
		snprintf(seed, sizeof(seed), "scenario.seed=%s", settings->seed);
		status = wh_ini_set(&verb->ini, seed);
	}
	if (status != -1)
		return status;
	return wh_sweep_read(&verb->sweep, &verb->ini.sections[WH_INI_SWEEP]);
}

static void add_runs(struct verb *verb, const struct wh_point *point, uint32_t number)
{
	verb->runs =
		wh_sim_resize(verb->runs, (verb->n_runs + point->repeat) * sizeof(*verb->runs));
	for (uint32_t i = 0; i < point->repeat; i++)
		verb->runs[verb->n_runs++] = (struct sim_run){
			.point = number,
			.seed = point->seed + i,
			.last = i + 1 == point->repeat,
		};
}

/* Finds all errors before anything runs. */
static int try_points(struct verb *verb)
{
	for (uint32_t i = 0; i < verb->sweep.n_points; i++) {
		struct wh_point *point;
		int status = wh_point_build(&verb->ini, &verb->sweep, i, &point);

		if (status != -1)
			return status;
		add_runs(verb, point, i);
		wh_point_free(point);
	}
	for (uint32_t i = 0; i < verb->ini.n_sections; i++)
		if (!wh_take_all_used(&verb->ini.sections[i]))
			return WH_EXIT_USAGE;
	return -1;
}

/* NULL: its picture cannot be written. */
static json_t *run_network(
	const struct verb *verb, struct wh_point *point, uint64_t seed, bool drawn)
{
	/* Samples taken only for the picture are in no report. */
	bool told = point->scenario.interval_ps > 0 &&
		    (verb->settings.json || verb->report.csv != NULL);

	if (drawn)
		point->scenario.interval_ps = wh_sim_plot_interval_ps(point);

	struct wh_scenario_run *run = wh_scenario_run_create(&point->scenario, seed);
	json_t *result = NULL;

	wh_scenario_run_until(run, point->scenario.duration_ps);
	if (!drawn || wh_sim_plot(point, &verb->ini, run, seed, verb->settings.plot))
		result = wh_sim_result(point, &verb->ini, run, seed, told);
	wh_scenario_run_destroy(run);
	return result;
}

/* In a process of its own. */
static char *work(void *context, uint32_t number)
{
	struct verb *verb = context;
	const struct sim_run *job = &verb->runs[number];
	bool drawn = number == 0 && verb->settings.plot[0] != '\0';
	struct wh_point *point;
	json_t *result = NULL;
	char *text;

	if (wh_point_build(&verb->ini, &verb->sweep, job->point, &point) != -1)
		return NULL;
	if (point->fleet.config.nodes == 0)
		result = run_network(verb, point, job->seed, drawn);
	else if (wh_point_run_fleet(point, job->seed))
		result = wh_fleet_result(point, &verb->ini, job->seed);
	text = json_dumps(result, JSON_COMPACT);
	json_decref(result);
	wh_point_free(point);
	return text;
}

static bool take(void *context, uint32_t number, const char *text)
{
	struct verb *verb = context;
	const struct sim_run *job = &verb->runs[number];

	return wh_sim_report_take(&verb->report, job->point, job->seed, text, job->last);
}

static int run_points(struct verb *verb)
{
	struct wh_sim_report *report = &verb->report;
	const struct wh_workers plan = {
		.runs = verb->n_runs,
		.at_once = verb->settings.jobs,
		.progress = isatty(STDERR_FILENO) == 1,
		.work = work,
		.take = take,
		.context = verb,
	};
	int status;

	status = wh_workers_run(&plan);
	if (status == WH_EXIT_OK && report->csv != NULL &&
		!wh_sim_csv_points(report->csv, &verb->ini, report->points))
		status = WH_EXIT_OTHER;
	if (status == WH_EXIT_OK && report->failed > 0) {
		wh_complain("%u expectation%s of %s %s not hold", report->failed,
			report->failed == 1 ? "" : "s", verb->ini.path,
			report->failed == 1 ? "does" : "do");
		status = WH_EXIT_EXPECTATION;
	}
	return status;
}

/* Curves of several points in one picture would be unclear, and each point has its own scales. */
static int check_plot(const struct verb *verb)
{
	if (verb->ini.sections[WH_INI_FLEET].n_entries > 0)
		return wh_fail(WH_EXIT_USAGE, "--plot draws flows and links, and a fleet has none");
	for (uint32_t i = 0; i < verb->sweep.n_lists; i++) {
		const struct wh_sweep_list *list = &verb->sweep.lists[i];

		if (list->n_rows <= 1)
			continue;
		return wh_fail(WH_EXIT_USAGE,
			"--plot draws one point, and %s has %u; choose one of them, as --set "
			"sweep.%s=VALUE",
			verb->ini.path, verb->sweep.n_points, list->names[0]);
	}
	return wh_svg_may_write(verb->settings.plot) ? -1 : WH_EXIT_OTHER;
}

static int run_verb(struct verb *verb)
{
	int status = read_scenario(verb);

	wh_sim_report_init(&verb->report, &verb->ini, &verb->sweep);
	verb->report.json = verb->settings.json;
	verb->report.csv = verb->settings.csv[0] != '\0' ? verb->settings.csv : NULL;
	if (status == -1)
		status = try_points(verb);
	if (status == -1 && verb->settings.plot[0] != '\0')
		status = check_plot(verb);
	if (status == -1)
		status = run_points(verb);
	wh_sim_report_end(&verb->report, status);
	free(verb->runs);
	wh_sweep_free(&verb->sweep);
	wh_ini_free(&verb->ini);
	return status;
}

static int check_operands(const struct wh_settings *settings)
{
	if (settings->operand_count == 1 || (settings->operand_count == 0 && settings->list))
		return -1;
	return wh_fail(WH_EXIT_USAGE,
		"wavehaul sim takes one FILE; `wavehaul sim --list` names those there are");
}

int wh_verb_sim(int argc, char **argv)
{
	static struct verb verb;
	int status = wh_settings_read(&verb.settings, WH_VERB_SIM, argc, argv);

	if (status == -1)
		status = check_operands(&verb.settings);
	if (status == -1)
		status = verb.settings.list ? wh_scenarios_list(verb.settings.operands[0])
					    : run_verb(&verb);
	return status;
}
