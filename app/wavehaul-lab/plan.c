/* SPDX-License-Identifier: BSD-3-Clause */

/* The verb plan: the performance of each profile and each TCP on a link, as a table. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/settings.h"
#include "lab/sim/sim_memory.h"
#include "lab_verbs.h"
#include "scenario/plan_row.h"
#include "scenario/result.h"
#include "scenario/workers.h"

#define DIGITS_SHOWN 12

/* Rows without a formula are simulated, each in a process. */
struct plan {
	struct wh_plan_link link;
	struct wh_plan_row *rows;
	uint32_t *simulated; /* indices of those rows */
	uint32_t n_simulated;
};

static bool take_link(const struct wh_settings *settings, struct wh_plan_link *link)
{
	*link = (struct wh_plan_link){
		.rate_bps = settings->link.rate_bps,
		.rtt_ps = settings->rtt_ns * WH_PS_PER_NS,
		.loss = settings->link.loss,
		.file_bytes = settings->size_bytes,
		.packet_bytes = settings->mtu_bytes,
		.queue_pkts = settings->link.queue_pkts,
		.choices = &settings->choices,
	};
	if (settings->operand_count > 0 || link->rate_bps == 0 || link->rtt_ps == 0)
		return wh_fail(false, "wavehaul plan takes the link by options, for example --rate "
				      "10G --rtt 150ms --loss 1e-5");
	if (link->queue_pkts == 0)
		link->queue_pkts = (uint32_t)fmax(
			ceil((double)link->rate_bps * ((double)link->rtt_ps / WH_PS_PER_S) /
				(8.0 * link->packet_bytes)),
			2.0);
	return true;
}

static char *work(void *context, uint32_t job)
{
	struct plan *plan = context;
	struct wh_plan_row told;
	json_t *numbers;
	char *text;

	wh_plan_row_simulate(&plan->link, plan->simulated[job], &told);
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

static int tell_rows(struct plan *plan, uint32_t at_once)
{
	uint32_t n_rows = wh_plan_rows();
	struct wh_workers jobs = {
		.at_once = at_once,
		.progress = isatty(STDERR_FILENO) == 1,
		.work = work,
		.take = take,
		.context = plan,
	};

	plan->rows = wh_sim_allocate(n_rows * sizeof(*plan->rows));
	plan->simulated = wh_sim_allocate(n_rows * sizeof(*plan->simulated));
	for (uint32_t i = 0; i < n_rows; i++)
		if (!wh_plan_row_by_formula(&plan->link, i, &plan->rows[i]))
			plan->simulated[plan->n_simulated++] = i;
	jobs.runs = plan->n_simulated;
	return wh_workers_run(&jobs);
}

/* A duration for people: 12.3 s, 10 min 05 s, 4 h 05 min, 3 d 02 h. */
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
	const struct wh_plan_link *link = &plan->link;
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
	const struct wh_plan_link *link = &plan->link;
	json_t *all = wh_head_json("plan", status);
	json_t *rows = json_array();
	for (uint32_t i = 0; status == WH_EXIT_OK && i < wh_plan_rows(); i++)
		json_array_append_new(rows, row_json(&plan->rows[i], link->rate_bps));
	wh_json_add(
		all, json_pack("{s:s, s:I, s:f, s:f, s:i, s:I, s:I, s:o}", "version", WH_VERSION,
			     "rate_bps", (json_int_t)link->rate_bps, "rtt_s",
			     (double)link->rtt_ps / WH_PS_PER_S, "loss", link->loss, "mtu",
			     (int)link->packet_bytes, "queue_pkts", (json_int_t)link->queue_pkts,
			     "file_bytes", (json_int_t)link->file_bytes, "rows", rows));
	wh_json_print(all, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS_SHOWN));
}

int wh_verb_plan(int argc, char **argv)
{
	struct plan plan = {0};
	struct wh_settings settings;
	int status = wh_settings_read(&settings, WH_VERB_PLAN, argc, argv);

	if (status == -1 && !take_link(&settings, &plan.link))
		status = WH_EXIT_USAGE;
	if (status == -1) {
		status = tell_rows(&plan, settings.jobs);
		if (settings.json)
			print_json(&plan, status);
		else if (status == WH_EXIT_OK)
			print_table(&plan);
	}
	free(plan.rows);
	free(plan.simulated);
	return status;
}
