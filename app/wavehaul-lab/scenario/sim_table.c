/* SPDX-License-Identifier: BSD-3-Clause */

/* A point for people: flows by group, links with traffic, reports, expectations. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/plain_text.h"
#include "lab/sim/monitor.h"
#include "lab/sim/sim_memory.h"
#include "scenario/sim_report.h"

/* A link with less, and without drops, carried only acknowledgements. */
#define UTILISATION_SHOWN 0.05

static double number_of(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* Sums of one group over its flows and the runs, and the throughputs of the single flows. */
struct group {
	const char *name;
	double goodput_bps;
	double sent_pkts;
	double retransmitted_pkts;
	double dropped_pkts;
	double finished_s;   /* the latest; negative: one has not finished */
	const char *busiest; /* its tasks; NULL: it has none */
	double *throughputs_bps;
	uint32_t count;
};

static void add_flow(struct group *group, const json_t *flow)
{
	const json_t *finished = json_object_get(flow, "finished_s");

	group->goodput_bps += number_of(flow, "goodput_bps");
	group->sent_pkts += number_of(flow, "sent_pkts");
	group->retransmitted_pkts += number_of(flow, "retransmitted_pkts");
	group->dropped_pkts += number_of(flow, "dropped_pkts");
	group->throughputs_bps[group->count++] = number_of(flow, "throughput_bps");
	group->busiest = json_string_value(json_object_get(flow, "busiest"));
	if (!json_is_number(finished))
		group->finished_s = -1.0;
	else if (group->finished_s >= 0.0)
		group->finished_s = fmax(group->finished_s, json_number_value(finished));
}

static void print_group(const struct group *group, double n_runs)
{
	char rate[WH_UNITS_MAX];
	char finished[WH_UNITS_MAX] = "-";
	char jain[WH_UNITS_MAX] = "-";
	double n_flows = group->count / n_runs;

	if (group->finished_s >= 0.0)
		snprintf(finished, sizeof(finished), "%.3f s", group->finished_s);
	if (group->count > n_runs)
		snprintf(jain, sizeof(jain), "%.4f", wh_jain(group->throughputs_bps, group->count));
	printf("  %-14s %5.0f %12s %8s %10.0f %9.0f %9.0f %12s%s%s\n", group->name, n_flows,
		wh_format_rate(rate, sizeof(rate), group->goodput_bps / n_runs), jain,
		group->sent_pkts / n_runs, group->retransmitted_pkts / n_runs,
		group->dropped_pkts / n_runs, finished,
		group->busiest != NULL ? "  waits for " : "",
		group->busiest != NULL ? group->busiest : "");
}

/* Groups in the order of their first flow. */
static void print_flows(const json_t *runs)
{
	double n_runs = (double)json_array_size(runs);
	const json_t *first = json_object_get(json_array_get(runs, 0), "flows");
	size_t n_flows = json_array_size(first);
	struct group group = {.name = ""};

	printf("  %-14s %5s %12s %8s %10s %9s %9s %12s\n", "flow", "count", "goodput", "jain",
		"sent", "retr", "dropped", "finished");
	group.throughputs_bps = wh_sim_allocate(
		(n_flows * json_array_size(runs) + 1) * sizeof(*group.throughputs_bps));
	for (size_t i = 0; i < n_flows; i++) {
		const json_t *flow = json_array_get(first, i);
		const char *name = json_string_value(json_object_get(flow, "group"));

		if (strcmp(name, group.name) != 0) {
			if (i > 0)
				print_group(&group, n_runs);
			group = (struct group){
				.name = name, .throughputs_bps = group.throughputs_bps};
		}
		for (size_t run = 0; run < json_array_size(runs); run++)
			add_flow(&group,
				json_array_get(
					json_object_get(json_array_get(runs, run), "flows"), i));
	}
	if (n_flows > 0)
		print_group(&group, n_runs);
	free(group.throughputs_bps);
}

static double mean_of_links(const json_t *runs, size_t link, const char *key)
{
	double sum = 0.0;

	for (size_t run = 0; run < json_array_size(runs); run++)
		sum += number_of(
			json_array_get(json_object_get(json_array_get(runs, run), "links"), link),
			key);
	return sum / (double)json_array_size(runs);
}

static void print_links(const json_t *runs)
{
	const json_t *first = json_object_get(json_array_get(runs, 0), "links");
	bool headed = false;

	for (size_t i = 0; i < json_array_size(first); i++) {
		double drops_pkts = mean_of_links(runs, i, "policed_pkts") +
				    mean_of_links(runs, i, "overflow_pkts") +
				    mean_of_links(runs, i, "early_pkts");
		double lost_pkts = mean_of_links(runs, i, "lost_pkts");
		double utilisation = mean_of_links(runs, i, "utilisation");

		if (utilisation < UTILISATION_SHOWN && drops_pkts + lost_pkts == 0.0)
			continue;
		if (!headed)
			printf("  %-14s %9s %10s %9s %9s %11s\n", "link", "used", "entered",
				"drops", "lost", "queue");
		headed = true;
		printf("  %-14s %8.2f%% %10.0f %9.0f %9.0f %11.1f\n",
			json_string_value(json_object_get(json_array_get(first, i), "name")),
			100.0 * utilisation, mean_of_links(runs, i, "entered_pkts"), drops_pkts,
			lost_pkts, mean_of_links(runs, i, "queue_mean_pkts"));
	}
}

/* Labels come from the file, so they are escaped. */
static void print_text(const json_t *text)
{
	char plain[1024];

	fputs(wh_plain_text(json_string_value(text), false, plain, sizeof(plain)), stdout);
}

static void print_number(const json_t *value)
{
	if (json_is_number(value))
		printf("%.6g", json_number_value(value));
	else
		printf("no number");
}

static void print_expectation(const json_t *expectation)
{
	size_t i;
	json_t *one;

	printf("  %-6s ", json_is_true(json_object_get(expectation, "ok")) ? "ok" : "FAILED");
	print_text(json_object_get(expectation, "label"));
	putchar(':');
	json_array_foreach(json_object_get(expectation, "compared"), i, one)
	{
		printf("%s ", i > 0 ? "," : "");
		print_number(json_object_get(one, "left"));
		printf(" %s ", json_string_value(json_object_get(one, "sign")));
		print_number(json_object_get(one, "right"));
	}
	printf("   (");
	print_text(json_object_get(expectation, "text"));
	printf(")\n");
}

void wh_sim_table_print(const json_t *point, uint32_t n_points)
{
	const json_t *runs = json_object_get(point, "runs");
	const char *key;
	json_t *value;
	size_t i;

	printf("point %lld of %" PRIu32, json_integer_value(json_object_get(point, "number")),
		n_points);
	json_object_foreach(json_object_get(point, "sweep_text"), key, value)
		printf(", %s = %s", key, json_string_value(value));
	if (json_array_size(runs) > 1)
		printf(" (means of %zu runs)", json_array_size(runs));
	printf("\n");
	if (json_object_get(json_array_get(runs, 0), "fleet") == NULL) {
		print_flows(runs);
		print_links(runs);
	}
	json_object_foreach(json_object_get(point, "report"), key, value)
	{
		printf("  %s = ", key);
		print_number(value);
		printf("\n");
	}
	json_array_foreach(json_object_get(point, "expect"), i, value) print_expectation(value);
	printf("\n");
	fflush(stdout);
}
