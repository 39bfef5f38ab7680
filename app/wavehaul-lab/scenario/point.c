/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "lab/sim/sim_memory.h"
#include "scenario/sim_ask.h"

#define SEED_MAX        (UINT64_C(1) << 53) /* the range of exact integers in a double */
#define REPEAT_MAX      1000
#define DURATION_PS_MAX (100000 * WH_PS_PER_S)
#define SAMPLES_MAX     1000000

/* Of one series: flows times moments. */
#define SERIES_VALUES_MAX (UINT64_C(1) << 24)

const char *wh_point_link_name(
	const struct wh_point *point, uint32_t link, char text[WH_POINT_NAME_BYTES])
{
	WH_ASSERT(link < point->scenario.n_links);
	snprintf(text, WH_POINT_NAME_BYTES, "%s-%s", point->nodes[point->links[link].from],
		point->nodes[point->links[link].to]);
	return text;
}

/* The group that a flow is in; *flow becomes its index there. */
static uint32_t find_group(const struct wh_point *point, uint32_t *flow)
{
	uint32_t group = 0;

	while (*flow >= point->groups[group].count) {
		*flow -= point->groups[group].count;
		group++;
		WH_ASSERT(group < point->scenario.n_groups);
	}
	return group;
}

const struct wh_scenario_group *wh_point_group_of(const struct wh_point *point, uint32_t flow)
{
	return &point->groups[find_group(point, &flow)];
}

const char *wh_point_agent_of(const struct wh_point *point, uint32_t flow)
{
	return point->agents[find_group(point, &flow)];
}

const char *wh_point_flow_name(
	const struct wh_point *point, uint32_t flow, char text[WH_POINT_NAME_BYTES])
{
	const struct wh_scenario_group *group = &point->groups[find_group(point, &flow)];

	if (group->count == 1)
		snprintf(text, WH_POINT_NAME_BYTES, "%s", group->name);
	else
		snprintf(text, WH_POINT_NAME_BYTES, "%s.%u", group->name, flow + 1);
	return text;
}

bool wh_point_add_mark(struct wh_point *point, uint64_t at_ps)
{
	uint32_t count = point->scenario.n_marks;
	uint32_t i = 0;

	while (i < count && point->marks_ps[i] < at_ps)
		i++;
	if (i < count && point->marks_ps[i] == at_ps)
		return true;
	if (count == WH_POINT_MARKS_MAX)
		return false;
	memmove(&point->marks_ps[i + 1], &point->marks_ps[i],
		(count - i) * sizeof(*point->marks_ps));
	point->marks_ps[i] = at_ps;
	point->scenario.n_marks++;
	return true;
}

uint32_t wh_point_series(struct wh_point *point, uint64_t period_ps)
{
	struct wh_scenario *scenario = &point->scenario;
	uint64_t moments = scenario->duration_ps / period_ps + 1;
	uint32_t i = 0;

	while (i < scenario->n_series && point->series_ps[i] != period_ps)
		i++;
	if (i < scenario->n_series)
		return i;
	if (i == WH_POINT_SERIES_MAX ||
		moments > SERIES_VALUES_MAX / (wh_scenario_flows(scenario) + 1))
		return UINT32_MAX;
	point->series_ps[i] = period_ps;
	return scenario->n_series++;
}

static struct wh_expr_scope scope_of(const struct wh_point *point)
{
	return (struct wh_expr_scope){
		.variables = point->variables,
		.n_variables = point->n_variables,
	};
}

/* Texts for people and for --list: mark their keys as known. */
static void take_texts(struct wh_taker *taker)
{
	wh_take_has(taker, "title");
	wh_take_has(taker, "paper");
	wh_take_has(taker, "figure");
}

static void take_runs(struct wh_point *point, struct wh_taker *taker)
{
	point->seed = wh_take_count(taker, "seed", 1, 0, SEED_MAX);
	point->repeat = (uint32_t)wh_take_count(taker, "repeat", 1, 1, REPEAT_MAX);
}

static bool take_fleet(struct wh_point *point, struct wh_ini *ini)
{
	const struct wh_expr_scope scope = scope_of(point);
	struct wh_taker taker = {.section = &ini->sections[WH_INI_SCENARIO], .scope = &scope};

	take_texts(&taker);
	take_runs(point, &taker);
	if (ini->n_sections > WH_INI_LINK)
		return wh_fail(false, "%s: [%s] beside [fleet], which has a scenario of its own",
			ini->sections[WH_INI_LINK].where, ini->sections[WH_INI_LINK].head);
	taker.section = &ini->sections[WH_INI_FLEET];
	return wh_point_take_fleet(point, &taker);
}

static bool take_scenario(struct wh_point *point, struct wh_ini *ini)
{
	const struct wh_expr_scope scope = scope_of(point);
	struct wh_taker taker = {.section = &ini->sections[WH_INI_SCENARIO], .scope = &scope};
	struct wh_scenario *scenario = &point->scenario;

	take_texts(&taker);
	wh_take_require(&taker, "duration", "50s");
	scenario->duration_ps = wh_take_ps(&taker, "duration", 0);
	point->warmup_ps = wh_take_ps(&taker, "warmup", 0);
	scenario->interval_ps = wh_take_ps(&taker, "interval", 0);
	point->shows_delays = wh_take_switch(&taker, "queue_delays", false);
	take_runs(point, &taker);
	if (taker.failed)
		return false;
	if (scenario->duration_ps == 0 || scenario->duration_ps > DURATION_PS_MAX)
		return wh_take_refuse(&taker, "duration", "is not from 1ns to 100000s");
	if (point->warmup_ps >= scenario->duration_ps)
		return wh_take_refuse(&taker, "warmup", "leaves nothing of the duration");
	if (scenario->interval_ps > scenario->duration_ps ||
		(scenario->interval_ps > 0 &&
			scenario->duration_ps / scenario->interval_ps > SAMPLES_MAX))
		return wh_take_refuse(&taker, "interval",
			"is longer than the duration, or makes more than a million samples");
	return wh_point_add_mark(point, 0) && wh_point_add_mark(point, point->warmup_ps) &&
	       wh_point_add_mark(point, scenario->duration_ps);
}

static void add_variable(struct wh_point *point, const char *name, uint64_t span_ps)
{
	WH_ASSERT(point->n_variables < point->swept.n_variables + 2); /* as allocated */
	point->variables[point->n_variables++] = (struct wh_variable){
		.name = name,
		.value = {.kind = WH_VALUE_TIME, .x = wh_ps_to_seconds(span_ps)},
	};
}

/* Links first: flows refer to their nodes. */
static bool take_network(struct wh_point *point, struct wh_ini *ini)
{
	const struct wh_expr_scope scope = scope_of(point);

	for (uint32_t kind = WH_INI_LINK; kind <= WH_INI_FLOW; kind++) {
		for (uint32_t i = 0; i < ini->n_sections; i++) {
			struct wh_taker taker = {.section = &ini->sections[i], .scope = &scope};

			if (taker.section->kind != kind)
				continue;
			if (kind == WH_INI_LINK ? !wh_point_take_link(point, &taker)
						: !wh_point_take_flow(point, &taker))
				return false;
		}
	}
	if (point->scenario.n_links > 0 && point->scenario.n_groups > 0)
		return true;
	return wh_fail(false,
		"%s has no %s; write [link A-B] for a link and [flow NAME] for what goes over it",
		ini->path, point->scenario.n_links == 0 ? "link" : "flow");
}

static bool check_ways(const struct wh_point *point, const struct wh_ini *ini)
{
	const struct wh_scenario *scenario = &point->scenario;
	uint32_t i = wh_scenario_first_cut_off(scenario);

	if (wh_scenario_flows(scenario) > WH_POINT_FLOWS_MAX)
		return wh_fail(false, "%s has more than %d flows", ini->path, WH_POINT_FLOWS_MAX);
	if (i == scenario->n_groups)
		return true;
	return wh_fail(false,
		"%s: [flow %s] has no route from %s to %s and back; links join neither directly "
		"nor over others",
		ini->path, scenario->groups[i].name, point->nodes[scenario->groups[i].from],
		point->nodes[scenario->groups[i].to]);
}

static bool try_questions(struct wh_point *point, struct wh_ini *ini, enum wh_scenario_section kind)
{
	struct wh_ini_section *section = &ini->sections[kind];
	struct wh_asking asking = {.point = point};
	struct wh_expr_scope scope = scope_of(point);
	struct wh_expectation expectation;
	char wrong[WH_EXPR_WRONG_BYTES];
	struct wh_value value;

	scope.ask = wh_ask;
	scope.context = &asking;
	for (uint32_t i = 0; i < section->n_entries; i++) {
		struct wh_ini_entry *entry = &section->entries[i];

		entry->used = true;
		if (kind == WH_INI_REPORT
				? wh_expr_quantity(&scope, entry->value, &value, wrong)
				: wh_expr_expectation(&scope, entry->value, &expectation, wrong))
			continue;
		return wh_fail(
			false, "%s: %s = '%s' %s", entry->where, entry->key, entry->value, wrong);
	}
	return true;
}

static void check_network(const struct wh_point *point)
{
	const struct wh_scenario *scenario = &point->scenario;

	WH_ASSERT(scenario->n_nodes > 1 && scenario->n_nodes <= WH_POINT_NODES_MAX);
	WH_ASSERT(scenario->n_links > 0 && scenario->n_links <= WH_POINT_LINKS_MAX);
	WH_ASSERT(scenario->n_groups > 0 && scenario->n_groups <= WH_POINT_GROUPS_MAX);
	for (uint32_t i = 0; i < scenario->n_links; i++) {
		const struct wh_sim_link_config *link = &point->links[i];

		WH_ASSERT(link->from < scenario->n_nodes && link->to < scenario->n_nodes);
		WH_ASSERT(link->from != link->to && link->rate_bps > 0);
	}
	for (uint32_t i = 0; i < scenario->n_groups; i++) {
		const struct wh_scenario_group *group = &point->groups[i];

		WH_ASSERT(group->from < scenario->n_nodes && group->to < scenario->n_nodes);
		WH_ASSERT(group->from != group->to && group->start_ps <= group->stop_ps);
		WH_ASSERT(group->payload_bytes > 0 && group->payload_bytes <= group->packet_bytes);
		WH_ASSERT(point->agents[i] != NULL);
	}
}

/* Asserts what runs and questions rely on. */
static void check_point(const struct wh_point *point)
{
	const struct wh_scenario *scenario = &point->scenario;

	check_network(point);
	WH_ASSERT(point->warmup_ps < scenario->duration_ps && point->repeat > 0);
	WH_ASSERT(point->n_variables == point->swept.n_variables + 2);
	WH_ASSERT(scenario->n_marks > 0 && scenario->n_marks <= WH_POINT_MARKS_MAX);
	WH_ASSERT(point->marks_ps[0] == 0);
	WH_ASSERT(point->marks_ps[scenario->n_marks - 1] == scenario->duration_ps);
	for (uint32_t i = 1; i < scenario->n_marks; i++)
		WH_ASSERT(point->marks_ps[i - 1] < point->marks_ps[i]);
}

static bool build(struct wh_point *point, struct wh_ini *ini)
{
	memcpy(point->variables, point->swept.variables,
		point->swept.n_variables * sizeof(*point->variables));
	point->n_variables = point->swept.n_variables;
	if (ini->sections[WH_INI_FLEET].n_entries > 0) {
		if (!take_fleet(point, ini))
			return false;
	} else {
		if (!take_scenario(point, ini) || !take_network(point, ini) ||
			!check_ways(point, ini))
			return false;
		add_variable(point, "duration", point->scenario.duration_ps);
		add_variable(point, "warmup", point->warmup_ps);
	}
	return try_questions(point, ini, WH_INI_REPORT) && try_questions(point, ini, WH_INI_EXPECT);
}

int wh_point_build(
	struct wh_ini *ini, const struct wh_sweep *sweep, uint32_t number, struct wh_point **built)
{
	struct wh_point *point = wh_sim_allocate(sizeof(*point));
	int status = wh_sweep_at(sweep, number, &point->swept);

	point->scenario.links = point->links;
	point->scenario.groups = point->groups;
	point->scenario.marks_ps = point->marks_ps;
	point->scenario.series_ps = point->series_ps;
	point->variables = wh_sim_allocate(
		(point->swept.n_variables + WH_POINT_FLEET_RESULTS) * sizeof(*point->variables));
	if (status == -1 && !build(point, ini))
		status = WH_EXIT_USAGE;
	if (status == -1) {
		if (point->fleet.config.nodes == 0)
			check_point(point);
		*built = point;
		return -1;
	}
	wh_point_free(point);
	return status;
}

void wh_point_free(struct wh_point *point)
{
	for (uint32_t i = 0; i < point->scenario.n_nodes; i++)
		free(point->nodes[i]);
	for (uint32_t i = 0; i < point->scenario.n_groups; i++)
		free(point->agents[i]);
	for (uint32_t i = 0; i < WH_POINT_GROUPS_MAX; i++) {
		free((void *)point->groups[i].steps);
		free((void *)point->groups[i].members);
	}
	while (point->noises != NULL) {
		struct wh_point_noise *noise = point->noises;

		point->noises = noise->next;
		free(noise);
	}
	wh_sweep_values_free(&point->swept);
	free(point->variables);
	free(point);
}
