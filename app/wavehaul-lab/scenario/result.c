/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/result.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include "scenario/sim_ask.h"

json_t *wh_json_shown(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

json_t *wh_json_number(double x)
{
	return isfinite(x) ? json_real(x)
			   : json_string(isnan(x)  ? "nan"
					 : x > 0.0 ? "inf"
						   : "-inf");
}

double wh_json_to_number(const json_t *value)
{
	return json_is_string(value) ? strtod(json_string_value(value), NULL)
				     : json_number_value(value);
}

static json_t *json_count(uint64_t count)
{
	return json_integer((json_int_t)count);
}

static json_t *flow_json(
	const struct wh_point *point, const struct wh_scenario_run *run, uint32_t flow)
{
	const struct wh_scenario_group *group = wh_point_group_of(point, flow);
	uint64_t end_ps = point->scenario.duration_ps;
	struct wh_sim_flow_stats span =
		wh_monitor_flow_span(wh_scenario_run_monitor(run), flow, point->warmup_ps, end_ps);
	uint64_t finished_ps = wh_scenario_run_stats(run, flow)->finished_ps;
	double span_s = wh_ps_to_seconds(end_ps - point->warmup_ps);
	char name[WH_POINT_NAME_BYTES];

	/* clang-format off */
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:s*}",
		"name", wh_point_flow_name(point, flow, name),
		"group", group->name,
		"agent", point->agents[group - point->groups],
		"start_s", wh_json_shown(wh_ps_to_seconds(
			wh_scenario_run_start_ps(run, flow))),
		"goodput_bps", wh_json_shown(8.0 * (double)span.goodput_bytes / span_s),
		"throughput_bps",
			wh_json_shown(wh_throughput_bps(group, span.goodput_bytes, span_s)),
		"sent_pkts", (json_int_t)span.sent_pkts,
		"retransmitted_pkts", (json_int_t)span.retransmitted_pkts,
		"repair_pkts", (json_int_t)span.repair_pkts,
		"dropped_pkts", (json_int_t)span.dropped_pkts,
		"finished_s", finished_ps == WH_SIM_NEVER_PS
			? json_null() : wh_json_shown(wh_ps_to_seconds(finished_ps)),
		"busiest", wh_scenario_run_stats(run, flow)->busiest);
	/* clang-format on */
}

static bool has_policers(const struct wh_point *point)
{
	for (uint32_t i = 0; i < point->scenario.n_links; i++)
		if (point->links[i].policer.rate_bps > 0)
			return true;
	return false;
}

static void add_delays(json_t *object, const struct wh_point *point,
	const struct wh_scenario_run *run, uint32_t link)
{
	static const struct {
		const char *key;
		double share;
	} quantiles[] = {{"delay_p50_s", 0.5}, {"delay_p99_s", 0.99}, {"delay_max_s", 1.0}};
	const struct wh_monitor *monitor = wh_scenario_run_monitor(run);

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		uint64_t delay_ps = wh_monitor_delay_ps(monitor, link, point->warmup_ps,
			point->scenario.duration_ps, quantiles[i].share);

		json_object_set_new(
			object, quantiles[i].key, wh_json_shown(wh_ps_to_seconds(delay_ps)));
	}
}

/* Members that depend on the scenario are in all its rows, or in none. */
static json_t *link_json(
	const struct wh_point *point, const struct wh_scenario_run *run, uint32_t link)
{
	uint64_t end_ps = point->scenario.duration_ps;
	struct wh_sim_link_stats span =
		wh_monitor_link_span(wh_scenario_run_monitor(run), link, point->warmup_ps, end_ps);
	double span_ps = (double)(end_ps - point->warmup_ps);
	const struct wh_sim_link_stats *stats = wh_sim_link_stats(wh_scenario_run_sim(run), link);
	char name[WH_POINT_NAME_BYTES];
	json_t *object;

	/* clang-format off */
	object = json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:I}",
		"name", wh_point_link_name(point, link, name),
		"rate_bps", wh_json_shown((double)point->links[link].rate_bps),
		"utilisation", wh_json_shown((double)span.busy_ps / span_ps),
		"entered_pkts", (json_int_t)span.entered_pkts,
		"overflow_pkts", (json_int_t)span.overflow_pkts,
		"early_pkts", (json_int_t)span.early_pkts,
		"lost_pkts", (json_int_t)span.lost_pkts,
		"queue_mean_pkts", wh_json_shown((double)span.queue_pkt_ps / span_ps),
		"queue_max_pkts", (json_int_t)stats->queue_max_pkts);
	/* clang-format on */
	if (has_policers(point))
		json_object_set_new(object, "policed_pkts", json_count(span.policed_pkts));
	if (point->shows_delays)
		add_delays(object, point, run, link);
	return object;
}

/* Appends to the array of that key. */
static void append(json_t *object, const char *key, json_t *value)
{
	if (json_object_get(object, key) == NULL)
		json_object_set_new(object, key, json_array());
	json_array_append_new(json_object_get(object, key), value);
}

static json_t *flow_samples(
	const struct wh_point *point, const struct wh_monitor *monitor, uint32_t flow)
{
	const struct wh_scenario_group *group = wh_point_group_of(point, flow);
	double interval_s = wh_ps_to_seconds(point->scenario.interval_ps);
	json_t *object = json_object();

	for (uint32_t i = 0; i < wh_monitor_samples(monitor); i++) {
		struct wh_sim_flow_stats sample = wh_monitor_flow_sample(monitor, flow, i);
		const struct wh_monitor_look *look = wh_monitor_look_sample(monitor, flow, i);

		append(object, "goodput_bps",
			wh_json_shown(8.0 * (double)sample.goodput_bytes / interval_s));
		append(object, "throughput_bps",
			wh_json_shown(wh_throughput_bps(group, sample.goodput_bytes, interval_s)));
		append(object, "rate_bps", wh_json_shown(look->rate_bps));
		append(object, "window_pkts", wh_json_shown(look->window_pkts));
		append(object, "sequence_pkts", json_count(look->sequence_pkts));
		append(object, "sent_pkts", json_count(sample.sent_pkts));
		append(object, "repair_pkts", json_count(sample.repair_pkts));
		append(object, "mode", look->mode != NULL ? json_string(look->mode) : json_null());
	}
	return object;
}

static json_t *link_samples(
	const struct wh_point *point, const struct wh_monitor *monitor, uint32_t link)
{
	double interval_ps = (double)point->scenario.interval_ps;
	json_t *object = json_object();

	for (uint32_t i = 0; i < wh_monitor_samples(monitor); i++) {
		struct wh_sim_link_stats sample = wh_monitor_link_sample(monitor, link, i);

		append(object, "queue_pkts", json_count(sample.queue_pkts));
		append(object, "utilisation", wh_json_shown((double)sample.busy_ps / interval_ps));
		append(object, "dropped_pkts",
			json_count(sample.policed_pkts + sample.overflow_pkts + sample.early_pkts +
				   sample.lost_pkts));
		if (!point->shows_delays)
			continue;

		const struct wh_monitor_delays *delays = wh_monitor_delays_sample(monitor, link, i);

		append(object, "delay_p50_s", wh_json_shown(wh_ps_to_seconds(delays->p50_ps)));
		append(object, "delay_p99_s", wh_json_shown(wh_ps_to_seconds(delays->p99_ps)));
		append(object, "delay_max_s", wh_json_shown(wh_ps_to_seconds(delays->longest_ps)));
	}
	return object;
}

static json_t *samples_json(const struct wh_point *point, const struct wh_scenario_run *run)
{
	const struct wh_monitor *monitor = wh_scenario_run_monitor(run);
	char name[WH_POINT_NAME_BYTES];
	json_t *times = json_array();
	json_t *flows = json_object();
	json_t *links = json_object();

	for (uint32_t i = 0; i < wh_monitor_samples(monitor); i++)
		json_array_append_new(times,
			wh_json_shown(wh_ps_to_seconds((i + 1) * point->scenario.interval_ps)));
	for (uint32_t i = 0; i < wh_scenario_flows(&point->scenario); i++)
		json_object_set_new(
			flows, wh_point_flow_name(point, i, name), flow_samples(point, monitor, i));
	for (uint32_t i = 0; i < point->scenario.n_links; i++)
		json_object_set_new(
			links, wh_point_link_name(point, i, name), link_samples(point, monitor, i));
	return json_pack("{s:o, s:o, s:o}", "seconds", times, "flows", flows, "links", links);
}

static json_t *run_json(const struct wh_point *point, const struct wh_scenario_run *run,
	uint64_t seed, bool samples)
{
	json_t *flows = json_array();
	json_t *links = json_array();
	json_t *object;

	for (uint32_t i = 0; i < wh_scenario_flows(&point->scenario); i++)
		json_array_append_new(flows, flow_json(point, run, i));
	for (uint32_t i = 0; i < point->scenario.n_links; i++)
		json_array_append_new(links, link_json(point, run, i));
	object = json_pack("{s:o, s:o, s:o, s:o}", "seed", json_count(seed), "hops",
		json_count(wh_sim_hops(wh_scenario_run_sim(run))), "flows", flows, "links", links);
	if (samples && point->scenario.interval_ps > 0)
		json_object_set_new(object, "samples", samples_json(point, run));
	return object;
}

/* Expressions were checked when the point was built, so they cannot fail. */
static json_t *report_json(const struct wh_expr_scope *scope, const struct wh_ini_section *section)
{
	char wrong[WH_EXPR_WRONG_BYTES];
	json_t *values = json_array();
	struct wh_value value;

	for (uint32_t i = 0; i < section->n_entries; i++) {
		bool fine = wh_expr_quantity(scope, section->entries[i].value, &value, wrong);

		WH_ASSERT(fine);
		json_array_append_new(values, wh_json_number(value.x));
	}
	return values;
}

static json_t *expectation_json(const struct wh_expectation *expectation)
{
	json_t *compared = json_array();

	for (uint32_t i = 0; i < expectation->n_compared; i++)
		json_array_append_new(
			compared, json_pack("{s:o, s:I, s:o}", "left",
					  wh_json_number(expectation->compared[i].left), "sign",
					  (json_int_t)expectation->compared[i].sign, "right",
					  wh_json_number(expectation->compared[i].right)));
	return compared;
}

static json_t *expect_json(const struct wh_expr_scope *scope, const struct wh_ini_section *section)
{
	char wrong[WH_EXPR_WRONG_BYTES];
	struct wh_expectation expectation;
	json_t *all = json_array();

	for (uint32_t i = 0; i < section->n_entries; i++) {
		bool fine =
			wh_expr_expectation(scope, section->entries[i].value, &expectation, wrong);

		WH_ASSERT(fine);
		json_array_append_new(
			all, expectation.applies ? expectation_json(&expectation) : json_null());
	}
	return all;
}

/* With what the questions say of the run. */
static json_t *conclude(struct wh_point *point, const struct wh_ini *ini,
	const struct wh_scenario_run *run, json_t *shown)
{
	struct wh_asking asking = {.point = point, .run = run};
	struct wh_expr_scope scope = {
		.variables = point->variables,
		.n_variables = point->n_variables,
		.ask = wh_ask,
		.context = &asking,
	};

	return json_pack("{s:o, s:o, s:o}", "report",
		report_json(&scope, &ini->sections[WH_INI_REPORT]), "expect",
		expect_json(&scope, &ini->sections[WH_INI_EXPECT]), "run", shown);
}

json_t *wh_sim_result(struct wh_point *point, const struct wh_ini *ini,
	const struct wh_scenario_run *run, uint64_t seed, bool samples)
{
	return conclude(point, ini, run, run_json(point, run, seed, samples));
}

json_t *wh_fleet_result(struct wh_point *point, const struct wh_ini *ini, uint64_t seed)
{
	json_t *fleet = json_object();

	for (uint32_t i = point->swept.n_variables; i < point->n_variables; i++)
		json_object_set_new(fleet, point->variables[i].name,
			wh_json_shown(point->variables[i].value.x));
	return conclude(point, ini, NULL,
		json_pack("{s:o, s:[o], s:[], s:[]}", "seed", json_count(seed), "fleet", fleet,
			"flows", "links"));
}
