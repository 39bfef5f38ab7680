/* SPDX-License-Identifier: BSD-3-Clause */

/* Flows that come and go, each with its own start, size and end, from lists or a trace. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "lab/sim/sim_memory.h"
#include "scenario/point.h"

#define LIST_MAX 1000
#define FIELDS   3

static const char *const keys[FIELDS] = {"starts", "sizes", "stops"};
static const enum wh_value_kind kinds[FIELDS] = {WH_VALUE_TIME, WH_VALUE_NUMBER, WH_VALUE_TIME};

/* The members of a trace as they are read. */
struct trace {
	struct wh_scenario_member *members;
	uint32_t count;
	uint32_t room;
};

/* A start, a size or a stop; false: invalid. */
static bool put_field(struct wh_scenario_member *member, uint32_t field, double x)
{
	if (field == 1) {
		if (!(x >= 1.0 && x <= (double)WH_POINT_SIZE_MAX))
			return false;
		member->size_bytes = (uint64_t)llround(x);
		return true;
	}
	return wh_seconds_to_ps(x, field == 0 ? &member->start_ps : &member->stop_ps);
}

/* The error in a member, given its predecessor; NULL: none. */
static const char *contradiction(
	const struct wh_scenario_member *member, const struct wh_scenario_member *before)
{
	if (before != NULL && member->start_ps < before->start_ps)
		return "starts before the one before it; starts ascend";
	if (member->start_ps != WH_SIM_NEVER_PS && member->stop_ps < member->start_ps)
		return "stops before its start";
	return NULL;
}

/* Reads a list for *count flows; *one: NULL, or the key that has determined their number. */
static void take_list(struct wh_taker *taker, uint32_t field, struct wh_scenario_member *members,
	uint32_t *count, const char **one)
{
	double values[LIST_MAX];
	uint32_t n = wh_take_list(taker, keys[field], kinds[field], values, LIST_MAX);

	if (n == 0)
		return;
	if (*one != NULL && n != *count) {
		wh_take_refuse(taker, keys[field], "has not as many values as there are flows");
		return;
	}
	*count = n;
	*one = keys[field];
	for (uint32_t i = 0; i < n; i++) {
		const char *why = "has a value that no flow may have";

		if (put_field(&members[i], field, values[i]))
			why = contradiction(&members[i], i > 0 ? &members[i - 1] : NULL);
		if (why != NULL)
			wh_take_refuse(taker, keys[field], why);
		if (taker->failed)
			return;
	}
}

static bool put_row(void *context, const double *values, char why[WH_EXPR_WRONG_BYTES])
{
	struct trace *trace = context;
	struct wh_scenario_member member = {
		WH_SIM_NEVER_PS, WH_SIM_NEVER_PS, WH_OBJECT_BYTES_UNKNOWN};
	const char *wrong = NULL;

	for (uint32_t field = 0; field < FIELDS && wrong == NULL; field++)
		if (!isnan(values[field]) && !put_field(&member, field, values[field]))
			wrong = field == 1 ? "has a size that no flow may have"
					   : "has a time that no flow may have";
	if (wrong == NULL && trace->count == WH_POINT_FLOWS_MAX)
		wrong = "is of more than 100000 flows";
	if (wrong == NULL)
		wrong = contradiction(
			&member, trace->count > 0 ? &trace->members[trace->count - 1] : NULL);
	if (trace->count == trace->room) {
		trace->room = trace->room == 0 ? 64 : 2 * trace->room;
		trace->members =
			wh_sim_resize(trace->members, trace->room * sizeof(*trace->members));
	}
	trace->members[trace->count++] = member;
	snprintf(why, WH_EXPR_WRONG_BYTES, "%s", wrong == NULL ? "" : wrong);
	return wrong == NULL;
}

static void take_trace(struct wh_taker *taker, struct wh_scenario_group *group)
{
	struct trace trace = {0};

	wh_take_rows(taker, "trace",
		&(struct wh_rows){
			.form = "is not START SIZE STOP, as 1s 5M - or 2s - 8s",
			.n_fields = FIELDS,
			.n_required = 1,
			.kinds = "tnt",
			.no_row = "has no flow",
			.put = put_row,
			.context = &trace,
		});
	group->members = trace.members;
	group->count = trace.count;
}

static void take_lists(struct wh_taker *taker, struct wh_scenario_group *group, bool has_size)
{
	struct wh_scenario_member *members = wh_sim_allocate(LIST_MAX * sizeof(*members));
	const char *one = wh_take_has(taker, "count") ? "count" : NULL;
	uint32_t count = group->count;

	group->members = members;
	for (uint32_t i = 0; i < LIST_MAX; i++)
		members[i] = (struct wh_scenario_member){
			WH_SIM_NEVER_PS, group->stop_ps, group->size_bytes};
	for (uint32_t field = 0; field < FIELDS; field++)
		if (field != 1 || has_size)
			take_list(taker, field, members, &count, &one);
	group->count = count;
}

/* Checks that apply to both forms; sizes of such an agent are in a trace only. */
static void check_members(
	struct wh_taker *taker, const struct wh_scenario_group *group, bool has_size)
{
	for (uint32_t i = 0; i < group->count && group->members != NULL && !taker->failed; i++) {
		const struct wh_scenario_member *member = &group->members[i];

		if (!has_size && member->size_bytes != WH_OBJECT_BYTES_UNKNOWN)
			wh_take_refuse(taker, "trace", "has a size, and this agent sends no file");
		if (group->n_steps > 0 && member->start_ps != WH_SIM_NEVER_PS &&
			group->steps[0].at_ps < member->start_ps)
			wh_take_refuse(taker, "steps", "is before one of the flows starts");
	}
}

void wh_point_take_members(struct wh_taker *taker, struct wh_scenario_group *group, bool has_size)
{
	bool traced = wh_take_has(taker, "trace");
	bool listed = false;

	for (uint32_t field = 0; field < FIELDS; field++)
		if (field != 1 || has_size)
			listed |= wh_take_has(taker, keys[field]);
	if (traced && (listed || wh_take_has(taker, "count")))
		wh_take_refuse(taker, "trace", "says all of starts, sizes, stops and count");
	else if (traced)
		take_trace(taker, group);
	else if (listed)
		take_lists(taker, group, has_size);
	WH_ASSERT(group->count <= WH_POINT_FLOWS_MAX);
	check_members(taker, group, has_size);
}
