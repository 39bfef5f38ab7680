/* SPDX-License-Identifier: BSD-3-Clause */

/* The verb plan: what each profile and each TCP would do on a link, as a table. */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/path_text.h"
#include "scenario/jobs.h"
#include "scenario/plan_row.h"
#include "scenario/result.h"
#include "sim/memory.h"
#include "sim/sim.h"
#include "verbs.h"

#define RATE_BPS_MIN UINT64_C(10000)
#define RATE_BPS_MAX UINT64_C(1000000000000)
#define RTT_NS_MIN   UINT64_C(1000)
#define RTT_NS_MAX   UINT64_C(10000000000)
#define MTU_MIN      576
#define MTU_MAX      9216
#define JOBS_MAX     256
#define DIGITS_SHOWN 12

struct options {
	struct wh_plan_link link;
	uint32_t jobs;
	bool json;
};

/* Rows that a formula could not tell are simulated, each in a process. */
struct plan {
	struct options options;
	struct wh_plan_row *rows;
	uint32_t *simulated; /* their numbers */
	uint32_t n_simulated;
};

enum option_id {
	OPT_RATE = 256,
	OPT_RTT,
	OPT_LOSS,
	OPT_FILE,
	OPT_MTU,
	OPT_QUEUE,
	OPT_JOBS,
	OPT_JSON,
	OPT_HELP,
};

static const struct option option_names[] = {
	{"rate", required_argument, NULL, OPT_RATE},
	{"rtt", required_argument, NULL, OPT_RTT},
	{"loss", required_argument, NULL, OPT_LOSS},
	{"file", required_argument, NULL, OPT_FILE},
	{"mtu", required_argument, NULL, OPT_MTU},
	{"queue", required_argument, NULL, OPT_QUEUE},
	{"jobs", required_argument, NULL, OPT_JOBS},
	{"json", no_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static void print_help(void)
{
	printf("usage: wavehaul plan --rate RATE --rtt TIME [OPTIONS]\n"
	       "\n"
	       "What each profile and each TCP would do alone on such a link: simulated packet by\n"
	       "packet, or by a published formula where a simulation would take too long.\n"
	       "\n"
	       "  --rate RATE        of the link, IP packets counted: 10G, 622M\n"
	       "  --rtt TIME         both ways: 150ms\n"
	       "  --loss SHARE       of packets, by chance, in both directions: 1e-5, 0.01%% (0)\n"
	       "  --file SIZE        to be moved: 10T, 500G (1T)\n"
	       "  --mtu BYTES        of IP, from 576 to 9216 (9000)\n"
	       "  --queue PACKETS    before the link (one bandwidth-delay product)\n"
	       "  --jobs N           simulations at once (1)\n"
	       "  --json             one JSON object on stdout, and nothing else there\n"
	       "\n" WH_EXIT_HELP);
}

static int refuse(const char *option, const char *value, const char *example)
{
	wh_complain("--%s '%s' is not understood; write for example --%s %s", option, value, option,
		example);
	return WH_EXIT_USAGE;
}

static bool parse_count(const char *text, uint32_t least, uint32_t most, uint32_t *count)
{
	char *end;
	unsigned long value;

	if (*text < '0' || *text > '9')
		return false;
	value = strtoul(text, &end, 10);
	*count = (uint32_t)value;
	return *end == '\0' && value >= least && value <= most;
}

static bool parse_rtt(const char *text, uint64_t *rtt_ps)
{
	uint64_t rtt_ns;

	if (wh_parse_time(text, &rtt_ns) != 0 || rtt_ns < RTT_NS_MIN || rtt_ns > RTT_NS_MAX)
		return false;
	*rtt_ps = rtt_ns * WH_PS_PER_NS;
	return true;
}

static bool parse_rate(const char *text, uint64_t *rate_bps)
{
	return wh_parse_rate(text, rate_bps) == 0 && *rate_bps >= RATE_BPS_MIN &&
	       *rate_bps <= RATE_BPS_MAX;
}

/* -1, or the exit status. */
static int take_option(struct options *options, int option)
{
	struct wh_plan_link *link = &options->link;

	switch (option) {
	case OPT_RATE:
		return parse_rate(optarg, &link->rate_bps) ? -1 : refuse("rate", optarg, "10G");
	case OPT_RTT:
		return parse_rtt(optarg, &link->rtt_ps) ? -1 : refuse("rtt", optarg, "150ms");
	case OPT_LOSS:
		return wh_parse_share(optarg, &link->loss) == 0 && link->loss < 0.5
			       ? -1
			       : refuse("loss", optarg, "1e-5");
	case OPT_FILE:
		return wh_parse_size(optarg, &link->file_bytes) == 0 && link->file_bytes > 0
			       ? -1
			       : refuse("file", optarg, "10T");
	case OPT_MTU:
		return parse_count(optarg, MTU_MIN, MTU_MAX, &link->packet_bytes)
			       ? -1
			       : refuse("mtu", optarg, "9000");
	case OPT_QUEUE:
		return parse_count(optarg, 1, UINT32_C(1) << 30, &link->queue_pkts)
			       ? -1
			       : refuse("queue", optarg, "1000");
	case OPT_JOBS:
		return parse_count(optarg, 1, JOBS_MAX, &options->jobs)
			       ? -1
			       : refuse("jobs", optarg, "2");
	case OPT_JSON:
		options->json = true;
		return -1;
	case OPT_HELP:
		print_help();
		return WH_EXIT_OK;
	default:
		fprintf(stderr, "`wavehaul plan --help` lists the options\n");
		return WH_EXIT_USAGE;
	}
}

static int parse_options(struct options *options, int argc, char **argv)
{
	struct wh_plan_link *link = &options->link;
	int option;

	options->jobs = 1;
	link->packet_bytes = 9000;
	link->file_bytes = UINT64_C(1) << 40;
	optind = 1;
	while ((option = getopt_long(argc, argv, "", option_names, NULL)) != -1) {
		int status = take_option(options, option);

		if (status != -1)
			return status;
	}
	if (optind < argc || link->rate_bps == 0 || link->rtt_ps == 0) {
		wh_complain("wavehaul plan takes the link by options, for example --rate 10G --rtt "
			    "150ms --loss 1e-5");
		return WH_EXIT_USAGE;
	}
	if (link->queue_pkts == 0)
		link->queue_pkts = (uint32_t)fmax(
			ceil((double)link->rate_bps * ((double)link->rtt_ps / WH_PS_PER_S) /
				(8.0 * link->packet_bytes)),
			2.0);
	return -1;
}

static char *work(void *context, uint32_t job)
{
	struct plan *plan = context;
	struct wh_plan_row told;
	json_t *numbers;
	char *text;

	wh_plan_row_simulate(&plan->options.link, plan->simulated[job], &told);
	numbers = json_pack("[o, o, I]", wh_json_number(told.goodput_bps),
		wh_json_number(told.finish_s), (json_int_t)told.simulated_ps);
	text = json_dumps(numbers, JSON_COMPACT);
	json_decref(numbers);
	return text;
}

static bool take(void *context, uint32_t job, const char *text)
{
	struct plan *plan = context;
	struct wh_plan_row *row = &plan->rows[plan->simulated[job]];
	json_t *numbers = json_loads(text, 0, NULL);

	if (json_array_size(numbers) != 3) {
		wh_complain("the simulation of %s said nothing", row->name);
		json_decref(numbers);
		return false;
	}
	row->goodput_bps = wh_json_to_number(json_array_get(numbers, 0));
	row->finish_s = wh_json_to_number(json_array_get(numbers, 1));
	row->simulated_ps = (uint64_t)json_integer_value(json_array_get(numbers, 2));
	json_decref(numbers);
	return true;
}

static int tell_rows(struct plan *plan)
{
	uint32_t n_rows = wh_plan_rows();
	struct wh_jobs_plan jobs = {
		.at_once = plan->options.jobs,
		.progress = isatty(STDERR_FILENO) == 1,
		.work = work,
		.take = take,
		.context = plan,
	};

	plan->rows = wh_sim_allocate(n_rows * sizeof(*plan->rows));
	plan->simulated = wh_sim_allocate(n_rows * sizeof(*plan->simulated));
	for (uint32_t i = 0; i < n_rows; i++)
		if (!wh_plan_row_by_formula(&plan->options.link, i, &plan->rows[i]))
			plan->simulated[plan->n_simulated++] = i;
	jobs.n_jobs = plan->n_simulated;
	return wh_jobs_run(&jobs);
}

/* Seconds for those who wait: 12.3 s, 10 min 05 s, 4 h 05 min, 3 d 02 h. */
static const char *format_span(double span_s, char text[WH_UNITS_MAX])
{
	if (!(span_s < 1e10)) {
		snprintf(text, WH_UNITS_MAX, "centuries");
		return text;
	}

	uint64_t minutes = (uint64_t)(span_s / 60.0);

	if (span_s < 600.0)
		snprintf(text, WH_UNITS_MAX, "%.1f s", span_s);
	else if (minutes < 60)
		snprintf(text, WH_UNITS_MAX, "%" PRIu64 " min %02" PRIu64 " s", minutes,
			(uint64_t)span_s % 60);
	else if (minutes < 24 * 60)
		snprintf(text, WH_UNITS_MAX, "%" PRIu64 " h %02" PRIu64 " min", minutes / 60,
			minutes % 60);
	else
		snprintf(text, WH_UNITS_MAX, "%" PRIu64 " d %02" PRIu64 " h", minutes / 1440,
			minutes / 60 % 24);
	return text;
}

static void print_table(const struct plan *plan)
{
	const struct wh_plan_link *link = &plan->options.link;
	char rate[WH_UNITS_MAX];
	char rtt[WH_UNITS_MAX];
	char size[WH_UNITS_MAX];
	char span[WH_UNITS_MAX];
	char how[64];

	printf("%s, %s there and back, packets of %" PRIu32 " bytes, %g of them lost, a queue of "
	       "%" PRIu32 "\n\n",
		wh_format_rate(rate, sizeof(rate), (double)link->rate_bps),
		wh_format_time(rtt, sizeof(rtt), link->rtt_ps / WH_PS_PER_NS), link->packet_bytes,
		link->loss, link->queue_pkts);
	printf("%-12s %12s %8s %16s   %s\n", "", "goodput", "of link",
		wh_format_size(size, sizeof(size), link->file_bytes), "told by");
	for (uint32_t i = 0; i < wh_plan_rows(); i++) {
		const struct wh_plan_row *row = &plan->rows[i];

		if (row->formula != NULL)
			snprintf(how, sizeof(how), "formula: %s", row->formula);
		else
			snprintf(how, sizeof(how), "simulation of %.3g s",
				(double)row->simulated_ps / WH_PS_PER_S);
		printf("%-12s %12s %7.2f%% %16s   %s\n", row->name,
			wh_format_rate(rate, sizeof(rate), row->goodput_bps),
			100.0 * row->goodput_bps / (double)link->rate_bps,
			format_span(row->finish_s, span), how);
	}
}

static json_t *row_json(const struct wh_plan_row *row, uint64_t rate_bps)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "name", row->name, "how",
		row->formula != NULL ? "formula" : "simulation", "formula",
		wh_text_to_json(row->formula != NULL ? row->formula : ""), "simulated_s",
		row->formula != NULL ? json_null()
				     : wh_json_shown((double)row->simulated_ps / WH_PS_PER_S),
		"goodput_bps", wh_json_shown(row->goodput_bps), "of_link",
		wh_json_shown(row->goodput_bps / (double)rate_bps), "finish_s",
		wh_json_shown(row->finish_s));
}

static void print_json(const struct plan *plan, int status)
{
	const struct wh_plan_link *link = &plan->options.link;
	json_t *rows = json_array();
	json_t *all;
	char *text;

	for (uint32_t i = 0; status == WH_EXIT_OK && i < wh_plan_rows(); i++)
		json_array_append_new(rows, row_json(&plan->rows[i], link->rate_bps));
	all = json_pack("{s:s, s:s, s:b, s:i, s:o, s:I, s:f, s:f, s:i, s:I, s:I, s:o}", "verb",
		"plan", "version", WH_VERSION, "ok", status == WH_EXIT_OK, "exit_status", status,
		"error", wh_text_to_json(wh_last_complaint()), "rate_bps",
		(json_int_t)link->rate_bps, "rtt_s", (double)link->rtt_ps / WH_PS_PER_S, "loss",
		link->loss, "mtu", (int)link->packet_bytes, "queue_pkts",
		(json_int_t)link->queue_pkts, "file_bytes", (json_int_t)link->file_bytes, "rows",
		rows);
	text = json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS_SHOWN));
	if (text != NULL)
		puts(text);
	free(text);
	json_decref(all);
}

int wh_verb_plan(int argc, char **argv)
{
	struct plan plan = {0};
	int status = parse_options(&plan.options, argc, argv);

	if (status == -1) {
		status = tell_rows(&plan);
		if (plan.options.json)
			print_json(&plan, status);
		else if (status == WH_EXIT_OK)
			print_table(&plan);
	}
	free(plan.rows);
	free(plan.simulated);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		wh_complain("the report could not be written: %s", strerror(errno));
		if (status == WH_EXIT_OK)
			status = WH_EXIT_OTHER;
	}
	return status;
}
