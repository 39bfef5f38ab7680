/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/sim_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/json.h"
#include "scenario/result.h"

#define SHOWN_DIGITS 12

#define VALUE_TEXT_BYTES 80

/* A value of a sweep in usual notation: 10M, 1.5ms, udt. */
static const char *value_text(const struct wh_value *value, char text[VALUE_TEXT_BYTES])
{
	static const struct {
		double least;
		const char *name;
	} numbers[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {0.0, ""}},
	  times[] = {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {0.0, "ns"}};
	bool is_time = value->kind == WH_VALUE_TIME;
	uint32_t i = 0;
	double scale;

	if (value->kind == WH_VALUE_WORD) {
		snprintf(text, VALUE_TEXT_BYTES, "%s", value->word);
		return text;
	}
	/* A value just below a unit is shown in that unit. */
	while ((is_time ? times : numbers)[i].least > fabs(value->x) * (1.0 + 1e-9))
		i++;
	scale = (is_time ? times : numbers)[i].least;
	if (scale == 0.0)
		scale = is_time ? 1e-9 : 1.0;
	snprintf(text, VALUE_TEXT_BYTES, "%.6g%s", value->x / scale,
		(is_time ? times : numbers)[i].name);
	return text;
}

void wh_sim_report_init(
	struct wh_sim_report *report, const struct wh_ini *ini, const struct wh_sweep *sweep)
{
	*report = (struct wh_sim_report){
		.ini = ini,
		.sweep = sweep,
		.points = json_array(),
		.results = json_array(),
	};
}

/*
 * Mean over all runs of the i-th report, or of one side of the i-th expectation's k-th comparison.
 */
static double mean_of(const struct wh_sim_report *report, size_t i, size_t k, const char *side)
{
	size_t n_runs = json_array_size(report->results);
	double sum = 0.0;

	WH_ASSERT(n_runs > 0);
	for (size_t run = 0; run < n_runs; run++) {
		const json_t *result = json_array_get(report->results, run);
		const json_t *number = json_array_get(
			json_object_get(result, side == NULL ? "report" : "expect"), i);

		if (side != NULL)
			number = json_object_get(json_array_get(number, k), side);
		sum += wh_json_to_number(number);
	}
	return sum / (double)n_runs;
}

static json_t *conclude_report(const struct wh_sim_report *report)
{
	const struct wh_ini_section *section = &report->ini->sections[WH_INI_REPORT];
	json_t *object = json_object();

	for (uint32_t i = 0; i < section->n_entries; i++)
		json_object_set_new(object, section->entries[i].key,
			wh_json_shown(mean_of(report, i, 0, NULL)));
	return object;
}

/* `first`: the expectation's result in the first run. */
static json_t *conclude_expectation(
	const struct wh_sim_report *report, size_t i, const json_t *first, bool *all_ok)
{
	const struct wh_ini_entry *entry = &report->ini->sections[WH_INI_EXPECT].entries[i];
	json_t *compared = json_array();

	*all_ok = true;
	for (size_t k = 0; k < json_array_size(first); k++) {
		enum wh_sign sign = (enum wh_sign)json_integer_value(
			json_object_get(json_array_get(first, k), "sign"));
		double left = mean_of(report, i, k, "left");
		double right = mean_of(report, i, k, "right");
		bool ok = wh_sign_holds(sign, left, right);

		*all_ok &= ok;
		json_array_append_new(compared,
			json_pack("{s:o, s:s, s:o, s:b}", "left", wh_json_shown(left), "sign",
				wh_sign_text(sign), "right", wh_json_shown(right), "ok", ok));
	}
	return json_pack("{s:s, s:s, s:b, s:o}", "label", entry->key, "text", entry->value, "ok",
		*all_ok, "compared", compared);
}

static json_t *conclude_expect(struct wh_sim_report *report, bool *ok)
{
	const json_t *first = json_object_get(json_array_get(report->results, 0), "expect");
	json_t *all = json_array();
	const json_t *one;
	size_t i;

	*ok = true;
	json_array_foreach(first, i, one)
	{
		bool holds;

		if (!json_is_array(one)) /* it does not apply at this point */
			continue;
		json_array_append_new(all, conclude_expectation(report, i, one, &holds));
		report->failed += !holds;
		*ok &= holds;
	}
	return all;
}

static json_t *sweep_json(const struct wh_sweep_values *values, bool as_text)
{
	char text[VALUE_TEXT_BYTES];
	json_t *object = json_object();

	for (uint32_t i = 0; i < values->n_variables; i++) {
		const struct wh_variable *variable = &values->variables[i];
		bool is_text = as_text || variable->value.kind == WH_VALUE_WORD;

		json_object_set_new(object, variable->name,
			is_text ? json_string(value_text(&variable->value, text))
				: wh_json_shown(variable->value.x));
	}
	return object;
}

/* Called when all runs of the point are complete. */
static void conclude_point(struct wh_sim_report *report, uint32_t number)
{
	struct wh_sweep_values values;
	json_t *object;
	json_t *runs = json_array();
	json_t *expect;
	json_t *result;
	size_t i;
	bool ok;
	int status = wh_sweep_at(report->sweep, number, &values);

	WH_ASSERT(status == -1);
	WH_ASSERT(number == json_array_size(report->points)); /* in order */
	json_array_foreach(report->results, i, result)
		json_array_append(runs, json_object_get(result, "run"));
	expect = conclude_expect(report, &ok);
	object = json_pack("{s:I, s:o, s:b, s:o, s:o, s:o}", "number", (json_int_t)number + 1,
		"sweep", sweep_json(&values, false), "ok", ok, "report", conclude_report(report),
		"expect", expect, "runs", runs);
	if (!report->json) {
		json_object_set_new(object, "sweep_text", sweep_json(&values, true));
		wh_sim_table_print(object, report->sweep->n_points);
		/* Free what is not needed again. */
		json_object_del(object, "sweep_text");
		json_object_del(object, "runs");
	}
	wh_sweep_values_free(&values);
	json_array_append_new(report->points, object);
	json_array_clear(report->results);
}

bool wh_sim_report_take(
	struct wh_sim_report *report, uint32_t point, uint64_t seed, const char *text, bool last)
{
	json_t *result = text == NULL ? NULL : json_loads(text, 0, NULL);
	json_t *run = json_object_get(result, "run");
	bool fine = run != NULL;

	if (!fine) {
		wh_complain("what the run of point %u said is not complete", point + 1);
		json_decref(result);
		return false;
	}
	if (report->csv != NULL)
		fine = wh_sim_csv_run(report->csv, point, seed, run);
	json_array_append_new(report->results, result);
	if (last)
		conclude_point(report, point);
	return fine;
}

static void print_json(const struct wh_sim_report *report, int status)
{
	const struct wh_ini *ini = report->ini;
	json_t *all = wh_head_json("sim", status);

	wh_json_add(all, json_pack("{s:s, s:o, s:o, s:o, s:o, s:O}", "version", WH_VERSION, "file",
				 wh_text_to_json(ini->path), "title",
				 wh_text_to_json(wh_scenario_text(ini, "title")), "paper",
				 wh_text_to_json(wh_scenario_text(ini, "paper")), "figure",
				 wh_text_to_json(wh_scenario_text(ini, "figure")), "points",
				 report->points));
	wh_json_print(all, JSON_INDENT(1) | JSON_REAL_PRECISION(SHOWN_DIGITS));
}

void wh_sim_report_end(struct wh_sim_report *report, int status)
{
	if (report->json)
		print_json(report, status);
	json_decref(report->points);
	json_decref(report->results);
}
