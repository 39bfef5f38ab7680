/* SPDX-License-Identifier: BSD-3-Clause */

/* The verb sim: reads a scenario, tries every point, runs them in processes, tells. */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "scenario/jobs.h"
#include "scenario/list.h"
#include "scenario/report.h"
#include "scenario/result.h"
#include "sim/memory.h"
#include "verbs.h"

#define JOBS_MAX 256
#define SETS_MAX 100

struct options {
	const char *file; /* or the folder to be listed */
	const char *sets[SETS_MAX];
	uint32_t n_sets;
	const char *seed;
	const char *csv;
	uint32_t jobs;
	bool json;
	bool list;
};

/* One run of one point. */
struct run {
	uint32_t point;
	uint64_t seed;
	bool last; /* of its point */
};

struct verb {
	struct options options;
	struct wh_ini ini;
	struct wh_sweep sweep;
	struct run *runs;
	uint32_t n_runs;
	struct wh_sim_report report;
};

enum option_id {
	OPT_SET = 256,
	OPT_SEED,
	OPT_JOBS,
	OPT_CSV,
	OPT_JSON,
	OPT_LIST,
	OPT_HELP,
};

static const struct option option_names[] = {
	{"set", required_argument, NULL, OPT_SET},
	{"seed", required_argument, NULL, OPT_SEED},
	{"jobs", required_argument, NULL, OPT_JOBS},
	{"csv", required_argument, NULL, OPT_CSV},
	{"json", no_argument, NULL, OPT_JSON},
	{"list", no_argument, NULL, OPT_LIST},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static void print_help(void)
{
	printf("usage: wavehaul sim [OPTIONS] FILE\n"
	       "       wavehaul sim --list [FOLDER]\n"
	       "\n"
	       "Runs a scenario in virtual time: wavehaul's own sessions beside reference TCPs, "
	       "over\n"
	       "any network. FILE is a path, or a name of those that --list lists. The form of\n"
	       "scenarios: man wavehaul-scenario.\n"
	       "\n"
	       "  --set SECTION.KEY=VALUE  as if the file said so: scenario.duration=5s,\n"
	       "                     'link A-B.queue=100', sweep.rtt=1ms,10ms; may be given again\n"
	       "  --seed N           in place of the file's\n"
	       "  --jobs N           runs at once, each in a process (1)\n"
	       "  --csv FOLDER       write points.csv there, and flows.csv, links.csv and samples "
	       "of\n"
	       "                     each run\n"
	       "  --json             one JSON object on stdout, and nothing else there\n"
	       "  --list             scenarios in FOLDER, or those that came with wavehaul\n"
	       "\n" WH_EXIT_HELP);
}

static int refuse(const char *option, const char *value, const char *example)
{
	wh_complain("--%s '%s' is not understood; write for example --%s %s", option, value, option,
		example);
	return WH_EXIT_USAGE;
}

static bool parse_jobs(const char *text, uint32_t *jobs)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*jobs = (uint32_t)value;
	return *text >= '0' && *text <= '9' && *end == '\0' && value >= 1 && value <= JOBS_MAX;
}

/* -1, or the exit status. */
static int take_option(struct options *options, int option)
{
	switch (option) {
	case OPT_SET:
		if (options->n_sets == SETS_MAX) {
			wh_complain("--set is given more than %d times", SETS_MAX);
			return WH_EXIT_USAGE;
		}
		options->sets[options->n_sets++] = optarg;
		return -1;
	case OPT_SEED:
		options->seed = optarg;
		return -1;
	case OPT_JOBS:
		return parse_jobs(optarg, &options->jobs) ? -1 : refuse("jobs", optarg, "2");
	case OPT_CSV:
		options->csv = optarg;
		return -1;
	case OPT_JSON:
		options->json = true;
		return -1;
	case OPT_LIST:
		options->list = true;
		return -1;
	case OPT_HELP:
		print_help();
		return WH_EXIT_OK;
	default:
		fprintf(stderr, "`wavehaul sim --help` lists the options\n");
		return WH_EXIT_USAGE;
	}
}

static int parse_options(struct options *options, int argc, char **argv)
{
	int option;

	options->jobs = 1;
	optind = 1;
	while ((option = getopt_long(argc, argv, "", option_names, NULL)) != -1) {
		int status = take_option(options, option);

		if (status != -1)
			return status;
	}
	options->file = argv[optind];
	if (argc - optind > 1 || (options->file == NULL && !options->list)) {
		wh_complain("wavehaul sim takes one FILE; `wavehaul sim --list` names those there "
			    "are");
		return WH_EXIT_USAGE;
	}
	return -1;
}

static int read_scenario(struct verb *verb)
{
	const struct options *options = &verb->options;
	char *path = wh_scenario_path(options->file);
	char seed[64];
	int status = wh_ini_read(&verb->ini, path);

	free(path);
	for (uint32_t i = 0; status == -1 && i < options->n_sets; i++)
		status = wh_ini_set(&verb->ini, options->sets[i]);
	if (status == -1 && options->seed != NULL) {
		snprintf(seed, sizeof(seed), "scenario.seed=%s", options->seed);
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
		verb->runs[verb->n_runs++] = (struct run){
			.point = number,
			.seed = point->seed + i,
			.last = i + 1 == point->repeat,
		};
}

/* All that can be wrong is found before anything runs. */
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

/* In a process of its own. */
static char *work(void *context, uint32_t number)
{
	struct verb *verb = context;
	const struct run *job = &verb->runs[number];
	struct wh_point *point;

	if (wh_point_build(&verb->ini, &verb->sweep, job->point, &point) != -1)
		return NULL;

	struct wh_scenario_run *run = wh_scenario_run_create(&point->scenario, job->seed);

	wh_scenario_run_until(run, point->scenario.duration_ps);

	json_t *result = wh_sim_result(
		point, &verb->ini, run, job->seed, verb->options.json || verb->options.csv != NULL);
	char *text = json_dumps(result, JSON_COMPACT);

	json_decref(result);
	wh_scenario_run_destroy(run);
	wh_point_free(point);
	return text;
}

static bool take(void *context, uint32_t number, const char *text)
{
	struct verb *verb = context;
	const struct run *job = &verb->runs[number];

	return wh_sim_report_take(&verb->report, job->point, job->seed, text, job->last);
}

static int run_points(struct verb *verb)
{
	struct wh_sim_report *report = &verb->report;
	const struct wh_jobs_plan plan = {
		.n_jobs = verb->n_runs,
		.at_once = verb->options.jobs,
		.progress = isatty(STDERR_FILENO) == 1,
		.work = work,
		.take = take,
		.context = verb,
	};
	int status;

	report->csv = verb->options.csv;
	status = wh_jobs_run(&plan);
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

static int run_verb(struct verb *verb)
{
	int status = read_scenario(verb);

	wh_sim_report_init(&verb->report, &verb->ini, &verb->sweep);
	verb->report.json = verb->options.json;
	if (status == -1)
		status = try_points(verb);
	if (status == -1)
		status = run_points(verb);
	wh_sim_report_end(&verb->report, status);
	free(verb->runs);
	wh_sweep_free(&verb->sweep);
	wh_ini_free(&verb->ini);
	return status;
}

int wh_verb_sim(int argc, char **argv)
{
	struct verb verb = {0};
	int status = parse_options(&verb.options, argc, argv);

	if (status == -1)
		status = verb.options.list ? wh_scenarios_list(verb.options.file) : run_verb(&verb);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		wh_complain("the report could not be written: %s", strerror(errno));
		if (status == WH_EXIT_OK)
			status = WH_EXIT_OTHER;
	}
	return status;
}
