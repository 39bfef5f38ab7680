/* SPDX-License-Identifier: BSD-3-Clause */

/* Flows that come and go, each with its own start, size and end, from lists or a trace. */

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "lab/sim/sim_memory.h"
#include "scenario/lex.h"
#include "scenario/point.h"

#define LIST_MAX       1000
#define LINE_BYTES_MAX 256
#define FIELDS         3

static const char *const keys[FIELDS] = {"starts", "sizes", "stops"};
static const enum wh_value_kind kinds[FIELDS] = {WH_VALUE_TIME, WH_VALUE_NUMBER, WH_VALUE_TIME};

/* State while reading a trace; `why`: the error in a line. */
struct trace {
	struct wh_taker *taker;
	FILE *file;
	struct wh_scenario_member *members;
	uint32_t count;
	uint32_t room;
	uint32_t line;
	char why[WH_EXPR_WRONG_BYTES];
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

/* "-" means none. */
static bool take_word(
	struct trace *trace, struct wh_scenario_member *member, uint32_t field, const char *word)
{
	struct wh_value value;

	if (strcmp(word, "-") == 0 && field > 0)
		return true;
	if (!wh_expr_quantity(trace->taker->scope, word, &value, trace->why))
		return false;
	if ((value.kind == kinds[field] || value.x == 0.0) && put_field(member, field, value.x))
		return true;
	snprintf(trace->why, sizeof(trace->why), "is no %s", field == 1 ? "size" : "time, as 1s");
	return false;
}

/* START SIZE STOP; false: invalid. Empty lines are allowed. */
static bool take_line(struct trace *trace, char *line)
{
	struct wh_scenario_member member = {
		WH_SIM_NEVER_PS, WH_SIM_NEVER_PS, WH_OBJECT_BYTES_UNKNOWN};
	const struct wh_scenario_member *before =
		trace->count > 0 ? &trace->members[trace->count - 1] : NULL;
	const char *why;
	uint32_t field = 0;
	char *rest = line;

	line[strcspn(line, "#")] = '\0';
	for (char *word; (word = strtok_r(rest, " \t\r\n", &rest)) != NULL; field++) {
		if (field < FIELDS && !take_word(trace, &member, field, word))
			return false;
	}
	if (field == 0)
		return true;
	if (field != FIELDS)
		why = "is not START SIZE STOP, as 1s 5M - or 2s - 8s";
	else if (trace->count == WH_POINT_FLOWS_MAX)
		why = "is of more than 100000 flows";
	else
		why = contradiction(&member, before);
	if (why != NULL) {
		snprintf(trace->why, sizeof(trace->why), "%s", why);
		return false;
	}
	if (trace->count == trace->room) {
		trace->room = trace->room == 0 ? 64 : 2 * trace->room;
		trace->members =
			wh_sim_resize(trace->members, trace->room * sizeof(*trace->members));
	}
	trace->members[trace->count++] = member;
	return true;
}

static bool read_trace(struct trace *trace)
{
	char line[LINE_BYTES_MAX];

	while (fgets(line, sizeof(line), trace->file) != NULL) {
		trace->line++;
		if (strchr(line, '\n') == NULL && !feof(trace->file)) {
			snprintf(trace->why, sizeof(trace->why), "is too long");
			return false;
		}
		if (!take_line(trace, line))
			return false;
	}
	trace->line = 0;
	snprintf(trace->why, sizeof(trace->why), "%s",
		ferror(trace->file) ? "cannot be read" : "has no flow");
	return !ferror(trace->file) && trace->count > 0;
}

/* In the scenario's folder, unless it is an absolute path. NULL: no such file. */
static FILE *open_trace(const struct wh_taker *taker, const char *name)
{
	const char *slash = strrchr(taker->section->where, '/');
	int chars = name[0] == '/' || slash == NULL ? 0 : (int)(slash + 1 - taker->section->where);
	char path[PATH_MAX];
	struct stat facts;
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%.*s%s", chars, taker->section->where, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	file = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) ? fdopen(fd, "r") : NULL;
	if (file == NULL)
		close(fd);
	return file;
}

static void take_trace(struct wh_taker *taker, struct wh_scenario_group *group)
{
	struct trace trace = {.taker = taker};
	const char *name = wh_ini_find(taker->section, "trace")->value;
	char why[WH_EXPR_WRONG_BYTES + 32];

	trace.file = open_trace(taker, name);
	if (trace.file == NULL) {
		wh_take_refuse(taker, "trace", "is no file that can be read");
		return;
	}
	if (!read_trace(&trace)) {
		if (trace.line > 0)
			snprintf(why, sizeof(why), "is wrong: line %u %s", trace.line, trace.why);
		else
			snprintf(why, sizeof(why), "%s", trace.why);
		wh_take_refuse(taker, "trace", why);
	}
	fclose(trace.file);
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

/* Checks that apply to both forms. */
static void check_members(struct wh_taker *taker, const struct wh_scenario_group *group,
	bool has_size, const char *key)
{
	const struct wh_scenario_member *members = group->members;

	for (uint32_t i = 0; i < group->count && !taker->failed; i++) {
		bool endless = members == NULL ? group->size_bytes == WH_OBJECT_BYTES_UNKNOWN
					       : members[i].size_bytes == WH_OBJECT_BYTES_UNKNOWN;

		if (!has_size && !endless)
			wh_take_refuse(taker, key, "has a size, and this agent sends no file");
		if (group->chained && endless)
			wh_take_refuse(taker, "chain", "wants a size of each flow");
		if (members != NULL && group->n_steps > 0 &&
			group->steps[0].at_ps < members[i].start_ps &&
			members[i].start_ps != WH_SIM_NEVER_PS)
			wh_take_refuse(taker, "steps", "is before one of the flows starts");
	}
}

void wh_point_take_members(struct wh_taker *taker, struct wh_scenario_group *group, bool has_size)
{
	bool traced = wh_take_has(taker, "trace");
	bool listed = wh_take_has(taker, keys[0]);

	listed |= wh_take_has(taker, keys[2]);
	if (has_size)
		listed |= wh_take_has(taker, keys[1]);
	if (traced && (listed || wh_take_has(taker, "count")))
		wh_take_refuse(taker, "trace", "says all of starts, sizes, stops and count");
	else if (traced)
		take_trace(taker, group);
	else if (listed)
		take_lists(taker, group, has_size);
	WH_ASSERT(group->count <= WH_POINT_FLOWS_MAX);
	check_members(taker, group, has_size, traced ? "trace" : keys[1]);
}
